# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources, to which made-up things are added, and doc/design.md's lists of the files that this touches."""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil

from support import run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])
MADE_UP = SOURCES / "tests/live/extensions"
IGNORED = shutil.ignore_patterns(".*", "build", "build-*", "__pycache__")
NEEDED = ("meson", "ninja", "cc")


def why_impossible():
    """Why no copy can be built here, or None."""
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        return f"not installed: {', '.join(missing)}"
    return "the copy would be built without the sanitizer" if os.environ.get("SANITIZED") else None


# ---- what is documented --------------------------------------------------------------------------------------------

def documented_kinds(text):
    """What one can add, by the sections "### … KIND": kind: places, the paths with which the items of its list begin."""
    sections = re.findall(r"^### … ([^\n]*)\n(.*?)(?=^#|\Z)", text, re.M | re.S)
    return {kind: re.findall(r"^- `([^`]+)`", section, re.M) for kind, section in sections}


def is_at(path, is_new, place):
    """Whether a place is meant for a file that was touched. One that ends with / is for new files below it."""
    return path == place or (is_new and place.endswith("/") and path.startswith(place))


def complaints(places, name, touched):
    """How the files that adding NAME touched, path: is it new, differ from those that are listed."""
    places = [place.replace("NAME", name) for place in places]
    too_many = [f"{path} is not listed" for path, is_new in sorted(touched.items())
                if not any(is_at(path, is_new, place) for place in places)]
    too_few = [f"{place} is listed, but not needed" for place in places
               if not any(is_at(path, is_new, place) for path, is_new in touched.items())]
    return too_many + too_few


# ---- the copy ------------------------------------------------------------------------------------------------------

class Tree:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        shutil.copytree(SOURCES, self.folder, symlinks=True, ignore=IGNORED)

    def files(self):
        """path: what identifies its content"""
        return {str(path.relative_to(self.folder)): hashlib.sha256(path.read_bytes()).digest()
                for path in self.folder.rglob("*") if path.is_file()}

    @contextlib.contextmanager
    def touched(self):
        """Afterwards, what was touched in between: path: is it new."""
        before, touched = self.files(), {}
        yield touched
        after = self.files()
        touched.update({path: path not in before for path in before.keys() | after.keys()
                        if before.get(path) != after.get(path)})

    def add(self, path, made_up):
        """A new file: one of those that tests/live/extensions holds."""
        new = self.folder / path
        if new.exists():
            raise AssertionError(f"{path} is there already")
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(MADE_UP / made_up, new)

    def insert(self, path, place, text):
        """Puts text before a place in a file, which must be there once."""
        old = (self.folder / path).read_text()
        if old.count(place) != 1:
            raise AssertionError(f"{path} has {old.count(place)} times {place!r}")
        (self.folder / path).write_text(old.replace(place, text + place))

    def append(self, path, text):
        with open(self.folder / path, "a") as file:
            file.write(text)

    def run(self, *command, statuses=(0,), **keywords):
        """What the command prints, which must end with one of these."""
        result = run(*map(str, command), cwd=self.folder, **keywords)
        if result.returncode not in statuses:
            raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
        return result.stdout

    def build(self, *targets):
        """Builds only these. What is compiled is cached for the next time."""
        environment = {**os.environ, "CCACHE_BASEDIR": str(self.folder), "CCACHE_NOHASHDIR": "1"}
        self.run("meson", "setup", "build", "-Doptimization=0", env=environment, timeout=300)
        self.run("ninja", "-C", "build", *targets, env=environment, timeout=800)

    def compile(self, *arguments):
        self.run("cc", "-std=gnu17", "-D_GNU_SOURCE", *arguments)

    def compile_recording(self, made_up, output):
        """A program that writes events through the recorder."""
        self.compile("-Isrc", MADE_UP / made_up, "build/src/record/libmr_record.a", "build/src/schema/libmr_schema.a",
                     "-pthread", "-o", output)

    def millrace(self, *arguments, **keywords):
        return self.run("build/millrace", *arguments, **keywords)

    def query(self, trace, sql):
        """The rows, each a dictionary."""
        return [json.loads(line) for line in self.millrace("query", "--format=json", trace, sql).splitlines()]

    def report(self, trace):
        """Of a trace that may be damaged."""
        return json.loads(self.millrace("report", "--whole", "--json", trace, statuses=(0, 3)))
