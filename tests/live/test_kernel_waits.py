#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how late threads wake
"""A thread blocks in each of many ways; the program says when, in what, and who woke it."""

import collections
import re

import harness
from kernel import KernelTest, is_within, parse_truth, skip_unless_possible

ROUNDS = 5
FILE_BYTES = 8 << 20

# What a wait must look like. A path of None: no file; else a pattern, filled with what the program said.
Expected = collections.namedtuple("Expected", "call path reason context source")
EXPECTED = {
    "condition": Expected("futex", None, "interruptible", {"task"}, ""),
    "pipe": Expected("read", r"pipe:\[{object}\]", "interruptible", {"task"}, ""),
    "eventfd": Expected("read", r"anon_inode:\[eventfd\]", "interruptible", {"task"}, ""),
    "epoll": Expected("epoll_wait", r"anon_inode:\[eventpoll\]", "interruptible", {"task"}, ""),
    "sleep": Expected("clock_nanosleep", None, "interruptible", {"hrtimer"}, "hrtimer_wakeup"),
    "timerfd": Expected("read", r"anon_inode:\[timerfd\]", "interruptible", {"hrtimer"},
                        "timerfd_tmrproc"),
    "disk": Expected("pread64", "{file}", "disk", {"softirq", "irq", "task"}, None),
    # The packet is received by the softirq that runs at the end of the sender's own call.
    "udp": Expected("recvfrom", r".*127\.0\.0\.1:{object}\b.*", "interruptible", {"softirq", "task"},
                    None),
    "lock": Expected("flock", "{file}", "interruptible", {"task"}, ""),
    "child": Expected("wait4", None, "interruptible", {"task"}, ""),
    "join": Expected("futex", None, "interruptible", {"task"}, ""),
    "signal": Expected("pause", None, "interruptible", {"task"}, ""),
}
WOKEN_BY_NOBODY = {"sleep", "timerfd", "disk"}
TIMERS = {"sleep", "timerfd"}
TIMER_NS = 40_000_000  # WAIT_MS of kernel_waits.c
CONDITION_BYTES = 48  # of pthread_cond_t: the futex is in it


class Waits(KernelTest):
    def record_waits(self, *options):
        self.file = self.make_file("data", FILE_BYTES)
        result = self.record_whole("waits", self.file, str(ROUNDS), options=options)
        truth = parse_truth(result.stdout, "wait")
        self.assertEqual(len(truth), ROUNDS * len(EXPECTED))
        return result.events, truth

    def longest_wait(self, events, said):
        waits = [wait for wait in events.waits(said["tid"])
                 if said["start"] <= wait.start and wait.woken <= said["end"]]
        self.assertTrue(waits, f"{said['name']}: no wait found")
        return max(waits, key=lambda wait: wait.woken - wait.start)

    def check_cause(self, events, said, wait):
        name, expected = said["name"], EXPECTED[said["name"]]
        self.assertEqual(wait.reason, expected.reason, name)
        self.assertIn(wait.context, expected.context, name)
        if expected.source is not None:
            self.assertEqual(wait.source, expected.source, name)
        if name not in WOKEN_BY_NOBODY:
            self.assertEqual(wait.waker, said["partner"], f"{name}: the waker")

    def check_call(self, events, said, wait):
        name, expected = said["name"], EXPECTED[said["name"]]
        call = events.call_of_wait(said["tid"], wait)
        self.assertIsNotNone(call, f"{name}: no system call")
        self.assertEqual(call.name, expected.call, name)
        if expected.path:
            pattern = expected.path.format(object=said["object"], file=re.escape(self.file))
            self.assertRegex(call.path or "", f"^{pattern}$", name)
        else:
            self.assertIsNone(call.path, name)
        if name == "condition":
            self.assertIn(call.argument, range(said["object"], said["object"] + CONDITION_BYTES))

    def check_durations(self, events, truth):
        """Some may be disturbed by whatever else the machine does: most count."""
        for name in EXPECTED:
            rounds = [self.duration(events, said) for said in truth if said["name"] == name]
            right = [is_within(measured, bounds, 0.05, 100_000) for measured, bounds in rounds]
            self.assertGreater(sum(right), len(right) // 2, f"{name}: (measured, (least, most)): {rounds}")

    def duration(self, events, said):
        """Of a wait, in nanoseconds; and what it must be, at least and at most. Whoever wakes a thread says when he
        began to, the thread when it had a CPU again: the machine decides how much lies between. Of a timer nobody
        says when it woke the thread, but it is never early."""
        if said["name"] == "disk":  # one read may wait more than once, and works in between
            true = said["end"] - said["start"] - said["on_cpu"]
            return events.off_cpu_ns(said["tid"], said["start"], said["end"]), (true, true)
        wait = self.longest_wait(events, said)
        least = TIMER_NS if said["name"] in TIMERS else said["woken"] - said["start"]
        return wait.woken - wait.start, (least, said["end"] - said["start"])

    def check_waits(self, events, truth, with_calls=True):
        for said in truth:
            wait = self.longest_wait(events, said)
            self.check_cause(events, said, wait)
            if with_calls:
                self.check_call(events, said, wait)
        self.check_durations(events, truth)

    def test_all_calls(self):
        events, truth = self.record_waits()
        self.check_waits(events, truth)
        self.assertEqual(events.count("kernel_blocked_call"), 0)
        self.assertEqual(events.count("loss"), 0)

    def test_blocking_calls(self):
        """The same causes are found without recording any other call."""
        events, truth = self.record_waits("--syscalls=blocking")
        self.check_waits(events, truth)
        self.assertEqual(events.count("kernel_syscall", "kernel_syscall_argument", "kernel_syscall_wide",
                                      "kernel_syscall_unfinished"), 0)

    def test_no_calls(self):
        events, truth = self.record_waits("--syscalls=none")
        self.check_waits(events, truth, with_calls=False)
        self.assertEqual(events.count("kernel_syscall", "kernel_syscall_argument", "kernel_syscall_wide",
                                      "kernel_syscall_unfinished", "kernel_blocked_call"), 0)
        self.assertEqual(events.syscalls, {})

    def test_level_off(self):
        result = self.record_kernel("waits", self.make_file("data", FILE_BYTES),
                                    options=["--levels", "runtime,dataflow"])
        self.assertEqual(sum(map(len, result.events.events.values())), 0)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
