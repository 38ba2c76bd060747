#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares were all recorded
"""HIP programs on the software AMD GPU: they do the same alone and traced, and the trace has what the device has executed,
joined to calls and streams. The device's own log is the reference."""

import os
import pathlib
import signal
import subprocess
import sys
from collections import Counter

import amd
import harness
from amd import AmdTest, program
from support import MILLRACE, query, run, wait_until

PROGRAMS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/live/programs"
# Launches of the program itself, by way.
LAUNCHED = {"graph": 6, "callback": 5, "streams": 36, "threads": 200, "fork_before": 1, "fork_after": 1, "pageable": 0}


class Results(AmdTest):
    def test_compute(self):
        result = self.run_both(program("compute"))
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertNotRegex(result.stdout, r"[1-9]\d* wrong|not timed|: wrong")
        kernels, executed = self.check_executed(result)
        self.check_times(kernels, executed)
        self.assertEqual(Counter(one["kind"] for one in kernels)["kernel"], 6)
        self.assertLessEqual({"copy_to_device", "copy_from_device", "copy_on_device", "fill"},
                             {one["kind"] for one in self.operations(result)})

    def test_ways(self):
        for way, launched in LAUNCHED.items():
            with self.subTest(way):
                result = self.run_both(program("ways"), way)
                self.assertEqual(result.returncode, 0, result.stdout)
                kernels, _ = self.check_executed(result)
                self.assertEqual(sum(one["kind"] == "kernel" for one in kernels), launched)

    def test_counter(self):
        """The device's own ticks stand beside the runtime's translation of them."""
        result = self.run_both(program("ways"), "graph", SOFT_AMD_PPM="100")
        kernels, executed = self.check_executed(result)
        self.assertEqual([(one["counter_start"], one["counter_end"]) for one in kernels],
                         [(one.start, max(one.end, one.start + 1)) for one in executed])

    def test_several_devices(self):
        result = self.run_both(program("ways"), "peer", SOFT_AMD_COUNT="2")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.check_executed(result)
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual({one["name"] for one in kernels}, {"_Z5twicePii", "_Z9incrementPii"})
        self.assertEqual(len({one["track"] for one in kernels}), 2)


class Joins(AmdTest):
    def test_streams(self):
        """Twelve streams share queues of the device, and are apart in the trace."""
        result = self.run_both(program("ways"), "streams")
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual({one["function"] for one in kernels}, {"hipLaunchKernel"})
        by_stream = Counter(one["track_name"] for one in kernels)
        self.assertEqual(len(by_stream), 12)
        self.assertEqual(set(by_stream.values()), {3})
        self.assertLess(len({one.queue for one in result.executed if "increment" in one.name}), 12)

    def test_graph(self):
        result = self.run_both(program("ways"), "graph")
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual(Counter(one["function"] for one in kernels), {"hipGraphLaunch": 6})
        self.assertEqual([one["name"] for one in kernels], ["_Z9incrementPii", "_Z5twicePii"] * 3)
        self.assertEqual(len({one["call"] for one in kernels}), 3)
        sizes = query(result.trace, "select global_x, local_x, argument_bytes from kernel_launches "
                                    "where name = '_Z5twicePii'")
        self.assertEqual(sizes, [{"global_x": 4096, "local_x": 256, "argument_bytes": 12}] * 3)

    def test_stream_waits_for_event(self):
        result = self.run_both(program("compute"))
        scaled = self.operations(result, "d.name like '%scaleIf%'")
        self.assertEqual(len(scaled), 2)
        rows = query(result.trace, "select c.rowid as call, w.rowid as awaited from dependencies d "
                                   "join calls c on c.rowid = d.call join calls w on w.rowid = d.awaited_call")
        self.assertIn({"call": scaled[1]["call"], "awaited": scaled[0]["call"]}, rows)

    def test_memory(self):
        result = self.run_both(program("compute"))
        rows = query(result.trace, "select allocator, device_name, bytes from memory where is_free = 0")
        self.assertEqual(sum(one["allocator"] == "hipMalloc" and one["bytes"] == 400000 for one in rows), 4)
        for allocator, size in (("hipHostMalloc", 400000), ("hipMallocManaged", 4000)):
            self.assertIn({"allocator": allocator, "device_name": None, "bytes": size}, rows)
        self.assertTrue(all(one["device_name"] == "Software gfx900" for one in rows
                            if one["bytes"] == 400000 and one["allocator"] == "hipMalloc"), rows)
        freed = query(result.trace, "select f.bytes as n from memory f where f.is_free = 1 and f.bytes in (400000, 4000)")
        self.assertEqual(sorted(one["n"] for one in freed), [4000] + [400000] * 5)


