#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""doc/design.md describes the tree as it is: its table of folders is that of test_includes.py, and the files that it names
are there. tests/live/test_extensions.py checks its lists of files to touch."""

import os
import pathlib
import re
import unittest

import harness
from test_includes import BELOW, allowed

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
TEXT = (ROOT / "doc/design.md").read_text()
FILE = re.compile(r"(?<![\w./*-])[\w./-]*\w\.(?:c|h|def|map|build|js|py|md)\b(?!\w)")


def documented_folders(text):
    """folder: what stands below it; "all" stands for everything else"""
    section = text.partition("\n## Folders\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| `.*\|$", section, re.M)]
    return {folder: below if below == "all" else sorted(re.findall(r"`(\w+)`", below))
            for names, _, below in rows for folder in re.findall(r"`(\w+)`", names)}


def named_files(text):
    """Files named in the text, apart from those that NAME stands in. "a/b.c, c.c" are both in a."""
    folder, found = "", []
    for line in text.splitlines():
        for match in FILE.finditer(line):
            name = match[0]
            is_listed = folder and "/" not in name and line[:match.start()].endswith(", ")
            found.append(f"{folder}/{name}" if is_listed else name)
            folder = str(pathlib.PurePath(name).parent) if "/" in name else folder if is_listed else ""
        folder = ""
    return [name for name in found if "NAME" not in name]


def exists(name):
    """From the root, src or doc; without a folder, somewhere in the sources."""
    if any((ROOT / folder / name).is_file() for folder in ("", "src", "doc")):
        return True
    return "/" not in name and any(next((ROOT / folder).rglob(name), None) for folder in ("src", "include", "ui"))


class Design(unittest.TestCase):
    def test_folders(self):
        documented = documented_folders(TEXT)
        self.assertEqual(sorted(documented), sorted(BELOW))
        for folder, below in documented.items():
            with self.subTest(folder):
                if below == "all":
                    self.assertEqual(allowed(folder), set(BELOW))
                else:
                    self.assertEqual(below, sorted(BELOW[folder]))

    def test_files(self):
        names = named_files(TEXT)
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in names if not exists(name)], [])
        folders = re.findall(r"`((?:include|soft|src|tests|ui)/[\w/]*)`", TEXT)
        self.assertIn("src/hook/shared/", folders)
        self.assertEqual([name for name in folders if "NAME" not in name and not (ROOT / name).is_dir()], [])


class Rules(unittest.TestCase):
    """Each of them can complain."""

    def test_folders(self):
        text = "\n## Folders\n\n| folder | job | below it |\n|---|---|---|\n| `a` | x `q` | |\n| `b`, `c` | y | `a`, `z` |\n" \
               "| `d` | w | all |\n\n## More\n\n| `e` | v | |\n"
        self.assertEqual(documented_folders(text), {"a": [], "b": ["a", "z"], "c": ["a", "z"], "d": "all"})

    def test_names(self):
        text = "See [x](english.md).\n    hook/a.c, b.h   does it\n  `src/NAME.c`, `d.def`; e.js and `src/f.py`.\nlib.so, v1.8"
        self.assertEqual(named_files(text), ["english.md", "hook/a.c", "hook/b.h", "d.def", "e.js", "src/f.py"])

    def test_what_is_not_there(self):
        for name in ("src/schema/events.def", "hook/hooks.def", "english.md", "draw.js", "ui/timeline/draw.js"):
            self.assertTrue(exists(name), name)
        for name in ("src/schema/occasions.def", "hook/events.def", "occasions.def", "ui/draw.js"):
            self.assertFalse(exists(name), name)


if __name__ == "__main__":
    harness.main()
