#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares only grow
"""Steal time, which the host of a virtual machine takes: `record` notes it, and the trace's health reports it."""

import json
import os

import harness
from support import MILLRACE, LiveTest, manifest, run

STOLEN, KINDS = 7, 8  # of the columns of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal
TICK_NS = 10**9 // os.sysconf("SC_CLK_TCK")
SLACK_NS = 200_000_000  # the kernel's account of idle time may go back a little
PAUSE_S = 0.5


def cpu_time(stat=None):
    if stat is None:
        with open("/proc/stat") as file:
            stat = file.readline()
    ticks = [int(word) for word in stat.split()[1:1 + KINDS]]
    return {"all_ns": sum(ticks) * TICK_NS, "stolen_ns": ticks[STOLEN] * TICK_NS}


class Stolen(LiveTest):
    def test_is_noted(self):
        """The program reads the same account, when the recording has begun and before it ends."""
        before = cpu_time()
        look = "head -n 1 /proc/stat"
        result = self.record("sh", "-c", f"{look}; sleep {PAUSE_S}; {look}")
        after = cpu_time()
        said, inside = manifest(result.trace), [cpu_time(line) for line in result.stdout.splitlines()]
        times = [before, said["cpu_time_at_start"], *inside, said["cpu_time_at_end"], after]
        for earlier, later in zip(times, times[1:]):
            self.assertLessEqual(earlier["stolen_ns"], later["stolen_ns"])
            self.assertLess(earlier["all_ns"], later["all_ns"] + SLACK_NS)
        took = said["cpu_time_at_end"]["all_ns"] - said["cpu_time_at_start"]["all_ns"]
        self.assertGreater(took, inside[1]["all_ns"] - inside[0]["all_ns"] - SLACK_NS)

    def health(self, trace, stolen_ns, of_ns):
        """What is said when so much was taken."""
        path = os.path.join(trace, "manifest.json")
        said = manifest(trace)
        start = said["cpu_time_at_start"]
        said["cpu_time_at_end"] = {"all_ns": start["all_ns"] + of_ns, "stolen_ns": start["stolen_ns"] + stolen_ns}
        with open(path, "w") as file:
            json.dump(said, file)
        found = json.loads(run(MILLRACE, "info", "--json", trace).stdout)["findings"]
        return [(said["severity"], said["text"]) for finding in found if finding["id"] == "health"
                for said in finding["sentences"] if "virtual machine" in said["text"]]

    def test_is_told(self):
        trace = self.record("true").trace
        self.assertEqual(self.health(trace, 0, 10**9), [])
        self.assertEqual(self.health(trace, 50_000_000, 2 * 10**9), [
            ("note", "This is a virtual machine, and its host took 2.5% of its CPU time (50.0 ms). Threads that had a "
             "CPU then count as running.")])
        (severity, text), = self.health(trace, 10_000_000, 2 * 10**9)
        self.assertEqual(severity, "fine")
        self.assertIn(" 0.5% ", text)
        self.assertEqual(self.health(trace, 2, 1), [], "more than there was cannot be")
        self.assertEqual(self.health(trace, -1, 10**9), [], "nor can it become less")


if __name__ == "__main__":
    harness.main()
