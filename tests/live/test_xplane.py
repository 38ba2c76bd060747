#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles in XPlane: files made here by a writer of its own, against the figures that it put in: GPUs with streams, a TPU
with operations that nest, the host's threads and calls, steps; and files that end anywhere."""

import gzip
import json
import pathlib
import random
import tempfile
import unittest

import harness
from protobuf import message
from support import MILLRACE, run

EPOCH_NS = 1_700_000_000_000_000_000
DAMAGED = 3


class Plane:
    """Names are written behind the lines, in no order, as TensorFlow does."""

    def __init__(self, number, name):
        self.head, self.lines, self.kinds, self.texts, self.figures = [(1, number), (2, name)], [], {}, {}, []

    def text(self, name):
        return self.texts.setdefault(name, len(self.texts) + 1)

    def figure(self, name, value):
        if isinstance(value, float):
            return [(1, self.text(name)), (2, value)]
        if isinstance(value, tuple):  # refers to a text
            return [(1, self.text(name)), (7, self.text(value[0]))]
        return [(1, self.text(name)), (5 if isinstance(value, str) else 3, value)]

    def kind(self, name, display="", **figures):
        if name not in self.kinds:
            self.kinds[name] = (len(self.kinds) + 1, display, [self.figure(*item) for item in figures.items()])
        return self.kinds[name][0]

    def event(self, name, start_ns, duration_ns, display="", about=None, **figures):
        return [(1, self.kind(name, display, **(about or {}))), (2, start_ns * 1000 + 999), (3, duration_ns * 1000)] + \
               [(4, self.figure(*item)) for item in figures.items()]

    def line(self, number, name, events, start_ns=1000):
        self.lines.append([(1, number), (2, name), (3, start_ns)] + [(4, event) for event in events] + [(11, name)])

    def fields(self):
        kinds = [(4, [(1, number), (2, [(1, number), (2, name), (3, b"\0\1")] + ([(4, display)] if display else []) +
                                        [(5, figure) for figure in figures])])
                 for name, (number, display, figures) in reversed(self.kinds.items())]
        texts = [(5, [(1, number), (2, [(1, number), (2, name)])]) for name, number in reversed(self.texts.items())]
        return self.head + [(3, line) for line in self.lines] + kinds + texts + [(6, figure) for figure in self.figures]


def make_gpu():
    gpu, host, environment = Plane(0, "/device:GPU:0"), Plane(1, "/host:CPU"), Plane(2, "Task Environment")
    environment.figures.append(environment.figure("profile_start_time", EPOCH_NS))
    details = " regs:32 static_shared:1024 dynamic_shared:512 grid:10,2,1 block:128,1,1 occ_pct:50"
    kernels, copies, modules, calls, steps, operations = [], [], [], [], [], []
    for step in range(6):
        at = 100_000 * step
        copies.append(gpu.event("MemcpyH2D", at + 5_000, 10_000, correlation_id=10 * step + 1,
                                memcpy_details=("kind:Pageable size:4096 dest:0 async:1",)))
        kernels.append(gpu.event("gemm_fusion", at + 20_000, 50_000, correlation_id=10 * step + 2, kernel_details=(details,),
                                 about={"flops": 2_000_000, "bytes_accessed": 300_000.0, "hlo_category": "custom fusion"}))
        modules.append(gpu.event("jit_step", at + 5_000, 65_000))
        calls.append(host.event("cuMemcpyHtoDAsync_v2", at + 1_000, 1_000, correlation_id=10 * step + 1))
        calls.append(host.event("cuLaunchKernel", at + 3_000, 1_000, correlation_id=10 * step + 2))
        steps.append(host.event("train", at, 80_000, step_num=step + 7))
        operations.append(host.event("dense/MatMul:MatMul", at + 2_500, 2_000))
    gpu.line(17, "Stream #17(Kernel)", kernels)
    gpu.line(17, "Stream #17(MemcpyH2D)", copies)
    gpu.line(90, "XLA Modules", modules)
    gpu.line(91, "XLA Ops", modules)
    host.line(4242, "python3/4242", steps + calls + operations)
    host.line(-5, "pool/-5", [host.event("$file.py:3 f", 10, 100), host.event("Region", 500, 0)])
    return [gpu, host, environment]


def make_tpu():
    tpu = Plane(0, "/device:TPU:3")
    loop = {"hlo_category": "while", "flops": 99}
    inner = {"hlo_category": "convolution fusion", "flops": 1000, "bytes_accessed": 64}
    events = []
    for i in range(4):
        at = 50_000 * i
        events.append(tpu.event("%while = ...", at, 40_000, display="while", about=loop))
        events.append(tpu.event("%fusion.1 = ...", at, 10_000, display="fusion.1", about=inner))
        events.append(tpu.event("%fusion.2 = ...", at + 15_000, 20_000, display="fusion.2", about=inner))
        events.append(tpu.event("%copy = ...", at + 40_000, 1_000, display="copy"))
    tpu.line(1, "Steps", [tpu.event(str(i + 3), 50_000 * i, 45_000) for i in range(4)])
    tpu.line(2, "XLA Modules", [tpu.event("jit_step(1)", 0, 190_000)])
    tpu.line(3, "XLA Ops", events)
    return [tpu]


