#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is said about traces of GPUs that other tools wrote: small files made by hand, with known answers."""

import gzip
import json
import pathlib
import tempfile
import unittest

import harness
from support import MILLRACE, run

MAIN, AUTOGRAD = 100, 101


class Trace:
    """Events of one process; times in microseconds."""

    def __init__(self):
        self.events = []
        self.next = 1
        self.properties = []

    def add(self, category, name, start, end, thread=MAIN, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": MAIN, "tid": thread,
                            "ts": start, "dur": end - start, "args": args})

    def call(self, name, start, end, thread=MAIN, correlation=0):
        self.add("cuda_runtime", name, start, end, thread, correlation=correlation)

    def kernel(self, start, end, launch=None, name="gemm", stream=7, category="kernel", thread=MAIN, **args):
        """A device kernel; `launch`: when the call began that launched it, for 1 us, or None."""
        correlation, self.next = self.next, self.next + 1
        if launch is not None:
            self.call("cudaLaunchKernel", launch, launch + 1, thread, correlation)
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream,
                            "ts": start, "dur": end - start,
                            "args": {"device": 0, "stream": stream, "correlation": correlation, **args}})

    def step(self, number, start, end):
        self.add("user_annotation", f"ProfilerStep#{number}", start, end)

    def report(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps({"deviceProperties": self.properties, "traceEvents": self.events}))
            return json.loads(run(MILLRACE, "report", "--json", *options, str(path)).stdout)


def path_by(report, column):
    sums = {}
    for share in report["critical_path"]["shares"]:
        sums[share[column]] = sums.get(share[column], 0) + share["ns"] // 1000
    return sums


class Steps(unittest.TestCase):
    """The thread launches 1 ms of work for each step in 20 us, and runs ahead of the device."""

    @staticmethod
    def run_ahead():
        trace = Trace()
        for step in range(5):
            trace.step(step, 100 * step, 100 * step + 90)
            for i in range(10):
                trace.kernel(1000 * step + 100 * i + 50, 1000 * step + 100 * i + 150,
                             launch=100 * step + 2 * i)
        trace.call("cudaDeviceSynchronize", 600, 5060)
        return trace

    def test_step_ends_with_its_last_operation(self):
        report = self.run_ahead().report("--step", "3")
        window = report["window"]
        self.assertEqual(window["last_ns"] - window["first_ns"], (4050 - 300) * 1000)
        self.assertEqual(path_by(report, "level"), {"device": 3750})

    def test_steps_keep_their_device_work(self):
        report = self.run_ahead().report()
        self.assertEqual(report["window"]["last_ns"] - report["window"]["first_ns"], 5050 * 1000)
        self.assertGreaterEqual(path_by(report, "level")["device"], 5000)

    def test_step_that_waits_for_the_device_ends_on_its_thread(self):
        trace = Trace()
        for step in range(3):
            trace.step(step, 1000 * step, 1000 * step + 900)
            trace.kernel(1000 * step + 20, 1000 * step + 500, launch=1000 * step + 10)
            trace.call("cudaStreamSynchronize", 1000 * step + 30, 1000 * step + 510)
        report = trace.report("--step", "1")
        self.assertEqual(report["window"]["last_ns"] - report["window"]["first_ns"], 900 * 1000)
        self.assertEqual(path_by(report, "cause")["device"], 480)


