#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where it came too late
"""Traces whose recorder was killed: any command that reads one completes it first."""

import glob
import os
import shutil
import signal
import subprocess
import time
import unittest

import harness
from support import (MILLRACE, LiveTest, count, dump, has_made, info, manifest, program, read_counters, run,
                     wait_until)

ATTEMPTS = 5
THREADS = 2


class Recover(LiveTest):
    def start_load(self, rounds="4000", pause_ns="200000", shell=None):
        """A recording of `load`, which has begun; the pauses give us time until it ends."""
        self.trace = self.path("trace.mill")
        counters = self.path("counters")
        command = [MILLRACE, "record", "-q", "-o", self.trace, "--", program("load"), str(THREADS), rounds, pause_ns,
                   counters]
        record = subprocess.Popen(shell(command) if shell else command, stdout=subprocess.PIPE, text=True)
        self.assertTrue(wait_until(lambda: has_made(counters, THREADS, 100)))
        return record

    def leave_half_a_trace(self):
        """A trace whose recorder is dead, and whose program has ended by itself. Again, if the machine kept us from
        killing the recorder before it had ended."""
        for _ in harness.attempts(ATTEMPTS):
            record = self.start_load()
            record.kill()
            self.assertEqual(record.communicate(timeout=60)[0], "8000\n")
            if manifest(self.trace)["state"] == "recording":
                return self.trace
            self.remove()
        return self.fail("the recorder had always ended before it was killed")

    def remove(self):
        shutil.rmtree(self.trace)
        os.unlink(self.path("counters"))

    def instants(self):
        return count(dump(self.trace), "node_instant")

    def test_while_recording(self):
        """What is in the files can be read, and the recording is not disturbed."""
        record = self.start_load("5000", "300000")
        for command in ("info", "dump", "report"):
            self.assertEqual(run(MILLRACE, command, self.trace).returncode, 0)
        self.assertEqual(record.communicate(timeout=60)[0], "10000\n")
        self.assertEqual((record.returncode, manifest(self.trace)["state"]), (0, "complete"))
        self.assertEqual(self.instants(), 10000)

    def test_by_every_command(self):
        for command in (["info"], ["dump"], ["report"]):
            trace = self.leave_half_a_trace()
            result = run(MILLRACE, *command, trace)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(manifest(trace)["state"], "recovered")
            self.assertEqual(sorted(os.listdir(trace)), ["ctf", "manifest.json"])
            self.assertEqual(self.instants(), 8000)
            self.remove()

    def test_while_the_program_runs(self):
        """It is switched off, and does not notice."""
        record = self.start_load("8000", "600000")
        record.kill()
        record.wait()
        found = info(self.trace)
        self.assertIsNone(found["exit"])
        process, = manifest(self.trace)["processes"]
        self.assertFalse(process["ended"])
        arrived = self.instants()
        self.assertTrue(0 < arrived < 16000, arrived)
        self.assertEqual(record.stdout.read(), "16000\n")
        record.stdout.close()
        self.assertEqual(self.instants(), arrived)
        self.check_against_babeltrace(self.trace)

    def test_by_two_at_once(self):
        trace = self.leave_half_a_trace()
        readers = [subprocess.Popen([MILLRACE, "info", trace], stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True) for _ in range(4)]
        for reader in readers:
            self.assertEqual(reader.communicate(timeout=60)[1], "")
            self.assertEqual(reader.returncode, 0)
        self.assertEqual(self.instants(), 8000)

    def test_torn_packet(self):
        """The recorder was killed in the middle of a write."""
        trace = self.leave_half_a_trace()
        largest = max(glob.glob(trace + "/ctf/stream-*"), key=os.path.getsize, default=None)
        with open(largest or trace + "/ctf/stream-000000", "ab") as file:
            file.write(bytes.fromhex("c11ffcc1") + b"half a packet")
        info(trace)
        self.assertEqual(self.instants(), 8000)
        self.check_against_babeltrace(trace)

    def test_arena_is_gone(self):
        """The machine was started anew: what is in the files is there."""
        record = self.start_load("0", "30000")
        is_written = wait_until(lambda: self.instants() > 1000)
        record.kill()
        os.kill(min(read_counters(self.path("counters"))), signal.SIGKILL)
        record.communicate(timeout=60)
        self.assertTrue(is_written, "nothing is written")
        os.unlink(os.readlink(self.trace + "/arena"))
        info(self.trace)
        self.assertGreater(self.instants(), 1000)
        self.assertFalse(os.path.lexists(self.trace + "/arena"))
        said = manifest(self.trace)
        self.assertEqual((said["state"], said["stop_reason"]),
                         ("lost", "the recorder was killed and its buffer is gone"))

    def test_copy_of_a_recording(self):
        """It names the arena of the recording, which is not to be touched."""
        record = self.start_load("8000", "600000")
        copy = self.path("copy.mill")
        subprocess.run(["cp", "-a", self.trace, copy], check=True)
        self.assertEqual(run(MILLRACE, "info", copy).returncode, 0)
        self.assertEqual(manifest(copy)["state"], "recording")
        self.assertEqual(record.communicate(timeout=60)[0], "16000\n")
        self.assertEqual(manifest(self.trace)["state"], "complete")
        self.assertEqual(self.instants(), 16000)
        info(copy)
        self.assertEqual(manifest(copy)["state"], "lost")

    def test_link_to_something_else(self):
        """A trace directory from elsewhere may hold any link; what it names is left alone."""
        trace = self.leave_half_a_trace()
        os.unlink(os.readlink(trace + "/arena"))
        victim = self.path("victim")
        for content in (b"", b"precious", b"\0" * 100000):
            with open(victim, "wb") as file:
                file.write(content)
            os.unlink(trace + "/arena")
            os.symlink(victim, trace + "/arena")
            result = run(MILLRACE, "info", trace)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, "^millrace: cannot recover .* is not an arena")
            with open(victim, "rb") as file:
                self.assertEqual(file.read(), content)
        os.unlink(victim)
        os.mkfifo(victim)
        result = run(MILLRACE, "info", trace)
        self.assertRegex(result.stderr, "^millrace: cannot recover .* is not an arena")
        os.unlink(trace + "/arena")

    @unittest.skipUnless(os.geteuid() == 0, "giving files away needs root")
    def test_arena_of_another_user(self):
        """He may have made it to harm us."""
        trace = self.leave_half_a_trace()
        arena = os.readlink(trace + "/arena")
        os.chown(arena, 65534, 65534)
        run(MILLRACE, "info", trace)
        self.assertEqual((os.path.exists(arena), manifest(trace)["state"]), (True, "recording"))
        os.chown(arena, 0, 0)
        info(trace)
        self.assertEqual((os.path.exists(arena), manifest(trace)["state"]), (False, "recovered"))

    @unittest.skipUnless(os.geteuid() == 0, "another /dev/shm needs root")
    def test_arena_in_trace_directory(self):
        def shell(command):
            small = "mount -t tmpfs -o size=1M tmpfs /dev/shm"
            return ["unshare", "-m", "sh", "-c", f'{small} && cd {self.folder} && exec "$@"', "sh",
                    *[part.replace(self.trace, "trace.mill") for part in command]]
        record = self.start_load(shell=shell)
        record.kill()
        record.communicate(timeout=60)
        info(self.trace)
        self.assertEqual(sorted(os.listdir(self.trace)), ["ctf", "manifest.json"])
        self.assertEqual(self.instants(), 8000)

    def test_killed_while_starting(self):
        """The program runs whole or not at all, and the trace can be read or is said to be none."""
        for delay in range(20):
            trace = self.path(f"{delay}.mill")
            record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--", "sh", "-c",
                                       "echo begin; echo end"], stdout=subprocess.PIPE, text=True)
            time.sleep(delay / 2000)
            record.kill()
            self.assertIn(record.communicate(timeout=60)[0], ("", "begin\nend\n"))
            if os.path.exists(trace):
                result = run(MILLRACE, "info", trace)
                self.assertTrue(result.returncode == 0 or result.stderr.startswith("millrace: "))
                self.assertNotIn("Segmentation", result.stderr)


if __name__ == "__main__":
    harness.main()
