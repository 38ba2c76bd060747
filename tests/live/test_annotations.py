#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""include/millrace.h in every language it promises, and the example program written on it."""

import collections
import os
import pathlib
import shutil
import statistics
import subprocess
import unittest

import harness
from support import BUILD, MILLRACE, LiveTest, count, dump, program, run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])
PIPELINE = os.path.join(BUILD, "examples", "pipeline")
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]

PROGRAM = """
#include <millrace.h>
int main(void)
{
    uint32_t device = millrace_device("device", MILLRACE_DEVICE_GPU);
    uint32_t node = millrace_node(millrace_graph("graph"), "node", "type", device);
    struct millrace_operation operation = {0, 0, 0, 0, 0, 0, 0, 0, MILLRACE_OPERATION_COPY_TO_DEVICE};
    struct millrace_call launch, wait;
    struct millrace_span step = millrace_step_begin(1);
    struct millrace_span span = millrace_node_begin(node, 1);
    operation.queue = millrace_queue(device, "queue");
    operation.name = millrace_string("copy");
    launch = millrace_launch_begin(millrace_string("put"), operation.queue, operation.kind);
    millrace_launch_end(&launch);
    wait = millrace_wait_begin(millrace_string("wait"), operation.queue, launch.correlation);
    millrace_wait_end(&wait);
    operation.correlation = launch.correlation;
    operation.start = operation.end = millrace_now();
    millrace_device_operation(&operation);
    millrace_node_end(&span);
    millrace_step_end(&step);
    millrace_edge(node, 0, node, 0);
    millrace_control_edge(node, node);
    millrace_node_complete(node, 1, 0, 0);
    millrace_node_instant(node, 1);
    millrace_memory_allocate(0, 0, 0, &span, 8);
    millrace_memory_free(0, 0, &span, 8);
    millrace_message_send(0, 0, 0);
    millrace_message_receive(0, 0, 0);
    millrace_counter(0, 0);
    return millrace_is_on();
}
"""


class Header(LiveTest):
    def compile(self, compiler, name, *options):
        """The program's path; None where the compiler is missing."""
        if not shutil.which(compiler):
            print(f"not tested, not installed: {compiler}")
            return None
        pathlib.Path(self.path(name)).write_text(PROGRAM)
        output = self.path("program")
        result = run(compiler, *WARNINGS, *options, "-I", SOURCES / "include", self.path(name), "-o",
                     output)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return output

    def test_languages(self):
        for compiler, name, standards in (
                ("gcc", "program.c", ["c99", "c11", "c17", "gnu17"]),
                ("clang", "program.c", ["c99", "c11", "c17", "gnu17"]),
                ("g++", "program.cc", ["c++11", "c++17", "c++20"]),
                ("clang++", "program.cc", ["c++11", "c++17", "c++20"])):
            for standard in standards:
                for options in [], ["-O2"], ["-O2", "-DMILLRACE_DISABLE"]:
                    with self.subTest(compiler=compiler, standard=standard, options=options):
                        program = self.compile(compiler, name, f"-std={standard}", *options)
                        if program:
                            self.assertEqual(run(program).returncode, 0)

    def test_disabled_leaves_nothing(self):
        program = self.compile("gcc", "program.c", "-O2", "-DMILLRACE_DISABLE")
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        self.assertNotIn("millrace", symbols)
        self.assertNotIn("dlsym", symbols)


