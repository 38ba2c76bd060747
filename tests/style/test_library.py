#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libmillrace.so needs libc alone, and shows the traced program only what exports.map lists."""

import fnmatch
import os
import pathlib
import re
import subprocess
import unittest

import harness

LIBRARY = pathlib.Path(os.environ["BUILD_DIR"]) / "libmillrace.so"
EXPORTS = pathlib.Path(os.environ["SOURCE_DIR"]) / "src/hook/exports.map"
ALLOWED_NEEDED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported():
    names = [line.split()[-1] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines()]
    return {name.split("@")[0] for name in names}


def listed():
    """The names and patterns between `global:` and `local:`."""
    text = re.sub(r"/\*.*?\*/", "", EXPORTS.read_text(), flags=re.S)
    return re.findall(r"([\w*]+);", text[text.index("global:"):text.index("local:")])


class Library(unittest.TestCase):
    def test_needs_libc_only(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY)))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, ALLOWED_NEEDED)

    def test_exports_are_listed(self):
        unlisted = {name for name in exported()
                    if not any(fnmatch.fnmatchcase(name, pattern) for pattern in listed())}
        self.assertEqual(unlisted, set())

    def test_what_is_listed_is_exported(self):
        missing = {pattern for pattern in listed() if not fnmatch.filter(exported(), pattern)}
        self.assertEqual(missing, set())

    def test_thread_data_needs_no_allocation(self):
        relocations = output("readelf", "-rW", LIBRARY)
        self.assertIn("Relocation section", relocations)
        self.assertNotIn("__tls_get_addr", relocations)
        self.assertNotIn("TLSDESC", relocations)


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer needs the sanitizer's own libraries")
    harness.main()
