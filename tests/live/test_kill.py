#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGKILL at random moments, of the program and of `record`.

`load` raises counters in a shared file after each event; whatever they say was committed must be read
back, and what was open must be marked as unfinished. KILLS=1000 tries harder.
"""

import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import time

import harness
from support import MILLRACE, LiveTest, info, manifest, program, read_counters, run, wait_until

KILLS = int(os.environ.get("KILLS", "200"))
RECORD_KILLS = max(KILLS // 4, 1)
THREADS = 2
NODE_INTERVAL, STEP_INTERVAL = 48, 51


def read_steps(trace):
    """tid: (instants, steps, intervals, unfinished), and whether each kind begins with step 0."""
    result = run(program("steps"), trace)
    if result.returncode != 0:
        raise AssertionError(f"{trace}: {result.stderr}")
    found = {}
    for line in result.stdout.splitlines():
        fields = line.split()
        numbers = [int(field) for field in fields[:7]]
        if numbers[2] or numbers[4] or numbers[6]:
            raise AssertionError(f"{trace}: the first events are missing: {line}")
        unfinished = [tuple(int(part) for part in field.split(":")) for field in fields[7:]]
        found[numbers[0]] = (numbers[1], numbers[3], numbers[5], unfinished)
    return found


def levels_of(number):
    """Loading the kernel level takes time: now and then will do."""
    return [] if number % 8 == 0 else ["--levels", "runtime,dataflow"]


class Kill(LiveTest):
    def start(self, name, rounds="0", pause_ns="0", options=()):
        folder = self.path(name)
        os.mkdir(folder)
        counters = os.path.join(folder, "counters")
        record = subprocess.Popen(
            [MILLRACE, "record", "-q", "-o", os.path.join(folder, "trace.mill"), *options, "--",
             program("load"), str(THREADS), rounds, pause_ns, counters],
            stdout=subprocess.PIPE, text=True)
        self.assertTrue(wait_until(lambda: len(read_counters(counters)) == THREADS), "the program does not start")
        return folder, record, counters

    def check_killed(self, counted, trace):
        """One thread's worth of evidence. Each call commits before its counter rises, so the trace may
        be ahead of the counters by the one call that was interrupted."""
        arrived = read_steps(trace)
        for tid, (begun, instants, steps, ended) in counted.items():
            got = arrived.get(tid, (0, 0, 0, []))  # it may not have come to its first event
            got_instants, got_steps, got_intervals, unfinished = got
            self.assertIn(got_instants - instants, (0, 1))
            self.assertIn(got_steps - steps, (0, 1))
            self.assertIn(got_intervals - ended, (0, 1))
            open_nodes = [step for event, step in unfinished if event == NODE_INTERVAL]
            # What was begun has either ended or is marked; so is what had begun just before.
            begun_in_trace = got_intervals + len(open_nodes)
            self.assertIn(begun_in_trace - begun, (0, 1), (begun, got))
            self.assertEqual(open_nodes, list(range(got_intervals, begun_in_trace)))
            open_steps = [step for event, step in unfinished if event == STEP_INTERVAL]
            self.assertIn(open_steps, ([], [got_steps]))

    def kill_program(self, number):
        folder, record, counters = self.start(f"program-{number}", options=levels_of(number))
        time.sleep(random.uniform(0, 0.03))
        os.kill(next(iter(read_counters(counters))), signal.SIGKILL)  # any thread's id will do
        record.communicate(timeout=60)
        self.assertEqual(record.returncode, -signal.SIGKILL, "record ends as the program did")
        trace = os.path.join(folder, "trace.mill")
        said = manifest(trace)
        self.assertEqual(said["exit"], {"signal": signal.SIGKILL})
        self.assertFalse(said["processes"][0]["orderly"])
        if said["losses"]["events"] == 0:
            self.check_killed(read_counters(counters), trace)
        shutil.rmtree(folder)
        return said["losses"]["events"] == 0

    def test_program_killed(self):
        """Until enough traces were checked: on a busy machine the program may get so far before it is killed that
        record has no room for all."""
        killed = checked = 0
        while checked < KILLS and killed < 3 * KILLS:
            rounds = range(killed, killed + KILLS - checked)
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                checked += sum(pool.map(self.kill_program, rounds))
            killed = rounds.stop
        print(f"program killed {killed} times; {checked} traces without loss were checked")
        self.assertEqual(checked, KILLS)

    def kill_record(self, number):
        """The program goes on and ends by itself; `info` then completes the trace."""
        rounds = 20000
        is_small = number % 2
        folder, record, counters = self.start(f"record-{number}", str(rounds), "2000",
                                              ["--buffer", "4M" if is_small else "64M",
                                               *levels_of(number // 2)])
        time.sleep(random.uniform(0, 0.05))
        before = read_counters(counters)
        record.kill()
        said, _ = record.communicate(timeout=60)  # until the program, too, has closed its output
        self.assertEqual(int(said), THREADS * rounds, "the program was harmed")
        trace = os.path.join(folder, "trace.mill")
        info(trace)
        self.assertEqual(os.path.lexists(os.path.join(trace, "arena")), False)
        arrived = read_steps(trace)
        lost = manifest(trace)["losses"]["events"]
        for tid, (_, instants, steps, ended) in before.items():
            for got, least in zip(arrived.get(tid, (0, 0, 0)), (instants, steps, ended)):
                self.assertGreaterEqual(got, least)
                self.assertLessEqual(got, rounds)
        self.assertEqual(sum(sum(each[:3]) for each in arrived.values()) + lost, 3 * THREADS * rounds)
        if not is_small:
            self.assertEqual(lost, 0)
        # Complete, if record had already finished when it was killed.
        self.assertIn(manifest(trace)["state"], ("recovered", "complete"))
        shutil.rmtree(folder)

    def test_record_killed(self):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(self.kill_record, range(RECORD_KILLS)))


if __name__ == "__main__":
    harness.main()
