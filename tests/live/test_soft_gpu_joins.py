#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace of the software GPU, from TensorFlow's operations down to its device kernels and copies."""

import os
from collections import Counter

import harness
import kernel
from opencl import OpenclTest, skip_without_opencl
from support import dump, query
from tensorflow import MAIN, SECOND, SOURCE, python_of, python_program, soft_gpu

# Kernels that are there for some operations only (soft/ops.def).
OPERATIONS = {
    "sgemm": {"MatMul", "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"},
    "spread": {"Conv2D", "Conv2DBackpropFilter"},
    "gather": {"Conv2DBackpropInput"},
    "max_pool": {"MaxPool"},
    "max_pool_gradient": {"MaxPoolGrad"},
    "sparse_cross_entropy": {"SparseSoftmaxCrossEntropyWithLogits"},
}


class Joins(OpenclTest):
    def trace(self, version, *command, levels):
        result = self.record(python_of(version), *command, options=("--quiet", "--levels", levels), env=soft_gpu(),
                             timeout=400)
        self.assertEqual(result.returncode, 0, result.stderr[-2000:])
        self.output = result.stdout
        return result.trace

    def check_training(self, levels, version=MAIN):
        """Each kernel was launched by a call inside an operation of the graph, on the device, that needs it; the
        times of the nodes add up to those of the device."""
        trace = self.trace(version, os.path.join(SOURCE, "examples/mnist_like.py"), "--epochs", "1", "--examples",
                           "256", "--batch", "32", levels=levels)
        launched = [event["fields"] for event in dump(trace)
                    if event["event"] == "device_operation" and event["fields"]["kind"] == "kernel"]
        self.assertGreater(len(launched), 1000)
        rows = query(trace, "select o.name as kernel, n.type as type, d.name as device, count(*) as count, "
                            "sum(o.raw_end - o.raw_start) as ticks from device_operations o "
                            "join calls c on o.call = c.rowid join node_executions e on c.execution = e.rowid "
                            "join nodes n on e.node = n.rowid left join devices d on n.device = d.rowid "
                            "where o.kind = 'kernel' group by n.rowid, o.name")
        self.assertEqual(sum(row["count"] for row in rows), len(launched), "kernels without an operation")
        self.assertEqual(sum(row["ticks"] for row in rows),
                         sum(operation["end"] - operation["start"] for operation in launched))
        self.assertEqual({row["device"].rpartition("/")[2] for row in rows}, {"device:XPU:0"})
        for name, types in OPERATIONS.items():
            self.assertEqual({row["type"] for row in rows if row["kernel"] == name}, types, name)
        return trace

    def test_training(self):
        self.check_training("runtime,dataflow")

    def test_training_second(self):
        self.check_training("runtime,dataflow", SECOND)

    def test_training_with_the_kernel_level(self):
        """In the same trace, threads that executed operations ran, and were switched."""
        why = kernel.why_not()
        if why:
            self.skipTest(why)
        trace = self.check_training("kernel,runtime,dataflow")
        (row,) = query(trace, "select count(distinct e.track) as executing, "
                              "count(distinct s.track) as running from node_executions e "
                              "left join (select distinct track from states where state = 'RUN') s on e.track = s.track")
        self.assertGreater(row["executing"], 1)
        self.assertEqual(row["running"], row["executing"])

    def check_copies(self, version):
        """What the program says of its copies is found by operation, tensor and bytes."""
        trace = self.trace(version, python_program("soft_copies"), levels="runtime,dataflow")
        said = Counter()
        for line in self.output.splitlines():
            direction, node, side, number, size, times = line.split()
            known = (node, int(side == "in"), int(number)) if node != "-" else (None, None, None)
            said[direction, *known, int(size)] = int(times)
        self.assertEqual(len(said), 9)
        found = Counter({
            (row["kind"], row["node"], row["is_input"], row["number"], row["bytes"]): row["count"]
            for row in query(trace, "select o.kind as kind, t.node_name as node, t.is_input as is_input, "
                                    "t.number as number, o.bytes as bytes, count(*) as count from tensor_copies t "
                                    "join device_operations o on t.operation = o.rowid group by 1, 2, 3, 4, 5")})
        self.assertEqual({key: found[key] for key in said}, dict(said), found)
        self.check_unknown_copies(trace)

    def check_unknown_copies(self, trace):
        """Every copy is in the table. The tensor is not known of constants alone, made for a function before it runs,
        and of what is read outside of operations."""
        (row,) = query(trace, "select count(*) as count from device_operations where kind like 'copy%' and "
                              "rowid not in (select operation from tensor_copies)")
        self.assertEqual(row["count"], 0)
        rows = query(trace, "select distinct o.kind as kind, e.node_name as node from tensor_copies t "
                            "join device_operations o on t.operation = o.rowid "
                            "left join node_executions e on t.execution = e.rowid where t.node is null")
        self.assertEqual({(row["kind"], (row["node"] or "")[:11]) for row in rows},
                         {("copy_to_device", "__inference"), ("copy_from_device", "")})

    def test_copies(self):
        self.check_copies(MAIN)

    def test_copies_second(self):
        self.check_copies(SECOND)


if __name__ == "__main__":
    skip_without_opencl()
    for version in (MAIN, SECOND):
        python_of(version)
    soft_gpu()
    harness.main()
