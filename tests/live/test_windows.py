#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of a trace: `report` with --step, --from, --to and --process, against a second reading of real
traces; and steps that are inferred, against the markers that were taken away."""

import bisect
import gzip
import json
import os
import pathlib
import random
import tempfile
import unittest

import harness
from support import MILLRACE, run
from test_import import TRACES, Reading, complete, covered, events, written

SMALL = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/golden/small.mill"
MARKED = ["a100-nccl", "a100-train-control", "mi300-resnet-checkpoint"]


def report(path, *options):
    result = run(MILLRACE, "report", "--whole", "--json", *options, str(path))
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def table(said, finding, name):
    for found in said["findings"]:
        for one in found["tables"]:
            if (found["id"], one["id"]) == (finding, name):
                return one["rows"]
    return []


class Clipped:
    """The part of an interval that lies in a window."""

    def __init__(self, interval, first, last):
        self.start, self.end = max(interval.start, first), min(interval.end, last)


def clip(intervals, first, last):
    return [Clipped(i, first, last) for i in intervals if i.start < last and i.end > first]


class Sums(unittest.TestCase):
    """What is true of every report."""

    def check_sums(self, said):
        for finding in said["findings"]:
            for one in finding["tables"]:
                for column in one["columns"]:
                    if "whole" in column:
                        self.assertEqual(sum(row[column["key"]] for row in one["rows"]), column["whole"],
                                         (finding["id"], one["id"], column["key"]))
        for device in said["devices"]:
            self.assertEqual(device["busy_ns"] + device["idle_ns"], device["span_ns"])
            self.assertEqual(sum(cause["ns"] for cause in device["idle_causes"]), device["idle_ns"])
        path = said["critical_path"]
        if path:
            self.assertEqual(sum(share["ns"] for share in path["shares"]), path["span_ns"])

    def check_answers(self, said):
        """The answers at the top are the rows of the tables."""
        self.assertEqual(said["ops"], table(said, "operations", "by_node"))
        self.assertEqual(said["calls"], table(said, "calls", "by_name"))
        self.assertEqual(said["steps"], table(said, "steps", "steps"))
        self.assertEqual(said["kernels"], [row for row in table(said, "device_operations", "by_name")
                                           if row["kind"] == "kernel"])
        self.assertEqual([(d["name"], d["busy_ns"]) for d in said["devices"]],
                         [(row["device"], row["busy_ns"]) for row in table(said, "devices", "devices")])
        health = next(finding for finding in said["findings"] if finding["id"] == "health")
        self.assertEqual(said["health"], {key: health[key] for key in ("severity", "sentences")})


@unittest.skipUnless(TRACES.is_dir(), f"the real traces are not in {TRACES}")
class RealTraces(Sums):
    def compare(self, reading, said, first, last):
        length = last - first
        self.assertEqual((said["window"]["first_ns"], said["window"]["last_ns"]), (first, last))
        self.assertEqual(said["critical_path"]["span_ns"], length)
        for device in said["devices"]:
            number = int(device["name"].split()[1])
            operations = [o for o in reading.operations if o.args["device"] == number]
            busy = covered(clip(operations, first, last))
            self.assertEqual((device["span_ns"], device["busy_ns"], device["idle_ns"]),
                             (length, busy, length - busy))
        calls = clip(reading.calls, first, last)
        self.assertEqual(sum(row["total_ns"] for row in said["calls"]),
                         sum(call.end - call.start for call in calls))
        executions = clip(reading.executions, first, last)
        self.assertEqual(sum(row["total_ns"] for row in said["ops"]),
                         sum(execution.end - execution.start for execution in executions))
        self.check_sums(said)
        self.check_answers(said)

    @staticmethod
    def end_of(reading, step):
        """With the last of what is launched in it, if the device has not ended that yet."""
        launched = {call.args.get("correlation") for call in reading.calls if step.start <= call.start < step.end}
        return max([step.end] + [o.end for o in reading.operations if o.args.get("correlation") in launched])

    def test_steps(self):
        for name in "a100-train-control", "mi300-resnet-checkpoint":
            path = TRACES / f"{name}.json.gz"
            reading = Reading(path)
            for step in reading.steps[:3]:
                number = step.name.partition("#")[2]
                said = report(path, "--step", number)
                self.assertEqual(said["window"]["part"], f"step {number}")
                self.compare(reading, said, step.start, self.end_of(reading, step))

    def test_times(self):
        chance = random.Random(1)
        for name in "a100-nccl", "h100-qwen", "mi250-minitoy":
            path = TRACES / f"{name}.json.gz"
            reading, whole = Reading(path), report(path)
            begin, end = whole["window"]["first_ns"], whole["window"]["last_ns"]
            for _ in range(4):
                first, last = sorted(chance.sample(range(0, end - begin), 2))
                said = report(path, "--from", f"{first}ns", "--to", f"{last}ns")
                self.compare(reading, said, begin + first, begin + last)

    def test_tiles(self):
        """Windows that tile the trace sum to it."""
        path = TRACES / "a100-nccl.json.gz"
        whole = report(path)
        begin, end = whole["window"]["first_ns"], whole["window"]["last_ns"]
        edges = [0, (end - begin) // 7, (end - begin) // 3, end - begin]
        parts = [report(path, "--from", f"{a}ns", "--to", f"{b}ns") for a, b in zip(edges, edges[1:])]
        self.assertEqual(sum(part["devices"][0]["busy_ns"] for part in parts),
                         whole["devices"][0]["busy_ns"])
        self.assertEqual(sum(row["total_ns"] for part in parts for row in part["calls"]),
                         sum(row["total_ns"] for row in whole["calls"]))

    def test_whole(self):
        for name in "a100-train-control", "cuda-event-sync", "alexnet-critical-path":
            said = report(TRACES / f"{name}.json.gz")
            self.assertIsNone(said["window"]["part"])
            self.check_sums(said)
            self.check_answers(said)

    def test_one_process_is_all(self):
        """The only process there is: the same numbers, but devices are looked at all the time."""
        path = TRACES / "cuda-event-sync.json.gz"
        whole, part = report(path), report(path, "--process", "948300")
        self.assertEqual(whole["calls"], part["calls"])
        self.assertEqual(whole["kernels"], part["kernels"])
        self.assertEqual(whole["devices"][0]["busy_ns"], part["devices"][0]["busy_ns"])

    def launches(self, reading):
        launched = {operation.args.get("correlation") for operation in reading.operations}
        return sorted(call.start for call in reading.calls if call.args.get("correlation") in launched)

    def unmarked(self, path, folder):
        with gzip.open(path) as file:
            document = json.load(file)
        document["traceEvents"] = [event for event in document["traceEvents"]
                                   if not str(event.get("name")).startswith("ProfilerStep")]
        hidden = pathlib.Path(folder) / "unmarked.json"
        hidden.write_text(json.dumps(document))
        return hidden

    def test_inferred_steps(self):
        """At least 95 of 100 boundaries lie within one launch of a marker."""
        right = total = 0
        for name in MARKED:
            path = TRACES / f"{name}.json.gz"
            reading = Reading(path)
            launches = self.launches(reading)
            markers = [bisect.bisect_left(launches, step.start) for step in reading.steps]
            with tempfile.TemporaryDirectory() as folder:
                hidden = self.unmarked(path, folder)
                said = report(hidden)
                self.assertEqual(report(hidden, "--step", "1")["window"]["part"], "step 1")
            self.assertEqual({step["source"] for step in said["steps"]}, {"inferred"})
            self.assertEqual(len(said["steps"]), len(markers))
            found = [bisect.bisect_left(launches, step["start_ns"]) for step in said["steps"]]
            right += sum(any(abs(f - m) <= 1 for m in markers) for f in found)
            total += len(markers)
            inference = table(said, "steps", "inferred")[0]
            self.assertGreaterEqual(inference["confidence_permille"], 900)
        self.assertGreaterEqual(right, 0.95 * total)


class OwnTrace(Sums):
    def test_processes(self):
        whole = report(SMALL)
        counts = {pid: sum(row["count"] for row in report(SMALL, "--process", pid)["ops"])
                  for pid in ("100", "200")}
        self.assertTrue(all(counts.values()))
        self.assertEqual(sum(counts.values()), sum(row["count"] for row in whole["ops"]))
        self.assertEqual(report(SMALL, "--process", "200")["devices"], [])
        by_name = report(SMALL, "--process", "train")  # both are, and the first is the program that was recorded
        self.assertEqual(by_name["ops"], report(SMALL, "--process", "100")["ops"])
        self.check_sums(by_name)

    def test_step(self):
        said = report(SMALL, "--step", "7")
        self.assertEqual([row["step"] for row in said["steps"]], [7])
        self.assertEqual(said["steps"][0]["start_ns"], said["window"]["first_ns"])
        self.assertEqual(said["steps"][0]["source"], "marked")
        self.check_sums(said)
        self.check_answers(said)

    def test_order_of_findings(self):
        ids = [finding["id"] for finding in report(SMALL)["findings"]]
        self.assertEqual(ids[:3], ["problems", "overview", "health"])


class Refused(unittest.TestCase):
    def refuse(self, status, message, *options, path=SMALL):
        result = run(MILLRACE, "report", "--whole", *options, str(path))
        self.assertEqual((result.returncode, result.stdout), (status, ""))
        self.assertIn(message, result.stderr)

    def test_steps(self):
        self.refuse(1, "millrace: no step 8: there are 7\n", "--step", "8")
        self.refuse(2, "cannot be combined", "--step", "7", "--from", "1ms")
        self.refuse(2, "is not a whole number", "--step", "seven")
        with written(events(complete("a", 1, 2), complete("b", 3, 2))) as path:
            self.refuse(1, "no step 0: the program marks no steps, and none can be inferred", "--step", "0", path=path)

    def test_step_numbers(self):
        steps = [complete(f"ProfilerStep#{n}", 10 * n, 5, "user_annotation") for n in (1, 2, 3, 7, 9)]
        with written(events(*steps)) as path:
            self.refuse(1, "no step 4: there are 1 to 3, 7, 9\n", "--step", "4", path=path)
        again = steps + [complete("ProfilerStep#2", 200, 5, "user_annotation")]
        with written(events(*again)) as path:
            self.refuse(1, "several steps have the number 2", "--step", "2", path=path)

    def test_times(self):
        self.refuse(2, "--from is not before --to", "--from", "2ms", "--to", "2ms")
        self.refuse(1, "--from is after the end of the trace, at 2.00 s", "--from", "3s")
        self.refuse(2, "--from is not before --to", "--to", "0")
        self.refuse(2, "is not a duration", "--from", "soon")

    def test_processes(self):
        self.refuse(1, "millrace: no process 'nobody': there are 100 (train), 200 (train)\n",
                    "--process", "nobody")


if __name__ == "__main__":
    harness.main()
