#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of rocprofv3 in SQLite (rocpd): databases made here with both versions of its tables, against a second reading by
Python's own SQLite; two recordings in one file; and hostile ones."""

import json
import pathlib
import sqlite3
import tempfile
import unittest

import harness
from support import MILLRACE, run

PID, TID = 4242, 4243
BEGIN = 10_000_000
GPU, CPU = 3, 1
COMMON = """
CREATE TABLE "rocpd_string$" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT NOT NULL);
CREATE TABLE "rocpd_info_process$" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER NOT NULL,
    init BIGINT, fini BIGINT, start BIGINT, end BIGINT, command TEXT, environment TEXT, extdata TEXT);
CREATE TABLE "rocpd_info_thread$" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER,
    name TEXT, start BIGINT, end BIGINT, extdata TEXT);
CREATE TABLE "rocpd_info_agent$" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, type TEXT, absolute_index INTEGER,
    logical_index INTEGER, type_index INTEGER, uuid INTEGER, name TEXT, product_name TEXT, extdata TEXT);
CREATE TABLE "rocpd_info_kernel_symbol$" (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT);
CREATE TABLE "rocpd_event$" (id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER,
    correlation_id INTEGER, extdata TEXT NOT NULL DEFAULT '{}');
CREATE TABLE "rocpd_track$" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, ppid INTEGER, pid INTEGER, tid INTEGER,
    agent_id INTEGER, queue_id INTEGER, stream_id INTEGER, name_id INTEGER, extdata TEXT);
"""
PLACES = {False: "nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, end BIGINT, {gpu}",
          True: "track_id INTEGER, start_id INTEGER, end_id INTEGER, "}
TABLES = """
CREATE TABLE "rocpd_region$" (id INTEGER PRIMARY KEY, guid TEXT, {host} name_id INTEGER, event_id INTEGER, extdata TEXT);
CREATE TABLE "rocpd_kernel_dispatch$" (id INTEGER PRIMARY KEY, guid TEXT, {kernel} kernel_id INTEGER, dispatch_id INTEGER,
    private_segment_size INTEGER, group_segment_size INTEGER, workgroup_size_x INTEGER, workgroup_size_y INTEGER,
    workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, region_name_id INTEGER,
    event_id INTEGER, extdata TEXT);
CREATE TABLE "rocpd_memory_copy$" (id INTEGER PRIMARY KEY, guid TEXT, {copy} name_id INTEGER, dst_agent_id INTEGER,
    dst_address INTEGER, src_agent_id INTEGER, src_address INTEGER, size INTEGER, event_id INTEGER, extdata TEXT);
"""
TIMES = 'CREATE TABLE "rocpd_timestamp$" (id INTEGER PRIMARY KEY, guid TEXT, value BIGINT, phase INTEGER, track_id INTEGER);'


class Recording:
    """Five iterations: a copy to the device, two kernels, and a wait for all of it."""

    def __init__(self, database, suffix, has_tracks, begin=BEGIN):
        self.database, self.suffix, self.has_tracks, self.begin = database, suffix, has_tracks, begin
        self.texts, self.tracks = {}, {}
        place = PLACES[has_tracks]
        schema = COMMON + TABLES.format(
            host=place.format(gpu=""), kernel=place.format(gpu="agent_id INTEGER, queue_id INTEGER, stream_id INTEGER,"),
            copy=place.format(gpu="queue_id INTEGER, stream_id INTEGER,")) + (TIMES if has_tracks else "")
        database.executescript(schema.replace("$", suffix))
        self.add("rocpd_info_process", id=PID, pid=PID, command="train.py --fast")
        self.add("rocpd_info_thread", id=1, pid=PID, tid=TID)
        self.add("rocpd_info_agent", id=CPU, type="CPU", type_index=0, name="EPYC")
        self.add("rocpd_info_agent", id=GPU, type="GPU", type_index=0, name="gfx942", product_name="AMD Instinct MI300X")
        for number, name in enumerate(("gemm", "relu"), 1):
            self.add("rocpd_info_kernel_symbol", id=number, kernel_name=f"_Z4{name}", display_name=f"{name}(float*)")
        for step in range(5):
            self.add_step(step, begin + 1_000_000 * step)

    def add(self, table, **values):
        names = ", ".join(f'"{name}"' for name in values)
        return self.database.execute(f'INSERT INTO "{table}{self.suffix}" ({names}) VALUES ({", ".join("?" * len(values))})',
                                     list(values.values())).lastrowid

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = self.add("rocpd_string", string=value)
        return self.texts[value]

    def place(self, start, end, **where):
        if not self.has_tracks:
            return {"pid": PID, "tid": 1, "start": start, "end": end, **where}
        key = tuple(where.items())
        if key not in self.tracks:
            self.tracks[key] = self.add("rocpd_track", nid=1, pid=PID, tid=1, **where)
        return {"track_id": self.tracks[key], "start_id": self.add("rocpd_timestamp", value=start, phase=1),
                "end_id": self.add("rocpd_timestamp", value=end, phase=2)}

    def region(self, category, name, start, end, correlation, message=None):
        event = self.add("rocpd_event", category_id=self.text(category), stack_id=correlation,
                         extdata=json.dumps({"message": message}) if message else "{}")
        self.add("rocpd_region", name_id=self.text(name), event_id=event, **self.place(start, end))

    def kernel(self, number, start, end, correlation):
        event = self.add("rocpd_event", category_id=self.text("KERNEL_DISPATCH"), stack_id=correlation)
        self.add("rocpd_kernel_dispatch", kernel_id=number, private_segment_size=48, group_segment_size=1024, workgroup_size_x=64,
                 workgroup_size_y=1, workgroup_size_z=1, grid_size_x=1280, grid_size_y=2, grid_size_z=1, event_id=event,
                 **self.place(start, end, agent_id=GPU, queue_id=1, stream_id=2))

    def copy(self, start, end, correlation):
        event = self.add("rocpd_event", category_id=self.text("MEMORY_COPY"), stack_id=correlation)
        self.add("rocpd_memory_copy", name_id=self.text("MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=GPU, src_agent_id=CPU, size=4096,
                 event_id=event, **self.place(start, end, queue_id=1, stream_id=2))

    def add_step(self, step, at):
        first = 10 * step + 1
        self.region("MARKER_CORE_RANGE_API", "roctxThreadRangeA", at, at + 900_000, first, f"iteration {step}")
        self.region("HIP_RUNTIME_API", "hipMemcpyAsync", at + 2_000, at + 4_000, first + 1)
        self.copy(at + 5_000, at + 25_000, first + 1)
        for i in range(2):
            self.region("HIP_RUNTIME_API", "hipLaunchKernel", at + 10_000 + 5_000 * i, at + 12_000 + 5_000 * i, first + 2 + i)
            self.kernel(1 + i, at + 30_000 + 200_000 * i, at + 225_000 + 200_000 * i, first + 2 + i)
        self.region("HIP_RUNTIME_API", "hipDeviceSynchronize", at + 100_000, at + 445_000, first + 5)


class Rocpd(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "results.db")

    def make(self, has_tracks=False, suffix='_00"0$1'):  # a name that must be quoted
        self.database = sqlite3.connect(self.path)
        made = Recording(self.database, suffix.replace('"', ""), has_tracks)
        self.database.commit()
        return made

    def query(self, sql):
        result = run(MILLRACE, "query", "--format", "json", self.path, sql)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def check(self, recordings):
        self.assertEqual(self.query("select name, kind, count(*) as n, sum(duration_ns) as ns, sum(bytes) as bytes, "
                                    "sum(call is not null) as joined from device_operations group by 1 order by 1"),
                         [{"name": "MEMORY_COPY_HOST_TO_DEVICE", "kind": "copy_to_device", "n": 5 * recordings,
                           "ns": 100_000 * recordings, "bytes": 5 * 4096 * recordings, "joined": 5 * recordings}] +
                         [{"name": f"{name}(float*)", "kind": "kernel", "n": 5 * recordings, "ns": 5 * 195_000 * recordings,
                           "bytes": 0, "joined": 5 * recordings} for name in ("gemm", "relu")])
        self.assertEqual(self.query("select function, count(*) as n from calls group by 1 order by 1"),
                         [{"function": "hipDeviceSynchronize", "n": 5 * recordings}, {"function": "hipLaunchKernel", "n": 10 * recordings},
                          {"function": "hipMemcpyAsync", "n": 5 * recordings}])

    def test_both_versions(self):
        for has_tracks in (False, True):
            with self.subTest(has_tracks=has_tracks):
                pathlib.Path(self.path).unlink(missing_ok=True)
                self.make(has_tracks)
                self.check(1)
                (total,), = self.database.execute(
                    'SELECT sum(f.value - b.value) FROM "rocpd_kernel_dispatch_000$1" k JOIN "rocpd_timestamp_000$1" b ON b.id = start_id '
                    'JOIN "rocpd_timestamp_000$1" f ON f.id = end_id' if has_tracks else
                    'SELECT sum(end - start) FROM "rocpd_kernel_dispatch_000$1"')
                self.assertEqual(self.query("select sum(duration_ns) as ns from device_operations where kind = 'kernel'"),
                                 [{"ns": total}])
                self.database.close()

    def test_names_sizes_and_steps(self):
        self.make()
        self.assertEqual(self.query("select distinct name, global_x, global_y, local_x, private_bytes, group_bytes from kernel_launches "
                                    "order by 1"),
                         [{"name": f"{name}(float*)", "global_x": 1280, "global_y": 2, "local_x": 64, "private_bytes": 48,
                           "group_bytes": 1024} for name in ("gemm", "relu")])
        result = run(MILLRACE, "report", "--json", "--step", "3", self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual([device["name"] for device in report["devices"]], ["GPU 0 (AMD Instinct MI300X)"])
        self.assertEqual(report["window"]["last_ns"] - report["window"]["first_ns"], 900_000)
        self.assertGreaterEqual(sum(share["ns"] for share in report["critical_path"]["shares"] if share["cause"] == "device"), 390_000)

    def test_two_recordings(self):
        self.make()
        Recording(self.database, "_second", True, BEGIN + 20_000_000)
        self.database.commit()
        self.check(2)

    def test_hostile(self):
        """Tables that are views or lack columns, texts in place of numbers, JSON that is none, a file that is cut or flipped."""
        made = self.make()
        made.add("rocpd_region", name_id="x", event_id=made.add("rocpd_event", category_id="y", extdata="{"), pid=b"", tid=None,
                 start="text", end=5)
        made.add("rocpd_kernel_dispatch", start=7, end=3)
        self.database.execute('DROP TABLE "rocpd_memory_copy_000$1"')
        self.database.execute('CREATE VIEW "rocpd_memory_copy_000$1" AS SELECT 1 AS start')
        self.database.commit()
        self.database.close()
        result = run(MILLRACE, "report", "--json", self.path)
        self.assertEqual(result.returncode, 3, result.stderr)
        health = next(finding for finding in json.loads(result.stdout)["findings"] if finding["id"] == "health")
        damage = next(table["rows"] for table in health["tables"] if table["id"] == "damage")
        self.assertEqual([row["reason"] for row in damage], ["an interval without valid times (2 times)",
                                                             "tables of a version of rocpd that is not known"])
        content = pathlib.Path(self.path).read_bytes()
        for cut in (100, 4096, len(content) // 2, len(content) - 100):
            pathlib.Path(self.path).write_bytes(content[:cut])
            self.assertIn(run(MILLRACE, "report", self.path).returncode, (0, 1, 3))
        for place in range(0, len(content), len(content) // 30):
            pathlib.Path(self.path).write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1:])
            self.assertIn(run(MILLRACE, "report", self.path).returncode, (0, 1, 3), place)


if __name__ == "__main__":
    harness.main()
