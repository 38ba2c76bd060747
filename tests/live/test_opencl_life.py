#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how far a program may be ahead of its device
"""OpenCL programs that are loaded, forked, left and killed in all ways: they behave as without millrace, and
what the device had done is in the trace."""

import os
import re
import shutil
import unittest

import harness
import opencl
from opencl import (LAUNCHES, OPTIONS, OpenclTest, by_correlation, calls_of, function_of, kernels_of, layer,
                    operations_of, said_by)
from support import count, dump, info, manifest, program, run

KERNELS = 100
ATTEMPTS = 5
KHRONOS_LOADER = os.environ.get("OPENCL_KHRONOS_LOADER")


class Ends(OpenclTest):
    def check(self, situation, kernels=KERNELS):
        result = self.run_both(program("opencl_ways"), situation)
        events = self.read(result)
        self.assertEqual(len(kernels_of(events, "spin")), kernels)
        return events

    def unfinished(self, events):
        """Functions that never returned."""
        strings = {(event["process"], event["fields"]["id"]): event["fields"]["value"]
                   for event in events if event["event"] == "def_string"}
        return [strings[event["process"], event["fields"]["what"]] for event in events
                if event["event"] == "interval_unfinished"]

    def launched_only(self, events):
        """Launches that succeeded and whose operation did not end."""
        operations = operations_of(events)
        return [launch for key, launch in by_correlation(events, *LAUNCHES).items()
                if launch["fields"]["result"] == 0 and key not in operations]

    def test_orderly(self):
        for situation in ("released", "left"):
            events = self.check(situation)
            self.assertEqual(self.launched_only(events), [])
            self.assertEqual(count(events, "device_operation_unfinished"), 0)

    def test_unwatched(self):
        """Nobody asks whether the last kernels have ended."""
        for situation in ("left_unwatched", "left_quickly"):
            with self.subTest(situation):
                events = self.check(situation, 2 * KERNELS)
                self.assertEqual(self.launched_only(events), [])

    def test_unwatched_at_once(self):
        """As before, but without exit handlers; one more kernel never begins."""
        for situation in ("unwatched_left_at_once", "unwatched_aborted", "unwatched_crashed",
                          "unwatched_killed"):
            with self.subTest(situation):
                events = self.check(situation, 2 * KERNELS)
                self.assertEqual(len(self.launched_only(events)), 1)
                self.assertEqual(count(events, "device_operation_unfinished"),
                                 situation == "unwatched_left_at_once")

    def test_unwatched_executed(self):
        events = self.check("unwatched_executed", 3 * KERNELS)
        self.assertEqual(len(self.launched_only(events)), 1)

    def test_left_by_handler(self):
        """In a signal handler the runtime is not asked: it was interrupted."""
        events = self.check("left_by_handler")
        self.assertEqual(len(self.launched_only(events)), 1)
        self.assertEqual(self.unfinished(events), ["clFinish"])

    def test_vforks(self):
        self.assertEqual(self.launched_only(self.check("vforks", 2 * KERNELS)), [])

    def test_killed_in_midst(self):
        """What the program knew to be done is in the trace, but for what ended at that very moment."""
        result = self.record(program("opencl_ways"), "killed_in_midst", "100", options=OPTIONS)
        done = int(re.search(r"done (\d+)", result.stdout)[1])
        events = self.read(result)
        kernels = len(kernels_of(events, "spin"))
        self.assertTrue(0 < done < 100, done)
        self.assertTrue(done - 1 <= kernels < 100, (done, kernels))
        self.assertEqual(len(self.launched_only(events)), 100 - kernels)

    def test_released_in_flight(self):
        """What millrace holds must not keep the context alive, when the program never calls again."""
        result = self.run_both(program("opencl_ways"), "released_in_flight")
        self.assertIn("the context is gone", result.stdout)
        self.assertEqual(len(kernels_of(self.read(result), "spin")), KERNELS + 1)

    def test_at_once(self):
        for situation in ("left_at_once", "aborted", "crashed", "killed"):
            with self.subTest(situation):
                events = self.check(situation)
                self.assertEqual(self.launched_only(events), [])

    def test_hanging(self):
        """One kernel waits for an event that never comes, and the program leaves."""
        for situation, waiting in (("left_hanging", []), ("left_by_thread", ["clFinish"]),
                                   ("left_by_main", ["clFinish"])):
            with self.subTest(situation):
                events = self.check(situation)
                launched = self.launched_only(events)
                self.assertEqual(len(launched), 1)
                unfinished = by_correlation(events, "device_operation_unfinished")
                self.assertEqual([key for _, key in unfinished],
                                 [launched[0]["fields"]["correlation"]])
                self.assertEqual(self.unfinished(events), waiting)

    def test_killed_while_hanging(self):
        """Nobody is left to say that the kernel did not end: its launch is there, and the call that waits."""
        events = self.check("killed_waiting")
        self.assertEqual(len(self.launched_only(events)), 1)
        self.assertEqual(self.unfinished(events), ["clFinish"])


