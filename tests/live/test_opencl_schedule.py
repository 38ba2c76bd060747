#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are in one order, however far apart
"""A program that knows its own schedule: every operation is in the trace, with the right times, on the right
queue, joined to its call and to what it waits for.

PoCL's device clock is CLOCK_MONOTONIC_RAW, which the program reads itself: the times are compared without any
alignment, and the samples that align the clocks are then compared with those of the system's own clock."""

import json
from collections import namedtuple

import opencl
from opencl import LAUNCHES, OPTIONS, OpenclTest, function_of, operations_of
from support import MILLRACE, program, run

Planned = namedtuple("Planned", "kind bytes name queue enqueued done awaited")
SLACK_NS = 1000       # of a straight line through the recorder's samples of the clocks
CLOCKS_DIFFER = 1e-3  # CLOCK_MONOTONIC is slewed by at most 500 ppm; samples of a short run add to it


def plan_of(output):
    for line in output.splitlines():
        _, kind, bytes_moved, name, queue, enqueued, done, *awaited = line.split()
        yield Planned(kind, int(bytes_moved), name, int(queue), int(enqueued), int(done),
                      {int(number) for number in awaited})


def width(sample):
    return sample["after"] - sample["before"]


class Schedule(OpenclTest):
    def setUp(self):
        super().setUp()
        result = self.record(program("opencl_schedule"), options=OPTIONS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.trace = result.trace
        self.plan = list(plan_of(result.stdout))
        self.events = self.read(result)
        self.launches = [event for event in self.events if event["event"] in LAUNCHES]
        operations = operations_of(self.events)
        self.operations = [operations[launch["process"], launch["fields"]["correlation"]]
                           for launch in self.launches]

    def waits(self):
        """Awaited correlations by the correlation of who waits."""
        found = {}
        for event in self.events:
            if event["event"] == "runtime_wait":
                fields = event["fields"]
                found.setdefault(fields["correlation"], set()).add(fields["awaited"])
        return found

    def test_everything_is_there(self):
        self.assertEqual(len(self.operations), len(self.plan))
        queues = []
        for planned, operation in zip(self.plan, self.operations):
            fields = operation["fields"]
            if fields["queue"] not in queues:
                queues.append(fields["queue"])
            self.assertEqual((fields["kind"], fields["bytes"], queues.index(fields["queue"])),
                             (planned.kind, planned.bytes, planned.queue), operation)
            if planned.kind == "kernel":
                self.assertEqual(operation["names"]["name"], planned.name)

    def test_times(self):
        """Queued after the program asked for it, ended before it saw the end, and after what it waits for."""
        self.assertEqual(len(self.plan), len(self.operations))
        for planned, operation in zip(self.plan, self.operations):
            fields = operation["fields"]
            self.assertLessEqual(planned.enqueued, fields["queued"])
            self.assertLessEqual(fields["end"], planned.done)
            for number in planned.awaited:
                self.assertLessEqual(self.operations[number]["fields"]["end"], fields["start"])

    def test_dependencies(self):
        waits = self.waits()
        correlations = [launch["fields"]["correlation"] for launch in self.launches]
        for planned, correlation in zip(self.plan, correlations):
            self.assertEqual(waits.get(correlation, set()),
                             {correlations[number] for number in planned.awaited}, planned)
        waiting = [event["fields"]["correlation"] for event in self.events
                   if event["event"] == "runtime_call_on" and function_of(event) == "clWaitForEvents"]
        self.assertEqual([waits[correlation] for correlation in waiting],
                         [{correlation} for correlation in correlations])

    def test_clock(self):
        """Between the two reads that bracket a sample of the device's clock, CLOCK_MONOTONIC_RAW was there too."""
        samples = [event for event in self.events if event["event"] == "clock_sample"]
        raw = sorted((event["fields"] for event in samples if event["names"]["clock"] == "monotonic_raw"),
                     key=lambda sample: sample["before"])
        device = [event["fields"] for event in samples if event["fields"]["clock"] >= 16]
        self.assertGreater(len(device), 0, "the device's clock was never read")
        # Through one sample of each half, that in which the least happened between the two reads.
        half = len(raw) // 2
        first, last = (min(part, key=width) for part in (raw[:half], raw[half:]))
        rate = (last["value"] - first["value"]) / (last["before"] - first["before"])
        slack = SLACK_NS + 3 * max(width(first), width(last)) * rate
        for sample in device:
            before, after = (first["value"] + (sample[which] - first["before"]) * rate
                             for which in ("before", "after"))
            self.assertLessEqual(before - slack, sample["value"])
            self.assertLessEqual(sample["value"], after + slack)

    def table(self, command, name):
        whole = ["--whole"] if command == "report" else []
        result = run(MILLRACE, command, *whole, "--json", self.trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        for finding in json.loads(result.stdout)["findings"]:
            for table in finding["tables"]:
                if table["id"] == name:
                    return table["rows"]
        return self.fail(f"{command} has no table {name}")

    def test_aligned(self):
        """On the trace's clock, too, every operation lies where it must."""
        rows = self.table("info", "device_order")
        self.assertTrue(rows)
        for row in rows:
            self.assertGreaterEqual(row["checked"], len(self.plan) - 2)  # the queues' first have no predecessor
            self.assertEqual(row["broken"], 0, row)

    def test_report(self):
        """Busy time: the union of all operations, which the program's own clock measured."""
        device, = self.table("report", "devices")
        busy, end = 0, 0
        for operation in sorted(self.operations, key=lambda each: each["fields"]["start"]):
            start, end_of_this = operation["fields"]["start"], operation["fields"]["end"]
            busy += max(0, end_of_this - max(start, end))
            end = max(end, end_of_this)
        self.assertEqual(device["operations"], len(self.plan))
        self.assertEqual(device["busy_ns"] + device["idle_ns"], device["span_ns"])
        self.assertAlmostEqual(device["busy_ns"], busy,
                               delta=busy * CLOCKS_DIFFER + len(self.plan) + 2 * device["bound_ns"])
        for row in self.table("report", "copies"):
            planned = [each.bytes for each in self.plan if each.kind == row["direction"]]
            self.assertEqual((row["count"], row["bytes"]), (len(planned), sum(planned)))


if __name__ == "__main__":
    opencl.main()
