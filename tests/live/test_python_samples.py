#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it compares shares of CPU time, and measures again
"""Where threads are in Python between events, as record sees from outside: shares of lines against what the program
measured itself, children, and what must not happen."""

import collections
import ctypes
import errno
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import unittest

import harness
import privilege
import pythons
from support import MILLRACE, LiveTest, query, run

PROGRAMS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/live/programs"
POINTS = 0.03
FUNCTIONS = re.compile(r"python_shares\.py:\d+ ([\w.<>]+)")


def can_read_children():
    """Whether a process may read the memory of its child here: not where ptrace is forbidden."""
    child = subprocess.Popen(["sleep", "60"])
    try:
        buffer = ctypes.create_string_buffer(8)

        class Part(ctypes.Structure):
            _fields_ = [("at", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]

        with open(f"/proc/{child.pid}/maps") as maps:
            at = int(maps.readline().split("-")[0], 16)
        here, there = Part(ctypes.addressof(buffer), 8), Part(at, 8)
        libc = ctypes.CDLL(None, use_errno=True)
        return libc.process_vm_readv(child.pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 8
    finally:
        child.kill()
        child.wait()


def lines_of(trace):
    """{line: (self_ns, total_ns)} of the report's table."""
    result = run(MILLRACE, "report", "--json", trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    for finding in json.loads(result.stdout)["findings"]:
        if finding["id"] == "lines":
            table = next(table for table in finding["tables"] if table["id"] == "by_line")
            return {row["line"]: (row["self_ns"], row["total_ns"]) for row in table["rows"]}
    return {}


class Samples(LiveTest):
    def setUp(self):
        super().setUp()
        if not can_read_children():
            self.skipTest("no process may read another one's memory here")

    def write(self, text):
        path = self.path("program.py")
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def times_of(self, path, name, seconds, threads, options=()):
        """Seconds of each function, as the trace says and as the program does; the trace."""
        told = self.path(f"{name}.json")
        result = self.record(path, str(PROGRAMS / "python_shares.py"), str(seconds), told, str(threads),
                             options=options, name=f"{name}.mill")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(told) as file:
            truth = collections.Counter(json.load(file))
        found = collections.Counter()
        for row in query(result.trace, "SELECT site_stack, sum(cpu_ns) AS ns FROM samples "
                                       "WHERE origin = 'OUTSIDE' AND cpu_ns > 0 GROUP BY site_stack"):
            for function in FUNCTIONS.findall(row["site_stack"] or ""):
                if function.split(".")[0] in truth:
                    found[function.split(".")[0]] += row["ns"] / 1e9
                    break
        self.assertTrue(found, "no samples")
        return found, truth, result.trace

    def check_shares(self, path, name, threads, options=()):
        """Samples are a matter of chance: 400 of them leave 2.5 points of it, so more are added where that is not
        enough. What is wrong stays wrong."""
        found, truth = collections.Counter(), collections.Counter()
        for left in harness.attempts(6):
            more_found, more_truth, trace = self.times_of(path, f"{name}-{left}", 2, threads, options)
            found, truth = found + more_found, truth + more_truth
            seen = found.total() / truth.total()
            off = max(abs(found[key] / found.total() - truth[key] / truth.total()) for key in truth)
            print(name, "threads", threads, "found", found, "truth", truth, "of the time", round(seen, 3))
            if off < POINTS and 0.9 < seen < 1.1:
                return trace
            self.assertTrue(left, f"{found} against {truth}, {seen} of the time")
        return None

    def test_shares_of_every_interpreter(self):
        for name, path in pythons.find().items():
            with self.subTest(python=name):
                self.check_shares(path, name, 1, ["--levels", "dataflow"])

    def test_shares_of_threads(self):
        """Eight threads that compete for the lock; the report's table says the same as the samples."""
        trace = self.check_shares(sys.executable, "threads", 8)
        table = lines_of(trace)
        whole = sum(self_ns for self_ns, _ in table.values())
        named = sum(self_ns for line, (self_ns, _) in table.items() if "python_shares.py" in line)
        self.assertGreater(named / whole, 0.9, table)
        work = [total for line, (_, total) in table.items() if line.endswith(" work")]
        self.assertGreater(max(work) / whole, 0.9, table)

    def test_most_time_has_a_line(self):
        """Of a short program: what the interpreter does before and after the program counts by name."""
        program = self.write("""
            import argparse, asyncio, json, unittest

            texts = [json.dumps({"a": i}) for i in range(100_000)]
            """)
        for left in harness.attempts(4):
            result = self.record(sys.executable, program, name=f"lines-{left}.mill")
            self.assertEqual(result.returncode, 0, result.stderr)
            table = lines_of(result.trace)
            whole = sum(self_ns for self_ns, _ in table.values())
            share = 1 - table.get("(no line known)", (0, 0))[0] / whole
            print("with a line:", round(share, 4))
            if share >= 0.98:
                break
            self.assertTrue(left, table)
        self.assertIn("(end of the interpreter)", table)

    def test_off(self):
        program = self.write("sum(range(3_000_000))")
        result = self.record(sys.executable, program, options=["--python-samples", "off"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(query(result.trace, "SELECT count(*) AS n FROM samples"), [{"n": 0}])
        for wrong in ["", "0", "-1", "1001", "many", "10x"]:
            result = self.record("true", options=["--python-samples", wrong], name="wrong.mill")
            self.assertEqual(result.returncode, 2, wrong)
            self.assertIn("--python-samples", result.stderr)

    def test_children(self):
        """Forked, executed, and orphaned by their parent: each has lines of its own."""
        program = self.write("""
            import os, subprocess, sys, time

            def spin(seconds):
                end = time.process_time() + seconds
                while time.process_time() < end: pass

            def in_fork():
                spin(0.5)

            def in_exec():
                spin(0.5)

            if sys.argv[1:]:
                in_exec()
                sys.exit()
            child = os.fork()
            if child == 0:
                in_fork()
                os._exit(7)
            subprocess.run([sys.executable, __file__, "again"], check=True)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            """)
        result = self.record(sys.executable, program)
        self.assertEqual(result.returncode, 0, result.stderr)
        for function in ["in_fork", "in_exec"]:
            rows = query(result.trace, "SELECT sum(cpu_ns) AS ns, count(DISTINCT track) AS tracks FROM samples "
                                       f"WHERE site_stack LIKE '% {function} <%'")
            self.assertGreater(rows[0]["ns"] or 0, 200e6, function)
            self.assertEqual(rows[0]["tracks"], 1, function)

    def test_memory_may_not_be_read(self):
        """As where ptrace is forbidden: no samples, the trace says so, and no harm is done."""
        program = self.write("print(sum(range(20_000_000)))")
        result = self.record(sys.executable, program, preexec_fn=privilege.refuse(errno.EPERM, "process_vm_readv"))
        self.assertEqual((result.returncode, result.stdout), (0, "199999990000000\n"), result.stderr)
        self.assertEqual(query(result.trace, "SELECT count(*) AS n FROM samples"), [{"n": 0}])
        report = " ".join(run(MILLRACE, "report", result.trace).stdout.split())
        self.assertIn("does not let the recorder read the program's memory", report)

    def test_other_pid_namespace(self):
        """As in a container: the program's numbers of threads are not the recorder's."""
        inside = ["unshare", "--pid", "--fork"]
        if run(*inside, "true").returncode != 0:
            self.skipTest("no pid namespace can be made here")
        program = self.write("""
            import os, threading, time

            def busy():
                end = time.thread_time() + 0.4
                while time.thread_time() < end: pass

            assert os.getpid() == 1
            thread = threading.Thread(target=busy)
            thread.start()
            thread.join()
            """)
        result = self.record(*inside, sys.executable, program)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = query(result.trace, "SELECT t.tid, sum(s.cpu_ns) AS ns FROM samples s JOIN tracks t "
                                   "ON t.rowid = s.track WHERE s.site_stack LIKE '% busy <%' GROUP BY s.track")
        self.assertEqual(len(rows), 1, rows)
        self.assertGreater(rows[0]["ns"], 200e6)
        self.assertLess(rows[0]["tid"], 100)

    def test_crash_inside_the_interpreter(self):
        """Frames may be in any state when a program crashes."""
        program = self.write("""
            import ctypes, threading, time

            def busy():
                while True: sum(range(1000))

            for _ in range(3):
                threading.Thread(target=busy, daemon=True).start()
            time.sleep(0.3)
            ctypes.string_at(8)
            """)
        result = self.record(sys.executable, program)
        self.assertEqual(result.returncode, -signal.SIGSEGV, result.stderr)
        self.assertGreater(query(result.trace, "SELECT count(*) AS n FROM samples")[0]["n"], 10)

    def test_end_with_threads(self):
        """Threads that are still busy when the interpreter ends, and code that is freed while it is looked at."""
        program = self.write("""
            import threading, time

            def busy():
                while True:
                    space = {}
                    exec(compile("def f():\\n    return sum(range(300))\\nf()", "<made>", "exec"), space)

            for _ in range(4):
                threading.Thread(target=busy, daemon=True).start()
            time.sleep(1)
            print("done")
            """)
        result = self.record(sys.executable, program, options=["--python-samples", "1000"])
        self.assertEqual((result.returncode, result.stdout), (0, "done\n"), result.stderr)
        rows = query(result.trace, "SELECT DISTINCT site_stack FROM samples WHERE site_stack LIKE '% busy <%'")
        self.assertTrue(any("<made>" in row["site_stack"] for row in rows), rows)
        lines = {line for row in rows for line in row["site_stack"].split(" < ")}
        known = re.compile(r"(program\.py|<made>|threading\.py|\.\.\.)")
        self.assertFalse([line for line in lines if not known.match(line)], "lines that the program does not have")


if __name__ == "__main__":
    harness.main()
