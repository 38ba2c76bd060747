# SPDX-License-Identifier: Apache-2.0
"""Adding something new touches only the files that are documented: tests do so in a copy of the sources, which
they build."""

import filecmp
import os
import pathlib
import re
import shutil

import harness
from support import LiveTest, run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])
DOCUMENTS = ("doc/design.md", "CONTRIBUTING.md")
IGNORED = shutil.ignore_patterns(".*", "build", "build-*", "__pycache__")


def skip_unless_possible(*programs):
    missing = [name for name in ("meson", "ninja", "cc", *programs) if not shutil.which(name)]
    if missing:
        harness.skip(f"not installed: {', '.join(missing)}")
    if os.environ.get("SANITIZED"):
        harness.skip("the copy would be built without the sanitizer")


def files_of(root):
    return {path.relative_to(root) for path in root.rglob("*") if path.is_file()}


class ExtensionTest(LiveTest):
    def setUp(self):
        super().setUp()
        self.tree = pathlib.Path(self.path("tree"))
        shutil.copytree(SOURCES, self.tree, symlinks=True, ignore=IGNORED)
        self.original = files_of(self.tree)

    # ---- changing the copy

    def write(self, path, text):
        """A new file."""
        self.assertNotIn(pathlib.Path(path), self.original)
        (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
        (self.tree / path).write_text(text)

    def insert(self, path, place, text):
        """Puts text before a place in a file, which must be there once."""
        old = (self.tree / path).read_text()
        self.assertEqual(old.count(place), 1, f"{path}: {place!r}")
        (self.tree / path).write_text(old.replace(place, text + place))

    def append(self, path, text):
        with open(self.tree / path, "a") as file:
            file.write(text)

    def changed(self):
        """What differs from the sources: paths, in order. To be asked before the copy is built."""
        return sorted(str(path) for path in files_of(self.tree)
                      if path not in self.original or not filecmp.cmp(SOURCES / path, self.tree / path, shallow=False))

    def check_documented(self, name, *files):
        """That just these files were touched, and that each is written of as a place for NAME, or lies in one."""
        self.assertEqual(self.changed(), sorted(files))
        text = "".join((SOURCES / path).read_text() for path in DOCUMENTS if (SOURCES / path).exists())
        places = [place.replace("NAME", name) for place in re.findall(r"`([\w./-]+)`", text)]
        for path in files:
            self.assertTrue(any(path == place or (place.endswith("/") and path.startswith(place)) for place in places),
                            f"{path} is not documented")

    # ---- using it

    def build(self, *targets):
        """Builds millrace, its library and whatever else is named. What is compiled is cached for the next test."""
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "1"}
        for command in (["meson", "setup", "build", "-Doptimization=0", "-Dtests=false"],
                        ["ninja", "-C", "build", "millrace", "libmillrace.so", *targets]):
            result = run(*command, cwd=self.tree, env=environment, timeout=600)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def compile(self, *arguments):
        result = run("cc", "-std=gnu17", "-D_GNU_SOURCE", *map(str, arguments), cwd=self.tree)
        self.assertEqual(result.returncode, 0, result.stderr)

    def millrace(self, *arguments, status=0, **keywords):
        """What the copy's program prints."""
        result = run("build/millrace", *arguments, cwd=self.tree, **keywords)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout
