#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`millrace export`, read back by other programs: Perfetto's trace processor, pyarrow and DuckDB. What they find must be
what `millrace query` says: of a recorded program, of a simulated one with every level, of a made-up file that is hard to
write, and of a real trace of PyTorch, if there is one."""

import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import unittest

import harness
import perfetto
from support import BUILD, MILLRACE, LiveTest, query, run

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
TRACES = pathlib.Path(os.environ.get("MILLRACE_TRACES", ROOT.parent / "shared" / "traces"))
REAL = TRACES / "alexnet-critical-path.json.gz"
PIPELINE = os.path.join(BUILD, "examples", "pipeline")
SIMULATE = os.path.join(BUILD, "tests", "simulate")
GROUP_ROWS = 1 << 17  # of a Parquet file

# Reads every file of a folder in two ways, and prints the rows as `millrace query --format json` does.
READ_PARQUET = """
import json, os, sys
import duckdb, pyarrow.parquet
for name in sorted(os.listdir(sys.argv[1])):
    path = os.path.join(sys.argv[1], name)
    arrow = pyarrow.parquet.read_table(path)
    duck = duckdb.sql(f"select * from '{path}'")
    assert duck.columns == arrow.column_names, name
    rows = arrow.to_pylist()
    assert [tuple(row.values()) for row in rows] == duck.fetchall(), name
    print(json.dumps([name.removesuffix(".parquet"), arrow.column_names, rows]))
