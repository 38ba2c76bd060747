#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The kernel level when things go wrong: buffers too small, the recorder killed."""

import os
import signal
import struct
import subprocess

import harness
from kernel import KernelTest, bpf_program_exists, bpf_programs_of, parse_truth, skip_unless_possible
from support import MILLRACE, info, manifest, program, wait_until

CALLS = 300_000


class Losses(KernelTest):
    def test_small_buffer(self):
        """What is not recorded is counted: exactly so many calls were made while there was no room."""
        result = self.record_kernel("work", "calls", str(CALLS), options=["--kernel-buffer", "64K", "--syscalls=all"])
        events, level = result.events, manifest(result.trace)["kernel_level"]
        number = next(number for number, name in events.syscalls.items() if name == "getppid")
        threads = {event.fields["tid"] for event in events.of("kernel_fork")
                   if event.fields["tid"] != event.fields["pid"]}
        self.assertEqual(len(threads), 2)
        recorded = sum(event.fields["tid"] in threads
                       for event in events.of("kernel_syscall_argument", number=number))
        lost = sum(event.fields["count"] for event in events.of("loss", reason="kernel_buffer_full"))
        self.assertGreater(lost, 0, "the buffer was large enough")
        self.assertEqual(recorded + level["lost_syscalls"], 2 * CALLS)
        self.assertEqual(lost, manifest(result.trace)["losses"]["events"])
        self.assertEqual(lost, sum(level["lost_by_cpu"]))
        self.assertGreaterEqual(lost, level["lost_syscalls"], "interrupts and switches are lost, too")
        self.assertGreater(events.discarded, lost // 2, "as babeltrace2 counts it")
        self.assertLessEqual(events.discarded, lost)

    def test_recorder_killed(self):
        """The program runs to its end, and nothing of ours stays in the kernel."""
        trace, counter = self.path("trace.mill"), self.path("counter")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--", program("kernel_work"),
                                   "count", counter, "3"], stdout=subprocess.PIPE, text=True)

        def number():
            if not os.path.exists(counter) or os.path.getsize(counter) < 8:
                return 0
            with open(counter, "rb") as file:
                return struct.unpack("Q", file.read(8))[0]

        self.assertTrue(wait_until(lambda: number() > 20), "the program does not start")
        programs = bpf_programs_of(record.pid)
        self.assertGreater(len(programs), 3)
        self.assertTrue(all(map(bpf_program_exists, programs)))
        record.send_signal(signal.SIGKILL)
        before = number()
        said, _ = record.communicate(timeout=60)  # until the program has ended too
        (counted,) = parse_truth(said, "counted")
        self.assertGreater(counted["number"], before)
        self.assertTrue(wait_until(lambda: not any(map(bpf_program_exists, programs))),
                        "BPF programs are left")
        info(trace)  # completes it
        self.assertEqual(manifest(trace)["state"], "recovered")


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