class ByOrder(AmdTest):
    """AMD_DIRECT_DISPATCH=0: HIP's own threads launch, and order decides which call an operation belongs to."""

    def record_way(self, *command, **environment):
        result = self.run_both(*command, AMD_DIRECT_DISPATCH="0", **environment)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.check_executed(result)
        return result

    def check_all_joined(self, result):
        """Each by order to a call of HIP that began before, in whose stream it is; and as the way itself says."""
        operations = self.operations(result)
        self.assertEqual({one["flags"] for one in operations}, {"BY_ORDER"})
        self.assertEqual([one for one in operations if not one["function"].startswith("hip")], [])
        self.assertEqual([one for one in operations if one["submitted_ns"] and one["submitted_ns"] < one["call_ns"]], [])
        for one in operations:
            named = {"fill": "Memset", "kernel": "Launch"}.get(one["kind"], "Memcpy")
            self.assertIn(named, one["function"], one)

    def test_all_ways(self):
        for way in ("graph", "callback", "streams", "fork_before", "fork_after", "pageable"):
            with self.subTest(way):
                result = self.record_way(program("ways"), way)
                self.check_all_joined(result)
                kernels = self.operations(result, "d.kind = 'kernel'")
                self.assertEqual(len(kernels), LAUNCHED[way])
                calls = Counter(one["call"] for one in kernels)
                self.assertEqual(set(calls.values()) - {2 if way == "graph" else 1}, set())

    def test_several_devices(self):
        """Each device has a default stream with a thread of its own."""
        result = self.record_way(program("ways"), "peer", SOFT_AMD_COUNT="2")
        self.check_all_joined(result)

    def test_compute(self):
        """Names, sizes and events are those of the calls: the same as with direct dispatch."""
        result = self.record_way(program("compute"))
        self.check_all_joined(result)
        direct = self.run_both(program("compute"))

        def joined(one):
            return query(one.trace, "select d.name, d.kind, d.bytes, c.function, c.bytes as call_bytes from device_operations d "
                                    "join calls c on c.rowid = d.call order by c.start_ns, d.start_ns")
        self.assertEqual([{**one, "kind": None} for one in joined(result)],
                         [{**one, "kind": None} for one in joined(direct)])

    def test_streams(self):
        result = self.record_way(program("ways"), "streams")
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual(set(Counter(one["track_name"] for one in kernels).values()), {3})
        self.assertEqual(len({one["track_name"] for one in kernels}), 12)
        self.assertIn("38 could be tied to calls", run(MILLRACE, "report", "--whole", result.trace).stdout)

    def test_threads(self):
        """Threads that make streams at the same time: nothing is joined wrongly, and what is undecided says so."""
        result = self.record_way(program("ways"), "threads")
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual(len(kernels), 200)
        decided = [one for one in kernels if one["flags"] == "BY_ORDER"]
        self.assertEqual({one["function"] for one in decided} - {"hipLaunchKernel"}, set())
        self.assertEqual({one["function"] for one in kernels if one not in decided} - {"AQL dispatch"}, set())
        self.assertEqual(set(Counter(one["call"] for one in kernels).values()), {1})


