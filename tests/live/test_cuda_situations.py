#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: nothing depends on how long anything takes
"""CUDA where a GPU is divided or shared, and where each thread has a default stream of its own."""

import cuda
from cuda import CudaTest, compile_program
from support import query


class Situations(CudaTest):
    def devices_of(self, *environments):
        """The devices of processes that run at the same time: as each process sees it, and what it is."""
        program = compile_program("cuda.c")
        commands = " & ".join(f"{environment} {program} >/dev/null" for environment in environments)
        result = self.run_both("sh", "-c", commands + "; wait")
        self.assertEqual(result.returncode, 0)
        return result.trace, query(result.trace, "select rowid as number, same from devices where name like 'Soft%'")

    def test_shared(self):
        """Two processes on one GPU, with MPS or without it: one device, and what both do is its work."""
        trace, devices = self.devices_of("A=1", "A=2")
        self.assertEqual(len(devices), 2)
        self.assertEqual(len({row["same"] for row in devices}), 1)
        rows = query(trace, "select count(distinct o.process) as processes, count(distinct d.same) as devices from "
                     "device_operations o join tracks t on t.rowid = o.track join queues q on q.rowid = t.queue join devices "
                     "d on d.rowid = q.device")
        self.assertEqual(rows, [{"processes": 2, "devices": 1}])

    def test_parts(self):
        """Two processes on two parts of one GPU (MIG), which NVIDIA's driver gives identities of their own: two devices."""
        _, devices = self.devices_of("SOFT_CUDA_PART=1", "SOFT_CUDA_PART=2")
        self.assertEqual(len({row["same"] for row in devices}), 2)

    def test_streams_of_threads(self):
        """Each thread's default stream is a stream of its own. A copy to memory that can be paged out blocks its call, and
        nobody waits for another thread's stream."""
        result = self.run_both(compile_program("cuda_threads.c"))
        self.assertEqual(result.returncode, 0, result.stdout)
        rows = query(result.trace, "select c.track, count(*) as operations, count(distinct o.track) as streams, "
                     "min(o.track) as stream from device_operations o join calls c on c.rowid = o.call group by 1")
        self.assertEqual([(row["operations"], row["streams"]) for row in rows], 3 * [(5, 1)])
        self.assertEqual(len({row["stream"] for row in rows}), 3)
        self.assertEqual({row["function"] for row in query(result.trace, "select distinct function from calls where role = "
                                                           "'LAUNCH'")}, {"cudaLaunchKernel", "cudaMemcpyAsync"})
        waits = query(result.trace, "select c.track as thread, c.function, o.name, l.track as launcher from calls c join "
                      "device_operations o on o.rowid = c.awaited join calls l on l.rowid = o.call")
        self.assertEqual(sorted(row["function"] for row in waits), 3 * ["cudaMemcpyAsync"])
        for row in waits:
            self.assertEqual(row["thread"], row["launcher"])
            self.assertEqual(row["name"], "Memcpy DtoH (Device -> Pageable)")


if __name__ == "__main__":
    cuda.main()
