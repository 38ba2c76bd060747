#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where the kernel was silent
"""Every task of a storm of threads, processes and namespaces is followed. Each task reports itself."""

import collections
import os
import shutil

import harness
from kernel import ATTEMPTS, KernelTest, parse_truth, skip_unless_possible

COUNT = 60


class Tasks(KernelTest):
    def test_storm(self):
        for _ in harness.attempts(ATTEMPTS):  # some kernels are silent about switches for a while now and then
            said = self.path("said")
            result = self.record_kernel("storm", said, str(COUNT))
            self.events = result.events
            with open(said) as file:
                self.said = file.read()
            self.check_births()
            self.check_executions()
            self.check_ends()
            self.assertEqual(self.events.count("loss"), 0)
            never_ran = self.never_ran()
            if not never_ran:
                break
            os.unlink(said)
            shutil.rmtree(result.trace)
        self.assertEqual(never_ran, set(), "tasks that never ran")

    def births(self):
        """tid: what was told of its birth; all of them different, else pids went round."""
        events = self.events.of("kernel_fork")
        births = {event.fields["tid"]: event.fields for event in events}
        self.assertEqual(len(births), len(events))
        return births

    def check_births(self):
        births, truth = self.births(), parse_truth(self.said, "task")
        self.assertEqual(len(truth), 14 * COUNT)
        kinds = collections.Counter(task["kind"] for task in truth if task["tid"] not in births)
        self.assertFalse(kinds, "tasks were not followed")
        for task in truth:
            birth = births[task["tid"]]
            for key, field in (("pid", "pid"), ("inner_tid", "inner_tid"), ("inner_pid", "inner_pid"),
                               ("parent", "parent_tid")):
                self.assertEqual(birth[field], task[key], task)
        others = set(births) - {task["tid"] for task in truth}
        self.assertEqual(len(others), 1, "one more: the first process")

    def check_executions(self):
        """Those of the storm, and the one that began it."""
        truth = parse_truth(self.said, "exec")
        self.assertEqual(len(truth), 3 * COUNT)
        events = self.events.of("kernel_exec")
        self.assertEqual(len(events), len(truth) + 1)
        executed = {event.fields["tid"]: event.fields for event in events}
        threads = {task["pid"]: task["tid"] for task in parse_truth(self.said, "task")
                   if task["kind"] == "thread"}
        executing = {task["tid"] for task in parse_truth(self.said, "task")
                     if task["kind"] == "executing"}
        for one in truth:
            event = executed[one["tid"]]
            self.assertTrue(event["command"].startswith("leaf leaf "), event)
            old_tid = threads[one["tid"]] if one["tid"] in executing else one["tid"]
            self.assertEqual(event["old_tid"], old_tid)

    def check_ends(self):
        births = self.births()
        ends = {event.fields["tid"]: event.fields["status"] for event in self.events.of("kernel_exit")}
        # A thread that executes another program takes the tid of the first one, which ends: of the
        # two tids only one is left to end.
        for end in parse_truth(self.said, "end"):
            self.assertEqual(ends.get(end["tid"]), end["status"], end)
        replaced = {event.fields["old_tid"] for event in self.events.of("kernel_exec")
                    if event.fields["old_tid"] != event.fields["tid"]}
        self.assertEqual(set(births) - set(ends) - replaced, set(), "tasks without an end")

    def never_ran(self):
        """Tasks of which no switch was told."""
        ran = {event.fields[which] for event in self.events.of("kernel_switch")
               for which in ("previous_tid", "next_tid")}
        return set(self.births()) - ran


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