class Children(OpenclTest):
    def by_process(self, events):
        found = {}
        for kernel in kernels_of(events, "spin"):
            found[kernel["process"]] = found.get(kernel["process"], 0) + 1
        return sorted(found.values())

    def test_forks(self):
        """Children that inherit a queue with work in it: none of that work is theirs."""
        result = self.run_both(program("opencl_ways"), "forks")
        self.assertEqual(self.by_process(self.read(result)), [2 * KERNELS])

    def test_programs(self):
        """A program that uses OpenCL starts others that do."""
        result = self.run_both(program("opencl_ways"), "programs")
        self.assertEqual(self.by_process(self.read(result)), [KERNELS] * 4)

    def test_forked_first(self):
        result = self.run_both(program("opencl_ways"), "forked_first")
        self.assertEqual(self.by_process(self.read(result)), [KERNELS] * 2)

    def test_executed(self):
        result = self.run_both(program("opencl_ways"), "executed")
        self.assertEqual(self.by_process(self.read(result)), [KERNELS] * 2)


class Loaders(OpenclTest):
    def check_copies(self, *command, **environment):
        result = self.run_both(*command, **environment)
        events = self.read(result)
        self.assertEqual([function_of(call) for call in calls_of(events)],
                         [each.function for each in said_by(result.stdout)])
        self.assertEqual([operation["fields"]["bytes"] for operation in operations_of(events).values()],
                         [4096] * 10)

    def check_loader(self, loader, **environment):
        """Loaded at run time, and unloaded before and after what was made has been released."""
        self.check_copies(program("opencl_dlopen"), loader, **environment)
        self.check_copies(program("opencl_dlopen"), loader, "leave", **environment)

    def test_loaded_at_run_time(self):
        self.check_loader("libOpenCL.so.1")

    @unittest.skipUnless(KHRONOS_LOADER, "OPENCL_KHRONOS_LOADER does not name the Khronos loader")
    def test_khronos_loader(self):
        self.check_loader(KHRONOS_LOADER)
        self.check_loader(KHRONOS_LOADER, OCL_ICD_FORCE_LEGACY_TERMINATION="1")

    def test_another_layer(self):
        """The program's own layer works on, in its children too."""
        counts = self.path("counts")
        result = self.record(program("opencl_ways"), "programs", options=OPTIONS,
                             env=self.environment(OPENCL_LAYERS=layer(), OPENCL_LAYER_COUNTS=counts))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(kernels_of(self.read(result), "spin")), 4 * KERNELS)
        with open(counts) as file:
            self.assertEqual(file.read().split(), [str(KERNELS)] * 4)

    def test_environment(self):
        """ocl-icd cuts the variable behind its first layer while it reads it. Ours stands last, so that a
        program with a layer of its own, and its children, see the same as without millrace."""
        for layers in (layer(), f"{layer()}:{self.path('missing.so')}"):
            result = self.run_both(program("opencl_ways"), "environment", OPENCL_LAYERS=layers)
            self.assertEqual(len(kernels_of(self.read(result), "spin")), KERNELS)

    def test_a_layer_that_is_not_there(self):
        self.run_both(program("opencl_ways"), "released", OPENCL_LAYERS=self.path("missing.so"))


