#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The life of a recording with the kernel level: ended, killed, delayed, cut short, looked at while it goes on. The
program keeps what is its own, and nothing stays in the kernel."""

import os
import signal
import subprocess
import unittest

import harness
from kernel import bpf_program_exists, bpf_programs_of, why_not
from privilege import PrivilegeTest
from support import count, dump, info, manifest, program, run, wait_until


@unittest.skipIf(why_not(), why_not())
class Session(PrivilegeTest):
    def test_recorder_killed(self):
        """The program runs to its end, nothing stays in the kernel, and what was written is kept."""
        record = subprocess.Popen([self.millrace, "record", "-q", "-o", self.trace, "--", "sh", "-c",
                                   f"echo started; until [ -e {self.path('go')} ]; do sleep 0.1; done; echo done"],
                                  stdout=subprocess.PIPE, text=True)
        self.assertEqual(record.stdout.readline(), "started\n")
        # Packets are written when they are a second old.
        self.assertTrue(wait_until(lambda: count(dump(self.trace), "kernel_switch") > 3), "nothing is written")
        programs = bpf_programs_of(record.pid)
        self.assertGreater(len(programs), 5)
        self.assertTrue(all(map(bpf_program_exists, programs)))
        record.send_signal(signal.SIGKILL)
        with open(self.path("go"), "w"):
            pass
        self.assertEqual(record.communicate(timeout=60)[0], "done\n")
        self.assertTrue(wait_until(lambda: not any(map(bpf_program_exists, programs))), "programs are left")
        health = str(info(self.trace)["findings"][0]["sentences"])
        self.assertIn("its trace was recovered", health)
        self.assertIn("kernel", health)
        self.assertGreater(count(dump(self.trace), "kernel_switch"), 3)
        self.assertEqual(manifest(self.trace)["state"], "recovered")
        self.check_against_babeltrace(self.trace)

    def test_ended(self):
        record = subprocess.Popen([self.millrace, "record", "-q", "-o", self.trace, "--", "sh", "-c",
                                   "echo started; read line"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(record.stdout.readline(), "started\n")
        programs = bpf_programs_of(record.pid)
        self.assertGreater(len(programs), 5)
        record.communicate("\n", timeout=60)
        self.assertEqual(record.returncode, 0)
        self.assertTrue(wait_until(lambda: not any(map(bpf_program_exists, programs))), "programs are left")

    def times(self, name):
        return [event["ns"] for event in dump(self.trace) if event["event"] == name]

    def test_delay_and_duration(self):
        """Nothing comes too early; how late it is switched off depends on how busy the machine is."""
        result = run(self.millrace, "record", "-o", self.trace, "--delay", "300ms", "--duration", "800ms",
                     "--", "sh", "-c", "i=0; while [ $i -lt 25 ]; do sleep 0.1; i=$((i + 1)); done")
        self.assertEqual(result.returncode, 0)
        births, switches = self.times("kernel_fork"), self.times("kernel_switch")
        begin, on, off = self.times("recording_switched")
        self.assertEqual(len(births), 26)  # tasks are followed all the time
        self.assertGreater(len(switches), 4)
        self.assertGreater(switches[0] - begin, 290000000)
        self.assertGreater(switches[0], on - 10000000)  # it is told when all of the kernel level is on
        self.assertLess(switches[-1], off + 10000000)
        self.assertLess(off - begin, 2400000000)  # and the program goes on
        self.assertEqual(len(self.times("kernel_exit")), len(births))

    def test_snapshot(self):
        record = subprocess.Popen([self.millrace, "record", "-q", "-o", self.trace, "--", "sh", "-c",
                                   "sleep 0.1; echo started; read line"], text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(record.stdout.readline(), "started\n")
        taken = run(self.millrace, "snapshot", self.trace)
        self.assertEqual(taken.returncode, 0, taken.stderr)
        record.communicate("\n", timeout=60)
        snapshot = os.path.join(self.trace, "snapshot-1.mill")
        events = dump(snapshot)
        self.assertEqual(count(events, "kernel_fork"), 2)
        self.assertEqual(count(events, "kernel_exit"), 1)
        self.assertGreater(count(events, "kernel_switch"), 3)
        self.assertEqual(manifest(snapshot)["kernel_level"]["mode"], "bpf")
        self.check_against_babeltrace(snapshot)

    def test_flight_recorder(self):
        """Of events the newest are kept, of both clocks alike; of the life of tasks everything."""
        result = run(self.millrace, "record", "-o", self.trace, "--last", "1s", "--", "sh", "-c",
                     f"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.5; {program('load')} 1 1000; done")
        self.assertEqual(result.returncode, 0)
        births, ends = self.times("kernel_fork"), self.times("kernel_exit")
        self.assertEqual((len(births), len(ends)), (37, 37))  # each `load` has two threads
        for name in "kernel_switch", "node_instant":
            times = self.times(name)
            self.assertGreater(len(times), 5)
            self.assertGreater(times[0], ends[-1] - 4000000000, name)  # of six seconds and more
            self.assertGreater(times[-1], births[-1], f"{name}: the last `load` is missing")

    def test_level_not_wanted(self):
        result = run(self.millrace, "record", "-o", self.trace, "--levels", "dataflow", "--", "true")
        self.assertEqual(result.returncode, 0)
        self.check_mode("off")
        self.assertFalse([each for each in dump(self.trace) if each["event"].startswith("kernel_")])
        self.assertTrue(manifest(self.trace)["unseen_processes_possible"])

    def test_limits_of_the_program(self):
        """They are its own; record, which needs more descriptors, helps itself."""
        script = ["sh", "-c", "ulimit -Sl; ulimit -Hl; ulimit -Sn; ulimit -Hn"]
        limits = ["prlimit", "--memlock=65536:131072", "--nofile=40:4096"]
        plain = run(*limits, *script)
        traced = run(*limits, self.millrace, "record", "-q", "-o", self.trace, "--", *script)
        self.assertEqual(traced.stdout, plain.stdout)
        self.check_mode("bpf")

    def test_descriptors_of_the_program(self):
        traced = run(self.millrace, "record", "-q", "-o", self.trace, "--", "ls", "/proc/self/fd")
        self.assertEqual(traced.stdout.split(), ["0", "1", "2", "3"])
        self.check_mode("bpf")


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
