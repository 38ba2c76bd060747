#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what was predicted with how long changed programs take
"""`millrace whatif` predicts what a change gains: programs are recorded, then really changed and run again."""

import json
import os
import unittest

import harness
from kernel import skip_unless_possible
from support import MILLRACE, LiveTest, program, run

PROGRAM = program("whatif")


class WhatIf(LiveTest):
    def predict(self, trace, *edits):
        """How long the run takes, as recorded and as predicted, and the gain's bounds in permille."""
        result = run(MILLRACE, "whatif", "--json", *edits, trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        (finding,) = json.loads(result.stdout)["findings"]
        tables = {table["id"]: table["rows"] for table in finding["tables"]}
        (row,) = (row for row in tables["predictions"] if row["of"] == "whole run")
        self.assertGreater(len(tables["limits"]), 0)
        return row

    def finds(self, trace, problem):
        """On a busy machine something else may have cost more."""
        found = json.loads(run(MILLRACE, "report", "--json", trace).stdout)["problems"]
        return problem in [each["key"] for each in found]

    def measure(self, *arguments):
        result = run(PROGRAM, *arguments)
        self.assertEqual(result.returncode, 0)
        return int(result.stdout)

    def check(self, before, after, *edits):
        """What `before` becomes with the edits is what `after` takes, within a tenth."""
        problem = edits[0].partition("problem:")[2]
        predicted = measured = None
        for attempt in harness.attempts(8):
            recorded = self.record(PROGRAM, *before, options=["-q"], name=f"{edits[0][:8]}{attempt}.mill")
            if problem and not self.finds(recorded.trace, problem):
                continue
            row = self.predict(recorded.trace, *edits)
            predicted = int(recorded.stdout) - (row["before_ns"] - row["after_ns"])
            measured = self.measure(*after)
            if abs(predicted - measured) <= measured / 10:
                return row
        self.fail(f"{before} with {edits}: predicted {predicted}, measured {measured}")

    def test_loader(self):
        """Half the loader's time; then so little that main becomes the limit."""
        self.check(["pipeline", "6000", "2000"], ["pipeline", "3000", "2000"], "scale thread:loader 0.5")
        self.check(["pipeline", "6000", "2000"], ["pipeline", "0", "2000"], "drop cause:sleep")

    def test_what_nobody_waits_for(self):
        """Main waits for the loader: less work of its own gains next to nothing."""
        row = self.check(["pipeline", "6000", "2000"], ["pipeline", "6000", "1000"], "scale thread:live_whatif 0.5")
        self.assertLess(row["gain_permille"], 100)

    def test_slower(self):
        self.check(["pipeline", "2000", "1000"], ["pipeline", "6000", "1000"], "scale thread:loader 3")

    @unittest.skipIf((os.cpu_count() or 1) < 2, "two threads cannot run at once on one CPU")
    def test_lock(self):
        self.check(["lock", "2000", "1"], ["lock", "2000", "0"], "drop cause:lock")

    @unittest.skipIf((os.cpu_count() or 1) < 2, "two threads cannot run at once on one CPU")
    def test_problems(self):
        """Without a problem the program is as fast as one that does not have it: with a loader that keeps up."""
        self.check(["pipeline", "6000", "2000"], ["pipeline", "1000", "2000"], "drop problem:input_bound")

    def test_gains(self):
        """Each problem of the report, as the edit for it says."""
        trace = self.record(PROGRAM, "pipeline", "6000", "2000", options=["-q"]).trace
        (finding,) = json.loads(run(MILLRACE, "whatif", "--json", trace).stdout)["findings"]
        reported = json.loads(run(MILLRACE, "report", "--json", trace).stdout)["problems"]
        (table,) = finding["tables"]
        self.assertEqual([(row["problem"], row["time_ns"]) for row in table["rows"]],
                         [(problem["title"], problem["time_ns"]) for problem in reported if not problem["is_verdict"]])
        for row in table["rows"]:
            predicted = self.predict(trace, row["edit"])
            self.assertEqual((row["before_ns"], row["after_ns"]), (predicted["before_ns"], predicted["after_ns"]))
        self.assertIn("Without the first problem", finding["sentences"][0]["text"])

    def test_refused(self):
        """What is not there, or cannot be, is said, and what there is."""
        trace = self.record(PROGRAM, "pipeline", "1000", "100", options=["-q"]).trace
        for edits, status, said in ((["drop type:Nowhere"], 1, "--list"), (["drop problem:nowhere"], 1, "no problem"), (["scale thread:loader -1"], 2, "factor"),
                                    (["scale thread:loader"], 2, "factor"), (["drop nothing"], 2, "cause:NAME"),
                                    (["drop cause:hand-over"], 1, "needs what it waits for"),
                                    (["double it", trace], 2, "is no edit")):
            with self.subTest(edits):
                result = run(MILLRACE, "whatif", *edits, trace)
                self.assertEqual((result.returncode, result.stdout), (status, ""), result)
                self.assertIn(said, result.stderr)

    def test_list(self):
        trace = self.record(PROGRAM, "pipeline", "3000", "1000", options=["-q"]).trace
        listed = json.loads(run(MILLRACE, "whatif", "--json", "--list", trace).stdout)["findings"][0]
        selectors = {row["selector"] for table in listed["tables"] for row in table["rows"]}
        self.assertLessEqual({"cause:sleep", "cause:cpu", "thread:loader"}, selectors)

    def test_curve(self):
        for attempt in harness.attempts(8):
            trace = self.record(PROGRAM, "pipeline", "3000", "1000", options=["-q"], name=f"curve{attempt}.mill").trace
            curve = json.loads(run(MILLRACE, "whatif", "--json", "--curve", "thread:loader", trace).stdout)
            rows = curve["findings"][0]["tables"][0]["rows"]
            self.assertEqual([row["faster_permille"] for row in rows], list(range(0, 1001, 100)))
            times = [row["after_ns"] for row in rows]
            self.assertEqual(times, sorted(times, reverse=True))  # never slower by being faster
            if times[-1] < times[0] / 2:
                return
        self.fail(rows)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
