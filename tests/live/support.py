# SPDX-License-Identifier: Apache-2.0
"""Shared by the live tests: running `millrace record`, reading traces in two ways, and checking that nothing is left
behind."""

import contextlib
import ctypes
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

MILLRACE = os.environ["MILLRACE"]
BUILD = os.environ["BUILD_DIR"]
PR_SET_CHILD_SUBREAPER = 36

CLONE_NEWNS = 0x00020000


def isolate():
    """Whoever is orphaned below a test becomes its child, and is found there. Where that is allowed, the
    test has a /dev/shm of its own, in which nobody else's files lie."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.geteuid() == 0 and libc.unshare(CLONE_NEWNS) == 0:
        subprocess.run("mount --make-rprivate / && mount -t tmpfs -o mode=1777 tmpfs /dev/shm", shell=True,
                       check=False)


isolate()


def program(name):
    """A program of tests/live/programs."""
    return os.path.join(BUILD, "tests", "live_" + name)


def preload(name):
    """A preload library of tests/live/programs."""
    return os.path.join(BUILD, "tests", f"liblive_{name}.so")


def run(*command, timeout=120, **keywords):
    keywords = {"capture_output": True, "text": True, **keywords}
    return subprocess.run(command, timeout=timeout, **keywords)


def children():
    """Pids of the living and dead children of this process."""
    with open("/proc/thread-self/children") as file:
        return [int(pid) for pid in file.read().split()]


def arenas():
    return set(glob.glob("/dev/shm/millrace-arena-*"))


def is_recorded(arena):
    """Whether a `millrace` that runs has the arena in its memory. It had no name when it was mapped."""
    for process in glob.glob("/proc/[0-9]*"):
        with contextlib.suppress(OSError), open(f"{process}/maps", errors="replace") as maps:
            if os.path.samefile(f"{process}/exe", MILLRACE) and f" {os.stat(arena).st_ino} " in maps.read():
                return True
    return False


def wait_until(condition, seconds=60):
    """True as soon as the condition holds, False if it never does. Long, as nobody waits for it unless the machine is
    slow or the test fails."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


COUNTERS = struct.Struct("8Q")  # struct counters of load.c


def read_counters(path):
    """What a `load` says that it has done: tid: (begun, instants, steps, ended) of each thread that has begun."""
    if not os.path.exists(path):
        return {}
    with open(path, "rb") as file:
        found = COUNTERS.iter_unpack(file.read())
        return {each[0]: each[1:5] for each in found if each[0]}


def has_made(path, threads, rounds):
    """Whether each thread of a `load` has come to its end so often."""
    counted = read_counters(path)
    return len(counted) == threads and min(ended for _, _, _, ended in counted.values()) >= rounds


# ---- reading a trace -----------------------------------------------------------------------------

DUMPED = re.compile(r'"realtime_ns": (\d+), "ticks": (\d+), "process": (\d+), '
                    r'"pid": \d+, "tid": (\d+), "event": "(\w+)"')
BABBLED = re.compile(r'\[(\d+)\].*? (\w+): \{ process = (\d+), pid = \d+, tid = (\d+),')
SECONDS = re.compile(r'\[(\d+)\.(\d{9})\]')
BOUND = re.compile(r"babeltrace2's nanoseconds lie within (\d+) ns")


def dump(trace):
    """All events as objects, read by millrace."""
    result = run(MILLRACE, "dump", "--json", trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def query(trace, sql):
    """The rows of an SQL query."""
    result = run(MILLRACE, "query", "--format", "json", trace, sql)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def manifest(trace):
    with open(os.path.join(trace, "manifest.json")) as file:
        return json.load(file)


def info(trace):
    result = run(MILLRACE, "info", "--json", trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


def count(events, name):
    return sum(event["event"] == name for event in events)


def babeltrace(trace, *options):
    result = run("babeltrace2", *options, os.path.join(trace, "ctf"), timeout=300)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(f"babeltrace2 on {trace}: {result.stderr}")
    return result.stdout.splitlines()


class LiveTest(unittest.TestCase):
    """Gives each test a folder of its own, and checks that nothing survives it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="millrace-test-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.arenas_before = arenas()
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        for pid in children():
            try:
                if os.waitpid(pid, os.WNOHANG)[0]:
                    continue
            except ChildProcessError:
                continue
            self.assertTrue(wait_until(lambda: os.waitpid(pid, os.WNOHANG)[0], 20),
                            f"a process is left: {self.name_of(pid)}")
        # Tests that run at the same time have arenas of their own.
        left = [path for path in arenas() - self.arenas_before if not is_recorded(path)]
        self.assertFalse(any(map(os.path.exists, left)), f"left in memory: {left}")

    @staticmethod
    def name_of(pid):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                return f"{pid} {file.read()!r}"
        except OSError:
            return str(pid)

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, *command, options=(), name="trace.mill", **keywords):
        """Records a command into the test's folder; the result also has the trace's path."""
        trace = self.path(name)
        result = run(MILLRACE, "record", "-o", trace, *options, "--", *command, **keywords)
        result.trace = trace
        return result

    def check_against_babeltrace(self, trace):
        """Both readers see the same events at the same raw times, and nanoseconds within the bound
        that `info` prints. Returns the number of events."""
        ours, times = [], []
        bound = BOUND.search(run(MILLRACE, "info", trace).stdout)
        self.assertIsNotNone(bound, "info prints no bound for babeltrace2")
        result = run(MILLRACE, "dump", "--json", trace, timeout=300)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for line in result.stdout.splitlines():
            realtime_ns, ticks, process, tid, event = DUMPED.search(line).groups()
            ours.append((int(ticks), event, process, tid))
            times.append(int(realtime_ns))
        theirs = []
        for line in babeltrace(trace, "--clock-cycles"):
            ticks, event, process, tid = BABBLED.search(line).groups()
            theirs.append((int(ticks), event, process, tid))
        self.assertEqual(len(ours), len(theirs))
        self.assertTrue(sorted(ours) == sorted(theirs), "the readers differ")
        self.check_nanoseconds(trace, sorted(times), int(bound[1]))
        return len(ours)

    def check_nanoseconds(self, trace, times, bound):
        """Where no event's two times are further apart than the bound, neither are those of the same
        rank."""
        printed = sorted(int(match[1]) * 1000000000 + int(match[2]) for match in
                         map(SECONDS.search, babeltrace(trace, "--clock-seconds")))
        self.assertLessEqual(max(abs(theirs - ours) for theirs, ours in zip(printed, times)), bound)
