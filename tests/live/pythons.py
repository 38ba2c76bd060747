# SPDX-License-Identifier: Apache-2.0
"""Python interpreters of this machine, one of each build: Debian's, and those of pyenv and of PATH."""

import glob
import os
import shutil
import subprocess

import harness

SUPPORTED = [(3, minor) for minor in range(9, 15)]
ASK = ("import sys, sysconfig; print(*sys.version_info[:3], bool(sysconfig.get_config_var('Py_GIL_DISABLED')), "
       "sys.prefix)")


def ask(path):
    """(major, minor, micro), whether it is free-threaded, its folder; None if it does not run."""
    result = subprocess.run([path, "-c", ASK], capture_output=True, text=True, timeout=60)
    if result.returncode != 0:
        return None
    major, minor, micro, is_free, prefix = result.stdout.split(maxsplit=4)
    return (int(major), int(minor), int(micro)), is_free == "True", prefix.strip()


def candidates():
    yield from sorted(glob.glob("/usr/bin/python3*[0-9]") + glob.glob("/usr/local/bin/python3*[0-9]"))
    yield from sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3*/bin/python3")))
    for _, minor in SUPPORTED:
        path = shutil.which(f"python3.{minor}")
        if path and "/shims/" not in path:
            yield path


def find():
    """{name: path} of the interpreters that keep a lock; says which versions there are none of."""
    found = {}
    for path in candidates():
        answer = ask(os.path.realpath(path))
        if answer and not answer[1] and answer[0][:2] in SUPPORTED:
            name = ".".join(map(str, answer[0]))
            found.setdefault(name, os.path.realpath(path))
    missing = [minor for _, minor in SUPPORTED if not any(name.startswith(f"3.{minor}.") for name in found)]
    if missing:
        print("not tested, not installed: Python", ", ".join(f"3.{minor}" for minor in missing))
    if not found:
        harness.skip("there is no Python of 3.9 to 3.14")
    return found
