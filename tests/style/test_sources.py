#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for every source file: licence line, length, no loose ends, listed for the build, format."""

import os
import pathlib
import re
import subprocess
import unittest

import harness

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FOLDERS = ["include", "src", "soft", "ui", "tests", "tools", "examples", "bench"]
MAX_LINES = 500
# One file on purpose: what programs include, or copy.
MAY_BE_LONGER = {ROOT / "include/millrace.h"}


def files(*patterns):
    for folder in FOLDERS:
        for pattern in patterns:
            yield from sorted((ROOT / folder).rglob(pattern))


def too_long(path, text):
    """Why the file is too long, or None."""
    lines = len(text.splitlines())
    return f"{lines} lines, more than {MAX_LINES}" if lines > MAX_LINES and path not in MAY_BE_LONGER else None


class Sources(unittest.TestCase):
    def check(self, paths, complaint):
        """`complaint` gives a reason or None for each path's text."""
        wrong = []
        for path in paths:
            reason = complaint(path, path.read_text())
            if reason:
                wrong.append(f"{path.relative_to(ROOT)}: {reason}")
        self.assertEqual(wrong, [])

    def test_licence_line(self):
        """What is loaded into the kernel has a second licence, and nothing else has."""
        def complaint(path, text):
            wanted = "Apache-2.0 OR GPL-2.0-only" if path in in_kernel else "Apache-2.0"
            found = re.findall(r"SPDX-License-Identifier: ([^*\n]*[^* \n])", "\n".join(text.splitlines()[:3]))
            return None if found == [wanted] else f"licence {found}, not {wanted}"

        kernel = ROOT / "src/kernel"
        in_kernel = {*kernel.glob("*.bpf.[ch]"), kernel / "kernel_types.h", kernel / "records.h"}
        self.check(files("*.c", "*.h", "*.def", "*.py", "*.build"), complaint)
        self.assertIn('SEC("license") = "GPL"', (kernel / "millrace.bpf.c").read_text())

    def test_length(self):
        paths = list(files("*.c", "*.h", "*.py", "*.js"))
        self.assertEqual({path.suffix for path in paths}, {".c", ".h", ".py", ".js"})
        self.assertEqual({path.relative_to(ROOT).parts[0] for path in paths}, set(FOLDERS))
        self.check(paths, too_long)

    def test_length_is_limited(self):
        path = ROOT / "src/base/error.c"
        self.assertIsNone(too_long(path, "line\n" * MAX_LINES))
        self.assertIsNotNone(too_long(path, "line\n" * (MAX_LINES + 1)))
        self.assertIsNotNone(too_long(path, "line\n" * MAX_LINES + "and one without an end"))

    def test_no_loose_ends(self):
        words = "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"))
        self.check(files("*.c", "*.h", "*.def", "*.py", "*.build"),
                   lambda _, text: "a loose end" if re.search(rf"\b({words})\b", text) else None)

    def test_every_source_is_built(self):
        def complaint(path, _):
            if path.name == "main.c":
                return None
            listed = (path.parent / "meson.build").read_text()
            return None if f"'{path.name}'" in listed else "not in its folder's meson.build"

        self.check(sorted((ROOT / "src").glob("*/*.c")), complaint)

    def test_format(self):
        result = subprocess.run([ROOT / "tools/format", "--check"], capture_output=True, text=True)
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.M)))
        self.assertEqual((wrong, result.returncode), ([], 0), result.stderr[-2000:])


if __name__ == "__main__":
    harness.main()
