#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of Perfetto: files made here by a writer of its own, against what it put in: tracks that are described late, names by
number that are forgotten, clocks of a sequence, counters, scheduling in both of its forms; and files that end anywhere."""

import json
import pathlib
import random
import tempfile
import unittest

import harness
from protobuf import message, packed
from support import MILLRACE, run

PID, TID, OTHER_PID = 4242, 4243, 77
THREAD, PROCESS, CHILD, COUNTER = 11, 12, 13, 14
BEGIN, END, INSTANT, COUNT = 1, 2, 3, 4
MONOTONIC, BOOTTIME, OWN = 3, 6, 64
BOOT, EPOCH = 5_000_000_000, 1_700_000_000_000_000_000
DAMAGED = 3
CLEARED, NEEDS = 1, 2


def packet(*fields, time=None, sequence=1, flags=NEEDS, clock=None):
    head = [(8, time)] if time is not None else []
    return [*head, *([(58, clock)] if clock else []), *fields, (10, sequence), (13, flags)]


def event(kind, *more, track=THREAD):
    return 11, [(9, kind), (11, track), *more]


def names(*pairs):
    return 12, [(2, [(1, number), (2, name)]) for number, name in pairs] + [(1, [(1, 5), (2, "training")])]


def thread_track():
    return 60, [(1, THREAD), (5, PROCESS), (4, [(1, PID), (2, TID), (5, "worker")])]


def make_slices():
    """Five times a slice in a slice. The second sequence writes on a track of its own, in its own clock, and first."""
    packets = [packet((6, [(1, [(1, BOOTTIME), (2, BOOT)]), (1, [(1, MONOTONIC), (2, BOOT - 1_000)]),
                           (1, [(1, 1), (2, EPOCH + BOOT)])]), sequence=9, flags=0),
               packet((59, [(58, OWN), (11, [(11, CHILD)])]), names((1, "copy")),
                      (6, [(1, [(1, OWN), (2, 100), (3, 1), (4, 1000)]), (1, [(1, BOOTTIME), (2, BOOT)])]), sequence=2, flags=CLEARED)]
    for i in range(5):
        packets.append(packet((11, [(9, BEGIN), (10, 1)]), time=50, sequence=2))  # 50 us later, each
        packets.append(packet((11, [(9, END)]), time=25, sequence=2))
    packets.append(packet(names((1, "step"), (2, "forward")), sequence=1, flags=CLEARED))
    for i in range(5):
        at = BOOT + 100_000 * i
        packets += [packet(event(BEGIN, (10, 1), (3, 5)), time=at), packet(event(BEGIN, (10, 2), (3, packed([5, 6]))), time=at + 10_000),
                    packet(event(END), time=at + 40_000), packet(event(INSTANT, (23, "mark"), (22, "other")), time=at + 45_000 - 1_000,
                                                                 clock=MONOTONIC),
                    packet(event(COUNT, (30, 3), track=COUNTER), time=at + 50_000), packet(event(END), time=at + 90_000)]
    packets.append(packet(names((1, "something else")), flags=CLEARED))  # the old number means another thing now
    packets.append(packet(event(BEGIN, (10, 1)), time=BOOT + 600_000))
    packets.append(packet(event(END), time=BOOT + 610_000))
    packets.append(packet((11, [(11, THREAD), (23, "whole"), (6, [(2, ord("X")), (3, 7)])]), time=BOOT + 700_000))
    packets += [packet(thread_track()), packet((60, [(1, PROCESS), (3, [(1, PID), (6, "train.py")])])),
                packet((60, [(1, CHILD), (5, PROCESS), (2, "copies")])),
                packet((60, [(1, COUNTER), (5, PROCESS), (2, "bytes"), (8, [(4, 10), (5, 1)])]))]
    return packets


def make_scheduling(is_compact):
    """On CPU 2 the thread runs, is preempted, waits, is woken by another process's thread."""
    rows = [(1_000, 0, 0, TID), (3_000, TID, 0, 99), (5_000, 99, 1, TID), (9_000, TID, 1, 99), (14_000, 99, 1, TID),
            (20_000, TID, 2, 0)]
    wakings = [(12_000, TID)]
    if is_compact:
        differences = [b[0] - a[0] for a, b in zip([(-BOOT,)] + rows, rows)]
        content = [(4, [(5, "x"), (1, packed(differences)), (2, packed([row[2] for row in rows])),
                        (3, packed([row[3] for row in rows])), (7, packed([BOOT + wakings[0][0]])), (8, packed([TID]))])]
    else:
        content = [(2, [(1, BOOT + at), (2, previous),
                        (4, [(1, "worker"), (2, previous), (4, state), (5, "other"), (6, following)])])
                   for at, previous, state, following in rows]
        content += [(2, [(1, BOOT + at), (2, 99), (20, [(2, tid)])]) for at, tid in wakings]
    tree = (2, [(1, [(1, PID), (3, "train.py")]), (2, [(1, TID), (3, PID), (2, "worker")]), (2, [(1, 99), (3, OTHER_PID)])])
    return [packet(tree, sequence=3, flags=0), packet((1, [(1, 2)] + content), sequence=3, flags=0)]


