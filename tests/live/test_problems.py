#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Programs with one problem each: the report names it first, and says what it costs (doc/problems.md)."""

import os
import sys
import unittest

import harness
from kernel import skip_unless_possible
from problems import ProblemsTest
from support import program

SOURCE = os.environ["SOURCE_DIR"]
PLAIN = os.path.join(SOURCE, "tests/live/programs/problems/plain.py")


class Python(ProblemsTest):
    def test_input(self):
        cases = self.diagnose_cases([sys.executable, PLAIN, "input_thread", "input_condition", "input_process",
                                     "worker", "idle_worker"])
        for case in ("input_thread", "input_condition", "input_process"):
            with self.subTest(case):
                self.check_first(cases[case], "input_bound")
                self.check_absent(cases[case], "lock_contention")
        for case in ("worker", "idle_worker"):
            with self.subTest(case):
                self.check_absent(cases[case], "input_bound")

    def test_workers(self):
        cases = self.diagnose_cases([sys.executable, PLAIN, "slow_process", "slow_thread", "slow_peer", "even_processes",
                                     "even_peers", "pool"])
        for case in ("slow_process", "slow_thread", "slow_peer"):
            with self.subTest(case):
                self.check_first(cases[case], "slow_worker")
        for case in ("even_processes", "even_peers"):
            self.check_absent(cases[case], "slow_worker", "input_bound")
        self.check_first(cases["pool"], "waiting")
        self.check_absent(cases["pool"], "slow_worker")
        # The pool's own threads hand results on. Kept from a CPU, one of them looks as if it gave input, for a moment.
        problems, _, wall = cases["pool"]
        self.assertLess(sum(each["time_ns"] for each in problems if each["key"] == "input_bound"), wall / 10)

    def test_waiting(self):
        cases = self.diagnose_cases([sys.executable, PLAIN, "request", "child", "worker", "idle_worker"])
        for case in ("request", "child", "worker"):
            with self.subTest(case):
                self.check_first(cases[case], "waiting")
                self.check_absent(cases[case], "input_bound", "lock_contention")
        self.check_absent(cases["idle_worker"], "waiting", "slow_worker")

    def test_locks(self):
        cases = self.diagnose_cases([sys.executable, PLAIN, "lock", "held_lock", "held_condition"])
        for case in cases:
            with self.subTest(case):
                problem = self.check_first(cases[case], "lock_contention")
                self.assertRegex(problem["why"], r"waits .* for a lock \(plain\.py:\d+ \w+.*\).* holds it and mostly ")

    def test_interpreter(self):
        cases = self.diagnose_cases([sys.executable, PLAIN, "python", "idle_worker", "gil"])
        for case in ("python", "idle_worker"):
            with self.subTest(case):
                self.check_first(cases[case], "python_bound")
                self.check_absent(cases[case], "gil_bound")
        # A thread that has got the lock may still wait for a CPU, which is no wait for the lock.
        problem = self.check_first(cases["gil"], "gil_bound", exact=False)
        self.assertGreater(problem["time_ns"], cases["gil"][1] / 2)
        self.assertLess(problem["time_ns"], cases["gil"][1] * 1.1)
        self.assertRegex(problem["why"], r"has it, and runs plain\.py:\d+ (gil\.<locals>\.)?count")

    def test_files(self):
        environment = {**os.environ, "DISK": os.environ["BUILD_DIR"]}
        cases = self.diagnose_cases([sys.executable, PLAIN, "checkpoint", "python"], env=environment)
        self.check_first(cases["checkpoint"], "checkpoint", exact=False)
        self.check_absent(cases["python"], "checkpoint", "input_bound")


@unittest.skipUnless(os.path.exists(program("problems_opencl")), "there is no OpenCL")
class OpenCL(ProblemsTest):
    def test_device(self):
        cases = self.diagnose_cases([program("problems_opencl"), "device", "finish", "tiny", "bounce", "upload", "download",
                                     "full"])
        self.check_first(cases["device"], "device_limit")
        self.check_first(cases["finish"], "synchronisation")
        tiny = self.check_first(cases["tiny"], "launch_bound", exact=False)
        self.assertGreater(tiny["time_ns"], cases["tiny"][1] / 2)  # all but what the device works meanwhile
        self.assertLessEqual(tiny["time_ns"], cases["tiny"][1] * 1.1)
        self.check_first(cases["bounce"], "ping_pong")
        full = self.check_first(cases["full"], "memory_peak", exact=False)
        self.assertIn("clCreateBuffer returned -61", full["why"])
        self.assertEqual(full["title"], "Allocations fail")
        for case in ("device", "finish", "tiny", "bounce", "upload", "download"):
            self.check_absent(cases[case], "memory_peak")
        for case in ("upload", "download"):
            copies = self.check_first(cases[case], "copies")
            self.assertIn("The same 64.0 MiB are copied 25 times", copies["why"])
        for case in ("device", "finish", "tiny"):
            self.check_absent(cases[case], "copies")
        for case in ("device", "tiny"):
            self.check_absent(cases[case], "synchronisation")
        for case in ("device", "finish", "bounce"):
            self.check_absent(cases[case], "launch_bound")
        for case in ("device", "finish", "tiny"):
            self.check_absent(cases[case], "ping_pong")


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
