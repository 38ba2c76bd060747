#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: times of the stand-in are compared with its own log, and with bounds that clocks state
"""CUDA, on stand-ins for NVIDIA's libraries with several versions of CUPTI: what the trace contains is what the stand-ins
say they did, and programs cannot see whether they are traced."""

import collections
import os
import shutil
import unittest

import cuda
from cuda import CudaTest, compile_program, read_log, stand_ins, versions
from support import count, dump, query, run

COPIES = {1: "copy_to_device", 2: "copy_from_device", 8: "copy_on_device"}
KINDS = ("unknown", "pageable", "pinned", "device")
MEMORIES = {1: "Pageable", 2: "Pinned", 3: "Device"}
SHORT = {1: "HtoD", 2: "DtoH", 8: "DtoD"}
CALLS = ("runtime_call", "runtime_call_on", "runtime_launch", "runtime_launch_kernel")
# Tracing begins in the first; by the others millrace asks for the device's name, identity and size.
NOT_TRACED = ("cuInit", "cuDeviceGetName", "cuDeviceGetUuid", "cuDeviceTotalMem")


def expected(done):
    """How an operation of the stand-in stands in the trace."""
    kind = {"kernel": "kernel", "fill": "fill", "copy": COPIES.get(done.direction)}[done.work]
    name = {"kernel": done.name, "fill": "Memset",
            "copy": f"Memcpy {SHORT.get(done.direction)} ({MEMORIES.get(done.from_kind)} -> {MEMORIES.get(done.to_kind)})"}
    more = (done.registers, done.static, done.dynamic) if done.work == "kernel" else (done.bytes, KINDS[done.from_kind],
                                                                                       KINDS[done.to_kind])
    return (cuda.FIRST_CORRELATION + done.correlation, kind, name[done.work], f"stream {done.stream}", done.start, done.end,
            done.graph, done.node, *more)


def found(event):
    fields = event["fields"]
    more = ("registers", "static_bytes", "dynamic_bytes") if event["event"] == "device_kernel" else ("bytes", "from", "to")
    return (fields["correlation"], fields.get("kind", "kernel"), event["names"]["name"], event["names"]["queue"],
            fields["start"], fields["end"], fields["graph"], fields["graph_node"], *(fields[name] for name in more))


