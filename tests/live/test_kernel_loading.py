#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loading the kernel level when the kernel refuses something: programs are loaded in two halves at once; where one fails,
all of them are loaded as one object. A preloaded library (bpf_fault.c) makes single calls of bpf() fail."""

import collections
import errno
import os
import shutil
import subprocess

import harness
from kernel import Trace, skip_unless_possible
from support import MILLRACE, LiveTest, manifest, preload, run


class Loading(LiveTest):
    def record(self, **fault):
        """Returns how often each program was loaded, and the manifest's words."""
        trace, log = self.path("trace.mill"), self.path("log")
        shutil.rmtree(trace, ignore_errors=True)
        if os.path.exists(log):
            os.unlink(log)
        faults = {f"BPF_FAULT_{key.upper()}": str(value) for key, value in fault.items()}
        result = run(MILLRACE, "record", "-q", "-o", trace, "--levels=kernel", "--", "/bin/echo", "ran",
                     env={**os.environ, **faults, "LD_PRELOAD": preload("bpf_fault"), "BPF_FAULT_LOG": log})
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n"), result.stderr)
        with open(log) as file:
            self.calls = [line.split() for line in file]
        loads = collections.Counter(name for name, error in self.calls if name.startswith("on_") and error == "0")
        return loads, manifest(trace)["kernel_level"]

    def check_complete(self, level):
        self.assertEqual((level["mode"], level["off"]), ("bpf", []), level["reason"])
        events = Trace(self.path("trace.mill"))
        self.assertEqual(len(events.of("kernel_exec")), 1)
        self.assertGreater(events.count("kernel_syscall", "kernel_syscall_argument"), 10)
        self.assertGreater(events.count("kernel_switch"), 0)

    def setUp(self):
        super().setUp()
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("with one CPU there are no halves")
        loads, level = self.record()
        self.check_complete(level)
        self.assertEqual((loads["on_waking"], loads["on_switch"]), (1, 1), "each program is loaded once")
        self.usual = loads  # by the first fifteen letters of their names

    def check_one_object(self, **fault):
        loads, level = self.record(first=1, **fault)
        refused = [name for name, error in self.calls if error == str(fault["error"])]
        self.assertEqual(refused.count(fault["name"]), fault["count"], self.calls)
        self.check_complete(level)
        self.assertEqual(set(loads), set(self.usual))
        return loads

    def test_half_fails(self):
        """A program is refused: all are loaded again, as one object. libbpf itself tries twice."""
        loads = self.check_one_object(name="on_waking", count=2, error=errno.EINVAL)
        self.assertEqual((loads["on_waking"], loads["on_switch"]), (1, 2))

    def test_refused_once(self):
        loads = self.check_one_object(name="on_waking", count=1, error=errno.EINVAL)
        self.assertEqual(loads, self.usual, "libbpf has tried again")

    def test_common_map_fails(self):
        loads = self.check_one_object(name="requests", count=1, error=errno.ENOMEM)
        self.assertEqual(loads, self.usual, "the halves were not begun")

    def test_one_cpu(self):
        trace = self.path("one.mill")
        cpu = min(os.sched_getaffinity(0))
        result = subprocess.run([MILLRACE, "record", "-q", "-o", trace, "--levels=kernel", "--", "/bin/true"],
                                preexec_fn=lambda: os.sched_setaffinity(0, {cpu}), check=False)
        self.assertEqual(result.returncode, 0)
        level = manifest(trace)["kernel_level"]
        self.assertEqual((level["mode"], level["off"]), ("bpf", []))

    def test_any_call_fails(self):
        """Whichever call fails, the program runs; and where the kernel level does not, the manifest says why."""
        count = len(self.calls)
        for which in range(1, count + 1, max(count // 12, 1)):
            _, level = self.record(first=which, count=1, error=errno.EPERM)
            if level["mode"] != "bpf":
                self.assertTrue(level["reason"], which)


if __name__ == "__main__":
    skip_unless_possible()
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
