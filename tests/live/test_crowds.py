#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: its sleeps may take longer than asked, never less
"""Programs that start many processes: the report names the program and how many there were, its sums stay exact,
and `--process` finds the process that people mean."""

import json
import os
import re
import sys

import harness
from kernel import skip_unless_possible
from support import MILLRACE, LiveTest, run

PROCESSES = 120
MANY = f"i=0; while [ $i -lt {PROCESSES} ]; do /bin/true; i=$((i+1)); done"
# Children that this forks have its name until they become uname.
FORKS = """
import os, time
for _ in range(3):
    child = os.fork()
    if child == 0:
        os.execv("/bin/uname", ["uname"])
    os.waitpid(child, 0)
print(os.getpid())
time.sleep(0.2)
"""


def report(trace, *options):
    result = run(MILLRACE, "report", "--whole", "--json", *options, trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout), result.stderr


class Crowds(LiveTest):
    def record(self, *command):
        trace = self.path("run.mill")
        result = run(MILLRACE, "record", "-o", trace, "--", *command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return trace, result.stdout

    def test_many_processes(self):
        trace, _ = self.record("sh", "-c", MANY)
        said, _ = report(trace)
        shares = said["critical_path"]["shares"]
        self.assertEqual(sum(share["ns"] for share in shares), said["critical_path"]["span_ns"])
        culprits = [share["culprit"] for share in shares]
        self.assertEqual([name for name in culprits if re.fullmatch(r"thread \d+ 'true'", name)], [], culprits)
        counts = [int(match[1]) for name in culprits for match in [re.fullmatch(r"(\d+) 'true' processes", name)]
                  if match]
        self.assertTrue(counts, culprits)
        self.assertLessEqual(max(counts), PROCESSES)
        for finding in said["findings"]:
            for table in finding["tables"]:
                for column in table["columns"]:
                    if "whole" in column:
                        self.assertEqual(sum(row[column["key"]] for row in table["rows"]), column["whole"])

    def test_without_a_device(self):
        """What the threads did, which the table of threads has one by one."""
        trace, _ = self.record("sleep", "0.3")
        said, _ = report(trace)
        overview = next(finding for finding in said["findings"] if finding["id"] == "overview")
        texts = [sentence["text"] for sentence in overview["sentences"]]
        self.assertEqual(len(texts), 1, texts)
        self.assertRegex(texts[0], r"^No device did any work\. All threads together ran on CPUs for [\d.]+ [mµ]s, waited "
                                   r"[\d.]+ (ms|µs|ns) for a CPU and were blocked for 3\d\d ms\.$")

    def test_process_by_name(self):
        """Of all that have the name, the one that the program is."""
        python = os.path.realpath(sys.executable)
        trace, output = self.record(python, "-c", FORKS)
        pid = output.split()[-1]
        name = os.path.basename(python)
        for text in {name, "python", pid, python}:
            with self.subTest(text):
                said, err = report(trace, "--process", text)
                self.assertRegex(said["window"]["part"], rf"^process {pid} \({re.escape(name)}\)$")
                if text == pid:
                    self.assertEqual(err, "")
        rows = next(table["rows"] for finding in said["findings"] if finding["id"] == "threads"
                    for table in finding["tables"] if table["id"] == "by_thread")
        self.assertEqual({str(row["pid"]) for row in rows}, {pid})

    def test_other_matches_are_named(self):
        trace, output = self.record("sh", "-c", "sleep 0.3 & sleep 0.05; echo $!; wait")
        longest = output.split()[-1]
        said, err = report(trace, "--process", "sleep")
        self.assertEqual(said["window"]["part"], f"process {longest} (sleep)")
        self.assertRegex(err, rf"^millrace: 2 processes match 'sleep': {longest} \(sleep\) was recorded longest and is "
                              r"shown; the other is \d+ \(sleep\)\n$")

    def test_life_of_a_process(self):
        """A process is looked at while it lives, unless a time is given."""
        trace, output = self.record("sh", "-c", "sleep 0.4; sleep 0.1 & echo $!; wait; sleep 0.2")
        pid = output.split()[-1]
        whole = report(trace)[0]["window"]
        said, _ = report(trace, "--process", pid)
        life = said["window"]
        self.assertGreater(life["first_ns"], whole["first_ns"] + 0.4e9)
        self.assertLess(life["last_ns"], whole["last_ns"] - 0.2e9)
        self.assertGreater(life["last_ns"] - life["first_ns"], 0.1e9)
        self.assertEqual(said["critical_path"]["span_ns"], life["last_ns"] - life["first_ns"])
        for time in ("--from", "0"), ("--to", "1h"):
            given = report(trace, "--process", pid, *time)[0]["window"]
            self.assertEqual((given["first_ns"], given["last_ns"]), (whole["first_ns"], whole["last_ns"]))


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
