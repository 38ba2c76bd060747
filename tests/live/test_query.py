#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`millrace query` on a recorded trace, against the events that `dump` prints; on a real trace of PyTorch,
against a second reading of the file and against Python's own SQLite over the exported rows; and its command
line. The real trace is looked for as in test_import.py."""

import collections
import csv
import decimal
import gzip
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import unittest

import harness
from support import BUILD, MILLRACE, LiveTest, dump, run, wait_until

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
GOLDEN = ROOT / "tests" / "golden"
PIPELINE = os.path.join(BUILD, "examples", "pipeline")
TRACES = pathlib.Path(os.environ.get("MILLRACE_TRACES", ROOT.parent / "shared" / "traces"))
REAL = TRACES / "alexnet-critical-path.json.gz"
RECORDER = 1  # its process number
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select {} from n"


def query(*arguments, **keywords):
    return run(MILLRACE, "query", *map(str, arguments), **keywords)


def rows(trace, sql):
    """The answer as objects."""
    result = query("--format", "json", trace, sql)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def catches(pid, number):
    """Whether a process has a handler for a signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\s+(\w+)", status)[1], 16) >> number - 1 & 1


def cpu_ticks(pid):
    """CPU time of a process, in hundredths of a second."""
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def tables():
    return [line.split()[0] for line in query(".tables").stdout.splitlines()]


class Recorded(LiveTest):
    def test_executions(self):
        """Each node_interval is a row: its node, its thread, and when it ended."""
        trace = self.record(PIPELINE, options=["--levels", "dataflow"]).trace
        events = dump(trace)
        wanted = collections.Counter(
            (event["tid"], event["names"]["node"], event["ns"]) for event in events
            if event["event"] == "node_interval")
        self.assertGreater(sum(wanted.values()), 1000)
        found = rows(trace, "select t.tid, e.node_name, e.start_ns + e.duration_ns as end_ns from "
                            "node_executions e join tracks t on t.rowid = e.track")
        self.assertEqual(collections.Counter(tuple(row.values()) for row in found), wanted)

        names = {event["fields"]["name"]: event["tid"] for event in events
                 if event["event"] == "thread_start" and event["process"] != RECORDER}
        found = rows(trace, "select name, tid from tracks where kind = 'THREAD'")
        self.assertLessEqual(names.items(), {row["name"]: row["tid"] for row in found}.items())
        edges = collections.Counter((event["names"]["source"], event["names"]["target"])
                                    for event in events if event["event"] == "def_edge")
        found = rows(trace, "select source_name, target_name from edges")
        self.assertEqual(collections.Counter(tuple(row.values()) for row in found), edges)


@unittest.skipUnless(REAL.exists(), f"{REAL.name} is not in {TRACES}")
class Real(unittest.TestCase):
    def test_operations(self):
        """By kernel: count, time and the calls that launched them, read from the file itself."""
        with gzip.open(REAL) as file:
            events = json.load(file, parse_float=decimal.Decimal)["traceEvents"]
        launches = {event["args"]["correlation"]: event["name"] for event in events
                    if event.get("cat") == "cuda_runtime"}
        wanted = collections.defaultdict(lambda: [0, 0])
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                group = wanted[event["name"], launches.get(event["args"]["correlation"])]
                group[0] += 1
                group[1] += int(event["dur"] * 1000)
        found = rows(REAL, "select o.name, c.function, count(*) as n, sum(o.duration_ns) as ns from "
                           "device_operations o left join calls c on c.rowid = o.call "
                           "group by o.name, c.function")
        self.assertEqual({(row["name"], row["function"]): [row["n"], row["ns"]] for row in found},
                         dict(wanted))

    def test_against_python(self):
        """The same questions asked of the exported rows, in tables of SQLite's own."""
        database = sqlite3.connect(":memory:")
        for table in tables():
            exported = list(csv.reader(io.StringIO(
                query("--format", "csv", REAL, f"select rowid as row, * from {table}").stdout)))
            declared = ["row integer primary key"] + [
                f"{line.split()[0]} {line.split()[1].rstrip(',')}"
                for line in query(f".schema {table}").stdout.splitlines() if line.startswith("  ")]
            database.execute(f"create table {table} ({', '.join(declared)})")
            database.executemany(f"insert into {table} values ({','.join('?' * len(declared))})",
                                 [[cell or None for cell in row] for row in exported[1:]])
        for question in (
                "select node_name, count(*) as n, sum(self_ns) as ns from node_executions "
                "group by node_name order by node_name",
                "select track_name, kind, count(*) as n, min(start_ns) as first from device_operations "
                "where duration_ns > 1000 group by track_name, kind order by 1, 2",
                "select distinct function from calls order by function desc",
                "select track, start_ns, function from calls where track = (select max(track) from calls) "
                "and start_ns > (select avg(start_ns) from calls) order by start_ns, function",
                "select c.function as f, o.name as name, o.start_ns - c.start_ns as delay from calls c "
                "join device_operations o on o.call = c.ROWID order by delay, o.ROWID limit 100",
                "select p.node_name as whole, e.node_name as part, count(*) as n from node_executions e "
                "join node_executions p on p.ROWID = e.parent group by p.node_name, e.node_name order by 1, 2",
                "select kind, count(*) as n from device_operations group by kind having n > 1 order by 1"):
            found = rows(REAL, question)
            self.assertTrue(found, question)
            wanted = database.execute(question.replace("ROWID", "row")).fetchall()
            self.assertEqual([tuple(row.values()) for row in found], wanted, question)


