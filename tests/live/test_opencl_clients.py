#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Other people's OpenCL programs: each gives the same results with and without millrace, and all that they
launch is in the trace and joined to its call. Which of them run depends on what is installed."""

import re
import shutil
import sys
import unittest

import opencl
from opencl import LAUNCHES, OPTIONS, OpenclTest, by_correlation, operations_of
from support import count, manifest, run

PYTHONS = [python for python in ("/usr/bin/python3", sys.executable)
           if shutil.which(python) and run(python, "-c", "import pyopencl, numpy").returncode == 0]

PYOPENCL = """
import numpy, pyopencl
context = pyopencl.Context(pyopencl.get_platforms()[0].get_devices()[:1])
queue = pyopencl.CommandQueue(context)
data = numpy.arange(100000, dtype=numpy.float32)
source = pyopencl.Buffer(context, pyopencl.mem_flags.READ_ONLY | pyopencl.mem_flags.COPY_HOST_PTR, hostbuf=data)
target = pyopencl.Buffer(context, pyopencl.mem_flags.WRITE_ONLY, data.nbytes)
program = pyopencl.Program(context, '''
kernel void square(global const float *source, global float *target)
{
    int i = get_global_id(0);
    target[i] = source[i] * source[i];
}''').build()
square = program.square
result = numpy.empty_like(data)
for _ in range(20):
    square(queue, data.shape, None, source, target)
    pyopencl.enqueue_copy(queue, result, target)
print(result.sum(), (result == data * data).all())
"""


def needs(name):
    return unittest.skipUnless(shutil.which(name), f"{name} is not installed")


class Clients(OpenclTest):
    def check_complete(self, result):
        """Nothing was lost, and what was launched successfully has been done."""
        self.assertEqual(manifest(result.trace)["losses"]["events"], 0)
        events = self.read(result)
        operations = operations_of(events)
        for key, launch in by_correlation(events, *LAUNCHES).items():
            if launch["fields"]["result"] == 0:
                self.assertIn(key, operations, launch)
        return events

    @needs("clinfo")
    def test_clinfo(self):
        result = self.run_both("clinfo")
        self.assertGreater(count(self.check_complete(result), "runtime_call"), 50)

    def test_pyopencl(self):
        """Debian's, which uses the system's loader, and PyPI's, which brings its own."""
        if not PYTHONS:
            self.skipTest("pyopencl is not installed (package python3-pyopencl)")
        for python in PYTHONS:
            events = self.check_complete(self.run_both(python, "-c", PYOPENCL))
            names = [operation["names"].get("name") for operation in operations_of(events).values()]
            self.assertEqual(names.count("square"), 20)

    @needs("clpeak")
    def test_clpeak(self):
        """Measures, so its numbers differ; its words do not."""
        command = ["clpeak", "--kernel-latency"]
        alone = run(*command)
        recorded = self.record(*command, options=OPTIONS)
        self.assertEqual(recorded.returncode, alone.returncode)
        self.assertEqual(re.sub(r"[\d.]+", "", recorded.stdout), re.sub(r"[\d.]+", "", alone.stdout))
        self.assertGreater(count(self.check_complete(recorded), "device_operation"), 100)

    @needs("hashcat")
    def test_hashcat(self):
        """Finds a word by trying all of five letters."""
        hello = "5d41402abc4b2a76b9719d911017c592"
        # HIP's compiler and PoCL's cannot live in one process: hashcat aborts, with and without us.
        result = self.record("hashcat", "--backend-ignore-hip", "--backend-ignore-cuda", "--force",
                             "--potfile-disable", "--opencl-device-types=1", "--quiet",
                             "--session=millrace-test", "--hash-type=0", "--attack-mode=3", hello,
                             "?l?l?l?l?l", options=OPTIONS, cwd=self.folder, timeout=400)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, f"{hello}:hello"), result.stderr)
        self.assertGreater(count(self.check_complete(result), "device_operation"), 100)


if __name__ == "__main__":
    opencl.main()
