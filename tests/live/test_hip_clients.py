#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it looks at what there is, not at how long things take
"""What Debian has that uses HIP or HSA: rocminfo, rocRAND and rocSPARSE, on the software AMD GPU. They say the same alone and
traced, and their device kernels have names. The software GPU does not compute what those would."""

import os
import pathlib
import shutil
import sys
import unittest
from collections import Counter

import amd
import harness
from amd import AmdTest, program
from support import MILLRACE, query, run

LIBRARIES = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/live/programs/hip/libraries.py"


def is_there(library):
    """Without loading it: rocSPARSE has a gigabyte."""
    return any(library in line for line in run("ldconfig", "-p", env={**os.environ, "PATH": "/usr/sbin:/sbin:/usr/bin"})
               .stdout.splitlines())


class Clients(AmdTest):
    def check_library(self, name, kernels):
        result = self.run_both(sys.executable, LIBRARIES, name)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line for line in result.stdout.splitlines() if not line.endswith(" 0")], [])
        self.check_executed(result)
        operations = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual({one["function"] for one in operations}, {"hipLaunchKernel"})
        found = Counter(kernel for kernel in kernels for one in operations if kernel in one["name"])
        self.assertEqual(found, kernels)
        self.assertEqual(len(operations), sum(kernels.values()))

    @unittest.skipUnless(is_there("librocrand.so.1"), "there is no rocRAND (package librocrand1)")
    def test_rocrand(self):
        self.check_library("rocrand", {"init_engines_kernel": 1, "generate_kernel": 3})

    @unittest.skipUnless(is_there("librocsparse.so.0"), "there is no rocSPARSE (package librocsparse0, 1.3 GB)")
    def test_rocsparse(self):
        self.check_library("rocsparse", {"init_kernel": 1, "axpyi_kernel": 1})

    @unittest.skipUnless(shutil.which("rocminfo"), "there is no rocminfo")
    def test_rocminfo(self):
        """It asks lsmod for the driver, and opens the driver's file."""
        tool = self.path("lsmod")
        pathlib.Path(tool).write_text("#!/bin/sh\necho amdgpu 1 0\n")
        os.chmod(tool, 0o755)
        result = self.run_both("rocminfo", PATH=f"{self.folder}:{os.environ['PATH']}", LD_PRELOAD=program("driver.so"))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("gfx900", result.stdout)
        calls = {one["function"] for one in query(result.trace, "select distinct function from calls")}
        self.assertLessEqual({"hsa_iterate_agents", "hsa_agent_get_info"}, calls)


class Absent(AmdTest):
    """Where HSA finds nothing to work with, programs do the same as ever, and the trace says why it is empty."""

    def report(self, *command, **environment):
        result = self.run_both(*command, **environment)
        self.assertNotEqual(result.returncode, 0)
        return " ".join(run(MILLRACE, "report", "--whole", result.trace).stdout.split())

    def test_no_driver(self):
        """Debian's own thunk fails, and with it hsa_init()."""
        self.assertIn("could not hook HSA, which HIP could not start", self.report(program("ways"), "graph", LD_LIBRARY_PATH=""))

    def test_no_device(self):
        self.assertIn("could not hook a GPU: HSA has found none",
                      self.report(program("hsa"), program("triple.co"), SOFT_AMD_COUNT="0"))


if __name__ == "__main__":
    amd.skip_without_amd()
    harness.main()
