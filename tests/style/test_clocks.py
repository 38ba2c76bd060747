#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests run beside each other, unless they say that they must not:

    # runs alone: it asserts how long sleeping takes
    # runs beside others: the times that it compares were all recorded

The first is for tests that a busy machine makes fail, or makes measure again; tests/meson.build reads it. Whoever
compares times says one or the other, with the reason."""

import ast
import os
import pathlib
import re
import unittest

import harness

TESTS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests"
ASSERTS = re.compile(r"assert(Less|Greater|AlmostEqual|_close)")
TIMES = re.compile(r"monotonic|perf_counter|time\.time|seconds|\bt(?:ook|aken)\b|\b[A-Z_]+_S\b|\w_ns\b|\d_000_000\b|\* NS\b")
TAG = re.compile(r"^# runs (?:alone|beside others): \S.*$", re.M)


def asserts_times(text):
    """Whether a call of an assertion that compares sizes has times in it, or a measurement may be repeated."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and
               (ASSERTS.match(call.func.attr) and TIMES.search(ast.unparse(call)) or
                ast.unparse(call.func) == "harness.attempts") for call in calls)


def complaint(text):
    tags = TAG.findall(text)
    if len(tags) > 1:
        return "says twice how it runs"
    if asserts_times(text) and not tags:
        return "asserts times: say '# runs alone: why' or '# runs beside others: why'"
    return None


class Clocks(unittest.TestCase):
    def test_who_asserts_times_says_how_it_runs(self):
        paths = sorted(TESTS.glob("*/test_*.py"))
        self.assertGreater(len(paths), 50)
        wrong = {path.name: complaint(path.read_text()) for path in paths}
        self.assertEqual({name: why for name, why in wrong.items() if why}, {})

    def test_some_run_alone(self):
        """As tests/meson.build looks for it."""
        texts = [path.read_text() for path in TESTS.glob("*/test_*.py")]
        self.assertTrue(any("\n# runs alone: " in text for text in texts))
        self.assertIn("'\\n# runs alone: '", (TESTS / "meson.build").read_text())

    def test_complaints(self):
        asserting = "class A:\n    def test(self):\n        self.assertLess(time.monotonic() - begin, 3)\n"
        self.assertIsNotNone(complaint(asserting))
        self.assertIsNotNone(complaint(asserting.replace("time.monotonic() - begin", "row['busy_ns']")))
        self.assertIsNotNone(complaint("for _ in harness.attempts(3):\n    pass\n"))
        self.assertIsNotNone(complaint("# runs alone: \n" + asserting))
        self.assertIsNotNone(complaint("# runs alone: a\n# runs beside others: b\n" + asserting))
        self.assertIsNone(complaint("# runs alone: it measures\n" + asserting))
        self.assertIsNone(complaint("class A:\n    def test(self):\n        self.assertLess(len(names), 3)\n"))


if __name__ == "__main__":
    harness.main()
