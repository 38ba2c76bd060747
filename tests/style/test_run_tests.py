#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How tools/run-tests reports results: none may be lost, and nothing that did not run may count as passed."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import re
import tempfile
import unittest

import harness

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])


def load(path):
    """A program as a module."""
    loader = importlib.machinery.SourceFileLoader("run_tests", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    loader.exec_module(module)
    return module


run_tests = load(ROOT / "tools/run-tests")


def result(name, verdict, output="", seconds=1.0):
    return run_tests.Result("gcc", name, verdict, seconds, output)


def tell(*results):
    """Exit status, and the lines that are printed."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = run_tests.tell(list(results), 100)
    return status, printed.getvalue().splitlines()


class Summary(unittest.TestCase):
    def test_all_pass(self):
        status, lines = tell(result("a", "OK"), result("b", "OK"))
        self.assertEqual((status, lines[-1]), (0, "2 passed, 0 failed, 0 skipped"))

    def test_whatever_is_no_success_is_a_failure(self):
        for verdict in ("FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS", "something new"):
            status, lines = tell(result("a", "OK"), result("b", verdict))
            self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
            self.assertIn(f"failed: gcc b: {verdict}", lines)

    def test_what_fails_once_is_named(self):
        first = [result("a", "FAIL"), result("b", "TIMEOUT"), result("c", "OK"), result("d", "SKIP")]
        again = [result("a", "OK"), result("b", "FAIL"), result("d", "OK")]
        status, lines = tell(*run_tests.with_second_verdicts(first, again))
        self.assertIn("failed once, passed when run again: gcc a", lines)
        self.assertIn("failed: gcc b: TIMEOUT", lines)
        self.assertEqual((status, lines[-1]), (1, "2 passed, 1 failed, 1 skipped"))
        self.assertEqual(run_tests.with_second_verdicts(first, []), first)

    def test_skips_have_reasons(self):
        _, lines = tell(result("a", "SKIP", "skipped: no device\nOK (skipped=1)\n"), result("b", "SKIP"))
        self.assertIn("skipped: gcc a: no device", lines)
        self.assertIn("skipped: gcc b: no reason given", lines)
        self.assertEqual(lines[-1], "0 passed, 0 failed, 2 skipped")

    def test_skips_in_part(self):
        _, lines = tell(result("a", "OK", "skipped A.test_x: no root\nskipped A.test_y: no root\n"))
        self.assertIn("skipped in part: gcc a: A.test_y: no root", lines)
        self.assertEqual(lines[-1], "1 passed, 0 failed, 0 skipped, 2 more in part")

    def test_repetitions(self):
        _, lines = tell(result("a", "OK", "repeated 2 of 7\nrepeated 0 of 7\n"), result("b", "OK", "repeated 0 of 3\n"))
        self.assertIn("repeated: gcc a: 2 times of at most 7", lines)
        self.assertIn("3 measurements were repeated 2 times", lines)

    def test_the_slowest(self):
        _, lines = tell(*(result(f"t{i}", "OK", seconds=i) for i in range(30)))
        begin = lines.index("the slowest:") + 1
        self.assertEqual([line.split()[-1] for line in lines[begin:begin + 10]], [f"t{i}" for i in range(29, 19, -1)])
        self.assertIn("gcc: 0 s building, 435 s in tests", lines)


class Reading(unittest.TestCase):
    def test_log_of_meson(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "together.json")
            self.assertEqual(run_tests.read_results(log, "gcc"), [])
            log.write_text(json.dumps({"name": "millrace:live+alone / test_x", "result": "OK", "duration": 2.5,
                                       "stdout": "a\n", "stderr": "b\n"}) + "\n")
            self.assertEqual(run_tests.read_results(log, "gcc"),
                             [run_tests.Result("gcc", "test_x", "OK", 2.5, "a\nb\n")])


class Stages(unittest.TestCase):
    def test_no_test_is_forgotten(self):
        """Every folder of tests is a suite of some stage."""
        suites = {suite for stage in run_tests.STAGES.values() for suite in stage.suites}
        folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.*")}
        self.assertGreater(len(folders), 5)
        self.assertLessEqual(folders, suites)

    def test_what_is_fast_runs_beside_others(self):
        """In `make check` a live test that runs alone would be left out, as are all others of its suite."""
        fast = re.search(r"^fast = \[(.*)\]$", (ROOT / "tests/meson.build").read_text(), re.M)[1]
        names = re.findall(r"'(\w+)'", fast)
        self.assertGreater(len(names), 3)
        for name in names:
            self.assertNotIn("\n# runs alone: ", (ROOT / f"tests/live/{name}.py").read_text(), name)

    def test_make_knows_them(self):
        makefile = (ROOT / "Makefile").read_text()
        called = re.findall(r"tools/run-tests (\w+)", makefile)
        self.assertIn("check", called)
        self.assertLessEqual(set(called), set(run_tests.STAGES))


if __name__ == "__main__":
    harness.main()
