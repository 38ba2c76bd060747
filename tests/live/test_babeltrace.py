#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""babeltrace2 reads every kind of trace that millrace writes, and sees exactly what millrace sees."""

import os
import shutil
import subprocess
import sys
import time
import unittest

from support import (BUILD, MILLRACE, SKIPPED, LiveTest, count, dump, info, manifest, program, run,
                     wait_until)


class Babeltrace(LiveTest):
    def test_example(self):
        result = self.record(os.path.join(BUILD, "examples/pipeline"), "--frames", "200")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreater(self.check_against_babeltrace(result.trace), 1000)

    def stream_files(self, trace):
        return len([name for name in os.listdir(os.path.join(trace, "ctf"))
                    if name.startswith("stream-")])

    def test_2000_threads(self):
        result = self.record(program("many"), "threads", "2000", "10")
        self.assertEqual(result.returncode, 0, result.stderr)
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
            record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, *options, "--",
                                       program("load"), "2", "40000", "10000"],
                                      stdout=subprocess.DEVNULL)
            self.assertTrue(wait_until(lambda: os.path.exists(trace + "/manifest.json")))
            time.sleep(0.2)
            snapshot = run(MILLRACE, "snapshot", trace)
            self.assertEqual(snapshot.returncode, 0, snapshot.stderr)
            self.assertEqual(record.wait(timeout=60), 0)
            self.assertGreater(self.check_against_babeltrace(snapshot.stdout.strip()), 1000)
            self.assertEqual(manifest(snapshot.stdout.strip())["state"], "snapshot")

    def test_recovered(self):
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--",
                                   program("load"), "2", "10000", "10000", self.path("counters")],
                                  stdout=subprocess.PIPE)
        self.assertTrue(wait_until(lambda: os.path.exists(self.path("counters"))))
        time.sleep(0.03)
        record.kill()
        record.communicate(timeout=30)
        self.assertEqual(info(trace)["exit"], None)
        self.assertGreater(self.check_against_babeltrace(trace), 1000)

    def test_killed_program(self):
        """Unfinished intervals were added by the recorder."""
        command = f"{program('load')} 2 0 10000 & sleep 0.1; kill -9 $!"
        result = self.record("sh", "-c", command)
        events = dump(result.trace)
        self.assertGreater(count(events, "node_instant"), 1000)
        self.assertEqual(self.check_against_babeltrace(result.trace), len(events))


if __name__ == "__main__":
    if not shutil.which("babeltrace2"):
        print("skipped: babeltrace2 is not installed")
        sys.exit(SKIPPED)
    unittest.main()