def make(packets):
    return message([(1, fields) for fields in packets])


class Perfetto(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "trace.bin"

    def query(self, sql):
        result = run(MILLRACE, "query", "--format", "json", str(self.path), sql)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_slices_instants_and_counters(self):
        self.path.write_bytes(make(make_slices()))
        first, = self.query("select min(start_ns) as first from node_executions where node_name = 'step'")
        rows = self.query("select node_name as name, track_name as track, count(*) as n, sum(duration_ns) as ns, "
                          f"min(start_ns) - {first['first']} as first, sum(self_ns) as self from node_executions group by 1 order by 1")
        self.assertEqual(rows, [
            {"name": "copy", "track": "copies", "n": 5, "ns": 125_000, "first": 50_000, "self": 125_000},
            {"name": "forward", "track": "worker", "n": 5, "ns": 150_000, "first": 10_000, "self": 150_000},
            {"name": "something else", "track": "worker", "n": 1, "ns": 10_000, "first": 600_000, "self": 10_000},
            {"name": "step", "track": "worker", "n": 5, "ns": 450_000, "first": 0, "self": 300_000},
            {"name": "whole", "track": "worker", "n": 1, "ns": 7_000, "first": 700_000, "self": 7_000}])
        self.assertEqual(self.query(f"select count(*) as n, min(start_ns) - {first['first']} as first from node_instants"),
                         [{"n": 5, "first": 45_000}])
        self.assertEqual(self.query("select value from counters where name = 'bytes' order by start_ns"),
                         [{"value": 30 * (i + 1)} for i in range(5)])
        self.assertEqual(self.query("select distinct name from graphs order by 1"),
                         [{"name": name} for name in ("other", "track events", "training")])
        self.assertEqual(self.query("select pid, program from processes where pid > 0"), [{"pid": PID, "program": "train.py"}])

    def test_scheduling(self):
        for is_compact in (False, True):
            with self.subTest(is_compact=is_compact):
                self.path.write_bytes(make(make_slices() + make_scheduling(is_compact)))
                self.assertEqual(self.query("select state, sum(duration_ns) as ns from states where track in "
                                            "(select track from node_executions where node_name = 'step') group by 1 order by 1"),
                                 [{"state": "BLOCKED", "ns": 3_000}, {"state": "RUN", "ns": 2_000 + 4_000 + 6_000},
                                  {"state": "RUNNABLE", "ns": 1_000 + 2_000 + 2_000}])  # it was there before it first ran
                self.assertEqual(self.query("select count(*) as n, min(waker_tid) as waker from wakeups"), [{"n": 1, "waker": 99}])

    def test_lost_packets_are_said(self):
        packets = make_slices()
        packets[20] = packets[20] + [(42, 1)]  # from here on, numbers may mean anything
        self.path.write_bytes(make(packets))
        result = run(MILLRACE, "report", "--json", str(self.path))
        self.assertEqual(result.returncode, DAMAGED, result.stderr)
        health = next(finding for finding in json.loads(result.stdout)["findings"] if finding["id"] == "health")
        damage = next(table["rows"] for table in health["tables"] if table["id"] == "damage")
        self.assertIn("packets that were lost while recording", [row["reason"] for row in damage])
        self.assertEqual(self.query("select count(*) as n from node_executions where node_name = 'something else'"), [{"n": 1}])

    def test_any_end_is_damage(self):
        content = make(make_slices() + make_scheduling(True))
        choose = random.Random(23)
        for size in [len(content) - 1] + [choose.randrange(100, len(content)) for _ in range(12)]:
            self.path.write_bytes(content[:size])
            result = run(MILLRACE, "report", "--json", str(self.path))
            self.assertEqual(result.returncode, DAMAGED, (size, result.stderr))


if __name__ == "__main__":
    harness.main()
