#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the stand-in's times are compared within the bounds that its clock states
"""`millrace doctor --gpu-check` on a stand-in for CUDA: it finds nothing that differs, and notices what does."""

import os

import cuda
from support import MILLRACE, run


class GpuCheck(cuda.CudaTest):
    def check(self, folder, **changes):
        return run(MILLRACE, "doctor", "--gpu-check", cwd=self.folder,
                   env={**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": folder, **changes})

    def test_all(self):
        result = self.check(cuda.stand_ins(cuda.versions()[0]))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        lines = [line for line in result.stdout.splitlines() if line.startswith("  ")]
        self.assertGreater(len(lines), 12)
        self.assertTrue(all(line.startswith("  ok ") for line in lines), result.stdout)
        self.assertIn("  ok       device kernels: 64", lines)

    def test_differences(self):
        """Another tool in our place: nothing is as it should be."""
        result = self.check(cuda.stand_ins(cuda.versions()[0]), CUDA_INJECTION64_PATH=self.path("another.so"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("  differs  device kernels: 0, expected 64", result.stdout)

    def test_no_gpu(self):
        folder = self.path("empty")
        os.mkdir(folder)
        result = self.check(folder)
        if "There is no GPU" not in result.stdout:
            self.skipTest("there is a libcuda on this machine")
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    cuda.main()
