#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports of Nsight Systems in SQLite: databases made here, with the tables and columns that nsys exports, against a
second reading by Python's own SQLite; of versions that lack columns; and hostile ones."""

import json
import pathlib
import sqlite3
import tempfile
import unittest

import harness
from support import MILLRACE, run

PID, MAIN, WORKER = 4242, 4242, 4250
STEP_NS = 1_000_000
SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER,
    uuid TEXT, cuDevice INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
    registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
    blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL,
    dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, srcKind INTEGER, dstKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL,
    contextId INTEGER NOT NULL, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL,
    bytes INTEGER NOT NULL, memKind INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, nestingLevel INTEGER,
    callchainId INTEGER NOT NULL);
"""


def global_tid(tid, pid=PID):
    return 1 << 56 | pid << 24 | tid


class Report:
    """Five iterations: a copy to the device, two kernels, a fill, and a wait for all of it."""

    def __init__(self, path):
        self.texts = {}
        self.database = sqlite3.connect(path)
        self.database.executescript(SCHEMA)
        self.add("PROCESSES", globalPid=global_tid(0), pid=PID, name="train.py")
        self.add("ThreadNames", nameId=self.text("main thread"), priority=0, globalTid=global_tid(MAIN))
        self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000)
        self.add("TARGET_INFO_GPU", vmId=0, id=0, name="NVIDIA H100", cuDevice=0)
        for step in range(5):
            self.add_step(step, STEP_NS * step)
        self.add("OSRT_API", start=100, end=900_000, eventClass=27, globalTid=global_tid(WORKER), correlationId=1,
                 nameId=self.text("pthread_cond_wait"), returnValue=0, callchainId=0)
        self.add("NVTX_EVENTS", start=55, eventType=34, text="a mark", globalTid=global_tid(MAIN))

    def add(self, table, **values):
        names = ", ".join(f'"{name}"' for name in values)
        self.database.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})", list(values.values()))

    def text(self, value):
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 1
            self.add("StringIds", id=self.texts[value], value=value)
        return self.texts[value]

    def call(self, name, start, end, correlation):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=0, globalTid=global_tid(MAIN),
                 correlationId=correlation, nameId=self.text(name), returnValue=0)

    def operation(self, kind, start, end, correlation, **values):
        self.add("CUPTI_ACTIVITY_KIND_" + kind, start=start, end=end, deviceId=0, contextId=1, streamId=7,
                 correlationId=correlation, globalPid=global_tid(0), **values)

    def kernel(self, start, end, correlation, name):
        self.operation("KERNEL", start, end, correlation, demangledName=self.text(f"void {name}<float>(float*)"),
                       shortName=self.text(name), registersPerThread=32, gridX=10, gridY=2, gridZ=1, blockX=128, blockY=1,
                       blockZ=1, staticSharedMemory=1024, dynamicSharedMemory=512, localMemoryPerThread=48)

    def add_step(self, step, at):
        first = 10 * step + 1
        self.add("NVTX_EVENTS", start=at, end=at + 900_000, eventType=59, text=f"iteration{step}", globalTid=global_tid(MAIN))
        self.add("NVTX_EVENTS", start=at + 1_000, end=at + 90_000, eventType=59, textId=self.text("forward"),
                 globalTid=global_tid(MAIN))
        self.call("cudaMemcpyAsync_v3020", at + 2_000, at + 4_000, first)
        self.operation("MEMCPY", at + 5_000, at + 25_000, first, bytes=4096, copyKind=1)
        for i, name in enumerate(("gemm", "relu")):
            self.call("cudaLaunchKernel_v7000", at + 10_000 + 5_000 * i, at + 12_000 + 5_000 * i, first + 1 + i)
            self.kernel(at + 30_000 + 200_000 * i, at + 225_000 + 200_000 * i, first + 1 + i, name)
        self.call("cudaMemsetAsync_v3020", at + 20_000, at + 21_000, first + 3)
        self.operation("MEMSET", at + 430_000, at + 440_000, first + 3, value=0, bytes=256)
        self.call("cudaDeviceSynchronize_v3020", at + 100_000, at + 445_000, first + 4)

    def close(self):
        self.database.commit()
        self.database.close()


class Nsys(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(pathlib.Path(folder.name) / "report #1?.sqlite")  # characters that mean something in a URI
        self.made = Report(self.path)

    def report(self, *options, status=0):
        result = run(MILLRACE, "report", "--json", *options, self.path)
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def query(self, sql):
        result = run(MILLRACE, "query", "--format", "json", self.path, sql)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_counts_are_those_of_sqlite(self):
        for kind in ("KERNEL", "MEMCPY", "MEMSET"):
            (count, total), = self.made.database.execute(
                f"SELECT count(*), sum(end - start) FROM CUPTI_ACTIVITY_KIND_{kind}")
            self.assertGreater(count, 0)
            name = {"KERNEL": "kernel", "MEMCPY": "copy_to_device", "MEMSET": "fill"}[kind]
            self.made.database.commit()
            self.assertEqual(self.query("select count(*) as n, sum(duration_ns) as ns from device_operations "
                                        f"where kind = '{name}'"), [{"n": count, "ns": total}])
        self.made.close()
        self.assertEqual(self.query("select function, count(*) as n, sum(duration_ns) as ns from calls group by 1 order by 1"),
                         [{"function": "cudaDeviceSynchronize", "n": 5, "ns": 5 * 345_000},
                          {"function": "cudaLaunchKernel", "n": 10, "ns": 10 * 2_000},
                          {"function": "cudaMemcpyAsync", "n": 5, "ns": 5 * 2_000},
                          {"function": "cudaMemsetAsync", "n": 5, "ns": 5 * 1_000}])

    def test_joins_names_and_sizes(self):
        self.made.close()
        self.assertEqual(self.query("select count(*) as n from device_operations where call is null"), [{"n": 0}])
        rows = self.query("select distinct name, global_x, global_y, local_x, group_bytes, private_bytes from kernel_launches order by 1")
        self.assertEqual(rows, [{"name": f"void {name}<float>(float*)", "global_x": 1280, "global_y": 2, "local_x": 128,
                                 "group_bytes": 1536, "private_bytes": 48} for name in ("gemm", "relu")])
        report = self.report("--whole")
        self.assertEqual([device["name"] for device in report["devices"]], ["GPU 0 (NVIDIA H100)"])
        self.assertEqual(self.query("select node_name as name, count(*) as n, sum(duration_ns) as ns from node_executions "
                                    "group by 1 order by 1"),
                         [{"name": "forward", "n": 5, "ns": 5 * 89_000},
                          {"name": "iteration0", "n": 1, "ns": 900_000}, {"name": "iteration1", "n": 1, "ns": 900_000},
                          {"name": "iteration2", "n": 1, "ns": 900_000}, {"name": "iteration3", "n": 1, "ns": 900_000},
                          {"name": "iteration4", "n": 1, "ns": 900_000},
                          {"name": "pthread_cond_wait", "n": 1, "ns": 899_900}])

    def test_steps_and_waits(self):
        self.made.close()
        report = self.report("--step", "3")
        self.assertEqual(report["window"]["last_ns"] - report["window"]["first_ns"], 900_000)
        causes = {}
        for share in report["critical_path"]["shares"]:
            causes[share["cause"]] = causes.get(share["cause"], 0) + share["ns"]
        self.assertGreaterEqual(causes["device"], 390_000)  # both kernels

    def test_versions_that_lack_columns(self):
        database = self.made.database
        for column in ("demangledName", "gridX", "graphNodeId"):
            database.execute(f"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN {column}")
        for table in ("OSRT_API", "ThreadNames", "TARGET_INFO_GPU"):
            database.execute(f"DROP TABLE {table}")
        self.made.close()
        self.assertEqual(self.query("select name, count(*) as n from device_operations where kind = 'kernel' group by 1"),
                         [{"name": "gemm", "n": 5}, {"name": "relu", "n": 5}])
        self.assertEqual(self.report("--whole")["devices"][0]["name"], "GPU 0")

    def test_impossible_times_are_counted(self):
        self.made.kernel(500, 400, 0, "backwards")
        self.made.kernel(-500, 400, 0, "before")
        self.made.close()
        report = self.report("--whole", status=3)
        health = next(finding for finding in report["findings"] if finding["id"] == "health")
        damage = next(table["rows"] for table in health["tables"] if table["id"] == "damage")
        self.assertEqual([row["reason"] for row in damage], ["an interval without valid times (2 times)"])

    def test_hostile(self):
        """A view in place of a table, a trigger, texts instead of numbers, a file that is cut, bytes that are flipped."""
        database = self.made.database
        database.execute("DROP TABLE OSRT_API")
        database.execute("CREATE VIEW OSRT_API AS SELECT * FROM NVTX_EVENTS, NVTX_EVENTS, NVTX_EVENTS, NVTX_EVENTS")
        self.made.add("NVTX_EVENTS", start="text", end=b"blob", eventType=59, text=None, globalTid="x")
        self.made.close()
        content = pathlib.Path(self.path).read_bytes()
        self.assertIn(run(MILLRACE, "report", self.path).returncode, (0, 3))
        for cut in (17, 100, 4096, len(content) // 2, len(content) - 100):
            pathlib.Path(self.path).write_bytes(content[:cut])
            self.assertIn(run(MILLRACE, "report", self.path).returncode, (0, 1, 3))
        for place in range(0, len(content), len(content) // 40):
            pathlib.Path(self.path).write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1:])
            self.assertIn(run(MILLRACE, "report", self.path).returncode, (0, 1, 3), place)

    def test_other_databases_are_refused(self):
        other = self.path + ".other"
        with sqlite3.connect(other) as database:
            database.execute("CREATE TABLE notes (id INTEGER)")
        database.close()
        result = run(MILLRACE, "report", other)
        self.assertEqual(result.returncode, 1)
        self.assertIn("an SQLite database", result.stderr)


if __name__ == "__main__":
    harness.main()