class Waits(unittest.TestCase):
    def test_for_what_was_launched_before_the_trace(self):
        trace = Trace()
        trace.add("cpu_op", "aten::item", 0, 1000)
        trace.call("hipDeviceSynchronize", 10, 990)
        for i in range(9):
            trace.kernel(100 * i + 20, 100 * i + 120)
        report = trace.report("--whole")
        self.assertEqual(path_by(report, "cause")["device"], 900)
        self.assertEqual(path_by(report, "cause")["sync"], 70)

    def test_unlaunched_operations_do_not_hide_the_device(self):
        """The thread waits for the last, of which nobody knows who launched it; meanwhile the device runs the others."""
        trace = Trace()
        trace.call("cudaDeviceSynchronize", 10, 990)
        for i in range(9):
            trace.kernel(100 * i + 20, 100 * i + 120, stream=7 + i % 2)
        problem, = trace.report("--whole")["problems"]
        self.assertEqual((problem["key"], problem["time_ns"] // 1000), ("device_limit", 900))

    def test_in_a_copy_from_pageable_memory(self):
        trace = Trace()
        trace.add("cpu_op", "aten::to", 0, 1000)
        trace.kernel(20, 900, launch=5)
        trace.call("cudaMemcpyAsync", 30, 960, correlation=2)
        trace.kernel(910, 950, name="Memcpy HtoD (Pageable -> Device)", category="gpu_memcpy", bytes=64)
        trace.add("cpu_op", "aten::add", 970, 1000)
        causes = path_by(trace.report("--whole"), "cause")
        self.assertEqual(causes["device"], 880 + 40)
        self.assertLessEqual(causes["launch"], 15)


class Autograd(unittest.TestCase):
    @staticmethod
    def train():
        trace = Trace()
        for step in (0, 1000):
            trace.add("cpu_op", "aten::linear", step, step + 100)
            for i in range(7):
                trace.add("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0",
                          step + 110 + 100 * i, step + 200 + 100 * i, AUTOGRAD)
            trace.add("cpu_op", "aten::add_", step + 900, step + 1000)
        return trace

    def test_thread_is_joined_to_the_one_that_waits(self):
        report = self.train().report("--whole")
        self.assertEqual(path_by(report, "level"), {"dataflow": 2 * (100 + 7 * 90 + 100),
                                                    "unknown": 2 * (10 + 6 * 10 + 100)})
        finding = next(f for f in report["findings"] if f["id"] == "critical_path")
        places = next(t for t in finding["tables"] if t["title"] == "By thread and device")
        self.assertEqual({row["tid"]: row["time_ns"] // 1000 for row in places["rows"]},
                         {MAIN: 2 * 310, AUTOGRAD: 2 * 690})

    def test_thread_that_goes_on_does_not_wait(self):
        trace = self.train()
        trace.add("cpu_op", "aten::zeros", 450, 460)  # in the middle of a function of autograd's
        trace.add("cpu_op", "aten::zeros", 1450, 1460)
        report = trace.report("--whole")
        finding = next(f for f in report["findings"] if f["id"] == "critical_path")
        places = next(t for t in finding["tables"] if t["title"] == "By thread and device")
        self.assertEqual([row["tid"] for row in places["rows"]], [MAIN])


class Communication(unittest.TestCase):
    """Compute 10 to 110 and 160 to 210, an all-reduce from 60 to 260, an exchange from 310 to 410."""

    def setUp(self):
        trace = Trace()
        trace.kernel(10, 110)
        trace.kernel(60, 260, name="ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", stream=20,
                     **{"Collective name": "allreduce", "In msg nelems": 1000, "dtype": "BFloat16"})
        trace.kernel(160, 210)
        trace.kernel(310, 410, name="void deep_ep::intranode::dispatch<8, 768>(int)", stream=20)
        self.trace = trace
        finding = next(f for f in trace.report("--whole")["findings"] if f["id"] == "communication")
        self.tables = {table["id"]: table["rows"] for table in finding["tables"]}

    def test_exposed_and_hidden(self):
        row, = self.tables["devices"]
        self.assertEqual({key: row[key] // 1000 for key in
                          ("span_ns", "compute_ns", "communication_ns", "exposed_ns", "hidden_ns")},
                         {"span_ns": 400, "compute_ns": 150, "communication_ns": 300, "exposed_ns": 200,
                          "hidden_ns": 100})

    def test_bandwidth(self):
        names = {row["name"][:9]: row for row in self.tables["names"]}
        self.assertEqual((names["ncclDevKe"]["bytes"], names["ncclDevKe"]["bytes_per_second"]),
                         (2000, 2000 * 10**9 // 200000))
        self.assertEqual((names["void deep"]["bytes"], names["void deep"]["total_ns"]), (0, 100000))

    def test_first_screen(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps(self.trace.events))
            text = " ".join(run(MILLRACE, "report", "--whole", str(path)).stdout.split())
        self.assertIn("GPU 0 spent 50.0% of the time on communication alone, and hid communication of "
                      "another 25.0% behind its computing.", text)


class Spellings(unittest.TestCase):
    """Steps as other tools than PyTorch's profiler call them."""

    @staticmethod
    def steps(*names, category="user_annotation", inner=()):
        trace = Trace()
        for i, name in enumerate(names):
            trace.add(category, name, 1000 * i, 1000 * i + 900)
            for j, part in enumerate(inner):
                trace.add(category, part, 1000 * i + 100 * j, 1000 * i + 100 * j + 90)
            trace.kernel(1000 * i + 20, 1000 * i + 500, launch=1000 * i + 10)
        finding = next((f for f in trace.report("--whole")["findings"] if f["id"] == "steps"), {"tables": []})
        rows = next((t["rows"] for t in finding["tables"] if t["title"] == "Steps"), [])
        return [(row["step"], row["source"]) for row in rows]

    def test_numbered(self):
        for names in (["iteration 7", "iteration 8"], ["train_step_7", "train_step_8"], ["Step #7", "Step #8"],
                      ["iteration[7]", "iteration[8]"]):
            self.assertEqual(self.steps(*names), [(7, "marked"), (8, "marked")], names)

    def test_operators_of_2021(self):
        self.assertEqual(self.steps("ProfilerStep#5", "ProfilerStep#6", category="Operator"),
                         [(5, "marked"), (6, "marked")])

    def test_one_after_the_other(self):
        for names in (["step[EXTEND bs=1 toks=5]", "step[DECODE bs=1]"],
                      ["execute_context_1(128)_generation_0(0)", "execute_context_0(0)_generation_1(1)"],
                      ["execute_2_context_1(sq3sk3)_generation_1(sq1sk9)"] * 2,
                      ["[pl][profile][_TrainingEpochLoop].run_training_batch"] * 2):
            self.assertEqual(self.steps(*names), [(0, "marked"), (1, "marked")], names)

    def test_outermost_of_the_best(self):
        self.assertEqual(self.steps("ProfilerStep#3", "ProfilerStep#4", inner=["iteration 1", "execute_model"]),
                         [(3, "marked"), (4, "marked")])
        self.assertEqual(self.steps("execute_context_1(1)_generation_0(0)", inner=["execute_a", "execute_b"]),
                         [(0, "marked")])

    def test_what_only_looks_like_one(self):
        self.assertEqual(self.steps("steps of mine", "iterations", "stepping 1 2"), [])


class Memory(unittest.TestCase):
    @staticmethod
    def report(*records, kernel_device=0, capacity=None):
        trace = Trace()
        if capacity:
            trace.properties.append({"id": 0, "name": "GPU", "totalGlobalMem": capacity})
        for i, record in enumerate(records):
            trace.events.append({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": MAIN, "tid": MAIN,
                                 "ts": 100 * (i + 1), "s": "t", "args": {"Device Type": 1, "Device Id": 0, **record}})
        trace.kernel(10, 20, launch=5)
        trace.events[-1]["args"]["device"] = kernel_device
        report = trace.report("--whole")
        finding = next(f for f in report["findings"] if f["id"] == "memory")
        return report, {table["id"]: table["rows"] for table in finding["tables"]}

    def test_what_was_there_before(self):
        report, tables = self.report({"Bytes": 100, "Addr": 1, "Total Allocated": 5100, "Total Reserved": 9000},
                                     {"Bytes": -700, "Addr": 77, "Total Allocated": 4400, "Total Reserved": 9000},
                                     {"Bytes": -100, "Addr": 1, "Total Allocated": 4300, "Total Reserved": 9000})
        row, = tables["memory"]
        self.assertEqual((row["peak_bytes"], row["live_bytes"]), (5100, 4300))
        self.assertEqual(sum(holder["bytes"] for holder in tables["holders"]), 5100)

    def test_what_was_not_recorded(self):
        row, = self.report({"Bytes": 100, "Addr": 1, "Total Allocated": 100},
                           {"Bytes": 50, "Addr": 2, "Total Allocated": 1150})[1]["memory"]
        self.assertEqual((row["peak_bytes"], row["live_bytes"]), (1150, 1150))

    def test_without_addresses_and_totals(self):
        row, = self.report({"Bytes": 100}, {"Bytes": 50}, {"Bytes": -100}, {"Bytes": -80})[1]["memory"]
        self.assertEqual((row["peak_bytes"], row["live_bytes"]), (180, 0))

    def test_host_has_no_totals(self):
        row, = self.report({"Bytes": 100, "Addr": 1, "Device Type": 0, "Device Id": -1, "Total Allocated": 0})[1]["memory"]
        self.assertEqual((row["device"], row["live_bytes"]), ("host", 100))

    def test_nearly_full(self):
        for bytes_held, capacity, is_full in ((910, 1000, True), (890, 1000, False), (910, None, False)):
            report, tables = self.report({"Bytes": bytes_held, "Addr": 1}, {"Bytes": -bytes_held, "Addr": 1},
                                         capacity=capacity)
            row, = tables["memory"]
            self.assertEqual((row["peak_bytes"], row["capacity_bytes"]), (bytes_held, capacity or 0))
            said = [problem["why"] for problem in report["problems"] if problem["key"] == "memory_peak"]
            self.assertEqual(len(said), is_full, report["problems"])
            if is_full:
                self.assertIn("holds 91.0% of the 1000 B of GPU 0 (GPU)", said[0])

    def test_one_device(self):
        """PyTorch's device 0 is the machine's device 2, the only one that it may use."""
        report, tables = self.report({"Bytes": 100, "Addr": 1}, kernel_device=2)
        self.assertEqual([device["name"] for device in report["devices"]], ["GPU 2"])
        self.assertEqual([row["device"] for row in tables["memory"]], ["GPU 2"])


class Devices(unittest.TestCase):
    def test_are_called_what_they_are(self):
        trace = Trace()
        trace.events.append({"ph": "M", "name": "process_labels", "pid": 9, "tid": 0, "ts": 0, "args": {"labels": "MTIA 9"}})
        trace.add("mtia_runtime", "launch", 0, 5, correlation=1)
        trace.kernel(10, 20, category="mtia_ccp_events")
        trace.events[-1]["args"].update(device=9)
        finding = next(f for f in trace.report("--whole")["findings"] if f["id"] == "devices")
        device, = next(t["rows"] for t in finding["tables"] if t["id"] == "devices")
        self.assertEqual((device["device"], device["kind"]), ("MTIA 9", "accelerator"))


class Dependencies(unittest.TestCase):
    """Records of synchronisation say who waits for whom."""

    @staticmethod
    def sync(trace, name, start, end, stream, correlation, **args):
        trace.add("cuda_sync", name, start, end, stream, device=0, stream=stream, correlation=correlation, **args)

    def query(self, trace, sql):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_text(json.dumps(trace.events))
            lines = run(MILLRACE, "query", "--format", "json", str(path), sql).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def test_stream_waits_for_an_event(self):
        """Stream 7 has two operations when the event is recorded, and a third later; stream 20 waits for the second."""
        trace = Trace()
        trace.kernel(10, 100, launch=1, stream=7)       # 1
        trace.kernel(100, 200, launch=3, stream=7)      # 2
        trace.next = 10
        trace.call("cudaEventRecord", 5, 6, correlation=3)
        trace.kernel(200, 300, launch=7, stream=7)      # 10
        self.sync(trace, "Stream Wait Event", 8, 9, 20, 11, wait_on_stream=7,
                  wait_on_cuda_event_record_corr_id=3)
        trace.next = 12
        trace.kernel(201, 260, launch=12, stream=20, name="waits")
        trace.call("cudaEventSynchronize", 20, 202, correlation=30)
        self.sync(trace, "Event Sync", 20, 202, -1, 30, wait_on_stream=7, wait_on_cuda_event_record_corr_id=3)
        self.assertEqual(self.query(trace, "select correlation, awaited from dependencies order by 1"),
                         [{"correlation": 12, "awaited": 2}, {"correlation": 30, "awaited": 2}])

    def test_path_follows_the_event(self):
        trace = Trace()
        trace.add("cpu_op", "aten::mm", 0, 1000)
        trace.kernel(10, 500, launch=1, stream=7, name="first")
        trace.call("cudaEventRecord", 3, 4, correlation=2)
        self.sync(trace, "Stream Wait Event", 5, 6, 20, 3, wait_on_stream=7, wait_on_cuda_event_record_corr_id=2)
        trace.next = 4
        trace.kernel(500, 900, launch=7, stream=20, name="second")
        trace.call("cudaStreamSynchronize", 10, 900, correlation=5)
        self.sync(trace, "Stream Sync", 10, 900, 20, 5)
        shares = path_by(trace.report("--whole"), "what")
        self.assertEqual((shares["device: first (GPU 0)"], shares["device: second (GPU 0)"]), (490, 400))


class Robust(unittest.TestCase):
    """What profilers write although it is no JSON, or no time, costs nothing but itself."""

    EVENT = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "args": {"device": 0, "stream": 7}}

    def report(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "trace.json"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            result = run(MILLRACE, "report", "--whole", "--json", str(path))
        report = json.loads(result.stdout)
        health = next(f for f in report["findings"] if f["id"] == "health")
        damage = next((t["rows"] for t in health["tables"] if t["id"] == "damage"), [])
        self.assertEqual((result.returncode, "is damaged" in result.stderr), (3, True) if damage else (0, False))
        return report, [row["reason"] for row in damage]

    def events(self, *times):
        return ",".join(json.dumps({**self.EVENT, "ts": time, "dur": 10}) for time in times)

    def count(self, report):
        return sum(device["operations"] for finding in report["findings"] for table in finding["tables"]
                   if finding["id"] == "devices" and table["title"] == "By device"
                   for device in table["rows"])

    def test_numbers_that_are_none(self):
        text = '{"traceEvents": [%s, {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":NaN},' \
               '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":30,"dur":5,"args":{"occupancy":NaN,' \
               '"x":-Infinity,"device":3,"stream":9}}]}' % self.events(1, 40)
        report, damage = self.report(text)
        self.assertEqual(damage, ["an invalid duration"])
        self.assertEqual(self.count(report), 3)
        self.assertEqual(len(report["devices"]), 2)

    def test_time_zero(self):
        report, damage = self.report('{"traceEvents": [%s]}' % self.events(0, 1700000000000000, 1700000000000050))
        self.assertEqual(damage, ["an event at time 0, far from all others"])
        self.assertEqual(report["window"]["last_ns"] - report["window"]["first_ns"], 60000)
        report, damage = self.report('{"traceEvents": [%s]}' % self.events(5, 50))
        self.assertEqual((damage, self.count(report)), ([], 2))

    def test_sound_files_are_not_damaged(self):
        text = '{"traceEvents": [%s, {"ph":"N","id":1,"name":"o","ts":5,"pid":1,"tid":1}, {}]}\n \n'
        self.assertEqual(self.report(text % self.events(1))[1], [])

    def test_what_follows_the_trace(self):
        text = '{"traceEvents": [%s]}' % self.events(1)
        self.assertEqual(self.report(text + text)[1], ["something else behind the end of the trace"])
        packed = bytearray(gzip.compress(text.encode()))
        self.assertEqual(self.report(bytes(packed))[1], [])
        packed[-6] ^= 1  # the checksum
        self.assertEqual(self.report(bytes(packed))[1], ["the compressed file is damaged"])
        self.assertEqual(self.report(gzip.compress(text.encode())[:-8])[1],
                         ["the compressed file ends too early"])


if __name__ == "__main__":
    harness.main()
