#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Why a device was idle, in truth: a program described by millrace.h keeps its device idle for a reason that it knows,
step by step. The report must name that reason first, with the right culprit, in its table, in its words and on the
critical path, and its time must be what the kernel's own accounting of the thread says."""

import json
import os
import re
import shutil
import subprocess

import harness
from kernel import (ATTEMPTS, WANTS_CPU, KernelTest, bounds_of_blocked, bounds_of_delay, bounds_of_running, is_within,
                    parse_truth, skip_unless_possible)
from support import MILLRACE, program, run

STEPS = 30
SHARE = 0.05
FILE_BYTES = 6 * (4 << 20)  # what is read in each step


def bounds_of_intrusion(truth, wanted_ns):
    """Others may have taken the CPU between the times that were measured, too."""
    least, _ = bounds_of_delay(truth, wanted_ns)
    return least, least + truth["delay_before"]


def total(steps):
    """The sum of what the program said of steps, by what it is."""
    return {key: sum(step[key] for step in steps) for key in steps[0]}


class Causes(KernelTest):
    def measure(self, *arguments):
        """What the report says of a run, and what the program itself says of each step."""
        shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
        result = self.record(program("causes"), *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        steps = parse_truth(result.stdout, "step")
        self.assertEqual(len(steps), STEPS)
        report = json.loads(run(MILLRACE, "report", "--whole", "--json", result.trace).stdout)
        device, = report["devices"]
        self.assertEqual(sum(row["ns"] for row in device["idle_causes"]), device["idle_ns"])
        path = report["critical_path"]
        self.assertEqual(sum(row["ns"] for row in path["shares"]), path["span_ns"])
        return device["idle_causes"], path["shares"], steps

    def complaint(self, cause, culprit, on_path, on_path_most, bounds_of, measured):
        """What is wrong with a report; None if nothing is. The device's life begins with its first operation: what
        came before counts on the critical path alone."""
        causes, shares, steps = measured
        first = causes[0]
        if first["cause"] != cause or not re.fullmatch(culprit, first["culprit"]):
            return f"the first cause is {first}"
        for where, rows, found, truth in (
                ("of idle time", causes, [row for row in causes if row["cause"] == cause], total(steps[1:])),
                ("on the critical path", shares, [row for row in shares if re.match(on_path, row["what"])],
                 total(steps))):
            found_ns = sum(row["ns"] for row in found)
            bounds = bounds_of(truth, sum(row["ns"] for row in rows if row["cause"] in WANTS_CPU))
            if not is_within(found_ns, bounds, SHARE):
                return f"{found_ns} ns {where}, in truth {bounds} ns"
        if not re.search(on_path_most, next(row["what"] for row in shares if re.match(on_path, row["what"]))):
            return "on the critical path somebody else has most of it"
        return None

    def check(self, cause, culprit, words, bounds_of, *arguments, on_path=None, on_path_most=""):
        """Again, if the machine is too busy to tell."""
        for _ in harness.attempts(ATTEMPTS):
            measured = self.measure(*arguments)
            complaint = self.complaint(cause, culprit, on_path or f"{cause}: ", on_path_most, bounds_of, measured)
            if not complaint:
                break
        self.assertIsNone(complaint, measured)
        self.check_words(cause, words)

    def check_words(self, cause, words):
        """The largest causes on the first page, and the sentence about the device's idle time, begin with it."""
        text = run(MILLRACE, "report", "--whole", self.path("trace.mill")).stdout
        self.assertRegex(text, rf"The largest causes:\n +of .*\n +idle time +{cause} ")
        said = " ".join(text.split("Why devices were idle")[1].split())
        self.assertRegex(said, rf"^- wheel was idle for [^:]+: [^;]*{words}", text)

    def test_sleep(self):
        self.check("sleep", r"thread \d+ 'live_causes'", r"thread \d+ 'live_causes' was asleep", bounds_of_blocked,
                   "sleep")

    def test_disk(self):
        path = self.make_file("data", FILE_BYTES)
        self.check("disk", re.escape(path), rf"waited for the disk \({re.escape(path)}\), in pread64",
                   bounds_of_blocked, "disk", path)

    def test_lock(self):
        """On the critical path, too, it is the lock, its holder and what that did."""
        self.check("lock", r"thread \d+ 'holder', asleep",
                   r"waited at a lock for thread \d+ 'holder', which was asleep", bounds_of_blocked, "lock",
                   on_path=r"lock: thread \d+ 'holder'", on_path_most="asleep")

    def test_launch(self):
        self.check("launch", "submit", r"was launching the next operation \(submit\)", bounds_of_running,
                   "launch")

    def test_preempt(self):
        """By a process that has nothing to do with the traced one."""
        cpu = str(max(os.sched_getaffinity(0)))
        with subprocess.Popen([program("causes"), "intrude", cpu]) as intruder:
            try:
                self.check("preempted", r"'intruder' threads of other processes",
                           r"waited for a CPU that 'intruder' threads of other processes had", bounds_of_intrusion,
                           "preempt", cpu, on_path_most="'intruder'")
            finally:
                intruder.kill()


if __name__ == "__main__":
    skip_unless_possible()
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be preloaded")
    harness.main()
