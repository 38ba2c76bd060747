#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Why the devices of real traces were idle, against a second reading of the traces here that uses the
standard library and exact decimals. It divides idle time by a coarser rule, to which the pieces that
millrace finds are put together again; the shares are those of the table that came with the traces.

The traces are not part of the project. They are looked for in MILLRACE_TRACES, or beside the source
tree in shared/traces."""

import bisect
import collections
import decimal
import gzip
import itertools
import json
import os
import pathlib
import unittest

import harness
from support import MILLRACE, program, run

TRACES = pathlib.Path(os.environ.get(
    "MILLRACE_TRACES", pathlib.Path(os.environ["SOURCE_DIR"]).parent / "shared" / "traces"))
OPERATIONS = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime"}

# In tenths of a percent of the idle time.
GROUPS = ("queued", "unlaunched", "launch", "call", "dispatch", "outside")
TABLE = {
    "a100-nccl": (4, 0, 50, 9, 8, 929),
    "a100-train-control": (124, 0, 131, 27, 30, 688),
    "alexnet-critical-path": (0, 0, 238, 718, 0, 44),
    "cuda-event-sync": (0, 0, 231, 85, 24, 660),
    "h100-qwen": (444, 182, 38, 6, 9, 322),
    "mi250-minitoy": (0, 0, 759, 4, 11, 227),
    "mi300-resnet-checkpoint": (111, 889, 0, 0, 0, 0),
}


def nanoseconds(microseconds):
    value = decimal.Decimal(microseconds) * 1000
    assert value == value.to_integral_value(), value
    return int(value)


def union(intervals):
    """Disjoint (start, end), in order."""
    parts = []
    for interval in sorted(intervals):
        if parts and interval.start <= parts[-1][1]:
            parts[-1] = (parts[-1][0], max(parts[-1][1], interval.end))
        else:
            parts.append((interval.start, interval.end))
    return parts


Interval = collections.namedtuple("Interval", "start end thread correlation")
Gap = collections.namedtuple("Gap", "begin end launch")


class Reading:
    def __init__(self, path):
        with gzip.open(path) as file:
            document = json.load(file, parse_float=decimal.Decimal)
        self.operations, self.calls, self.launches = [], collections.defaultdict(list), {}
        for event in document["traceEvents"]:
            if event["ph"] == "X" and event.get("cat") in OPERATIONS | CALLS:
                self.add(event)
        self.operations.sort()
        self.calls = {thread: union(calls) for thread, calls in self.calls.items()}
        self.first = self.operations[0].start
        self.last = max(operation.end for operation in self.operations)

    def add(self, event):
        start = nanoseconds(event["ts"])
        interval = Interval(start, start + nanoseconds(event["dur"]), (event["pid"], event["tid"]),
                            event.get("args", {}).get("correlation", 0))
        if event["cat"] in OPERATIONS:
            self.operations.append(interval)
        else:
            self.calls[interval.thread].append(interval)
            if interval.correlation:
                self.launches.setdefault(interval.correlation, interval)

    def gaps(self):
        """With the call that launched what ended it: of several the one that began first."""
        ending = collections.defaultdict(list)
        for operation in self.operations:
            if operation.correlation in self.launches:
                ending[operation.start].append(self.launches[operation.correlation])
        until = self.first
        for operation in self.operations:
            if operation.start > until:
                yield Gap(until, operation.start, min(ending[operation.start], default=None))
            until = max(until, operation.end)

    def in_calls(self, thread, begin, end):
        """Nanoseconds of [begin, end) in runtime calls of the thread."""
        calls = self.calls[thread]
        first = bisect.bisect_right(calls, begin, key=lambda call: call[1])
        return sum(min(call[1], end) - max(call[0], begin)
                   for call in itertools.takewhile(lambda call: call[0] < end, itertools.islice(calls, first, None)))

    def divide(self):
        """The table's rule, gap by gap."""
        for gap in self.gaps():
            sums, launch, length = collections.Counter(), gap.launch, gap.end - gap.begin
            if launch is None:
                sums["unlaunched"] = length
            elif launch.start <= gap.begin:
                sums["queued"] = length
            else:
                returned = min(launch.end, gap.end)
                sums["launch"] = returned - launch.start
                sums["dispatch"] = gap.end - returned
                sums["call"] = self.in_calls(launch.thread, gap.begin, launch.start)
                sums["outside"] = launch.start - gap.begin - sums["call"]
            yield gap, +sums


