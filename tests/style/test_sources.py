#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for every source file: licence line, length, no loose ends, listed for the build, format."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FOLDERS = ["include", "src", "soft", "tests", "tools", "examples", "bench"]
MAX_LINES = 700


def files(*patterns):
    for folder in FOLDERS:
        for pattern in patterns:
            yield from sorted((ROOT / folder).rglob(pattern))


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
        self.check(files("*.c", "*.h", "*.py"),
                   lambda _, text: f"longer than {MAX_LINES} lines"
                   if text.count("\n") > MAX_LINES else None)

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
    unittest.main()
