#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""Programs that confine themselves by seccomp: what is allowed is what the program alone needs, and nothing else. So
every system call that millrace adds would show: by a signal, or by another result."""

import os
import shutil

import harness
from hostile import PROGRAMS, HostileTest, build, calls_of, prepare, remove, untraced

EVENTFUL = ("events", "definitions", "thread", "child", "bare_child", "vfork_child")
EXECUTING = ("execute", "execute_along_path", "execute_in_vfork", "spawn", "by_shell")
OTHERS = ("nothing", "leave", "raw_child", "fail_to_execute")
WAYS = ("prctl", "raw_prctl", "seccomp", "tsync")
CONFINED = "confined by a seccomp filter"


def setUpModule():
    prepare("confined", "hello")


def tearDownModule():
    remove()


class Confined(HostileTest):
    def confine(self, action, way="prctl", verdict="kill", hello=None):
        hello = hello or str(PROGRAMS / "hello")
        shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
        with self.subTest(action, way=way, verdict=verdict):
            self.check("confined", way, action, verdict, ALLOWED=calls_of(action, hello), HELLO=hello,
                       may_lose=True)

    def test_events(self):
        for action in EVENTFUL:
            self.confine(action)

    def test_programs_executed(self):
        for action in EXECUTING:
            self.confine(action)
            if action != "by_shell":  # the C library executes the shell, past our wrappers
                self.assertIn(CONFINED, str(untraced(self.trace)), action)

    def test_other_actions(self):
        for action in OTHERS:
            self.confine(action)

    def test_ways(self):
        for way in WAYS:
            for action in "child", "execute", "thread":
                self.confine(action, way)

    def test_refused_calls(self):
        for verdict in "errno", "trap":
            for action in "child", "execute_along_path", "thread", "spawn":
                self.confine(action, "tsync", verdict)

    def test_static_program(self):
        try:
            build("hello.c", "hello-static", "-static")
        except (OSError, ValueError):
            self.skipTest("cannot link statically")
        self.confine("execute", hello=str(PROGRAMS / "hello-static"))

    def test_strict_mode(self):
        for action in "leave_thread", "leave", "nothing", "events":
            shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
            with self.subTest(action):
                self.check("confined", "strict", action, "kill", may_lose=True)

    def test_filter_that_allows_everything_traced(self):
        """Of a filter that forbids what we do not need either, nothing is noticed."""
        everything = ",".join(map(str, range(0, 183)))
        self.check("confined", "prctl", "execute", "kill", ALLOWED=everything + "," + ",".join(map(str, range(184, 460))),
                   HELLO=str(PROGRAMS / "hello"))
        self.assertEqual(untraced(self.trace), {})

    def test_filter_that_fails(self):
        """The probe by which programs find out whether there are filters at all."""
        script = ("import ctypes, os\n"
                  "libc = ctypes.CDLL(None, use_errno=True)\n"
                  "print(libc.prctl(22, 2, 0, 0, 0), ctypes.get_errno())\n"
                  "print(libc.prctl(22, 2, ctypes.c_void_p(8), 0, 0), ctypes.get_errno())\n"
                  "os.execv(os.environ['HELLO'], ['hello', 'again'])\n")
        self.run_both("python3", "-c", script, HELLO=str(PROGRAMS / "hello"))
        self.assertEqual(untraced(self.trace), {})


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    if not shutil.which("strace"):
        harness.skip("strace is needed")
    harness.main()
