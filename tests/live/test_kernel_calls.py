#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""System calls and their files. strace watches the same run: both must agree, except for the calls that millrace's
own library makes in the program."""

import collections
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from kernel import ATTEMPTS, KernelTest, Trace, bpf_programs_of, bpf_tracepoints, parse_truth, skip_unless_possible
from support import MILLRACE, manifest, program, run, wait_until

PROGRAM = os.path.join(os.environ["SOURCE_DIR"], "tests/live/programs/kernel_calls.py")
LINE = re.compile(r"^(\d+) +\[([0-9a-f]+)\] (?:<\.\.\. (\w+) resumed>|(\w+)\()(.*)$")
LIBRARY_MAPPED = re.compile(r"(?:NULL|0x[0-9a-f]+), (\d+), PROT_READ\|PROT_EXEC, .*/libmillrace\.so>, .*= (0x[0-9a-f]+)")
RESULT = re.compile(r"\) += (\?|-?\w+)(?:<([^>]*)>(?:\(deleted\))?)?( E\w+)?")
DESCRIPTOR = re.compile(r"(?:^|, )\d+<([^>]*)>")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
RESTARTS = {"ERESTARTSYS": 512, "ERESTARTNOINTR": 513, "ERESTARTNOHAND": 514,
            "ERESTART_RESTARTBLOCK": 516}
# strace names the descriptors that these make; no argument of theirs is one
MAKE_SEVERAL = {"pipe", "pipe2", "socketpair"}

Call = collections.namedtuple("Call", "name result path address")


def strace_result(text, error):
    if text == "?":
        return -RESTARTS[error.strip()] if error else None
    if error:
        return -getattr(errno, error.strip())
    return int(text, 0)


def strace_path(name, arguments, result_path):
    """The file that a call made, or else the first that it was given as a descriptor."""
    if name in MAKE_SEVERAL:
        return None
    if result_path:
        return result_path
    found = DESCRIPTOR.search(STRING.sub("", arguments))
    return found[1] if found else None


def read_strace(path):
    """tid: its calls in order; and where libmillrace.so's code was, in any of the processes."""
    calls, begun, library = collections.defaultdict(list), {}, []
    with open(path) as file:
        for line in file:
            match = LINE.match(line)
            if not match:
                continue  # a signal, or an end
            tid, address, resumed, name, rest = match.groups()
            tid = int(tid)
            mapped = LIBRARY_MAPPED.search(rest) if name == "mmap" else None
            if mapped:
                library.append(range(int(mapped[2], 16), int(mapped[2], 16) + int(mapped[1])))
            if rest.endswith("<unfinished ...>"):
                begun[tid] = name, address, rest
                continue
            if resumed:
                name, address, arguments = begun.pop(tid)
                rest = arguments.removesuffix("<unfinished ...>") + rest
            result = list(RESULT.finditer(rest))[-1]
            calls[tid].append(Call(name, strace_result(result[1], result[3]),
                                   strace_path(name, rest[:result.start()], result[2]), int(address, 16)))
        for tid, (name, address, rest) in begun.items():  # never resumed: ended by exit_group or a signal
            calls[tid].append(Call(name, None, strace_path(name, rest, None), int(address, 16)))
    return calls, library


def without_library(calls, library):
    """The calls that were not made by code of libmillrace.so."""
    return [call for call in calls if not any(call.address in code for code in library)]


def from_execve(calls):
    """strace begins to look at its child when that executes the program."""
    for i, call in enumerate(calls):
        if call.name == "execve" and call.result == 0:
            return calls[i:]
    return []