"""
SUM_PARQUET = """
import sys
import duckdb
print(*duckdb.sql(sys.argv[1]).fetchall()[0])
"""
SUMS = "select count(*), max(rowid), sum(start_ns), sum(duration_ns), count(distinct node_name), count(site) from {}"


@functools.cache
def tables():
    """The columns of each table."""
    text = run(MILLRACE, "query", ".schema").stdout
    return {name: re.findall(r"^ +(\w+)", columns, re.MULTILINE)
            for name, columns in re.findall(r"^CREATE TABLE (\w+) \((.*?)^\);", text, re.MULTILINE | re.DOTALL)}


def hard_file(folder):
    """A file whose names are not UTF-8 or very long, whose slices overlap without nesting or take no time, with the
    largest and smallest numbers."""
    events = [{"ph": "X", "pid": 2, "tid": 9, "ts": 10 + i, "dur": 100, "name": "overlaps"} for i in range(20)]
    events += [{"ph": "X", "pid": 2, "tid": 9, "ts": 10, "dur": 0, "name": "x" * 3000},
               {"ph": "X", "pid": 2, "tid": 9, "ts": 11, "dur": 0, "name": "NOT-UTF-8"},
               {"ph": "X", "pid": 2, "tid": 9, "ts": 12, "dur": 0, "name": "größer \U0001f600 \"'"}]
    values = [0, 1, -1, (1 << 63) - 1, -(1 << 63), 12345678901234]
    events += [{"ph": "C", "pid": 2, "tid": 9, "ts": 20 + i, "name": "level", "args": {"value": value}}
               for i, value in enumerate(values)]
    return write_file(os.path.join(folder, "hard.json"), events)


def long_file(folder):
    """A file with more rows than a group of a Parquet file."""
    events = [{"ph": "X", "pid": 1, "tid": 1 + i % 3, "ts": i, "dur": (i * 7919) % 13, "name": f"op {i % 5000}"}
              for i in range(GROUP_ROWS + 3)]
    return write_file(os.path.join(folder, "long.json"), events)


def write_file(path, events):
    with open(path, "wb") as file:
        file.write(json.dumps({"traceEvents": events}, ensure_ascii=False).encode().replace(b"NOT-UTF-8", b"a\xff\xfeb"))
    return path


class Export(LiveTest):
    def trace(self, kind):
        """A trace of that kind; skips where there is none."""
        path = os.path.join(self.folder, kind + ".mill")
        if kind == "recorded":
            result = run(MILLRACE, "record", "--quiet", "-o", path, "--", PIPELINE)
            self.assertEqual(result.returncode, 0, result.stderr)
        elif kind == "simulated":
            if not os.path.exists(SIMULATE):
                self.skipTest("the simulator is not built")
            subprocess.run([SIMULATE, "7", path, "size=1500"], check=True, stdout=subprocess.DEVNULL)
        elif not REAL.exists():
            self.skipTest(f"there is no {REAL.name}")
        else:
            return str(REAL)
        return path

    def export(self, trace, *options, name="out"):
        """What was written."""
        output = os.path.join(self.folder, name)
        result = run(MILLRACE, "export", *options, "-o", output, trace)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.strip(), output)
        return output

    # ---- Perfetto ----------------------------------------------------------------------------------

    def check_perfetto(self, trace):
        if not perfetto.engine()[0]:
            self.skipTest(perfetto.engine()[1])
        errors, slices, flows, counters, threads = perfetto.ask(
            self.export(trace),
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
            "select slice.id, category, ts, dur, slice.name, int_value as row from slice"
            " join args using (arg_set_id) where args.key = 'debug.row'",
            "select slice_out, slice_in from flow",
            "select track.name, ts, value from counter join track on track.id = track_id",
            "select count(*) as n from thread where tid > 0")
        self.assertEqual(errors, [])
        self.assertGreater(threads[0]["n"], 0)
        found = collections.defaultdict(dict)
        for each in slices:
            found[each["category"]][each["row"]] = each
        self.compare_slices(trace, found)
        self.compare_flows(trace, {each["id"]: each for each in slices}, flows)
        self.compare_counters(trace, counters)

    def compare_slices(self, trace, found):
        names = {"device_operations": "coalesce(name, kind)", "scopes": "name", "calls": "function", "states": "state",
                 "node_executions": "node_name"}
        seen = 0
        for table, columns in tables().items():
            if "duration_ns" not in columns:
                continue
            rows = query(trace, f"select rowid, start_ns, duration_ns, {names.get(table, 'NULL')} as name from {table}")
            self.assertEqual({row: (each["ts"], each["dur"]) for row, each in found[table].items()},
                             {row["rowid"]: (row["start_ns"], row["duration_ns"]) for row in rows}, table)
            for row in rows:
                if row["name"]:
                    self.assertEqual(found[table][row["rowid"]]["name"], row["name"])
            seen += len(rows)
        self.assertGreater(seen, 20)

    def compare_flows(self, trace, slices, flows):
        """In either direction: Perfetto leads them from the slice that begins first."""
        def pair(*ends):
            return tuple(sorted(ends))

        wanted = collections.Counter()
        for sql, source, target in (
                ("select call, rowid from device_operations where call is not NULL", "calls", "device_operations"),
                ("select after, rowid from device_operations where after is not NULL", "device_operations",
                 "device_operations"),
                ("select awaited, rowid from calls where awaited is not NULL", "device_operations", "calls"),
                ("select rowid, peer from messages where is_receive = 0 and peer is not NULL", "messages", "messages"),
                ("select (select s.rowid from states s where s.track = w.waker and s.start_ns <= w.start_ns"
                 " order by s.start_ns desc, s.rowid desc limit 1), b.rowid + 1 from states b"
                 " join wakeups w on w.rowid = b.wakeup join states n on n.rowid = b.rowid + 1 and n.track = b.track"
                 " where w.waker is not NULL and w.context = 'task'", "states", "states")):
            for row in query(trace, sql):
                first, second = row.values()
                wanted[pair((source, first), (target, second))] += 1
        found = collections.Counter(
            pair(*((slices[each[end]]["category"], slices[each[end]]["row"]) for end in ("slice_out", "slice_in")))
            for each in flows)
        self.assertEqual(found, wanted)

    def compare_counters(self, trace, counters):
        found = collections.Counter((each["name"], each["ts"], each["value"]) for each in counters)
        wanted = collections.Counter((row["name"], row["start_ns"], float(row["value"])) for row in
                                     query(trace, "select name, start_ns, value from counters"))
        wanted += collections.Counter(
            (f"memory of {row['device_name'] or ''} ({row['teller'].lower()})", row["start_ns"],
             float(row["live_bytes"]))
            for row in query(trace, "select device_name, teller, start_ns, live_bytes from memory"))
        self.assertEqual(found, wanted)

    def test_perfetto_of_a_recorded_program(self):
        self.check_perfetto(self.trace("recorded"))

    def test_perfetto_of_every_level(self):
        self.check_perfetto(self.trace("simulated"))

    def test_perfetto_of_a_hard_file(self):
        self.check_perfetto(hard_file(self.folder))

    def test_perfetto_of_a_real_trace(self):
        self.check_perfetto(self.trace("real"))

    # ---- Parquet -----------------------------------------------------------------------------------

    def read_parquet(self, script, *arguments):
        """What a script of the other readers prints."""
        tool = run(ROOT / "tools" / "readers")
        if tool.returncode != 0:
            self.skipTest(tool.stderr)
        result = run(os.path.join(tool.stdout.strip(), "bin", "python"), "-c", script, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr[-1000:])
        return result.stdout

    def check_parquet(self, trace):
        text = self.read_parquet(READ_PARQUET, self.export(trace, "--format", "parquet"))
        found = {name: (columns, rows) for name, columns, rows in map(json.loads, text.splitlines())}
        self.assertEqual(set(found), set(tables()))
        sums = query(trace, "select " + ", ".join(f"(select count(*) from {name}) as {name}" for name in found))
        self.assertEqual({name: len(rows) for name, (_, rows) in found.items()}, sums[0])
        for name, (columns, rows) in found.items():
            self.assertEqual(columns, ["rowid", *tables()[name]])
            if rows:
                self.assertEqual(rows, query(trace, f"select rowid, * from {name}"), name)

    def test_parquet_of_every_level(self):
        self.check_parquet(self.trace("simulated"))

    def test_parquet_of_a_hard_file(self):
        self.check_parquet(hard_file(self.folder))

    def test_parquet_of_several_groups(self):
        trace = long_file(self.folder)
        output = self.export(trace, "--format", "parquet")
        found = self.read_parquet(SUM_PARQUET, SUMS.format(f"'{output}/node_executions.parquet'"))
        self.assertEqual(found.split(), [str(value) for value in query(trace, SUMS.format("node_executions"))[0].values()])
        self.assertGreater(int(found.split()[0]), GROUP_ROWS)

    # ---- the command -------------------------------------------------------------------------------

    def test_name_of_the_output(self):
        trace = self.trace("recorded")
        for options, name in ((["--format=perfetto"], "recorded.pftrace"), (["--format=parquet"], "recorded.parquet")):
            result = run(MILLRACE, "export", *options, trace + "/", cwd=self.folder)
            self.assertEqual((result.returncode, result.stdout), (0, name + "\n"))
            self.assertTrue(os.path.exists(os.path.join(self.folder, name)))

    def test_stdout(self):
        trace = self.trace("recorded")
        result = run(MILLRACE, "export", "-o", "-", trace, text=False)
        self.assertEqual(result.stdout, pathlib.Path(self.export(trace)).read_bytes())

    def test_folder_that_exists_stays_as_it_is(self):
        trace, output = self.trace("recorded"), os.path.join(self.folder, "there")
        os.mkdir(output)
        result = run(MILLRACE, "export", "--format", "parquet", "-o", output, trace)
        self.assertEqual(result.returncode, 1)
        self.assertIn("already exists", result.stderr)
        self.assertEqual(os.listdir(output), [])

    def test_failure_leaves_nothing(self):
        trace = self.trace("recorded")
        for options in (["--format=perfetto"], ["--format=parquet"]):
            result = run(MILLRACE, "export", *options, "-o", os.path.join(self.folder, "no", "such"), trace)
            self.assertEqual(result.returncode, 1)
            self.assertIn("cannot write", result.stderr)
        self.assertEqual(os.listdir(self.folder), ["recorded.mill"])
        result = run(MILLRACE, "export", "-o", "/dev/full", trace)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)

    def test_misuse(self):
        for options in (["-o", ""], ["--format", "parquet", "-o", "-"], ["--format", "other"]):
            self.assertEqual(run(MILLRACE, "export", *options, "x.mill").returncode, 2)


if __name__ == "__main__":
    harness.main()
