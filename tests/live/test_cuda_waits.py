#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the order of operations is compared, and times only with the stand-in's own schedule
"""What waits for what in CUDA, of random calls on default, blocking, non-blocking and per-thread streams of two devices. The
rules are written down here once more, from CUDA's manuals, and shared with nothing: what the trace says must come out to the
same order, and so must what the stand-in did."""

import cuda
from cuda import CudaTest, compile_program, read_log
from support import dump

DEFAULT = {0: 0, 1: 5}  # by device
BLOCKING = {0: (1, 2, 4), 1: (6,)}
STREAMS = {0: (0, 1, 2, 3, 4), 1: (5, 6)}
LAUNCHES = ("runtime_launch_kernel", "runtime_launch")
WAITS = ("cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize")


class Rules:
    """Each operation comes after a set of others."""

    def __init__(self):
        self.before = []  # by operation: all that must have ended
        self.after = {stream: frozenset() for streams in STREAMS.values() for stream in streams}
        self.events = {}
        self.waits = []  # by call that waits

    def comes_after(self, stream):
        device = int(stream >= 5)
        known = self.after[stream]
        if stream == DEFAULT[device]:
            known = known.union(*(self.after[each] for each in BLOCKING[device]))
        elif stream in BLOCKING[device]:
            known = known | self.after[DEFAULT[device]]
        return known

    def launch(self, stream):
        number = len(self.before)
        self.before.append(self.comes_after(stream))
        self.after[stream] = self.before[number] | {number}

    def record(self, event, stream):
        self.after[stream] = self.events[event] = self.comes_after(stream)

    def wait(self, event, stream):
        if event in self.events:
            self.after[stream] = self.comes_after(stream) | self.events[event]

    def event(self, event):
        self.waits.append(self.events.get(event, frozenset()))

    def stream(self, stream):
        self.waits.append(self.comes_after(stream))

    def device(self, device):
        self.waits.append(frozenset().union(*(self.after[each] for each in STREAMS[device])))


def traced_order(events):
    """The same from the trace: by operation and by waiting call, what comes before."""
    launches = [event for event in events if event["event"] in LAUNCHES]
    number = {event["fields"]["correlation"]: i for i, event in enumerate(launches)}
    listed = {}
    for event in events:
        if event["event"] == "runtime_wait":
            listed.setdefault(event["fields"]["correlation"], []).append(event["fields"]["awaited"])
    before, last, waits = [], {}, []

    def closed(awaited):
        return frozenset().union(*(before[number[each]] | {number[each]} for each in awaited if each in number))

    for event in events:
        fields = event["fields"]
        if event["event"] in LAUNCHES:
            queue = fields["queue"]
            known = closed(listed.get(fields["correlation"], []))
            known |= last.get(queue, frozenset())
            last[queue] = known | {len(before)}
            before.append(known)
        elif event["event"].startswith("runtime_call") and event["names"]["function"] in WAITS:
            if fields["correlation"] in listed:
                waits.append(closed(listed[fields["correlation"]]))
            elif fields.get("queue"):
                waits.append(last.get(fields["queue"], frozenset()))
            else:
                waits.append(frozenset().union(*last.values()))
    return before, waits


class Schedules(CudaTest):
    def check(self, seed):
        result = self.run_both(compile_program("cuda_schedule.c"), str(seed), "120", SOFT_CUDA_DEVICES="2",
                               SOFT_CUDA_KERNEL_NS="2000")
        self.assertEqual(result.returncode, 0)
        rules = Rules()
        for line in result.stdout.splitlines():
            action, *numbers = line.split()
            getattr(rules, action)(*map(int, numbers))
        events = dump(result.trace)
        before, waits = traced_order(events)
        self.assertGreater(len(before), 30)
        self.assertEqual(before, rules.before)
        self.assertEqual(waits, rules.waits)
        done = sorted(read_log(result.log)[0], key=lambda each: each.correlation)
        self.assertEqual(len(done), len(before))
        for i, each in enumerate(done):
            self.assertTrue(all(done[other].end <= each.start for other in before[i]), (seed, i))

    def test_random(self):
        for seed in range(1, 9):
            with self.subTest(seed):
                self.check(seed)


if __name__ == "__main__":
    cuda.main()