def make(planes):
    return message([(1, plane.fields()) for plane in planes] + [(4, "machine")])


class XPlane(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "profile.bin"  # found by content, not by name

    def write(self, content):
        self.path.write_bytes(content)

    def query(self, sql):
        result = run(MILLRACE, "query", "--format", "json", str(self.path), sql)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def report(self, *options, status=0):
        result = run(MILLRACE, "report", "--json", *options, str(self.path))
        self.assertEqual(result.returncode, status, result.stderr)
        return json.loads(result.stdout)

    def test_operations_of_a_gpu(self):
        self.write(make(make_gpu()))
        self.assertEqual(
            self.query("select name, kind, category, count(*) as n, sum(duration_ns) as ns, sum(flops) as flops, sum(bytes) as bytes, "
                       "sum(accessed_bytes) as accessed, sum(call is not null) as joined from device_operations group by 1 order by 1"),
            [{"name": "MemcpyH2D", "kind": "copy_to_device", "category": None, "n": 6, "ns": 60_000, "flops": 0, "bytes": 6 * 4096,
              "accessed": 0, "joined": 6},
             {"name": "gemm_fusion", "kind": "kernel", "category": "custom fusion", "n": 6, "ns": 300_000, "flops": 12_000_000,
              "bytes": 0, "accessed": 1_800_000, "joined": 6}])
        self.assertEqual(self.query("select distinct name, global_x, global_y, local_x, group_bytes from kernel_launches"),
                         [{"name": "gemm_fusion", "global_x": 1280, "global_y": 2, "local_x": 128, "group_bytes": 1536}])
        self.assertEqual(self.query("select distinct track_name as queue from device_operations"), [{"queue": "stream 17"}])

    def test_host_and_steps(self):
        self.write(make(make_gpu()))
        self.assertEqual(self.query("select function, count(*) as n, sum(duration_ns) as ns from calls group by 1 order by 1"),
                         [{"function": "cuLaunchKernel", "n": 6, "ns": 6_000},
                          {"function": "cuMemcpyHtoDAsync_v2", "n": 6, "ns": 6_000}])
        self.assertEqual(self.query("select node_name as name, count(*) as n from node_executions group by 1 order by 1"),
                         [{"name": "$file.py:3 f", "n": 1}, {"name": "dense/MatMul", "n": 6}, {"name": "train", "n": 6}])
        self.assertEqual(self.query("select type from nodes where name = 'dense/MatMul'"), [{"type": "MatMul"}])
        self.assertEqual([row["step"] for row in self.query("select step from steps order by start_ns")], list(range(7, 13)))
        self.assertEqual(self.query("select count(*) as n from node_instants"), [{"n": 1}])
        report = self.report("--whole")
        self.assertEqual([device["name"] for device in report["devices"]], ["GPU 0"])
        self.assertEqual(report["devices"][0]["busy_ns"], 6 * 60_000)

    def test_operations_that_nest_sum_to_the_busy_time(self):
        self.write(make(make_tpu()))
        self.assertEqual(self.query("select name, count(*) as n, sum(duration_ns) as ns, sum(flops) as flops from device_operations "
                                    "group by 1 order by 1"),
                         [{"name": "copy", "n": 4, "ns": 4_000, "flops": 0},
                          {"name": "fusion.1", "n": 4, "ns": 40_000, "flops": 4_000},
                          {"name": "fusion.2", "n": 4, "ns": 80_000, "flops": 4_000},
                          {"name": "while", "n": 8, "ns": 40_000, "flops": 0}])
        self.assertEqual([row["step"] for row in self.query("select step from steps order by start_ns")], [3, 4, 5, 6])
        report = self.report("--whole")
        self.assertEqual([device["name"] for device in report["devices"]], ["TPU 3"])
        self.assertEqual(report["devices"][0]["busy_ns"], 4 * 41_000)

    def test_compressed_is_the_same(self):
        content = make(make_gpu())
        self.write(content)
        plain = self.report("--whole")
        self.write(gzip.compress(content))
        self.assertEqual(self.report("--whole")["devices"], plain["devices"])

    def test_any_end_is_damage(self):
        content = make(make_gpu())
        choose = random.Random(23)
        for size in [len(content) - 1] + [choose.randrange(40, len(content)) for _ in range(12)]:
            self.write(content[:size])
            result = run(MILLRACE, "report", "--json", str(self.path))
            self.assertEqual(result.returncode, DAMAGED, (size, result.stderr))


if __name__ == "__main__":
    harness.main()
