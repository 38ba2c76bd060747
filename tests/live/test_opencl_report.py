#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""The report on a program that knows its own schedule, and on programs whose operations never end."""

import collections
import json

import opencl
from opencl import OPTIONS, OpenclTest
from support import MILLRACE, dump, program, run
from test_opencl_schedule import plan_of

MARKS = {"marker", "barrier"}
TRANSFERS = {"copy_to_device", "copy_from_device", "copy_on_device"}


def findings(command, trace):
    whole = ["--whole"] if command == "report" else []
    answer = json.loads(run(MILLRACE, command, *whole, "--json", trace).stdout)
    return {finding["id"]: finding for finding in answer["findings"]}


def table(finding, name):
    return next(each for each in finding["tables"] if each["id"] == name)


def covered(intervals):
    """Ticks that lie in at least one of the intervals."""
    total, until = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


class Report(OpenclTest):
    def record_plan(self):
        result = self.record(program("opencl_schedule"), options=OPTIONS)
        self.assertEqual(result.returncode, 0, result.stderr)
        return list(plan_of(result.stdout)), result.trace

    def check_sums(self, found):
        for finding in found.values():
            for each in finding["tables"]:
                for column in each["columns"]:
                    if "whole" in column:
                        self.assertEqual(sum(row[column["key"]] for row in each["rows"]),
                                         column["whole"], each["id"])

    def test_plan(self):
        plan, trace = self.record_plan()
        found = findings("report", trace)
        self.check_sums(found)
        by_name = {row["name"]: row["count"]
                   for row in table(found["device_operations"], "by_name")["rows"]}
        self.assertEqual(by_name, collections.Counter(
            planned.name if planned.kind == "kernel" else planned.kind for planned in plan))
        moved = collections.Counter()
        for planned in plan:
            if planned.kind in TRANSFERS:
                moved[planned.kind] += planned.bytes
        self.assertEqual({row["direction"]: row["bytes"] for row in
                          table(found["device_operations"], "copies")["rows"]}, moved)
        self.assertEqual([row["live_bytes"] for row in table(found["memory"], "memory")["rows"]],
                         [0])

    def test_devices(self):
        """The device's clock runs as fast as ours to a thousandth: raw ticks are nearly nanoseconds, as far
        as so short a run can tell."""
        _, trace = self.record_plan()
        (device,) = table(findings("report", trace)["devices"], "devices")["rows"]
        self.assertEqual(device["span_ns"], device["busy_ns"] + device["idle_ns"])
        self.assertEqual(device["busy_ns"], device["compute_ns"] + device["exposed_ns"])
        self.assertEqual(device["transfer_ns"], device["exposed_ns"] + device["hidden_ns"])
        times = {kind: [] for kind in ("kernel", "transfer", "mark")}
        for event in dump(trace):
            if event["event"] == "device_operation":
                fields = event["fields"]
                kind = ("kernel" if fields["kind"] == "kernel" else
                        "mark" if fields["kind"] in MARKS else "transfer")
                times[kind].append((fields["start"], fields["end"]))
        operations = sum(map(len, times.values()))
        self.assertEqual(device["operations"], operations)
        # Each end of an interval is rounded to a nanosecond; the rate is off by what both ends of the
        # run may be off.
        for key, kinds in (("busy_ns", ("kernel", "transfer")), ("compute_ns", ("kernel",)),
                           ("transfer_ns", ("transfer",))):
            truth = covered(sum((times[kind] for kind in kinds), []))
            self.assertAlmostEqual(device[key], truth, msg=key,
                                   delta=2 * operations + truth / 1000 + 2 * device["bound_ns"])

    def test_order(self):
        _, trace = self.record_plan()
        rows = {row["constraint"]: row
                for row in table(findings("info", trace)["contents"], "device_order")["rows"]}
        self.assertEqual(len(rows), 5)
        for row in rows.values():
            self.assertGreater(row["checked"], 0)
            self.assertEqual(row["broken"], 0, row)

    def test_unfinished(self):
        result = self.record(program("opencl_ways"), "left_hanging", options=OPTIONS)
        said = [sentence["text"]
                for sentence in findings("report", result.trace)["health"]["sentences"]]
        self.assertIn("1 device operation was launched but not seen to end; it counts as taking no time.", said)


if __name__ == "__main__":
    opencl.main()
