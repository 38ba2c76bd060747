#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `millrace diff` says about traces made by hand, whose steps have known noise and known changes. The noise comes
from seeds: the same on any machine."""

import json
import pathlib
import random
import tempfile
import unittest

import harness
from support import MILLRACE, run

STEPS = 30
OPERATIONS = [(f"kernel_{i}", 200 + 150 * i) for i in range(12)]  # names and microseconds


def trace(seed, slower=None, renamed=None, removed=None, steps=STEPS):
    """A thread that launches the operations of a step and waits for them. Each takes its time, and up to 10 % more."""
    noise = random.Random(seed)
    events, now, correlation = [], 0, 0

    def add(category, name, start, end, place, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": 100 if place == 100 else 0, "tid": place,
                       "ts": round(start, 3), "dur": round(end - start, 3), "args": args})

    for step in range(steps):
        begin, device = now, now + 5
        for number, (name, length) in enumerate(OPERATIONS):
            if name == removed:
                continue
            correlation += 1
            length *= 1 + 0.1 * noise.random()
            length *= 1.2 if name == slower else 1
            add("cuda_runtime", "cudaLaunchKernel", now, now + 2, 100, correlation=correlation)
            now += 3
            start = max(device, now + 1)
            add("kernel", "another" if name == renamed else name, start, start + length, 7,
                device=0, stream=7, correlation=correlation)
            device = start + length
        add("cuda_runtime", "cudaDeviceSynchronize", now, device + 2, 100)
        now = device + 5 + 20 * noise.random()
        add("user_annotation", f"ProfilerStep#{step}", begin, now - 1, 100)
    return json.dumps({"traceEvents": events})


class Diff(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def diff(self, before, after=None, *options):
        paths = [self.write("before.json", before)] + ([self.write("after.json", after)] if after else [])
        result = run(MILLRACE, "diff", "--json", *options, *paths)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        answer = json.loads(result.stdout)
        finding, = answer["findings"]
        tables = {table["id"]: table for table in finding["tables"]}
        self.check_sums(tables["causes"])
        return answer, tables

    def check_sums(self, table):
        """Changes sum to the change of the step, to the nanosecond."""
        whole = {column["key"]: column.get("whole") for column in table["columns"]}
        for key in ("before_ns", "after_ns"):
            self.assertEqual(sum(row[key] for row in table["rows"]), whole[key])
        self.assertEqual(sum(row["change_ns"] for row in table["rows"]), whole["after_ns"] - whole["before_ns"])

    def test_nothing_changed(self):
        alarms = 0
        for pair in range(20):
            _, tables = self.diff(trace(2 * pair), trace(2 * pair + 1))
            alarms += len(tables["causes"]["rows"]) > 1 or len(tables["operations"]["rows"]) > 0
        self.assertLessEqual(alarms, 1)

    def test_one_is_slower(self):
        for seed, name, length in ((100, "kernel_3", 650), (102, "kernel_0", 200), (104, "kernel_11", 1850)):
            with self.subTest(name):
                truth = 0.2 * 1.05 * length * 1000  # noise is 5 % in the mean
                answer, tables = self.diff(trace(seed), trace(seed + 1, slower=name))
                operation, = tables["operations"]["rows"]
                self.assertEqual((operation["operation"], operation["fate"]), ("device: " + name, ""))
                self.assertTrue(operation["low_ns"] <= truth <= operation["high_ns"], operation)
                cause = tables["causes"]["rows"][0]
                self.assertEqual(cause["what"], f"device: {name}")
                self.assertTrue(cause["low_ns"] <= truth <= cause["high_ns"], cause)
                self.assertEqual((answer["before"]["steps"], answer["after"]["steps"]), (STEPS, STEPS))

    def test_renamed_is_said_once(self):
        row, = self.diff(trace(200), trace(201, renamed="kernel_5"))[1]["operations"]["rows"]
        self.assertEqual((row["operation"], row["fate"], row["name_after"]),
                         ("device: kernel_5", "renamed", "device: another"))

    def test_removed_is_said_once(self):
        row, = self.diff(trace(202), trace(203, removed="kernel_5"))[1]["operations"]["rows"]
        self.assertEqual((row["operation"], row["fate"], row["count_before"], row["count_after"]),
                         ("device: kernel_5", "gone", 1000, 0))
        row, = self.diff(trace(203, removed="kernel_5"), trace(202))[1]["operations"]["rows"]
        self.assertEqual((row["operation"], row["fate"]), ("device: kernel_5", "new"))

    def test_steps_of_one_trace(self):
        text = trace(300)
        answer, _ = self.diff(text)
        self.assertEqual((answer["before"]["steps"], answer["after"]["steps"]), (15, 15))
        answer, _ = self.diff(text, None, "--before", "0..9", "--after", "20..29")
        self.assertEqual((answer["before"]["steps"], answer["after"]["steps"]), (10, 10))
        result = run(MILLRACE, "diff", "--before", "90..99", self.write("one.json", text))
        self.assertEqual(result.returncode, 1)
        self.assertIn("no steps 90 to 99", result.stderr)
        self.assertEqual(run(MILLRACE, "diff", "--before", "9..1").returncode, 2)

    def test_too_few_steps(self):
        answer, tables = self.diff(trace(400, steps=2), trace(401, steps=2))
        self.assertIn("too few steps (2 and 2)", answer["findings"][0]["sentences"][0]["text"])
        self.assertEqual({row["low_ns"] for row in tables["causes"]["rows"]}, {None})

    def test_text(self):
        result = run(MILLRACE, "diff", self.write("a.json", trace(500)), self.write("b.json", trace(501, slower="kernel_9")))
        text = " ".join(result.stdout.split())
        self.assertRegex(text, r"A step takes \+\d+ us: \d+\.\d+ ms before, \d+\.\d+ ms after, in the mean of 30 and 30 steps\.")
        self.assertRegex(text, r"Of this: \+\d+ us device: kernel_9\.")


if __name__ == "__main__":
    harness.main()