class Example(LiveTest):
    def expected(self, frames):
        """One tone in each frame, or none: four bins and silence by turns."""
        turns = [sum(number % 5 == turn for number in range(frames)) for turn in range(5)]
        lines = [f"bin {20 + 30 * turn:3}: {turns[turn]} frames\n" for turn in range(4) if turns[turn]]
        return "".join(lines) + f"no tone: {turns[4]} frames\n"

    def test_result(self):
        for frames, workers in (1, 1), (3, 2), (57, 1), (100, 7):
            with self.subTest(frames=frames, workers=workers):
                result = run(PIPELINE, "--frames", str(frames), "--workers", str(workers))
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertEqual(result.stdout, self.expected(frames))

    def test_wrong_options(self):
        for options in ["--frames"], ["--frames", "0"], ["--workers", "-1"], ["--frames", "3x"], ["x"]:
            with self.subTest(options):
                result = run(PIPELINE, *options)
                self.assertEqual((result.returncode, result.stdout), (2, ""))
                self.assertTrue(result.stderr.startswith("usage:"))

    @unittest.skipIf(os.environ.get("SANITIZED"), "a sanitized library cannot be preloaded")
    def test_trace(self):
        frames = 60
        result = self.record(PIPELINE, "--frames", str(frames), options=["--quiet"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, self.expected(frames))
        events = dump(result.trace)
        counts = {"def_node": 6, "def_edge": 5, "node_interval": 6 * frames, "step_interval": frames,
                  "message_send": 4 * frames, "message_receive": 4 * frames, "counter": 8 * frames,
                  "memory_allocate": frames, "memory_free": frames}
        self.assertEqual({name: count(events, name) for name in counts}, counts)
        names = {event["fields"]["name"] for event in events if event["event"] == "thread_name"}
        names |= {event["fields"]["name"] for event in events if event["event"] == "thread_start"}
        self.assertLessEqual({"source", "filter-0", "filter-1", "spectrum", "detector"}, names)
        self.check_who_is_slow(events)

    def check_who_is_slow(self, events):
        """The typical execution counts: a single one may be held up by whatever else the machine does."""
        durations = collections.defaultdict(list)
        for event in events:
            if event["event"] == "node_interval":
                durations[event["fields"]["node"]].append(event["fields"]["duration_ticks"])
        typical = {node: statistics.median(ticks) for node, ticks in durations.items()}
        texts = {event["fields"]["id"]: event["fields"]["value"] for event in events
                 if event["event"] == "def_string"}
        nodes = {event["fields"]["id"]: texts[event["fields"]["name"]] for event in events
                 if event["event"] == "def_node"}
        self.assertEqual(nodes[max(typical, key=typical.get)], "low_pass")


@unittest.skipIf(os.environ.get("SANITIZED"), "a sanitized library cannot be preloaded")
class Devices(LiveTest):
    STEPS = 30

    def setUp(self):
        super().setUp()
        result = self.record(program("causes"), "sleep", options=["--quiet", "--levels", "runtime,dataflow"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.trace = result.trace
        self.events = dump(result.trace)

    def fields(self, name):
        return [event["fields"] for event in self.events if event["event"] == name]

    def test_launches_and_operations(self):
        launches, operations = self.fields("runtime_launch"), self.fields("device_operation")
        correlations = [launch["correlation"] for launch in launches]
        self.assertEqual(len(set(correlations)), self.STEPS)
        self.assertEqual([operation["correlation"] for operation in operations], correlations)
        self.assertEqual({launch["kind"] for launch in launches}, {"kernel"})
        self.assertEqual({launch["queue"] for launch in launches}, {self.fields("def_queue")[0]["id"]})

    def test_waits(self):
        """By turns for the queue and for the operation."""
        launches = [launch["correlation"] for launch in self.fields("runtime_launch")]
        awaited = {wait["correlation"]: wait["awaited"] for wait in self.fields("runtime_wait")}
        calls = [call["correlation"] for call in self.fields("runtime_call_on")]
        self.assertEqual([awaited[call] for call in calls],
                         [launch if step % 2 else 0 for step, launch in enumerate(launches)])

    def test_joined(self):
        """Every operation comes from its launch, and every wait was for its operation."""
        query = ("select launch.function, wait.function, operation.name, count(*) from device_operations operation "
                 "join calls launch on launch.rowid = operation.call join calls wait on wait.awaited = operation.rowid "
                 "group by 1, 2, 3")
        result = run(MILLRACE, "query", "--format", "csv", self.trace, query)
        self.assertEqual(result.stdout.splitlines()[1:], [f"submit,finish,grind,{self.STEPS}"], result.stderr)


if __name__ == "__main__":
    if not os.path.exists(PIPELINE):
        harness.skip("the examples are not built")
    harness.main()
