#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Two workers of TensorFlow in one trace, one with slow input: the report names it first, says why it is late, and how long
the other one waited for it."""

import json
import os
import tempfile

import harness
import tensorflow
from kernel import skip_unless_possible
from problems import ProblemsTest
from support import MILLRACE, info, query, run
from traced_tensorflow import ENVIRONMENT, PYTHON

STEPS = 8
EXACT = 0.1  # of when the input is there: until it is added up, both workers call a function


class Workers(ProblemsTest):
    def record_workers(self):
        """The problems, what the late worker costs, the finding on ranks."""
        folder = tempfile.mkdtemp(dir=self.folder)
        recorded = self.record(PYTHON, tensorflow.python_program("ranks_tensorflow"), folder, str(STEPS), options=["-q"],
                               name=os.path.basename(folder) + ".mill", env=ENVIRONMENT, timeout=400)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        _, begin, end, truth = recorded.stdout.split()
        start = info(recorded.trace)["first_ns"]
        part = ("--from", f"{int(begin) - start}ns", "--to", f"{int(end) - start}ns")
        report = json.loads(run(MILLRACE, "report", "--json", *part, recorded.trace).stdout)
        self.check_screen(recorded.trace, *part)
        (ranks,) = (finding for finding in report["findings"] if finding["id"] == "ranks")
        rows = query(recorded.trace, "select distinct rank from processes where rank is not NULL order by 1")
        self.assertEqual([row["rank"] for row in rows], [0, 1])
        return report["problems"], int(truth), ranks["tables"][0]["rows"]

    def test_late_input(self):
        for left in harness.attempts(3):
            (first, *others), truth, ranks = self.record_workers()
            if first["key"] == "slow_worker" and abs(first["time_ns"] - truth) <= EXACT * truth:
                break
        self.assertEqual(first["key"], "slow_worker", (first, others))
        self.assertLessEqual(abs(first["time_ns"] - truth), EXACT * truth, (first, truth))
        self.assertRegex(first["why"], r"^Rank 1 arrives late at \d of \d+ collectives \(CollectiveReduceV2\), by .* each "
                                       r"time, and all others wait for it\. Before that it mostly waits for input \(stage ")
        self.assertRegex(first["where"], r"^rank 1 \(process \d+\)$")
        self.assertEqual([row["rank_number"] for row in ranks], [0, 1])
        self.assertGreater(ranks[0]["waiting_ns"], 0.8 * truth)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
