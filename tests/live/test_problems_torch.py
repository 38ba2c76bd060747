#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""PyTorch programs with one problem each: the report names it first, and says what it costs (doc/problems.md)."""

import os

import harness
from kernel import skip_unless_possible
from problems import ProblemsTest
from traced_torch import ENVIRONMENT, PYTHON, SOURCE, TIMEOUT

PROGRAM = os.path.join(SOURCE, "tests", "live", "programs", "problems", "with_torch.py")
EXPECTED = {"loader": "input_bound", "workers": "input_bound", "python": "python_bound", "save": "checkpoint",
            "again": "call_overhead"}


class Torch(ProblemsTest):
    def test_host(self):
        cases = self.diagnose_cases([PYTHON, PROGRAM, *EXPECTED, "steady"],
                                    env={**ENVIRONMENT, "DISK": os.environ["BUILD_DIR"]}, timeout=TIMEOUT)
        for case, key in EXPECTED.items():
            with self.subTest(case):
                # How much of writing is the disk's depends on the machine, and how much of starting a process the kernel's.
                self.check_first(cases[case], key, exact=case not in ("save", "again"))
                self.check_absent(cases[case], *set(EXPECTED.values()) - {key, "python_bound"})
        self.check_absent(cases["steady"], *EXPECTED.values())
        self.check_remedies(cases)

    def check_remedies(self, cases):
        """In PyTorch's own words; what workers make ahead is not called serial."""
        serial, parallel = (self.check_first(cases[case], "input_bound") for case in ("loader", "workers"))
        for problem in serial, parallel:
            self.assertIn("num_workers=N", problem["remedy"])
            self.assertEqual(problem["where"], "stage DataLoader")
            self.assertRegex(problem["why"], r"is in Slow\.__getitem__, most at with_torch\.py:\d+\.$")
        self.assertIn("serial", serial["why"])
        self.assertNotIn("serial", parallel["why"])
        self.assertIn("torch.compile", self.check_first(cases["python"], "python_bound")["remedy"])


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
