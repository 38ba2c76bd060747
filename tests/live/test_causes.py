#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why a device was idle, in truth: a program described by millrace.h keeps its device idle for a reason that it knows,
step by step. The report must name that reason first, with the right culprit, in its table, in its words and on the
critical path, and its time must be what the kernel's own accounting of the thread says."""

import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from kernel import ATTEMPTS, KernelTest, parse_truth, skip_unless_possible
from support import MILLRACE, SKIPPED, program, run

STEPS = 30
SHARE = 0.05
FILE_BYTES = 6 * (4 << 20)  # what is read in each step


def running(step):
    return step["cpu"]


def delayed(step):
    return step["delay"]


def blocked(step):
    return step["wall"] - step["cpu"] - step["delay"]


def is_close(found_ns, truth_ns):
    return abs(found_ns - truth_ns) <= truth_ns * SHARE


class Causes(KernelTest):
    def measure(self, truth_of, *arguments):
        """What the report says of a run, and what the program itself says of each step."""
        shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
        result = self.record(program("causes"), *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        steps = [truth_of(step) for step in parse_truth(result.stdout, "step")]
        self.assertEqual(len(steps), STEPS)
        report = json.loads(run(MILLRACE, "report", "--json", result.trace).stdout)
        device, = report["devices"]
        self.assertEqual(sum(row["ns"] for row in device["idle_causes"]), device["idle_ns"])
        path = report["critical_path"]
        self.assertEqual(sum(row["ns"] for row in path["shares"]), path["span_ns"])
        return device["idle_causes"], path["shares"], steps

    def complaint(self, cause, culprit, on_path, measured):
        """What is wrong with a report; None if nothing is. The device's life begins with its first operation: what
        came before counts on the critical path alone."""
        causes, shares, steps = measured
        first = causes[0]
        if first["cause"] != cause or not re.fullmatch(culprit, first["culprit"]):
            return f"the first cause is {first}"
        found_ns = sum(row["ns"] for row in causes if row["cause"] == cause)
        if not is_close(found_ns, sum(steps[1:])):
            return f"{found_ns} ns of idle time, in truth {sum(steps[1:])} ns"
        found_ns = sum(row["ns"] for row in shares if re.match(on_path, row["what"]))
        if not is_close(found_ns, sum(steps)):
            return f"{found_ns} ns on the critical path, in truth {sum(steps)} ns"
        return None

    def check(self, cause, culprit, words, truth_of, *arguments, on_path=None):
        """Again, if the machine is too busy to tell."""
        for _ in range(ATTEMPTS):
            measured = self.measure(truth_of, *arguments)
            complaint = self.complaint(cause, culprit, on_path or f"{cause}: ", measured)
            if not complaint:
                break
        self.assertIsNone(complaint, measured)
        self.check_words(cause, words)

    def check_words(self, cause, words):
        """The largest causes on the first page, and the sentence about the device's idle time, begin with it."""
        text = run(MILLRACE, "report", self.path("trace.mill")).stdout
        self.assertRegex(text, rf"The largest causes:\n +of .*\n +idle time +{cause} ")
        said = " ".join(text.split("Why devices were idle")[1].split())
        self.assertRegex(said, rf"^- wheel was idle [^:]+: [^;]*{words}", text)

    def test_sleep(self):
        self.check("sleep", r"thread \d+ 'live_causes'", r"thread \d+ 'live_causes' was asleep", blocked, "sleep")

    def test_disk(self):
        path = self.make_file("data", FILE_BYTES)
        self.check("disk", re.escape(path), rf"waited for the disk \({re.escape(path)}\), in pread64", blocked,
                   "disk", path)

    def test_lock(self):
        """On the critical path is what the holder did."""
        self.check("lock", r"thread \d+ 'holder', asleep",
                   r"waited at a lock for thread \d+ 'holder', which was asleep", blocked, "lock",
                   on_path=r"sleep: thread \d+ 'holder'")

    def test_launch(self):
        self.check("launch", "submit", r"was launching the next operation \(submit\)", running, "launch")

    def test_preempt(self):
        """By a process that has nothing to do with the traced one."""
        cpu = str(max(os.sched_getaffinity(0)))
        with subprocess.Popen([program("causes"), "intrude", cpu]) as intruder:
            try:
                self.check("preempted", r"'intruder' threads \(not traced\)",
                           r"waited for a CPU that 'intruder' threads \(not traced\) had", delayed, "preempt", cpu,
                           on_path="preempted: .*'intruder'")
            finally:
                intruder.kill()


if __name__ == "__main__":
    skip_unless_possible()
    if os.environ.get("SANITIZED"):
        print("skipped: a sanitized library cannot be preloaded")
        sys.exit(SKIPPED)
    unittest.main()
