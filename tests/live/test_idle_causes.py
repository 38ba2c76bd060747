#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Programs that keep a device idle for a reason they know. The report must name it first, with the right
culprit, and its time must be what the kernel's own accounting of the thread says."""

import json
import shutil

import harness
from kernel import (ATTEMPTS, WANTS_CPU, KernelTest, bounds_of_blocked, bounds_of_running, is_within, parse_truth,
                    skip_unless_possible)
from opencl import skip_without_opencl
from support import MILLRACE, program, run

SHARE = 0.05
LEAST_NS = 1_000_000
FILE_BYTES = 12 * 8 * (4 << 20)


class Causes(KernelTest):
    def idle(self, *arguments):
        """Why the device was idle: causes, (chain, time); and what the program says."""
        result = self.record(program("opencl_idle"), *arguments, name=f"{arguments[0]}.mill")
        self.assertEqual(result.returncode, 0, result.stderr)
        truth, = parse_truth(result.stdout, "truth")
        report = json.loads(run(MILLRACE, "report", "--whole", "--json", result.trace).stdout)
        device, = report["devices"]
        self.assertEqual(sum(cause["ns"] for cause in device["idle_causes"]), device["idle_ns"])
        finding = next(finding for finding in report["findings"] if finding["id"] == "idle")
        table = next(table for table in finding["tables"] if table["id"] == "by_chain")
        return device["idle_causes"], [(row["chain"], row["total_ns"]) for row in table["rows"]], truth

    def check(self, cause, culprit, bounds_of, *arguments):
        """The largest cause, unless others who had the CPU are that; and the time that the thread itself lost.
        Again, if the machine is too busy to tell."""
        for _ in harness.attempts(ATTEMPTS):
            causes, chains, truth = self.idle(*arguments)
            firsts = [(chain.split(" > ")[0], ns) for chain, ns in chains]
            found = sum(ns for link, ns in firsts if link.startswith(cause) and culprit in link)
            bounds = bounds_of(truth, sum(ns for link, ns in firsts if link.split(" ")[0] in WANTS_CPU))
            others = truth["delay"] - truth["hog"]
            is_first = causes[0]["cause"] == cause and culprit in causes[0]["culprit"]
            if (is_first or others > bounds[1] / 2) and is_within(found, bounds, SHARE, LEAST_NS):
                return
            complaint = f"{cause} {culprit}: {found} ns, in truth {bounds} ns of {truth}; {causes[:3]}"
            shutil.rmtree(self.path(f"{arguments[0]}.mill"))
        self.fail(complaint)

    def test_sleep(self):
        self.check("sleep", "live_opencl", bounds_of_blocked, "sleep")

    def test_disk(self):
        path = self.make_file("data", FILE_BYTES)
        self.check("disk", path, bounds_of_blocked, "disk", path)

    def test_lock(self):
        self.check("lock", "'holder'", bounds_of_blocked, "lock")

    def test_preempted(self):
        """The hog has the CPU only while the thread wants it."""
        self.check("preempted", "'hog'", lambda truth, _: (truth["hog"], truth["hog"]), "preempted")

    def test_call(self):
        self.check("cpu", "clBuildProgram", bounds_of_running, "call")


if __name__ == "__main__":
    skip_unless_possible()
    skip_without_opencl()
    harness.main()