class Conformance(CudaTest):
    def check(self, result):
        """Every operation and every call, once, with all that the stand-in knows of it."""
        operations, calls = read_log(result.log)
        events = dump(result.trace)
        self.assertGreater(len(operations), 10)
        self.assertEqual(sorted(found(event) for event in events if event["event"] in cuda.OPERATIONS),
                         sorted(map(expected, operations)))
        self.assertEqual([(event["names"]["function"], event["fields"]["correlation"] - cuda.FIRST_CORRELATION,
                           event["fields"]["result"]) for event in events if event["event"] in CALLS],
                         [call for call in calls if call[0] not in NOT_TRACED])
        return operations, calls, events

    def check_launches(self, operations, events):
        """Launches name the device kernel and its size, each on the stream where it ran."""
        by_correlation = {event["fields"]["correlation"] - cuda.FIRST_CORRELATION: event for event in events
                          if event["event"] == "runtime_launch_kernel"}
        kernels = [done for done in operations if done.work == "kernel" and not done.graph]
        self.assertEqual(sorted(by_correlation), sorted(done.correlation for done in kernels))
        for done in kernels:
            launch = by_correlation[done.correlation]
            fields = launch["fields"]
            self.assertEqual(launch["names"]["name"], done.name)
            self.assertEqual(launch["names"]["queue"], f"stream {done.stream}")
            self.assertEqual(tuple(fields[f"local_{axis}"] for axis in "xyz"), done.block)
            self.assertEqual(tuple(fields[f"global_{axis}"] for axis in "xyz"),
                             tuple(grid * block for grid, block in zip(done.grid, done.block)))

    def test_versions(self):
        for version in versions():
            with self.subTest(version):
                if not stand_ins(version):
                    self.skipTest(f"the headers of CUDA {version} cannot be downloaded")
                result = self.run_both(compile_program("cuda.c"), "2", version=version)
                self.assertEqual(result.returncode, 0)
                operations, _, events = self.check(result)
                self.check_launches(operations, events)

    def test_waits(self):
        """Events and default streams: what waits for what is what CUDA's rules say of the calls of cuda.c."""
        result = self.run_both(compile_program("cuda.c"))
        operations, calls, events = self.check(result)
        number = collections.defaultdict(list)  # of calls by name
        for name, correlation, _ in calls:
            number[name].append(correlation)
        waits = {(event["fields"]["correlation"] - cuda.FIRST_CORRELATION,
                  event["fields"]["awaited"] - cuda.FIRST_CORRELATION) for event in events
                 if event["event"] == "runtime_wait"}
        first_copy, last_copy = number["cudaMemcpy"][0], number["cudaMemcpy"][1]
        upload, download, default = number["cudaMemcpyAsync"]
        add, idle, idle_on_default = number["cudaLaunchKernel"][:3]
        last_graph = number["cudaGraphLaunch"][-1]
        self.assertEqual(waits, {
            (upload, first_copy),  # a blocking stream after the default stream
            (idle, add),  # through an event, from one stream to the other
            (number["cudaEventSynchronize"][0], download),
            (idle_on_default, add),  # the default stream after the blocking one, not after the other
            (default, last_copy),
            (number["cudaMemcpy"][2], last_graph),
        })
        awaited = {(row["function"], row["name"]) for row in query(
            result.trace, "select c.function, o.name from calls c join device_operations o on o.rowid = c.awaited")}
        self.assertIn(("cudaEventSynchronize", "Memcpy DtoH (Device -> Pinned)"), awaited)
        self.assertIn(("cudaMemcpy", "Memcpy DtoH (Device -> Pageable)"), awaited)
        self.assertEqual(len([done for done in operations if done.graph]), 4)

    def test_memory(self):
        result = self.run_both(compile_program("cuda.c"))
        events = dump(result.trace)
        allocations = [event for event in events if event["event"] == "runtime_allocate"]
        self.assertEqual([(event["names"]["function"], event["names"].get("device"), event["fields"]["bytes"])
                          for event in allocations],
                         3 * [("cudaMalloc", "Soft CUDA 0", 4096)] + [("cudaMallocHost", None, 4096)])
        self.assertEqual(sorted(event["fields"]["object"] for event in allocations),
                         sorted(event["fields"]["object"] for event in events if event["event"] == "runtime_free"))

    def test_devices(self):
        """Devices of two processes are one, by their identity."""
        program = compile_program("cuda.c")
        result = self.run_both("sh", "-c", f"{program} & {program} >/dev/null; wait")
        devices = query(result.trace, "select name, same from devices where name like 'Soft%'")
        self.assertEqual(len(devices), 2)
        self.assertEqual(len({row["same"] for row in devices}), 1)

    def test_level_off(self):
        result = self.run_both(compile_program("cuda.c"), options=["--quiet", "--levels", "dataflow"])
        events = dump(result.trace)
        self.assertEqual(sum(count(events, name) for name in CALLS + cuda.OPERATIONS), 0)

    def test_no_cupti(self):
        """Without libcupti the program runs as ever, and the trace says what it lacks."""
        folder = self.path("stand-ins")
        shutil.copytree(stand_ins(versions()[0]), folder, ignore=shutil.ignore_patterns("libcupti*"))
        result = self.run_both(compile_program("cuda.c"), LD_LIBRARY_PATH=folder)
        missing = [event["fields"]["name"] for event in dump(result.trace) if event["event"] == "hook_missing"]
        self.assertTrue(os.path.exists("/usr/local/cuda/lib64/libcupti.so") or
                        any(text.startswith("libcupti") for text in missing), missing)

    def test_ends(self):
        """However a program ends, what was done by then is in the trace, and what was not is counted."""
        for way in ("return", "exit", "_exit", "exec", "abort", "fork"):
            with self.subTest(way):
                result = self.run_both(compile_program("cuda_ends.c"), way)
                operations, _ = read_log(result.log)
                events = dump(result.trace)
                names = {event["fields"]["correlation"]: event["event"] for event in events
                         if event["event"].startswith("device_")}
                self.assertEqual(len(names), sum(event["event"].startswith("device_") for event in events))
                launched = {event["fields"]["correlation"] for event in events
                            if event["event"] == "runtime_launch_kernel"}
                self.assertEqual(len(launched), 20)
                if way != "abort":
                    done = {cuda.FIRST_CORRELATION + each.correlation for each in operations}
                    self.assertEqual({key for key, name in names.items() if name in cuda.OPERATIONS}, done)
                rows = query(result.trace, "select count(*) as count from device_operations")
                self.assertEqual(rows, [{"count": 20}], "each launch has an operation, seen or not")


