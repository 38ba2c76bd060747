#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how much time is kept
"""Limits: of disk, size, time, memory. The program never notices; the trace is readable and says what
is missing."""

import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from support import MILLRACE, LiveTest, count, dump, has_made, info, manifest, program, run, wait_until

NS = 1000000000
PACKET_ROUNDS = 2300  # of `load`, in a packet
PAUSE_NS = "1000"  # without losses even if record stands still for half a second
ATTEMPTS = 5
IS_ROOT = os.geteuid() == 0


def read_steps(trace):
    """tid: [instants, first, steps, first, intervals, first]; fails if a thread's steps have a gap."""
    result = run(program("steps"), trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    lines = [[int(field) for field in line.split() if ":" not in field]
             for line in result.stdout.splitlines()]
    return {line[0]: line[1:] for line in lines}


def total(steps):
    return sum(each[0] + each[2] + each[4] for each in steps.values())


class Disk(LiveTest):
    def check_stopped(self, result, rounds, reason):
        self.assertEqual((result.returncode, result.stdout), (0, f"{2 * rounds}\n"))
        self.assertIn("recording stopped before the program ended: cannot write the trace: " + reason,
                      result.stderr)
        said = manifest(result.trace)
        self.assertEqual((said["state"], said["exit"]), ("stopped", {"code": 0}))
        self.assertIn(reason, said["stop_reason"])
        losses = said["losses"]
        self.assertGreater(losses["by_reason"]["not_written"], losses["packets"], "events, not only packets")
        self.assertGreaterEqual(losses["events"], losses["by_reason"]["not_written"])
        steps = read_steps(result.trace)
        self.assertTrue(0 < total(steps) < 6 * rounds)
        self.assertEqual([each[1] for each in steps.values()], [0, 0], "the beginning is kept")
        health = info(result.trace)["findings"][0]
        self.assertEqual(health["id"], "health")
        self.assertIn(reason, str(health["sentences"]))
        self.assertEqual(run("babeltrace2", "-o", "dummy", result.trace + "/ctf").returncode, 0)

    @unittest.skipUnless(IS_ROOT, "mounting a small file system needs root")
    def test_full(self):
        small = self.path("small")
        os.mkdir(small)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40M", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        result = self.record(program("load"), "2", "600000", PAUSE_NS, name="small/trace.mill",
                             options=["--max-size", "1G"])
        self.check_stopped(result, 600000, "No space left on device")
        self.assertIn("Times are exact within", str(info(result.trace)["findings"][0]["sentences"]),
                      "what explains the rest is kept")

    def test_file_size_limit(self):
        """Of record; the signal that comes with it is not the program's."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, 20 << 20))
        result = self.record(program("load"), "2", "450000", "4000", options=["--buffer", "16M"],
                             preexec_fn=limit)  # slowly: the buffer is small
        self.check_stopped(result, 450000, "File too large")

    def test_file_size_limit_too_small(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        result = self.record("echo", "ran", preexec_fn=limit)
        self.assertEqual((result.returncode, result.stdout), (125, ""))
        self.assertRegex(result.stderr, "^millrace: cannot .* File too large\n$")
        self.assertEqual(os.listdir(self.folder), [])

    def test_descriptor_limit_too_small(self):
        """It is called what it is."""
        for most in range(5, 9):
            with self.subTest(most):
                def limit(most=most):
                    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
                result = self.record("echo", "ran", options=["--levels=dataflow"], preexec_fn=limit)
                shutil.rmtree(result.trace, ignore_errors=True)
                if result.returncode != 0:
                    self.assertIn("Too many open files", result.stderr)
                self.assertNotIn("space", result.stderr)


class Newest(LiveTest):
    """What is kept is the newest, without holes, and as much as is said."""

    def check_newest(self, result, rounds):
        returned = time.time_ns()
        self.assertEqual((result.returncode, result.stdout), (0, f"{2 * rounds}\n"))
        said = re.search(r"only the newest events were kept: the last ([\d.]+) s", result.stderr)
        self.assertTrue(said, result.stderr)
        steps = read_steps(result.trace)
        for instants, first, *_ in steps.values():
            self.assertGreater(first, 0)
            self.assertEqual(first + instants, rounds)
        events = dump(result.trace)
        self.assertEqual(count(events, "def_node"), 1, "definitions are always kept")
        self.assertEqual({event["names"]["node"] for event in events
                          if event["event"] == "node_interval"}, {"work"})
        end = max(event["realtime_ns"] for event in events)
        firsts = []
        for tid in steps:
            times = [event["realtime_ns"] for event in events
                     if event["tid"] == tid and event["event"] == "node_instant"]
            firsts.append(times[0])
            # Each thread's first is at most a packet later than what is said, at the rate that the machine permits. It
            # is said when all has been written, some time after the last event.
            packet_ns = PACKET_ROUNDS * (times[-1] - times[0]) / len(times)
            self.assertLess(times[0], returned - float(said[1]) * NS + packet_ns + 0.1 * NS)
        self.check_window(result.trace, float(said[1]))
        return float(said[1]), firsts, end

    def check_window(self, trace, kept_s):
        """The report is of what was kept: what was overwritten is not called anything."""
        window = json.loads(run(MILLRACE, "report", "--whole", "--json", trace).stdout)["window"]
        first = info(trace)["first_ns"]
        self.assertGreater(window["first_ns"], first)
        self.assertLess(window["last_ns"] - window["first_ns"], (kept_s + 0.06) * NS)  # it is said in tenths

    def test_max_size(self):
        result = self.record(program("load"), "2", "12000", "50000", options=["--max-size", "512K"])
        self.check_newest(result, 12000)
        self.assertLess(manifest(result.trace)["kept"]["bytes"], 700000)
        size = sum(entry.stat().st_size for entry in os.scandir(result.trace + "/ctf"))
        self.assertLess(size, 700000)
        self.check_against_babeltrace(result.trace)

    def test_last_bytes(self):
        result = self.record(program("load"), "2", "12000", "50000", options=["--last", "512K"])
        self.check_newest(result, 12000)
        self.assertLess(manifest(result.trace)["kept"]["bytes"], 700000)

    def test_last_time(self):
        for _ in harness.attempts(ATTEMPTS):
            result = self.record(program("load"), "2", "20000", "120000", options=["--last", "500ms"])
            said, firsts, end = self.check_newest(result, 20000)
            self.assertGreaterEqual(said, 0.5)
            if said < 2 and max(firsts) < end - 0.4 * NS:
                return
            shutil.rmtree(result.trace)  # record or a thread was kept from running
        self.fail(f"{said} s were kept, from {[end - first for first in firsts]} ns before the end")

    def test_snapshots_have_no_holes(self):
        """Taken under full load, one after another."""
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--last", "2M", "--", program("load"),
                                   "2", "0", PAUSE_NS, self.path("counters")], stdout=subprocess.DEVNULL)
        self.addCleanup(record.kill)
        self.assertTrue(wait_until(lambda: has_made(self.path("counters"), 2, 10000)))
        for _ in range(8):
            snapshot = run(MILLRACE, "snapshot", trace)
            self.assertEqual(snapshot.returncode, 0, snapshot.stderr)
            self.assertGreater(total(read_steps(snapshot.stdout.strip())), 1000)
        self.assertIsNone(record.poll(), "all of them while it ran")
        record.terminate()
        record.wait(timeout=60)

    def test_snapshot_shares_finished_pieces(self):
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--max-size", "64M", "--",
                                   program("load"), "1", "0", PAUSE_NS], stdout=subprocess.DEVNULL)
        self.addCleanup(record.kill)
        self.assertTrue(wait_until(lambda: glob.glob(trace + "/ctf/stream-*.000003")))
        snapshot = run(MILLRACE, "snapshot", trace).stdout.strip()
        names = [os.stat(entry).st_nlink for entry in os.scandir(snapshot + "/ctf")]
        record.terminate()
        record.wait(timeout=60)
        self.assertIn(2, names)
        self.assertIn(1, names)
        self.assertGreater(total(read_steps(snapshot)), 1000)

    def test_snapshot_in_the_last_moment(self):
        """Whoever asks in time is answered; no request stays behind."""
        trace = self.path("trace.mill")
        self.record("touch", trace + "/snapshot.request")
        self.assertEqual(sorted(os.listdir(trace)), ["ctf", "manifest.json", "snapshot-1.mill"])
        self.assertEqual(manifest(trace + "/snapshot-1.mill")["state"], "snapshot")

    def test_snapshot_of_a_killed_recorder(self):
        """The asker does not wait for an answer that will never come."""
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--", "sleep", "5"])
        self.addCleanup(record.kill)
        self.assertTrue(wait_until(lambda: os.path.exists(trace + "/manifest.json")))
        record.send_signal(signal.SIGSTOP)
        asker = subprocess.Popen([MILLRACE, "snapshot", trace], stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_until(lambda: os.path.exists(trace + "/snapshot.request")))
        record.kill()
        self.assertIn("has just ended", asker.communicate(timeout=60)[1])
        self.assertEqual(asker.returncode, 1)
        record.wait()
        info(trace)

    def test_snapshot_of_nothing(self):
        result = self.record("true")
        snapshot = run(MILLRACE, "snapshot", result.trace)
        self.assertEqual((snapshot.returncode, snapshot.stdout), (1, ""))
        self.assertIn("is not being recorded", snapshot.stderr)
        self.assertFalse(os.path.exists(result.trace + "/snapshot.request"))


class Memory(LiveTest):
    def test_small_buffer(self):
        """What does not fit is lost, and counted to the last event."""
        result = self.record(program("load"), "4", "200000", options=["--buffer", "1M"])
        self.assertEqual((result.returncode, result.stdout), (0, "800000\n"))
        arrived = run(MILLRACE, "info", "--json", result.trace).stdout
        recorded = sum(int(number) for number in re.findall(
            r'"event": "(?:node_instant|node_interval|step_interval|thread_end|process_end)",\s*'
            r'"level": "\w+",\s*"count": (\d+)', arrived))
        ends = 4 + 1  # of the threads and of the process: recorded by the library itself
        self.assertEqual(recorded + manifest(result.trace)["losses"]["events"], 3 * 800000 + ends)

    def test_many_threads_at_once(self):
        """There is room for their first events when the program starts, whatever record does then."""
        result = self.record(program("many"), "crowd", "400", "1", options=["--levels", "runtime,dataflow"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(manifest(result.trace)["losses"]["events"], 0)
        self.assertEqual(count(dump(result.trace), "node_instant"), 400)

    def test_address_space(self):
        """The arena is mapped into the program, but must not fill it."""
        limit = 600 << 20
        result = self.record(sys.executable, "-c", "print(len(bytearray(400 << 20)))", preexec_fn=lambda:
                             resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        self.assertEqual((result.returncode, result.stdout), (0, f"{400 << 20}\n"), result.stderr)
        self.assertLess(manifest(result.trace)["arena"]["bytes"], limit // 16 + (2 << 20))

    @unittest.skipUnless(IS_ROOT, "another /dev/shm needs root")
    def test_no_shared_memory(self):
        """The arena goes into the trace directory, where also programs that have changed to another
        folder find it."""
        for options in ("size=1M", "ro,size=1G"):
            script = (f"mount -t tmpfs -o {options} tmpfs /dev/shm && cd {self.folder} && "
                      f"exec {MILLRACE} record -o trace.mill -- sh -c 'cd /; {program('load')} 2 1000'")
            result = run("unshare", "-m", "sh", "-c", script)
            self.assertEqual((result.returncode, result.stdout), (0, "2000\n"), result.stderr)
            self.assertIn("nothing lost", result.stderr)
            self.assertEqual(sorted(os.listdir(self.path("trace.mill"))), ["ctf", "manifest.json"])
            self.assertEqual(total(read_steps(self.path("trace.mill"))), 6000)
            shutil.rmtree(self.path("trace.mill"))

    @unittest.skipUnless(IS_ROOT, "another /dev/shm needs root")
    def test_failure_without_shared_memory(self):
        """The arena in the trace directory goes when the program cannot be run."""
        with open(self.path("script"), "w") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(self.path("script"), 0o755)
        script = (f"mount -t tmpfs -o size=1M tmpfs /dev/shm && cd {self.folder} && "
                  f"exec {MILLRACE} record -o trace.mill -- ./script")
        self.assertEqual(run("unshare", "-m", "sh", "-c", script).returncode, 127)
        self.assertEqual(os.listdir(self.folder), ["script"])


if __name__ == "__main__":
    harness.main()
