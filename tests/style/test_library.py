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
HOOKS = pathlib.Path(os.environ["SOURCE_DIR"]) / "src/hook"
ALLOWED_NEEDED = {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported():
    """Names as the library exports them, those of HIP as name@version."""
    return {line.split()[-1] for line in output("nm", "-D", "--defined-only", LIBRARY).splitlines() if " A " not in line}


def without_comments(path):
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def listed():
    """The names and patterns of exports.map, and HIP's functions with their versions."""
    names = re.findall(r"([\w*]+);", without_comments(HOOKS / "exports.map"))
    functions = without_comments(HOOKS / "hip/functions.def")
    return names + [f"{name}@hip_{version}" for name, version in
                    re.findall(r'^(?:SHORT|LONG)\((\w+),\s*"([\d.]+)"', functions, re.M)]


class Library(unittest.TestCase):
    def test_needs_libc_only(self):
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", LIBRARY)))
        self.assertIn("libc.so.6", needed)
        self.assertLessEqual(needed, ALLOWED_NEEDED)

    def test_exports_are_listed(self):
        patterns = listed()
        unlisted = {name for name in exported()
                    if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)}
        self.assertEqual(unlisted, set())

    def test_what_is_listed_is_exported(self):
        names = exported()
        missing = {pattern for pattern in listed() if not fnmatch.filter(names, pattern)}
        self.assertEqual(missing, set())

    def test_thread_data_needs_no_allocation(self):
        relocations = output("readelf", "-rW", LIBRARY)
        self.assertIn("Relocation section", relocations)
        self.assertNotIn("__tls_get_addr", relocations)
        self.assertNotIn("TLSDESC", relocations)

    def test_thread_data_is_small(self):
        """It is taken from the stack of every thread, which may have no more than 16 KiB."""
        (size,) = re.findall(r"^ *TLS +(?:0x\w+ +){4}(0x\w+)", output("readelf", "-lW", LIBRARY), re.M)
        self.assertTrue(0 < int(size, 16) <= 1024, f"{size}: see src/record/thread_room.h")


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer needs the sanitizer's own libraries")
    harness.main()
