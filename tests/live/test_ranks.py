#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares what took how long with what the program measured
"""Ranks of a job in one trace, one of which comes late to collectives: the report names it first, says why, and how long the
others waited, as the ranks themselves have measured."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from kernel import skip_unless_possible
from problems import ProblemsTest
from support import MILLRACE, info, manifest, query, run
from traced_torch import ENVIRONMENT, PYTHON, SOURCE, TIMEOUT

PROGRAM = os.path.join(SOURCE, "tests", "live", "programs", "ranks_torch.py")
STEPS = 12
EXACT = 0.05
CROWD = 12  # so many share the CPU of one rank that whoever else uses the machine does not count
GREEDY = "import os\nos.sched_setaffinity(0, {max(os.sched_getaffinity(0))})\nprint(flush=True)\nwhile True: pass"


class Ranks(ProblemsTest):
    def diagnose(self, trace, *options):
        """Keeps the finding on ranks, too."""
        result = run(MILLRACE, "report", "--json", *options, trace)
        report = json.loads(result.stdout)
        self.tables = {table["id"]: table["rows"] for finding in report["findings"] if finding["id"] == "ranks"
                       for table in finding["tables"]}
        self.said = [sentence["text"] for finding in report["findings"] if finding["id"] == "ranks"
                     for sentence in finding["sentences"]]
        return super().diagnose(trace, *options)

    def record_ranks(self, ranks, cases, pids=()):
        """case: (problems, tables of ranks, sentences, truth_ns, wall_ns)"""
        folder = tempfile.mkdtemp(dir=self.folder)
        recorded = self.record(PYTHON, PROGRAM, folder, str(ranks), ",".join(map(str, pids)), *cases, options=["-q"],
                               name=os.path.basename(folder) + ".mill", env=ENVIRONMENT, timeout=TIMEOUT)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        self.trace = recorded.trace
        start, found = info(recorded.trace)["first_ns"], {}
        for line in recorded.stdout.splitlines():
            case, begin, end, truth = line.split()
            part = ("--from", f"{int(begin) - start}ns", "--to", f"{int(end) - start}ns")
            problems = self.diagnose(recorded.trace, *part)
            self.check_screen(recorded.trace, *part)
            found[case] = problems, self.tables, self.said, int(truth), int(end) - int(begin)
        self.assertEqual(list(found), list(cases))
        return found

    def check_tables(self, found, ranks):
        """What a rank does sums to the time looked at; others wait as long as the last one is late."""
        _, tables, _, truth, wall = found
        rows = tables["ranks"]
        self.assertEqual([row["rank_number"] for row in rows], list(range(ranks)))
        for row in rows:
            self.assertEqual(row["own_ns"] + row["waiting_ns"] + row["transfer_ns"], wall)
            self.assertEqual(row["rank"], f"rank {row['rank_number']}")
        self.assertLessEqual(abs(rows[-1]["late_ns"] - truth), EXACT * truth, rows)
        for row in rows[:-1]:
            self.assertGreaterEqual(row["waiting_ns"], (1 - EXACT) * truth)

    def is_late(self, found, ranks):
        """Whether the late rank is the first problem, and costs what the ranks have measured."""
        problems, _, _, truth, _ = found
        return problems[0]["key"] == "slow_worker" and problems[0]["where"].startswith(f"rank {ranks - 1} ") and \
            abs(problems[0]["time_ns"] - truth) <= EXACT * truth

    def until(self, ranks, cases, causes, **keywords):
        """Records until each case was told as it should be: machines are busy."""
        missing, seen = dict(causes), {}
        for left in harness.attempts(4):
            for case, found in self.record_ranks(ranks, [case for case in cases if case in missing], **keywords).items():
                seen[case] = found
                if self.is_late(found, ranks) and missing[case] in found[0][0]["why"]:
                    self.check_tables(found, ranks)
                    del missing[case]
            if not missing:
                return seen
        self.fail({case: (seen[case][0], seen[case][1:]) for case in missing})

    def test_two_ranks(self):
        found = self.until(2, ["slow", "loader"],
                           {"slow": "Before that it mostly computes", "loader": "waits for input (stage DataLoader)"})
        slow, loader = found["slow"][0][0], found["loader"][0][0]
        for problem in slow, loader:
            self.assertRegex(problem["why"], rf"^Rank 1 arrives late at \d+ of {STEPS} collectives \(gloo:all_reduce\), "
                                             r"by [\d.]+ ms each time, and all others wait for it\. Before that it")
        self.assertIn("num_workers", loader["remedy"])
        self.assertIn("it is late again and again", found["slow"][2][0])
        rows = query(self.trace, "select rank, world_size, local_rank, count(*) as n from processes where rank is not NULL "
                                 "group by 1, 2, 3")
        self.assertEqual([(row["rank"], row["world_size"], row["local_rank"]) for row in rows], [(0, 2, 0), (1, 2, 1)])
        self.assertNotIn("rank", manifest(self.trace), "the recorder itself is none")

    def test_four_ranks(self):
        self.until(4, ["loader"], {"loader": "waits for input (stage DataLoader)"})

    def test_once(self):
        for left in harness.attempts(4):
            found = self.record_ranks(2, ["once"])["once"]
            if "it is late once, at 1 of" in found[2][0]:
                break
        self.assertIn("The others wait most for rank 1: it is late once, at 1 of", found[2][0])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is one CPU")
    def test_taken(self):
        """Programs that are not recorded have the CPU of one rank."""
        path = os.path.join(self.folder, "greedy")
        shutil.copy(os.path.realpath("/usr/bin/python3"), path)
        greedy = [subprocess.Popen([path, "-c", GREEDY], stdout=subprocess.PIPE) for _ in range(CROWD)]
        try:
            for each in greedy:
                each.stdout.readline()
                each.send_signal(signal.SIGSTOP)
            found = self.until(2, ["taken"], {"taken": "waits for a CPU that 'greedy' has"},
                               pids=[each.pid for each in greedy])
            self.assertIn("taskset", found["taken"][0][0]["remedy"])
        finally:
            for each in greedy:
                each.kill()
                each.wait()
                each.stdout.close()


class OneRank(ProblemsTest):
    def record_environment(self, **variables):
        environment = {**ENVIRONMENT, **variables}
        recorded = self.record("true", options=["-q", "--levels", "dataflow"], env=environment)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        return recorded.trace

    def test_name_of_the_trace(self):
        """%r is the rank; without one the program does not start."""
        pattern, ran = self.path("of%r.mill"), self.path("ran")
        environment = {**ENVIRONMENT, "RANK": "3", "WORLD_SIZE": "8"}
        result = run(MILLRACE, "record", "-q", "-o", pattern, "--", "true", env=environment)
        self.assertEqual((result.returncode, os.path.isdir(self.path("of3.mill"))), (0, True), result.stderr)
        result = run(MILLRACE, "record", "-q", "-o", pattern, "--", "touch", ran, env=ENVIRONMENT)
        self.assertEqual((result.returncode, os.path.exists(ran)), (2, False))
        self.assertIn("does not say which rank", result.stderr)

    def test_environment(self):
        """What launchers say, in the processes and in the manifest."""
        config = {"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "worker", "index": 1}}
        chief = {"cluster": {"chief": ["a:1"], "worker": ["b:2"]}, "task": {"type": "worker", "index": 0}}
        for variables, expected in (
                ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, (3, 8, 1, "RANK")),
                ({"RANK": "3"}, None), ({"RANK": "x", "WORLD_SIZE": "8"}, None), ({"RANK": "8", "WORLD_SIZE": "8"}, None),
                ({"RANK": "99999999999999999999", "WORLD_SIZE": "99999999999999999999"}, None),
                ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"},
                 (2, 4, 0, "OMPI_COMM_WORLD_RANK")),
                ({"PMI_RANK": "1", "PMI_SIZE": "2"}, (1, 2, None, "PMI_RANK")),
                ({"SLURM_PROCID": "5", "SLURM_NTASKS": "6", "SLURM_LOCALID": "2"}, (5, 6, 2, "SLURM_PROCID")),
                ({"TF_CONFIG": json.dumps(config)}, (1, None, None, "TF_CONFIG")),
                ({"TF_CONFIG": json.dumps(chief)}, (1, None, None, "TF_CONFIG")),
                ({"TF_CONFIG": '{"task": {"type": "ps", "index": 0}}'}, None), ({"TF_CONFIG": '{"task":'}, None)):
            with self.subTest(variables):
                trace = self.record_environment(**variables)
                rows = query(trace, "select rank, world_size, local_rank from processes where rank is not NULL")
                self.assertEqual([tuple(row.values()) for row in rows], [expected[:3]] if expected else [])
                said = manifest(trace).get("rank", {})
                self.assertEqual(tuple(said.get(key) for key in ("rank", "world_size", "local_rank", "source")),
                                 expected or (None,) * 4)
                shutil.rmtree(trace)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