def is_asleep(tid):
    with open(f"/proc/{tid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "S"


def is_socket(path):
    return path.startswith("socket:[")


class Calls(KernelTest):
    def check_thread(self, tid, ours, theirs):
        """Same calls, same results, same files, in order."""
        for number, (our, their) in enumerate(zip(ours, theirs)):
            where = f"thread {tid}, call {number}: strace says {their}, the trace {our[:6]}"
            self.assertEqual(our.name, their.name, where)
            self.assertEqual(our.result, their.result, where)
            if their.path and is_socket(their.path):
                self.assertTrue(our.path, where)
            elif their.path:
                self.assertEqual((our.path or "").removesuffix(" (deleted)"), their.path, where)
        self.assertEqual(len(ours), len(theirs), f"thread {tid}: {ours[-3:]} {theirs[-3:]}")

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_same_as_strace(self):
        log, folder = self.path("strace"), self.path("work")
        os.mkdir(folder)
        result = self.record_kernel("/usr/bin/env", "strace", "-f", "-i", "-y", "-s", "0", "-o", log,
                                    sys.executable, PROGRAM, folder, options=["--syscalls=all"])
        every, library = read_strace(log)
        self.assertTrue(library, "libmillrace.so is loaded")
        theirs = {tid: without_library(calls, library) for tid, calls in every.items()}
        self.assertGreater(sum(map(len, every.values())), sum(map(len, theirs.values())), "it makes calls")
        self.assertGreaterEqual(len(theirs), 6, "threads and processes")
        first = next(iter(theirs))
        for tid, calls in theirs.items():
            ours = result.events.calls(tid)
            self.check_thread(tid, from_execve(ours) if tid == first else ours, calls)
        self.assertGreater(sum(map(len, theirs.values())), 1000)
        self.assertEqual(result.events.count("loss"), 0)

    def test_begins_with_the_program(self):
        """What record's child does before it is the program, such as looking for it in PATH, is not the program's."""
        result = self.record("true", env={"PATH": f"/nowhere:{self.folder}:/usr/bin:/bin"})
        self.assertEqual(result.returncode, 0, result.stderr)
        events = Trace(result.trace)
        first, = {event.fields["pid"] for event in events.of("kernel_fork")}
        calls = events.calls(first)
        self.assertEqual((calls[0].name, calls[0].result), ("execve", 0), calls[:9])
        self.assertEqual([call.name for call in calls].count("execve"), 1)

    def test_descriptors(self):
        """Inherited, copied, passed through a socket: all are known to be the same file."""
        path = self.make_file("data", 5000)
        with open(path) as file:
            result = self.record_kernel("io", "descriptors", path, stdin=file)
        truth = parse_truth(result.stdout, "read")
        self.assertEqual(len(truth), 7)
        for tid in {said["tid"] for said in truth}:
            reads = [call for call in result.events.calls(tid) if call.name == "pread64"
                     and call.result == 4096]
            expected = [said["how"] for said in truth if said["tid"] == tid]
            self.assertEqual([call.path for call in reads], [path] * len(expected), expected)
        names = [event.fields["name"] for event in result.events.of("kernel_task_name")]
        self.assertIn("renamed", names)

    def test_own_calls_that_block(self):
        """What the library reads of a program that is to be executed, from a disk, is no call of the program either."""
        cold = os.path.join(self.disk_folder(), f"{os.path.basename(self.folder)}-cold")
        self.addCleanup(os.unlink, cold)
        shutil.copy(shutil.which("true"), cold)
        with open(cold) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        result = self.record_kernel("/bin/sh", "-c", f"exec {cold}", options=["--syscalls=blocking"])
        if result.events.count("kernel_block_io") == 0:
            self.skipTest("the file is still in memory")
        blocked = result.events.of("kernel_blocked_call")
        self.assertNotIn("pread64", [result.events.syscalls[event.fields["number"]] for event in blocked])

    def test_program_killed(self):
        """The call that it hung in is told of, and the trace is complete."""
        trace = self.path("trace.mill")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--",
                                   program("kernel_work"), "hang"], stdout=subprocess.PIPE, text=True)
        tid = parse_truth(record.stdout.readline(), "ready")[0]["tid"]
        self.assertTrue(wait_until(lambda: is_asleep(tid)))
        os.kill(tid, signal.SIGKILL)
        record.communicate(timeout=60)
        self.assertEqual(record.returncode, -signal.SIGKILL)
        self.assertEqual(manifest(trace)["state"], "complete")
        events = Trace(trace)
        unfinished = events.of("kernel_syscall_unfinished", tid=tid)
        self.assertEqual([event.fields["reason"] for event in unfinished], ["exit"])
        call = events.call(unfinished[0])
        self.assertEqual(call.name, "read")
        self.assertRegex(call.path, r"^pipe:\[\d+\]$")
        exits = events.of("kernel_exit", tid=tid)
        self.assertEqual([event.fields["status"] for event in exits], [signal.SIGKILL])

    def test_recording_ended(self):
        """A program outlives the recording: the call that it is in then is told of."""
        said = self.path("said")
        command = f"{program('kernel_work')} hang > {said} 2>&1 & until [ -s {said} ]; do sleep 0.05; done"
        result = self.record_kernel("/bin/sh", "-c", command)
        with open(said) as file:
            tid = parse_truth(file.read(), "ready")[0]["tid"]
        os.kill(tid, signal.SIGKILL)
        (unfinished,) = result.events.of("kernel_syscall_unfinished", tid=tid)
        self.assertEqual(unfinished.fields["reason"], "recording_ended")
        self.assertGreater(unfinished.fields["duration_ns"], 1_000_000_000)
        call = result.events.call(unfinished)
        self.assertEqual(call.name, "read")
        self.assertRegex(call.path, r"^pipe:\[\d+\]$")


