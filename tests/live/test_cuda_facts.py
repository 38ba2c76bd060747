#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: nothing depends on how long anything takes
"""What CUPTI tells besides calls and times of operations: what device kernels need, nodes of graphs, copies between devices,
waits, overheads, other tools' numbers, memory. It comes out in SQL as the program (cuda_facts.c) caused it; the stand-in
derives registers and shared memory from names, so that they are known here, too."""

import cuda
from cuda import CudaTest, compile_program, stand_ins
from support import MILLRACE, query, run


class Facts(CudaTest):
    def record_facts(self, version=None):
        program = compile_program("cuda_facts.c", "-l:libcupti.so.13")
        result = self.run_both(program, version=version, SOFT_CUDA_DEVICES="2")
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.trace

    def check_operations(self, trace):
        kernels = query(trace, "select name, registers, static_bytes, dynamic_bytes, graph, graph_node & 255 as node from "
                        "device_operations where kind = 'kernel' order by start_ns")
        need = {name: (16 + len(name), 128 * len(name)) for name in ("kernel", "other")}
        self.assertEqual([tuple(row.values()) for row in kernels],
                         [("kernel", *need["kernel"], 256, 0, 0), ("kernel", *need["kernel"], 0, 1, 1),
                          ("other", *need["other"], 32, 1, 2)])
        self.assertEqual(query(trace, "select c.function, count(*) as count from device_operations o join calls c on c.rowid "
                               "= o.call where o.graph group by 1"), [{"function": "cudaGraphLaunch", "count": 2}])
        self.assertEqual(query(trace, "select o.kind, o.bytes, o.from_memory, o.to_memory, d.name as target, c.function from "
                               "device_operations o join devices d on d.rowid = o.target join calls c on c.rowid = o.call"),
                         [{"kind": "copy_between_devices", "bytes": 8192, "from_memory": "device", "to_memory": "device",
                           "target": "Soft CUDA 1", "function": "cudaMemcpyPeerAsync"}])

    def check_waits(self, trace):
        rows = query(trace, "select s.kind, c.function, q.name as queue, s.event from synchronisations s join calls c on "
                     "c.rowid = s.call and c.track = s.track left join queues q on q.rowid = s.queue where s.start_ns >= "
                     "c.start_ns - 1000000 order by c.start_ns")
        self.assertEqual([(row["kind"], row["function"], (row["queue"] or "").split(" ")[0], row["event"]) for row in rows],
                         [("queue_waits", "cudaStreamWaitEvent", "stream", 1), ("event", "cudaEventSynchronize", "", 1),
                          ("queue", "cudaStreamSynchronize", "stream", 0), ("queue", "cudaStreamSynchronize", "stream", 0),
                          ("context", "cudaDeviceSynchronize", "", 0)])

    def check_reports(self, trace):
        rows = query(trace, "select o.name, o.is_own, o.track = c.track as is_callers from overheads o join calls c on "
                     "c.function = 'cudaMallocManaged'")
        self.assertEqual(rows, 2 * [{"name": "CUDA: lazy function loading", "is_own": 1, "is_callers": 1}])
        self.assertEqual(query(trace, "select n.number, n.kind, c.function from external_numbers n join calls c on c.rowid = "
                               "n.call where c.function like 'cuda%'"), [{"number": 4711, "kind": 3, "function": "cudaLaunchKernel"}])

    def check_memory(self, trace):
        rows = query(trace, "select m.allocator, m.kind, m.bytes, m.pool != 0 as is_pooled, d.name as device from memory m "
                     "left join devices d on d.rowid = m.device where not is_free order by m.start_ns")
        self.assertEqual([tuple(row.values()) for row in rows],
                         [("cudaMallocAsync", "device", 8192, 1, "Soft CUDA 0"),
                          ("cudaMallocPitch", "device", 2048, 0, "Soft CUDA 0"),
                          ("cudaMallocManaged", "managed", 8192, 0, "Soft CUDA 0"),
                          ("cudaMallocHost", "pinned", 8192, 0, None),
                          ("cudaMalloc", "device", 8192, 0, "Soft CUDA 1")])
        freed = query(trace, "select allocator, bytes from memory where is_free order by start_ns")
        self.assertEqual([(row["allocator"], row["bytes"]) for row in freed],
                         [(row["allocator"], row["bytes"]) for row in rows])

    def test_versions(self):
        for version in ("13.0", "11.8", "12.4", "13.4"):
            with self.subTest(version):
                if not stand_ins(version):
                    self.skipTest(f"the headers of CUDA {version} cannot be downloaded")
                trace = self.record_facts(version)
                self.check_operations(trace)
                self.check_waits(trace)
                self.check_reports(trace)
                self.check_memory(trace)

    def test_words(self):
        """The report speaks of streams, as CUDA's users do; keys stay."""
        trace = self.record_facts()
        text = run(MILLRACE, "report", "--whole", trace).stdout
        self.assertIn("launched but not finished, by stream:", text)
        self.assertNotIn("by queue", text)
        self.assertIn("What the runtime did besides", text)
        self.assertIn("CUDA: lazy function loading", text)


if __name__ == "__main__":
    cuda.main()
