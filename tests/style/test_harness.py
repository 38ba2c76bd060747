#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How Python tests end: made-up test programs, one for each way; and no test program ends otherwise."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import harness

TESTS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests"
HEAD = "import unittest\nimport harness\n\n\n"
TAIL = "\n\nif __name__ == '__main__':\n    harness.main()\n"
SKIPPED_CLASS = "@unittest.skip('no such\\n file')\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n"
PASSED_CLASS = "class B(unittest.TestCase):\n    def test_b(self):\n        pass\n"
FAILED_CLASS = "class C(unittest.TestCase):\n    def test_c(self):\n        self.fail()\n"
SKIPPED_SETUP = ("class D(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n"
                 "        raise unittest.SkipTest('no device')\n    def test_d(self):\n        pass\n")


def run(text):
    """Exit status and standard output of a test program."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "test_made_up.py")
        path.write_text(HEAD + text + TAIL)
        done = subprocess.run([sys.executable, "-B", path], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


def how_it_ends(text):
    """A complaint about the source of a test program, or None."""
    if re.search(r"\bunittest\.main\b|\bSKIPPED\b|exit\(77\)", text):
        return "ends without tests/harness.py"
    return None if re.search(r"\b(harness|opencl|cuda)\.main\(|^ +main\(\)$|\brun_as_test\(", text, re.M) else "runs no tests"


class Endings(unittest.TestCase):
    def test_all_pass(self):
        self.assertEqual(run(PASSED_CLASS), (0, ""))

    def test_a_skipped_class_is_a_skip(self):
        for text, why in (SKIPPED_CLASS, "no such file"), (SKIPPED_SETUP, "no device"):
            status, output = run(text)
            self.assertEqual(status, 77)
            self.assertEqual(output.splitlines()[-1], f"skipped: {why}")

    def test_skips_in_part_are_printed(self):
        self.assertEqual(run(SKIPPED_CLASS + PASSED_CLASS), (0, "skipped A.test_a: no such file\n"))

    def test_a_failure_beside_skips(self):
        self.assertEqual(run(SKIPPED_CLASS + FAILED_CLASS)[0], 1)

    def test_no_tests(self):
        self.assertEqual(run(""), (1, "failed: there are no tests\n"))

    def test_skip(self):
        self.assertEqual(run("harness.skip('there is\\n nothing')\n"), (77, "skipped: there is nothing\n"))


class Attempts(unittest.TestCase):
    def measure(self, good_at):
        text = f"for left in harness.attempts(4):\n    if left == {good_at}:\n        break\n"
        return run(text + PASSED_CLASS)[1]

    def test_repetitions_are_printed(self):
        self.assertEqual(self.measure(3), "repeated 0 of 3\n")
        self.assertEqual(self.measure(1), "repeated 2 of 3\n")
        self.assertEqual(self.measure(-1), "repeated 3 of 3\n")


class Sources(unittest.TestCase):
    def test_every_program_ends_so(self):
        paths = sorted(TESTS.glob("*/test_*.py")) + sorted(TESTS.glob("live/programs/soft_[dmov]*.py"))
        self.assertGreater(len(paths), 50)
        wrong = {path.name: how_it_ends(path.read_text()) for path in paths if path.name != "test_harness.py"}
        self.assertEqual({name: why for name, why in wrong.items() if why}, {})

    def test_every_repetition_is_counted(self):
        loops = r"for \w+ in (?:reversed\()?range\((?:\w+\.)?ATTEMPTS"
        paths = sorted(TESTS.glob("*/*.py"))
        self.assertEqual([path.name for path in paths if re.search(loops, path.read_text())], [])
        self.assertTrue(any("harness.attempts(" in path.read_text() for path in paths))

    def test_complaints(self):
        self.assertIsNotNone(how_it_ends("unittest.main()"))
        self.assertIsNotNone(how_it_ends("harness.main()\nsys.exit(77)"))
        self.assertIsNotNone(how_it_ends("class A:\n    pass\n"))
        self.assertIsNone(how_it_ends("harness.main()"))


if __name__ == "__main__":
    harness.main()
