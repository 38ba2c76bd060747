#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checks of .clang-tidy exist, and find what they are for; tools/tidy fails where they find something. What they
find in the sources the stage tidy of tools/run-tests says."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FAULT = "int f(int x);\nint f(int x)\n{\n\tif (x);\n\t\treturn x == x;\n\treturn 0;\n}\n"


def tidy(*arguments):
    return subprocess.run([ROOT / "tools/tidy", *arguments], capture_output=True, text=True, cwd=ROOT)


class Tidy(unittest.TestCase):
    def test_every_check_exists(self):
        wanted = re.findall(r"^  ([a-z][\w.-]+),?$", (ROOT / ".clang-tidy").read_text(), re.M)
        self.assertGreater(len(wanted), 10)
        listed = subprocess.run(["clang-tidy", "--list-checks"], cwd=ROOT, capture_output=True, text=True).stdout.split()
        self.assertEqual(sorted(wanted), sorted(name for name in listed if "-" in name))

    def test_a_fault_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fault.c")
            path.write_text(FAULT)
            shutil.copy(ROOT / ".clang-tidy", folder)
            (pathlib.Path(folder) / "compile_commands.json").write_text(
                f'[{{"directory": "{folder}", "file": "fault.c", "command": "cc -c fault.c"}}]')
            done = tidy(folder, str(path))
            self.assertEqual(done.returncode, 1)
            self.assertIn("misc-redundant-expression", done.stdout)
            path.write_text(FAULT.replace("if (x);", "if (x)").replace("x == x", "x"))
            done = tidy(folder, str(path))
            self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_what_was_not_configured(self):
        self.assertEqual(tidy("no-such-folder").returncode, 1)


if __name__ == "__main__":
    if not shutil.which("clang-tidy"):
        harness.skip("clang-tidy is not installed: run tools/setup test")
    harness.main()