class Asked(AmdTest):
    def test_by_name(self):
        """A program that takes functions of HIP by their names is traced; until HIP is loaded, it finds none."""
        result = self.run_both(sys.executable, PROGRAMS / "hip/asks.py", program("asks.so"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[:2],
                         ["itself 1 next 1", "without HIP: 0 0 undefined symbol: hipInit"])
        self.assertIn("copies 0 0 0 b'there and back' 0 0\n", result.stdout)
        calls = query(result.trace, "select function, count(*) as n from calls where function like 'hip%' group by 1 order by 1")
        self.assertEqual(calls, [{"function": name, "n": count} for name, count in
                                 (("hipDeviceSynchronize", 2), ("hipFree", 1), ("hipGetDeviceCount", 1),
                                  ("hipMalloc", 1), ("hipMemcpy", 2))])
        self.check_executed(result)


    def test_by_later_hip(self):
        """Later versions of HIP look functions up themselves."""
        result = self.run_both(sys.executable, PROGRAMS / "hip/later_asks.py", program("later_hip.so"))
        self.assertEqual(result.stdout, "0 0 True\n17\n500 0 False\n")
        calls = query(result.trace, "select function, result from calls order by start_ns")
        self.assertEqual([(one["function"], one["result"]) for one in calls],
                         [("hipGetProcAddress", 0), ("hipFree", 17), ("hipGetProcAddress", 500)])


class Clock(AmdTest):
    def check_within(self, ppm):
        """Each device kernel runs between its launch and the end of the wait for it."""
        result = self.run_both(program("ways"), "many", "400", "wait", SOFT_AMD_PPM=str(ppm))
        kernels = self.operations(result, "d.kind = 'kernel'")
        self.assertEqual(len(kernels), 400)
        ends = [one["end_ns"] for one in
                query(result.trace, "select start_ns + duration_ns as end_ns from calls "
                                    "where function = 'hipDeviceSynchronize' order by start_ns")]
        for number, one in enumerate(kernels):
            self.assertGreaterEqual(one["start_ns"] + one["bound_ns"], one["call_ns"], one)
            self.assertLessEqual(one["start_ns"] + one["duration_ns"] - one["bound_ns"], ends[number], one)

    def test_without_drift(self):
        self.check_within(0)

    def test_with_drift(self):
        self.check_within(100)


class Ends(AmdTest):
    def test_busy(self):
        """What had ended is there, and what had not is there as unfinished."""
        for how in ("exit", "_exit", "exec"):
            with self.subTest(how):
                result = self.run_both(program("ways"), "end_busy", how, SOFT_AMD_KERNEL_US="300")
                rows = self.operations(result, "d.name like '%increment%'")
                self.assertEqual(len(rows), 100)
                finished = [one for one in rows if not one["flags"]]
                ended = [one for one in result.executed if "increment" in one.name]
                # Before the program ends, forty have; while it does, others may.
                self.assertGreaterEqual(len(finished), 40)
                self.assertLessEqual(len(finished), len(ended))
                self.check_times(finished[:40], ended[:40])

    def test_killed(self):
        log, trace = self.path("log"), self.path("killed.mill")
        with subprocess.Popen([MILLRACE, "record", "-o", trace, *amd.OPTIONS, "--", program("ways"), "wait"],
                              env=self.environment(SOFT_AMD_LOG=log), stdout=subprocess.PIPE, text=True) as recorder:
            self.assertEqual(recorder.stdout.readline(), "launched\n")
            self.assertTrue(wait_until(lambda: sum("increment" in one.name for one in amd.read_log(log)) == 201))
            os.kill(amd.read_log(log)[0].process, signal.SIGKILL)
            recorder.wait()
        rows = query(trace, "select flags from device_operations where name like '%increment%'")
        self.assertEqual(len(rows), 201)
        self.assertGreaterEqual(sum(not one["flags"] for one in rows), 200)


class Bounds(AmdTest):
    def test_many(self):
        """Many launches at once: all are timed, and take no more memory of the program than a few."""
        count, most_kib = 100_000, 64 << 10
        peak = ("import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
                "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")
        command = sys.executable, "-c", peak, program("ways"), "many", str(count)
        alone = run(*command, env=self.environment())
        recorded = self.record(*command, options=amd.OPTIONS, env=self.environment())
        (said, alone_kib), (said_too, recorded_kib) = alone.stdout.splitlines(), recorded.stdout.splitlines()
        self.assertEqual((said, said_too), ("many: 0 wrong", "many: 0 wrong"))
        self.assertLess(int(recorded_kib) - int(alone_kib), most_kib)
        rows = query(recorded.trace, "select count(*) as n from device_operations where kind = 'kernel' "
                                     "and duration_ns > 0 and call is not null")
        self.assertEqual(rows, [{"n": count}])


class Absent(AmdTest):
    """Nothing is harmed where there is less than usual."""

    def test_no_device(self):
        """HIP 5.2 crashes then, of its own accord."""
        result = self.run_both(program("ways"), "graph", SOFT_AMD_COUNT="0")
        self.assertNotEqual(result.returncode, 0)

    def test_no_thunk(self):
        result = self.run_both(program("ways"), "graph", LD_LIBRARY_PATH="")
        self.assertEqual(result.returncode, 1)

    def test_level_off(self):
        result = self.record(program("ways"), "graph", options=("--quiet", "--levels", "dataflow"), env=self.environment())
        self.assertEqual((result.returncode, result.stdout), (0, "graph: 0 wrong\n"))
        self.assertEqual(query(result.trace, "select * from calls"), [])


if __name__ == "__main__":
    amd.skip_without_amd()
    harness.main()
