#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""Programs that do the things that break tracers (hostile.py)."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import harness
from hostile import PROGRAMS, HostileTest, build, lost_events, prepare, remove, untraced
from support import MILLRACE, count, dump, manifest

NOBODY = 65534


def setUpModule():
    prepare("hostile", "execute", "corners", "hello")
    build("library.c", "library.so", "-shared", "-fPIC")
    build("foreign.c", "foreign.so", "-shared", "-fPIC")


def tearDownModule():
    remove()


class Hostile(HostileTest):
    # ---- threads and children -------------------------------------------------------------------

    def test_threads_by_the_thousand(self):
        events = self.check("hostile", "short_threads")
        self.assertGreaterEqual(count(events, "thread_end"), 2000)

    def test_fork(self):
        self.check("hostile", "children_by_fork")

    def test_bare_fork(self):
        self.check("hostile", "children_by_bare_fork")

    def test_raw_clone(self):
        self.check("hostile", "children_by_clone")

    def test_vfork(self):
        self.check("hostile", "children_by_vfork")

    def test_fork_among_threads(self):
        self.check("hostile", "children_of_threads")

    def test_killed_child(self):
        self.check("hostile", "killed_child")

    def test_python_multiprocessing(self):
        script = ("import ctypes, multiprocessing, os, sys\n"
                  "def work(n):\n"
                  "    ctypes.CDLL(os.environ['USER_LIBRARY']).emit_in_library(10)\n"
                  "    return n * n\n"
                  "if __name__ == '__main__':\n"
                  "    multiprocessing.set_start_method(sys.argv[1])\n"
                  "    with multiprocessing.Pool(2) as pool:\n"
                  "        print(pool.map(work, range(20)))\n"
                  "        pool.close()\n"
                  "        pool.join()\n"
                  "    print('emitted 200')\n")
        self.write("pool.py", script)
        for method in "fork", "spawn", "forkserver":
            with self.subTest(method):
                shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
                self.check(os.path.realpath(sys.executable), "pool.py", method)

    # ---- signals and ends -----------------------------------------------------------------------

    def test_signal_handlers(self):
        self.check("hostile", "signals")

    def test_fork_in_signal_handlers(self):
        self.run_both("hostile", "fork_in_handler")
        self.assertEqual(lost_events(self.trace), 0)
        self.assertGreater(len(manifest(self.trace)["processes"]), 500)

    def test_crash(self):
        self.check("hostile", "crash")

    def test_exit_in_a_thread(self):
        events = self.check("hostile", "exit_in_thread")
        self.assertEqual(count(events, "process_end"), 1)

    def test_end_of_main(self):
        self.check("hostile", "end_of_main")

    def test_end_without_exit(self):
        self.check("hostile", "end_without_exit")

    # ---- libraries, descriptors, privileges, limits ----------------------------------------------

    def test_unloaded_libraries(self):
        self.check("hostile", "unload_libraries")

    def test_closed_descriptors(self):
        self.check("hostile", "close_everything")

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_chroot(self):
        os.mkdir(self.path("root"))
        self.check("hostile", "change_root", NEW_ROOT=self.path("root"))

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_setuid(self):
        self.run_both("hostile", "change_user")
        self.assertEqual(count(dump(self.trace), "node_instant"), 5, "what it emitted before")
        self.assertEqual([each["reason"] for each in manifest(self.trace)["processes"]], ["runs as another user"])

    def test_file_size_limit(self):
        self.check("hostile", "limit_file_size", may_lose=True)

    def test_memory_limit(self):
        self.check("hostile", "limit_memory")
        self.assertGreater(manifest(self.trace)["losses"]["definitions"], 0)

    def test_no_free_packet(self):
        events = self.check("hostile", "flood", options=["--buffer=1M"], may_lose=True)
        self.assertGreater(count(events, "node_instant"), 0)

    # ---- programs that execute programs ----------------------------------------------------------

    def test_exec_after_fork(self):
        events = self.check("execute", "after_fork")
        self.assertEqual(count(events, "process_exec"), 10)

    def test_exec_after_bare_fork(self):
        self.check("execute", "after_bare_fork")

    def test_exec_after_vfork(self):
        self.check("execute", "after_vfork")

    def test_spawn(self):
        self.check("execute", "spawn")

    def test_system_and_popen(self):
        self.check("execute", "by_shell")

    def test_exec_in_a_signal_handler(self):
        self.check("execute", "in_handler")

    def test_environments(self):
        self.check("execute", "environments")

    def test_empty_environment(self):
        self.check("env", "-i", str(PROGRAMS / "execute"), "emit")

    def test_failing_exec(self):
        self.check("execute", "failures")
        self.assertEqual(untraced(self.trace), {})

    def test_script_without_interpreter(self):
        script = self.write("script", 'echo "script $1"\nexit 7\n')
        self.check("execute", "plain_script", PLAIN_SCRIPT=script)

    def test_foreign_preload(self):
        for situation in "emit", "execve_after_fork", "spawn", "by_shell":
            with self.subTest(situation):
                shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
                self.check("execute", situation, LD_PRELOAD=str(PROGRAMS / "foreign.so"))

    def test_recording_within_a_recording(self):
        inner = self.path("inner.mill")
        outer = self.record(MILLRACE, "record", "--quiet", "-o", inner, "--", str(PROGRAMS / "execute"),
                            "execve_after_fork", options=["--quiet", "--levels=runtime,dataflow"])
        self.assertEqual((outer.returncode, outer.stderr), (0, ""))
        self.assertEqual(count(dump(inner), "node_instant"), 10)
        self.assertEqual(count(dump(outer.trace), "node_instant"), 0)

    def test_runtimes_are_seen(self):
        shutil.copy(PROGRAMS / "foreign.so", PROGRAMS / "libze_loader.so.99")
        events = self.check("execute", "emit", LD_PRELOAD=str(PROGRAMS / "libze_loader.so.99"))
        seen = [event["fields"]["name"] for event in events if event["event"] == "runtime_seen"]
        self.assertEqual(seen, ["libze_loader.so.99"])
        not_traced = [event["fields"]["name"] for event in events if event["event"] == "runtime_not_traced"]
        self.assertEqual(not_traced, ["Level Zero"])

    # ---- where there is little room ----------------------------------------------------------------

    def test_sandbox(self):
        self.check("corners", "sandboxed")

    def test_lock_of_the_dynamic_linker(self):
        self.check("corners", "linker_is_busy")

    def test_small_stack(self):
        self.check("corners", "small_stack")

    def test_signal_stack(self):
        self.check("corners", "signal_stack")

    def test_vfork_in_a_bare_child(self):
        self.check("corners", "vfork_in_bare_child")

    def test_no_descriptor_to_look_with(self):
        try:
            build("hello.c", "hello-asan", "-fsanitize=address")
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("cannot build with AddressSanitizer")
        self.check("corners", "no_descriptors", SANITIZED_PROGRAM=str(PROGRAMS / "hello-asan"))

    # ---- programs the library cannot live in -------------------------------------------------------

    def check_left_alone(self, name, reason):
        """As the first program, and as one started by a traced program."""
        program = str(PROGRAMS / name)
        for command in [program], ["sh", "-c", f"{program} again; exit $?"], \
                ["env", "A=b", program], ["find", program, "-exec", program, "{}", ";"]:
            with self.subTest(command=command):
                shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
                self.run_both(*command)
                self.assertIn(reason, untraced(self.trace).get(name, "traced"))

    def check_target(self, name, reason, *options, compiler="cc"):
        try:
            build("hello.c", name, *options, compiler=compiler)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest(f"cannot build: {compiler} {' '.join(options)}")
        self.check_left_alone(name, reason)

    def test_static_target(self):
        self.check_target("hello-static", "static", "-static")

    def test_musl_target(self):
        self.check_target("hello-musl", "C library", compiler="musl-gcc")

    def test_narrow_target(self):
        self.check_target("hello-32", "word size", "-m32")

    def test_sanitized_target(self):
        self.check_target("hello-asan", "sanitizer", "-fsanitize=address")

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_setuid_target(self):
        program = PROGRAMS / "hello-setuid"
        shutil.copy(PROGRAMS / "hello", program)
        os.chown(program, NOBODY, NOBODY)
        program.chmod(0o4755)
        self.check_left_alone("hello-setuid", "privileges")


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
