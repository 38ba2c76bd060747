#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""babeltrace2 reads every kind of trace that millrace writes, and sees exactly what millrace sees."""

import os
import shutil
import signal
import subprocess

import harness
from support import (BUILD, MILLRACE, LiveTest, count, dump, has_made, info, manifest, program, read_counters,
                     run, wait_until)

ROUNDS = 1000  # of each thread, until there is enough to look at
ATTEMPTS = 8


class Babeltrace(LiveTest):
    def test_example(self):
        result = self.record(os.path.join(BUILD, "examples/pipeline"), "--frames", "200")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.check_against_babeltrace(result.trace), 1000)

    def stream_files(self, trace):
        return len([name for name in os.listdir(os.path.join(trace, "ctf"))
                    if name.startswith("stream-")])

    def test_2000_threads(self):
        for _ in harness.attempts(ATTEMPTS):  # on a busy machine record may not keep up, and says so
            result = self.record(program("many"), "threads", "2000", "10")
            self.assertEqual(result.returncode, 0, result.stderr)
            lost = manifest(result.trace)["losses"]["events"]
            if lost == 0:
                break
            self.assertGreaterEqual(count(dump(result.trace), "node_instant") + lost, 20000)
            shutil.rmtree(result.trace)
        self.assertEqual(lost, 0)
        events = dump(result.trace)
        self.assertEqual(count(events, "node_instant"), 20000)
        self.assertEqual(count(events, "thread_end"), 2000)
        threads = {event["tid"] for event in events if event["process"] != 1}  # not the recorder's
        self.assertEqual(len(threads), 2001)
        self.assertLess(self.stream_files(result.trace), 100, "streams are continued")
        self.assertEqual(self.check_against_babeltrace(result.trace), len(events))

    def test_2000_processes(self):
        result = self.record(program("many"), "processes", "2000", "10")
        self.assertEqual(result.returncode, 0, result.stderr)
        events = dump(result.trace)
        said = manifest(result.trace)
        # On a busy machine record may not keep up with processes that live for microseconds.
        self.assertEqual(count(events, "node_instant") + said["losses"]["events"], 20000)
        self.assertEqual(len(said["processes"]), 2001)
        self.assertLess(self.stream_files(result.trace), 200, "streams are continued")
        self.assertEqual(self.check_against_babeltrace(result.trace), len(events))

    def test_pieces(self):
        """The flight recorder cuts streams into files; some of them are gone at the end."""
        result = self.record(program("load"), "2", "30000", options=["--last", "1M"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(manifest(result.trace)["kept"]["overwritten_packets"], 0)
        self.assertGreater(self.check_against_babeltrace(result.trace), 1000)

    def test_snapshots(self):
        """Taken while packets are being filled, with and without pieces."""
        for name, options in (("plain", []), ("pieces", ["--last", "2M"])):
            trace = self.path(name)
            counters = self.path(name + "-counters")
            record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, *options, "--",
                                       program("load"), "2", "0", "50000", counters],
                                      stdout=subprocess.DEVNULL)
            self.assertTrue(wait_until(lambda: has_made(counters, 2, ROUNDS)))
            snapshot = run(MILLRACE, "snapshot", trace)
            os.kill(min(read_counters(counters)), signal.SIGKILL)
            self.assertEqual(record.wait(timeout=60), -signal.SIGKILL)
            self.assertEqual(snapshot.returncode, 0, snapshot.stderr)
            self.assertGreater(self.check_against_babeltrace(snapshot.stdout.strip()), 1000)
            self.assertEqual(manifest(snapshot.stdout.strip())["state"], "snapshot")

    def test_recovered(self):
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--",
                                   program("load"), "2", "0", "20000", self.path("counters")],
                                  stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: has_made(self.path("counters"), 2, ROUNDS)))
        record.kill()
        os.kill(min(read_counters(self.path("counters"))), signal.SIGKILL)
        record.communicate(timeout=60)
        self.assertEqual(info(trace)["exit"], None)
        self.assertGreater(self.check_against_babeltrace(trace), 1000)

    def test_killed_program(self):
        """Unfinished intervals were added by the recorder."""
        counters = self.path("counters")
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--", "sh", "-c",
                                   f"{program('load')} 2 0 50000 {counters}; true"], stderr=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: has_made(counters, 2, ROUNDS)))
        os.kill(min(read_counters(counters)), signal.SIGKILL)
        record.wait(timeout=60)
        events = dump(trace)
        self.assertGreater(count(events, "node_instant"), 1000)
        self.assertEqual(self.check_against_babeltrace(trace), len(events))


if __name__ == "__main__":
    if not shutil.which("babeltrace2"):
        harness.skip("babeltrace2 is not installed")
    harness.main()