def pieces(path):
    """(start, end, causes) from the first operation on."""
    result = run(program("idle_pieces"), str(path))
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    for line in result.stdout.splitlines():
        _, start, end, _, _, *causes = line.split("\t")
        yield int(start), int(end), causes


def group(gap, start, causes):
    """Where the table's rule puts a piece."""
    if gap.launch is None:
        return "unlaunched"
    if gap.launch.start <= gap.begin:
        return "queued"
    if start < gap.launch.start:
        return "outside" if causes[0] == "untraced" else "call"
    return "launch" if start < gap.launch.end else "dispatch"


class RealTraces(unittest.TestCase):
    def compare(self, name):
        path = TRACES / f"{name}.json.gz"
        reading = Reading(path)
        truth = list(reading.divide())
        begins = [gap.begin - reading.first for gap, _ in truth]
        found = [collections.Counter() for _ in truth]
        for start, end, causes in pieces(path):
            at = bisect.bisect(begins, start) - 1
            gap = truth[at][0]
            self.assertLessEqual(end, gap.end - reading.first)
            where = group(gap, start + reading.first, causes)
            found[at][where] += end - start
            self.check_causes(where, causes)
        self.assertEqual(found, [sums for _, sums in truth])
        self.check_table(name, found)
        self.check_report(path, reading, sum(sum(sums.values()) for sums in found))

    def check_causes(self, where, causes):
        """What the pieces of a group can be due to: nothing is guessed."""
        allowed = {
            "unlaunched": [["unlaunched"]],
            "outside": [["untraced"]],
            "launch": [["launch"]],
            "dispatch": [["dispatch"], ["device unknown"]],
        }.get(where)
        if allowed:
            self.assertIn(causes, allowed)
        else:
            self.assertIn(causes[0], {"launch", "call", "sync", "dependency", "dispatch",
                                      "device unknown"})

    def check_table(self, name, found):
        sums = sum(found, collections.Counter())
        idle = sum(sums.values())
        self.assertEqual(tuple((sums[group] * 2000 + idle) // (2 * idle) for group in GROUPS), TABLE[name])

    def check_report(self, path, reading, idle):
        report = json.loads(run(MILLRACE, "report", "--whole", "--json", str(path)).stdout)
        device, = report["devices"]
        self.assertEqual(device["span_ns"], reading.last - reading.first)
        self.assertEqual(device["idle_ns"], idle)
        self.assertEqual(device["busy_ns"], device["span_ns"] - idle)
        self.assertEqual(sum(cause["ns"] for cause in device["idle_causes"]), idle)
        finding = next(finding for finding in report["findings"] if finding["id"] == "idle")
        for table in finding["tables"][1:]:
            total = "time_ns" if table["id"] == "causes" else "total_ns"
            self.assertEqual(sum(row[total] for row in table["rows"]), idle, table["id"])
        self.check_words(finding, device)

    def check_words(self, finding, device):
        """A device that is hardly idle is not held up."""
        first = finding["sentences"][0]
        is_busy = device["busy_ns"] * 10 >= device["span_ns"] * 9
        self.assertEqual(first["severity"], "fine" if is_busy else "note")
        self.assertIn("was busy" if is_busy else "was idle", first["text"])
        self.assertNotIn("CPU-bound", json.dumps(finding))


def add(name):
    setattr(RealTraces, "test_" + name.replace("-", "_"), lambda self: self.compare(name))


for trace in TABLE:
    add(trace)

if __name__ == "__main__":
    if not TRACES.is_dir():
        harness.skip(f"the real traces are not in {TRACES}")
    harness.main()