class Guest(CudaTest):
    def test_profiler(self):
        """A profiler in the program, as PyTorch has one: it sees all that it would see alone, and so does millrace. While
        it has given CUPTI another clock, times are in that clock, and come out right."""
        program = compile_program("cuda_guest.c", "-l:libcupti.so.13")
        for when, launched in ("before", 12), ("after", 15):
            with self.subTest(when):
                result = self.run_both(program, when)
                self.assertIn("saw 5 launches and 5 kernels; 0 wrong, 0 buffers lost", result.stdout)
                rows = query(result.trace, "select o.start_ns, o.duration_ns, o.bound_ns, c.start_ns as call_ns, w.start_ns "
                             "+ w.duration_ns as end_ns from device_operations o join calls c on c.rowid = o.call join calls "
                             "w on w.function = 'cuCtxSynchronize' and w.start_ns > c.start_ns group by o.rowid having "
                             "end_ns = min(end_ns)")
                self.assertEqual(len(rows), launched)
                for row in rows:
                    self.assertGreaterEqual(row["start_ns"] + row["bound_ns"], row["call_ns"])
                    self.assertLessEqual(row["start_ns"] + row["duration_ns"] - row["bound_ns"], row["end_ns"])


@unittest.skipUnless(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"), "there is no nvcc")
class Nvcc(CudaTest):
    def build(self, runtime, *flags):
        output = self.path("saxpy_" + runtime)
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        source = os.path.join(cuda.SOURCE, "tests", "live", "programs", "cuda_saxpy.cu")
        result = run(nvcc, "-cudart", runtime, *flags, "-o", output, source, "-Xlinker", "-rpath-link", "-Xlinker",
                     stand_ins(versions()[0]), timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return output

    def test_shared(self):
        """What nvcc compiles, unmodified."""
        result = self.run_both(self.build("shared"))
        self.assertEqual(result.returncode, 0, result.stdout)
        kernels = [event["names"]["name"] for event in dump(result.trace) if event["event"] == "device_kernel"]
        self.assertEqual(kernels, 3 * ["_Z5saxpyifPKfPf"])
        self.assertEqual(query(result.trace, "select l.name, l.global_x, l.local_x, o.kind from kernel_launches l join "
                               "calls c on c.rowid = l.call join device_operations o on o.call = c.rowid"),
                         3 * [{"name": "_Z5saxpyifPKfPf", "global_x": 4096, "local_x": 256, "kind": "kernel"}])

    def test_streams_of_threads(self):
        """Compiled so that the default stream is the thread's own: another stream, and the same device kernels."""
        result = self.run_both(self.build("shared", "--default-stream", "per-thread"))
        self.assertEqual(result.returncode, 0, result.stdout)
        rows = query(result.trace, "select o.name, q.name as stream, c.function from device_operations o join tracks t on "
                     "t.rowid = o.track join queues q on q.rowid = t.queue join calls c on c.rowid = o.call")
        self.assertEqual([(row["name"], row["function"]) for row in rows], 3 * [("_Z5saxpyifPKfPf", "__cudaLaunchKernel")])
        self.assertEqual(len({row["stream"] for row in rows}), 1)
        self.assertNotIn(rows[0]["stream"], ("stream 0", "stream 7"))

    def test_static(self):
        """With NVIDIA's own runtime inside, which refuses the stand-in: the program fails as it does alone."""
        result = self.run_both(self.build("static"))
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    cuda.main()