class Auto(KernelTest):
    """--syscalls=auto, the default: a process that makes very many calls is recorded as --syscalls=blocking does."""

    CALLS = 300_000  # by each of two threads
    LINES = 500
    QUIET = f"import time\nfor i in range({LINES}): print(time.monotonic_ns(), flush=True)"

    def record_storm(self, *options):
        """A storm, and beside it a program that makes few calls and says when."""
        storm = f"{program('kernel_work')} calls {self.CALLS}"
        result = self.record_kernel("/bin/sh", "-c", f"{storm} >/dev/null & {sys.executable} -c '{self.QUIET}'; wait",
                                    options=options)
        result.times = [int(line) for line in result.stdout.splitlines() if line.isdigit()]
        self.assertEqual(len(result.times), self.LINES)
        return result

    @staticmethod
    def count_calls(result, name):
        return sum(result.events.syscalls[event.fields["number"]] == name
                   for event in result.events.of("kernel_syscall", "kernel_syscall_argument"))

    def test_storm_is_reduced(self):
        """Few calls of the storm are recorded, all of its neighbour's, and the reports say so."""
        result = self.record_storm()
        level = manifest(result.trace)["kernel_level"]
        self.assertEqual((level["syscalls"], level["reduced_above"], level["reduced_count"]), ("auto", 50000, 1))
        reduced, = level["reduced"]
        births = {event.fields["pid"]: event.time for event in result.events.of("kernel_fork")}
        self.assertGreater(reduced["since_ns"], births[reduced["pid"]])
        self.assertEqual(reduced["name"], "live_kernel_work"[:15])
        calls = self.count_calls(result, "getppid")
        self.assertGreater(calls, 12_000, "it is reduced after that many in a quarter of a second")
        self.assertLess(calls, self.CALLS)
        # Of its neighbour all are recorded, as long as any are of which nobody waits for anything.
        until = level["all_reduced_since_ns"] or result.times[-1] + 1
        before = [time for time in result.times if time < until - 1_000_000]
        self.assertGreaterEqual(self.count_calls(result, "write"), len(before))
        text = run(MILLRACE, "info", result.trace).stdout
        self.assertRegex(text, rf"Process {reduced['pid']} 'live_kernel_wor' made more than 50000 system calls a second: "
                               r"from \S+ \S+ on only\s+those that block were recorded")
        self.assertRegex(run(MILLRACE, "report", "--whole", result.trace).stdout,
                         r"made\s+very\s+many\s+calls|of\s+all\s+processes:\s+see\s+the\s+trace's\s+health")

    def test_all_is_all(self):
        result = self.record_storm("--syscalls=all")
        level = manifest(result.trace)["kernel_level"]
        self.assertEqual((level["syscalls"], level["reduced_count"], level["reduced"]), ("all", 0, []))
        self.assertGreaterEqual(self.count_calls(result, "getppid"), 2 * self.CALLS)

    def test_waits_of_a_reduced_process(self):
        """What it waits in is known after it was reduced as before."""
        command = f"import os, time\nfor i in range({self.CALLS}): os.getppid()\nprint(time.monotonic_ns())\ntime.sleep(0.2)"
        result = self.record_kernel(sys.executable, "-c", command)
        level = manifest(result.trace)["kernel_level"]
        pid = level["reduced"][0]["pid"]
        after = int(result.stdout)
        waits = [wait for wait in result.events.waits(pid) if wait.start > after and wait.end - wait.start > 150_000_000]
        self.assertEqual(len(waits), 1)
        self.assertEqual(result.events.call_of_wait(pid, waits[0]).name, "clock_nanosleep")

    def test_another_program_starts_anew(self):
        """After an exec a process is not reduced any more."""
        storm = "for i in range(15_000): os.getppid()"
        command = f"import os\n{storm}\nos.execvp('dd', 'dd if=/dev/zero of=/dev/null bs=1 count=2000'.split())"
        for left in harness.attempts(ATTEMPTS):  # until it is quick enough
            result = self.record_kernel(sys.executable, "-c", command)
            level = manifest(result.trace)["kernel_level"]
            if level["reduced"] and not level["all_reduced_since_ns"] or left == 0:
                break
        pid = manifest(result.trace)["kernel_level"]["reduced"][0]["pid"]
        written = [call for call in result.events.calls(pid) if call.name == "write" and call.path == "/dev/null"]
        self.assertEqual(len(written), 2000)

    # Storms until a file is there; meanwhile a thread waits in a read.
    LONG_STORM = """
import os, sys, threading
reader, writer = os.pipe()
thread = threading.Thread(target=os.read, args=(reader, 1))
thread.start()
print(thread.native_id, flush=True)
while not os.path.exists(sys.argv[1]):
    for i in range(20_000):
        os.getppid()
os.write(writer, b"x")
thread.join()
"""

    def test_calls_end(self):
        """Where only a reduced process makes many calls, the programs of system calls are detached, for all processes."""
        trace, stop = self.path("trace.mill"), self.path("stop")
        script = f"{sys.executable} -c '{self.LONG_STORM}' {stop} & read line; " \
                 f"dd if=/dev/zero of=/dev/null bs=1 count=2000; sleep 0.25; touch {stop}; wait"
        with subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--", "/bin/sh", "-c", script],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as record:
            waiter = int(record.stdout.readline())
            while not manifest(trace)["kernel_level"]["all_reduced_since_ns"]:
                time.sleep(0.05)
            ours = bpf_programs_of(record.pid)
            attached = [name for name, number in bpf_tracepoints() if number in ours]
            record.communicate("\n", timeout=120)
        self.assertIn("sched_switch", attached)
        self.assertFalse({"sys_enter", "sys_exit"} & set(attached))
        events = Trace(trace)
        writer = next(event.fields["tid"] for event in events.of("kernel_exec") if event.fields["command"].startswith("dd "))
        self.assertEqual(events.calls(writer), [], "it began later, and its calls did not block")
        # In what a thread slept then is known, and in what a process sleeps that began later.
        blocked = events.of("kernel_blocked_call", tid=waiter)[-1]
        self.assertEqual(events.call(blocked).name, "read")
        self.assertRegex(events.call(blocked).path, r"^pipe:")
        sleeper = next(event.fields["tid"] for event in events.of("kernel_exec") if event.fields["command"] == "sleep 0.25")
        wait = max(events.waits(sleeper), key=lambda wait: wait.end - wait.start)
        self.assertEqual(events.call_of_wait(sleeper, wait).name, "clock_nanosleep")
        self.assertRegex(run(MILLRACE, "info", trace).stdout, r"only\s+those\s+that\s+block\s+were\s+recorded\s+of\s+all")


class Handlers(KernelTest):
    def test_mark_is_not_passed_on(self):
        """A handler that interrupts a call of millrace's finds its mark in a register, and makes calls with it."""
        result = self.record_kernel("marks", "500", options=["--syscalls=all"])
        (truth,) = parse_truth(result.stdout, "ran")
        calls = [call for call in result.events.calls(truth["tid"]) if call.name == "getppid"]
        self.assertEqual(len(calls), truth["count"])


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
