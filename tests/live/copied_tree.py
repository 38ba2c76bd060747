# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources to change and build, for tests that something can be added by touching so many files.

Only what is asked for is built, without optimisation. Copies are alike, so where there is ccache all but the first
compile little more than what was changed."""

import os
import pathlib
import shutil
import subprocess

import harness

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])


def skip_unless_possible(*programs):
    missing = [name for name in ("meson", "ninja", "cc", *programs) if not shutil.which(name)]
    if missing:
        harness.skip(f"not installed: {', '.join(missing)}")
    if os.environ.get("SANITIZED"):
        harness.skip("what is built in the copy is not sanitized")


def copy(folder):
    """The sources, without what is built or hidden; a path."""
    tree = pathlib.Path(folder, "tree")
    shutil.copytree(SOURCES, tree, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "build-*", "__pycache__"))
    return tree


def build(tree, *targets):
    """Into tree/build: these targets, or the program and the library."""
    cached = "ccache " if shutil.which("ccache") else ""
    environment = {**os.environ, "CC": f"{cached}cc", "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
    for command in (["meson", "setup", "build", "-Doptimization=0", "-Dtests=false"],
                    ["ninja", "-C", "build", *(targets or ("millrace", "libmillrace.so"))]):
        done = subprocess.run(command, cwd=tree, env=environment, timeout=800, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