class Many(OpenclTest):
    def test_threads(self):
        result = self.run_both(program("opencl_many"), "threads", "100", timeout=400)
        events = self.read(result)
        self.assertEqual(manifest(result.trace)["losses"]["events"], 0)
        self.assertEqual(len(kernels_of(events, "spin")), 65 * 100)
        queues = {event["fields"]["queue"] for event in kernels_of(events, "spin")}
        self.assertEqual(len(queues), 65)

    def test_chained(self):
        """Callbacks launch the next kernel, on the runtime's threads."""
        result = self.run_both(program("opencl_many"), "chained")
        self.assertEqual(len(kernels_of(self.read(result), "spin")), KERNELS)

    def test_huge(self):
        events = self.read(self.run_both(program("opencl_many"), "huge"))
        size, = [event["fields"] for event in events if event["event"] == "runtime_launch_size"]
        self.assertEqual([size["global_x"], size["global_y"], size["global_z"]], [1 << 33, 3, 2])
        launch = by_correlation(events, "runtime_launch_kernel")
        self.assertIn(size["correlation"], [correlation for _, correlation in launch])

    def peak_kb(self, output):
        return int(re.search(r"peak (\d+) kB", output)[1])

    def check_memory(self, situation, kernels, limit_kb):
        """What the program's own memory grows by when it is traced; nothing may be lost. How much the runtime itself
        has to remember depends on how far the program is ahead of its threads, which a busy machine decides: again,
        if that was more."""
        command = [program("opencl_many"), situation, str(kernels)]
        for _ in harness.attempts(ATTEMPTS):
            alone = run(*command, timeout=400)
            recorded = self.record(*command, options=OPTIONS, name=situation, timeout=400)
            self.assertEqual((alone.returncode, recorded.returncode), (0, 0), recorded.stderr)
            self.assertEqual(manifest(recorded.trace)["losses"]["events"], 0)
            self.assertEqual(self.operations_in(recorded.trace), kernels)
            grown_kb = self.peak_kb(recorded.stdout) - self.peak_kb(alone.stdout)
            print(f"{situation}: {kernels} kernels cost {grown_kb} kB")
            if grown_kb < limit_kb:
                break
            shutil.rmtree(recorded.trace)
        self.assertLess(grown_kb, limit_kb)

    def operations_in(self, trace):
        """Counted by `info`: as JSON there would be too many to read."""
        rows = [row for finding in info(trace)["findings"] for table in finding["tables"]
                for row in table["rows"] if row.get("event") == "device_operation"]
        return sum(row["count"] for row in rows)

    def test_memory_is_bounded(self):
        self.check_memory("many", 300000, 8192)
        self.check_memory("many_queues", 5000, 8192)

    def test_memory_of_waiting_work(self):
        """Without anybody waiting, and with all of it waiting: some bytes for each."""
        self.check_memory("many_unwatched", 100000, 32768)
        self.check_memory("many_at_once", 100000, 65536)


class Memory(OpenclTest):
    def test_live_bytes(self):
        """Replayed: what is allocated and really gone adds up to what the program says."""
        result = self.run_both(program("opencl_many"), "memory")
        sizes, live, seen = {}, 0, []
        for event in dump(result.trace):
            fields = event["fields"]
            if event["event"] == "runtime_allocate":
                sizes[fields["object"]] = 0 if fields["parent"] else fields["bytes"]
                live += sizes[fields["object"]]
            elif event["event"] == "runtime_free":
                live -= sizes.pop(fields["object"])
            else:
                continue
            seen.append(live)
        said = [int(number) for number in re.findall(r"live (\d+)", result.stdout)]
        changes = [live for before, live in zip([0, *seen], seen) if live != before]
        self.assertEqual(changes[1:], said)


if __name__ == "__main__":
    opencl.main()
