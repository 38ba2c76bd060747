#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Arguments that PyTorch's profiler writes: shapes of operators, sizes of launches, and what follows from them: work, speed and
the part of the device's limits, against arithmetic done here by hand."""

import json
import pathlib
import tempfile
import unittest

import harness
from support import MILLRACE, run

H100_TFLOPS, H100_GB = 989, 3352  # dense bfloat16; memory


class Trace:
    """Operators one after the other, each with one kernel of that duration in microseconds."""

    def __init__(self, device="NVIDIA H100 80GB HBM3"):
        self.events, self.at, self.correlation = [], 1_000, 0
        self.device = device

    def operator(self, name, inputs, duration, kernels=1):
        types = [kind for kind, _, _ in inputs]
        self.events.append({"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": self.at, "dur": 10, "args": {
            "Input Dims": [dims for _, dims, _ in inputs], "Input type": types, "Concrete Inputs": [value for _, _, value in inputs]}})
        for i in range(kernels):
            self.correlation += 1
            self.events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7,
                                "ts": self.at + 1 + i, "dur": 1, "args": {"correlation": self.correlation}})
            self.events.append({"ph": "X", "cat": "kernel", "name": f"{name} kernel", "pid": 0, "tid": 7,
                                "ts": self.at + 20 + i * duration, "dur": duration, "args": {
                                    "device": 0, "stream": 7, "correlation": self.correlation, "grid": [100, 2, 1],
                                    "block": [128, 1, 1], "shared memory": 2048}})
        self.at += 50 + kernels * duration

    def write(self, path):
        path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": self.device}], "traceEvents": self.events}))


def tensor(kind, *dims):
    return kind, list(dims), ""


def value(text):
    return "Scalar", [], text


class Arguments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "trace.json"

    def query(self, sql):
        result = run(MILLRACE, "query", "--format", "json", str(self.path), sql)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def rows(self, trace):
        trace.write(self.path)
        result = run(MILLRACE, "report", "--json", "--whole", str(self.path))
        self.assertEqual(result.returncode, 0, result.stderr)
        finding, = (finding for finding in json.loads(result.stdout)["findings"] if finding["id"] == "efficiency")
        return finding, {row["operation"]: row for row in finding["tables"][0]["rows"]}

    def test_arguments_are_kept(self):
        trace = Trace()
        trace.operator("aten::addmm", [tensor("c10::BFloat16", 64), tensor("c10::BFloat16", 8, 32), tensor("c10::BFloat16", 32, 64),
                                       value("1"), ("", [], "")], 5)
        trace.operator("aten::cat", [("TensorList", [[2, 3], [4, 3]], ""), value("a;b")], 5)
        trace.write(self.path)
        self.assertEqual(self.query("select shapes from node_executions order by start_ns"),
                         [{"shapes": "(bfloat16[64];bfloat16[8,32];bfloat16[32,64];=1;)"}, {"shapes": "(;)"}])
        self.assertEqual(self.query("select distinct global_x, global_y, local_x, group_bytes, call is not null as joined from kernel_launches"),
                         [{"global_x": 12800, "global_y": 2, "local_x": 128, "group_bytes": 2048, "joined": 1}])

    def test_work_and_limits(self):
        trace = Trace()
        half = "c10::BFloat16"
        for _ in range(3):
            trace.operator("aten::mm", [tensor(half, 4096, 1024), tensor(half, 1024, 2048)], 50, kernels=2)
        trace.operator("aten::add", [tensor("float", 1000, 1000), tensor("float", 1000, 1000), value("1")], 100)
        trace.operator("aten::cudnn_convolution", [tensor(half, 8, 3, 224, 224), tensor(half, 64, 3, 7, 7), value("[3, 3]"),
                                                   value("[2, 2]"), value("[1, 1]"), value("1")], 100)
        trace.operator("aten::convolution_backward",
                       [tensor(half, 8, 64, 112, 112), tensor(half, 8, 3, 224, 224), tensor(half, 64, 3, 7, 7)] + [value("0")] * 7 +
                       [value("[False, True, False]")], 100)
        trace.operator("aten::_flash_attention_forward", [tensor(half, 2, 128, 4, 64)] * 3 + [("", [], "")] * 2 +
                       [value("128"), value("128"), value("0."), value("True")], 20)
        trace.operator("aten::mystery", [tensor("float", 10)], 10)
        finding, rows = self.rows(trace)
        flops = {"aten::mm": 3 * 2 * 4096 * 1024 * 2048, "aten::add": 0,
                 "aten::cudnn_convolution": 2 * 8 * 64 * 112 * 112 * 3 * 7 * 7,
                 "aten::convolution_backward": 2 * 8 * 64 * 112 * 112 * 3 * 7 * 7,
                 "aten::_flash_attention_forward": 4 * 2 * 4 * 128 * 128 * 64 // 2}
        times = {"aten::mm": 300, "aten::add": 100, "aten::cudnn_convolution": 100, "aten::convolution_backward": 100,
                 "aten::_flash_attention_forward": 20}
        self.assertEqual(set(rows), set(flops))
        for name, row in rows.items():
            self.assertEqual(row["total_ns"], 1000 * times[name], name)
            self.assertEqual(row["gflops_per_second"], round(flops[name] / times[name] / 1000), name)
        self.assertEqual(rows["aten::mm"]["count"], 3)
        self.assertEqual(rows["aten::mm"]["limit_permille"], round(flops["aten::mm"] / 300e-6 / (H100_TFLOPS * 1e12) * 1000))
        self.assertEqual(rows["aten::add"]["bytes_per_second"], 3 * 4_000_000 * 10_000)
        self.assertEqual(rows["aten::add"]["limit_permille"], round(12e6 / 100e-6 / (H100_GB * 1e9) * 1000))
        self.assertEqual(rows["aten::add"]["reason"], "memory bound, far from its bandwidth")
        self.assertEqual(rows["aten::mm"]["reason"], "far from the device's arithmetic")
        self.assertTrue(any("aten::mm" in sentence["text"] for sentence in finding["sentences"]), finding["sentences"])

    def test_small_and_32_bits(self):
        trace = Trace()
        trace.operator("aten::mm", [tensor("float", 2048, 2048), tensor("float", 2048, 2048)], 400)
        for _ in range(5):
            trace.operator("aten::bmm", [tensor("c10::Half", 2, 8, 8), tensor("c10::Half", 2, 8, 8)], 4)
        _, rows = self.rows(trace)
        self.assertEqual(rows["aten::mm"]["reason"], "32 bits, without the units for matrices")
        self.assertEqual(rows["aten::bmm"]["reason"], "too small to fill the device")

    def test_a_device_that_is_not_known(self):
        trace = Trace("Wheel 9000")
        trace.operator("aten::mm", [tensor("float", 512, 512), tensor("float", 512, 512)], 40)
        finding, rows = self.rows(trace)
        self.assertEqual((rows["aten::mm"]["limit_permille"], rows["aten::mm"]["reason"], finding["sentences"]), (None, "", []))


if __name__ == "__main__":
    harness.main()
