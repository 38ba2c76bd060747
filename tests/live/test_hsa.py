#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that uses HSA without HIP, on the software AMD GPU: with its own profiling, and with a tools library of its
own."""

import shutil
import unittest
from collections import Counter

import amd
import harness
from amd import AmdTest, program
from support import query, run

COMMAND = program("hsa"), program("triple.co")


class Hsa(AmdTest):
    def test_operations(self):
        for ppm in ("0", "100"):
            result = self.run_both(*COMMAND, SOFT_AMD_PPM=ppm)
            self.assertEqual(result.stdout, "hsa: 0 wrong, 0 times wrong\n")
            kernels, executed = self.check_executed(result)
            self.check_times(kernels, executed)
            self.assertEqual(Counter((one["kind"], one["function"]) for one in self.operations(result)),
                             {("kernel", "AQL dispatch"): 60, ("copy_to_device", "hsa_amd_memory_async_copy"): 20,
                              ("copy_from_device", "hsa_amd_memory_async_copy"): 20})

    def test_own_profiling(self):
        """The program asks for times itself, and checks them."""
        result = self.run_both(*COMMAND, "profile")
        self.assertEqual(result.stdout, "hsa: 0 wrong, 0 times wrong\n")

    def test_waits(self):
        """Each wait is for the operation whose signal it names."""
        result = self.run_both(*COMMAND)
        rows = query(result.trace, "select w.function as awaited, count(*) as n from dependencies d "
                                   "join calls c on c.rowid = d.call join calls w on w.rowid = d.awaited_call "
                                   "where c.function = 'hsa_signal_wait_scacquire' group by 1 order by 1")
        self.assertEqual(rows, [{"awaited": "AQL dispatch", "n": 20},
                                {"awaited": "hsa_amd_memory_async_copy", "n": 40}])

    def test_own_tool(self):
        result = self.run_both(*COMMAND, HSA_TOOLS_LIB=program("tool.so"))
        self.assertEqual(result.stdout.splitlines()[0], "tool: loaded, 0 failed")
        self.assertEqual(result.stdout.splitlines()[-1], "tool: has seen calls")
        self.check_executed(result)

    def test_no_device(self):
        result = self.run_both(*COMMAND, SOFT_AMD_COUNT="0")
        self.assertEqual(result.returncode, 1)

    def test_no_thunk(self):
        result = self.run_both(*COMMAND, LD_LIBRARY_PATH="")
        self.assertEqual(result.returncode, 1)

    @unittest.skipUnless(shutil.which("rocminfo"), "there is no rocminfo")
    def test_rocminfo(self):
        """It looks for the driver itself, and says that there is none; it is the same traced."""
        self.assertNotEqual(run("rocminfo").stdout, "")
        self.run_both("rocminfo")


if __name__ == "__main__":
    amd.skip_without_amd()
    harness.main()
