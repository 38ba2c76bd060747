#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""What the report says about the kernel level, compared with sums over the events that babeltrace2 read."""

import collections
import json
import re

import harness
from kernel import BLOCKED, KernelTest, parse_truth, skip_unless_possible
from support import MILLRACE, run

FILE_BYTES = 8 << 20
CALLS = ("kernel_syscall", "kernel_syscall_argument", "kernel_syscall_wide", "kernel_syscall_unfinished")


def tables(trace):
    """The rows of each table of the report, by (finding, title)."""
    result = run(MILLRACE, "report", "--whole", "--json", trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return {(finding["id"], table["title"]): table["rows"]
            for finding in json.loads(result.stdout)["findings"] for table in finding["tables"]}


def end_of(events, tid):
    """A thread runs for a little while after it has ended, until it leaves its CPU for good."""
    last = [time for time, is_in, _, reason in events.switches(tid) if reason == "exited"]
    return last[0] if last else events.of("kernel_exit", tid=tid)[0].time


def run_ns(events, tid):
    total, start = 0, None
    for time, is_in, _, _ in events.switches(tid):
        if is_in:
            start = time
        elif start is not None:
            total, start = total + time - start, None
    return total


def generic(path):
    return re.sub(r"\d+", "N", path or "")


def blocked_by_call(events):
    """How long threads were blocked in each call on each file."""
    sums = collections.Counter()
    for birth in events.of("kernel_fork"):
        tid = birth.fields["tid"]
        for wait in events.waits(tid):
            call = events.call_of_wait(tid, wait)
            sums[call and call.name, generic(call and call.path)] += wait.woken - wait.start
    return sums


def blocked_ns(events, tid):
    return sum(wait.woken - wait.start for wait in events.waits(tid) if wait.reason in BLOCKED)


class Report(KernelTest):
    def check_lives(self, result, threads):
        """States tile each life, and are what the switches and wakings say."""
        rows = threads[("threads", "By thread")]
        sums = collections.Counter()
        for row in rows:
            self.assertEqual(row["life_ns"], row["run_ns"] + row["runnable_ns"] + row["blocked_ns"]
                             + row["unknown_ns"], row)
            self.assertEqual(row["unknown_ns"], 0, row)
            self.assertLessEqual(row["interrupted_ns"], row["run_ns"])
            for key in ("life_ns", "run_ns", "blocked_ns"):
                sums[row["tid"], key] += row[key]
        births = {event.fields["tid"]: event.time for event in result.events.of("kernel_fork")}
        for event in result.events.of("kernel_exit"):
            tid = event.fields["tid"]
            self.assertEqual(sums[tid, "life_ns"], end_of(result.events, tid) - births[tid])
            self.assertEqual(sums[tid, "run_ns"], run_ns(result.events, tid))

    def test_threads(self):
        result = self.record_whole("work", "threads", "200")
        found = tables(result.trace)
        self.check_lives(result, found)
        blocked = {row["tid"]: row["blocked_ns"] for row in found["threads", "By thread"]}
        for said in parse_truth(result.stdout, "thread"):
            self.assertEqual(blocked[said["tid"]], blocked_ns(result.events, said["tid"]))

    def test_waits(self):
        path = self.make_file("data", FILE_BYTES)
        result = self.record_whole("waits", path)
        found = tables(result.trace)
        self.check_lives(result, found)
        self.check_causes(result, path, found)
        self.check_counts(result.events, found)

    def check_causes(self, result, path, found):
        calls = collections.Counter()
        for row in found["waits", "Blocked, by system call"]:
            calls[row["call"], generic(row["file"])] += row["total_ns"]
        sums = blocked_by_call(result.events)
        wakers = {row["waker_tid"] or row["waker"]: row["total_ns"]
                  for row in found["waits", "Blocked, by who ended it"]}
        truth = {said["name"]: said for said in parse_truth(result.stdout, "wait")}
        for name, call, file in (("pipe", "read", "pipe:[N]"), ("timerfd", "read", "anon_inode:[timerfd]"),
                                 ("lock", "flock", generic(path)), ("disk", "pread64", generic(path)),
                                 ("epoll", "epoll_wait", "anon_inode:[eventpoll]")):
            self.assertGreater(calls[call, file], 0, (name, calls))
            self.assertEqual(calls[call, file], sums[call, file], name)
        for name in ("child", "join", "pipe"):
            self.assertIn(truth[name]["partner"], wakers, name)
        for timer in ("hrtimer_wakeup", "timerfd_tmrproc"):
            self.assertIn(timer, wakers)

    def check_counts(self, events, found):
        counts = collections.Counter(events.syscalls[event.fields["number"]]
                                     for event in events.of(*CALLS))
        rows = {row["call"]: row["count"] for row in found["system_calls", "By name"]}
        self.assertEqual(rows, dict(counts))


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