class CommandLine(LiveTest):
    def setUp(self):
        super().setUp()
        self.trace = GOLDEN / "small.mill"

    def test_operands(self):
        sql = "select count(*) as n from tracks"
        expected = query(self.trace, sql)
        self.assertEqual((expected.returncode, expected.stderr), (0, ""))
        self.assertEqual(query(self.trace, "-", input=sql).stdout, expected.stdout)
        self.assertEqual(query(sql, cwd=GOLDEN).stdout, expected.stdout)
        self.assertEqual(query("-", cwd=GOLDEN, input=sql + ";\n").stdout, expected.stdout)
        self.assertEqual(query("--format", "csv", self.trace, sql).stdout, "n\n4\n")

    def test_misuse(self):
        for arguments in [], [self.trace, "select 1", "x"], ["--format", "xml", "select 1"], [self.trace]:
            self.assertEqual(query(*arguments).returncode, 2, arguments)
        result = query(self.trace, "slect 1")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (1, "", 'millrace: cannot run the query: near "slect": syntax error\n'))
        self.assertEqual(query("select 1", cwd=self.folder).returncode, 1)
        self.assertEqual(query(".tables", cwd=self.folder).returncode, 0)
        self.assertEqual(query(".nothing", cwd=self.folder).returncode, 1)

    def test_no_file_is_made(self):
        """Not even while it sorts more than fits in a cache."""
        for sql in ("attach 'made' as made", "vacuum into 'made'", "pragma temp_store_directory = '.'",
                    "select count(*) from (select i from (with recursive n(i) as (select 1 union all "
                    "select i + 1 from n where i < 300000) select i from n) order by i * 7919 % 300007)"):
            if subprocess.call(["which", "strace"], stdout=subprocess.DEVNULL) != 0:
                self.skipTest("strace is not installed")
            log = self.path("log")
            run("strace", "-f", "-e", "trace=openat,open,creat,memfd_create", "-o", log, MILLRACE, "query",
                self.trace, sql, cwd=self.folder)
            written = [line for line in pathlib.Path(log).read_text().splitlines()
                       if re.search(r"O_(WRONLY|RDWR|CREAT)|creat\(|memfd", line)]
            self.assertEqual(written, [])
            self.assertEqual(os.listdir(self.folder), ["log"])

    def test_interrupt(self):
        process = subprocess.Popen([MILLRACE, "query", self.trace, ENDLESS.format("count(*)")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # It is in the midst of it when it has a handler, and has worked for far longer than it takes to begin.
        self.assertTrue(wait_until(lambda: catches(process.pid, signal.SIGINT) and cpu_ticks(process.pid) > 50))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, errors),
                         (1, "millrace: cannot run the query: interrupted\n"))

    def test_rows_come_at_once(self):
        """The first rows of an endless answer are there, and nobody complains when the reader leaves."""
        for form in "table", "csv", "json":
            process = subprocess.Popen([MILLRACE, "query", "--format", form, self.trace, ENDLESS.format("i")],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            lines = [process.stdout.readline() for _ in range(3000)]
            process.stdout.close()
            errors = process.stderr.read()
            process.stderr.close()
            self.assertEqual((process.wait(60), errors), (-signal.SIGPIPE, ""))
            self.assertIn("2900", lines[2900] + lines[2899])

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            result = run(MILLRACE, "query", self.trace, ENDLESS.format("i"), capture_output=False,
                         stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertIn("cannot be written", result.stderr)


class Examples(unittest.TestCase):
    def test_examples_of_the_page(self):
        """They run, and their columns are those that the page shows."""
        page = (ROOT / "doc" / "tables.md").read_text()
        examples = re.findall(r"^    \$ millrace query (?:\S+ )?\"([^\"]*)\"\n    (.*)$", page, re.M)
        self.assertGreaterEqual(len(examples), 5)
        for sql, heading in examples:
            result = query("--format", "csv", GOLDEN / "small.mill", re.sub(r"\n +", " ", sql))
            self.assertEqual((result.returncode, result.stderr), (0, ""), sql)
            self.assertEqual(result.stdout.splitlines()[0].split(","), heading.split())


if __name__ == "__main__":
    harness.main()
