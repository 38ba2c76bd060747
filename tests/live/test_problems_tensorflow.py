#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""TensorFlow programs with one problem each: the report names it first, and says what it costs (doc/problems.md)."""

import os

import harness
import tensorflow
from kernel import skip_unless_possible
from problems import ProblemsTest

PROGRAM = tensorflow.python_program("problems/with_tensorflow")


class TensorFlow(ProblemsTest):
    def test_host(self):
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "DISK": os.environ["BUILD_DIR"]}
        cases = self.diagnose_cases(
            [tensorflow.python_of(tensorflow.MAIN), PROGRAM, "generator", "fit", "py_function", "retrace_numbers",
             "retrace_shapes", "steady", "save", "predict"], env=environment, timeout=400)
        expected = {"generator": "input_bound", "fit": "input_bound", "py_function": "input_bound",
                    "retrace_numbers": "retracing", "retrace_shapes": "retracing", "save": "checkpoint",
                    "predict": "call_overhead"}
        for case, key in expected.items():
            with self.subTest(case):
                self.check_first(cases[case], key)
        for case in cases:
            with self.subTest(case):
                self.check_absent(cases[case], *set(expected.values()) - {expected.get(case), "input_bound"})
        self.check_absent(cases["steady"], "input_bound", "launch_bound", "synchronisation")
        stage = self.check_first(cases["generator"], "input_bound")
        self.assertEqual(stage["where"], "stage Generator")

    def test_device(self):
        cases = self.diagnose_cases([tensorflow.python_of(tensorflow.MAIN), PROGRAM, "numpy", "small", "on_host", "kernels",
                                     "feed"],
                                    env=tensorflow.soft_gpu(), timeout=400)
        expected = {"numpy": "synchronisation", "small": "launch_bound", "on_host": "ping_pong",
                    "kernels": "device_limit", "feed": "copies"}
        for case, key in expected.items():
            with self.subTest(case):
                if case in ("numpy", "feed"):  # how much the host does meanwhile depends on the machine
                    self.assertIn(key, [problem["key"] for problem in cases[case][0]][:2])
                else:
                    first = self.check_first(cases[case], key, exact=case not in ("on_host", "small"))
                if case == "small":  # the device works meanwhile, for up to a fifth of the time: that is no launch
                    self.assertGreater(first["time_ns"], 0.75 * cases[case][1] - self.disturbance(cases[case]) * cases[case][2])
                    self.assertLess(first["time_ns"], 1.1 * cases[case][1])
                self.check_absent(cases[case], *set(expected.values()) - {key, "device_limit", "copies"})


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
