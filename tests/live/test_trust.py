#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others
"""What a traced program shares with the recording: little memory, with no other user, and nothing that others act upon.

Each situation runs alone and recorded: output and exit status are the same, but for lines that say what is mapped."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import harness
from privilege import IS_ROOT, PrivilegeTest, without_privilege
from support import BUILD, MILLRACE, LiveTest, arenas, count, dump, manifest, program, run, wait_until

MIB = 1 << 20
MAPPED_MAX = 4 * MIB  # what doc/security.md and window.h say


def others(output):
    return [line for line in output.splitlines() if not line.startswith("mapped")]


def mapped(output):
    return {when: int(size) for when, size in re.findall(r"^mapped (\w+) (\d+)$", output, re.M)}


class TrustTest(LiveTest):
    def check(self, situation, options=(), **keywords):
        command = [program("trust"), situation]
        alone = run(*command, **keywords)
        result = self.record(*command, options=["--quiet", "--levels=runtime,dataflow", *options], **keywords)
        self.assertEqual((result.returncode, result.stderr), (alone.returncode, alone.stderr))
        self.assertEqual(others(result.stdout), others(alone.stdout))
        self.trace = result.trace
        return result.stdout

    def instants(self):
        return count(dump(self.trace), "node_instant")

    def reasons(self):
        return [each["reason"] for each in manifest(self.trace)["processes"]]


class Memory(TrustTest):
    def test_little_is_mapped(self):
        size = mapped(self.check("show"))["now"]
        self.assertTrue(0 < size <= MAPPED_MAX, size)

    def test_more_where_there_is_no_limit(self):
        self.assertGreater(mapped(self.check("crowd"))["afterwards"], MAPPED_MAX)
        self.assertEqual(self.instants(), 6400)

    def test_thousands_of_threads_at_once(self):
        """The buffer may grow, so hardly anything is lost, however quickly they come."""
        output = self.check("thousands")
        if "only" in output:
            self.skipTest("so many threads are not allowed here")
        self.assertLess(manifest(self.trace)["losses"]["events"], 500)
        self.assertGreater(self.instants(), 49500)

    def test_address_space_limit(self):
        """The program has as much as it needs alone, and the few MiB that we say."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        size = mapped(self.check("crowd", preexec_fn=limit))["afterwards"]
        self.assertTrue(0 < size <= MAPPED_MAX, size)
        losses = manifest(self.trace)["losses"]
        self.assertIn(self.instants() + losses["events"], range(6400, 6465), "an end of a thread may be lost, too")
        self.assertEqual(losses["by_reason"]["memory_limit"], losses["events"])

    def test_no_room_for_the_library(self):
        """A program that runs, but has no room for the recording, is listed with the reason. Where it does not run
        recorded, it does not run alone with a few MiB less."""
        reasons = set()
        for limit_kib in range(6000, 16000, 500):
            command = ["sh", "-c", f"ulimit -v {limit_kib}; exec {program('trust')} show"]
            result = self.record(*command, options=["--quiet", "--levels=runtime,dataflow"])
            less = run("sh", "-c", f"ulimit -v {limit_kib - 5000}; exec {program('trust')} show")
            if less.returncode == 0:
                self.assertEqual(result.returncode, 0, limit_kib)
            if result.returncode == 0:
                process = manifest(result.trace)["processes"][-1]
                self.assertTrue(process["program"].endswith("live_trust"), process)
                self.assertNotEqual(process["traced"], process["reason"] is not None)
                reasons.add(process["reason"])
            shutil.rmtree(result.trace)
        self.assertLessEqual(reasons, {None, "a memory limit leaves no room for the recording",
                                       "there was no memory to look at the program file"})
        self.assertIn(None, reasons)

    @unittest.skipUnless(IS_ROOT, "needs root, to lock memory")
    def test_locked_memory(self):
        for situation in "lock_now", "lock_future":
            with self.subTest(situation):
                self.check(situation)
                self.assertEqual(self.instants(), 810)
                subprocess.run(["rm", "-r", self.trace], check=True)

    def test_little_memory_may_be_locked(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (8 * MIB, 8 * MIB))
        command = ["setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"] if IS_ROOT else []
        for situation in "lock_now", "lock_future":
            with self.subTest(situation):
                command_of = [*command, program("trust"), situation]
                alone = run(*command_of, preexec_fn=limit)
                result = self.record(*command_of, options=["--quiet", "--levels=runtime,dataflow"], preexec_fn=limit)
                self.assertEqual((result.returncode, others(result.stdout)), (alone.returncode, others(alone.stdout)))
                self.assertIn("locked 0", alone.stdout)
                subprocess.run(["rm", "-r", result.trace], check=True)


@unittest.skipUnless(IS_ROOT, "only root can become another user")
class Users(TrustTest):
    def test_one_who_becomes_another_user_shares_nothing(self):
        size = mapped(self.check("change_user"))
        self.assertEqual((size["before"] > 0, size["after"]), (True, 0))
        self.assertEqual(self.instants(), 13, "the parent's, and the child's until then")
        self.assertEqual(self.reasons(), [None, "runs as another user"])

    def test_one_who_can_go_back_goes_on(self):
        self.assertGreater(mapped(self.check("change_user_and_back"))["meanwhile"], 0)
        self.assertEqual((self.instants(), self.reasons()), (15, [None]))

    def test_with_locked_memory(self):
        self.assertEqual(mapped(self.check("change_user_with_locked_memory"))["after"], 0)
        self.assertEqual(self.reasons(), ["runs as another user"])

    def test_in_steps(self):
        self.check("change_user_in_steps")

    def test_after_vfork(self):
        self.assertGreater(mapped(self.check("change_user_after_vfork"))["after"], 0)
        self.assertEqual(self.instants(), 10)
        self.assertEqual(self.reasons(), [None, "the recording cannot be reached from there"])

    def test_among_threads(self):
        self.assertEqual(mapped(self.check("change_user_among_threads"))["after"], 0)
        self.assertEqual(self.reasons(), ["runs as another user"])


class Harm(TrustTest):
    def test_no_path_comes_from_the_arena(self):
        """Somebody puts other paths into it: what a program executes gets the true ones."""
        forger = ("import os, re\n"
                  "path = os.environ['MILLRACE_ARENA']\n"
                  "content = open(path, 'rb').read()\n"
                  "for name in os.environ['LD_PRELOAD'], path:\n"
                  "    for found in re.finditer(re.escape(name.encode()), content):\n"
                  "        with open(path, 'r+b') as file:\n"
                  "            file.seek(found.start())\n"
                  "            file.write(b'/tmp/forged'.ljust(len(name), b'x'))\n"
                  "os.execv('/bin/sh', ['sh', '-c', 'env -i env; env -i /bin/sh -c env'])\n")
        result = self.record(sys.executable, "-c", forger, options=["--quiet", "--buffer=4M"])
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout.count(f"LD_PRELOAD={BUILD}/libmillrace.so\n"), 2, result.stdout)
        self.assertNotIn("forged", result.stdout)

    def test_failed_attach_is_noted(self):
        """Somebody spoils the control page: programs that start then run without the library, and the trace says so."""
        spoil = "import os; open(os.environ['MILLRACE_ARENA'], 'r+b').write(b'spoiled!')"
        result = self.record("sh", "-c", f'{sys.executable} -c "{spoil}"; /bin/echo ran', options=["--quiet"])
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n"))
        (process,) = [each for each in manifest(result.trace)["processes"] if not each["traced"]]
        self.assertTrue(process["program"].endswith("echo"), process)
        self.assertEqual(process["reason"], "another version of millrace is in its environment")
        self.assertEqual(arenas(), set(), "no note is left")

    def test_control_page(self):
        self.assertIn("mapped read-only 1, made writable 0", self.check("make_writable"))

    def test_scribbled_over(self):
        """The program and record end as ever, whatever the trace holds then."""
        self.check("harm")
        self.assertIn(manifest(self.trace)["state"], ("complete", "stopped"))


class Privileges(PrivilegeTest):
    """The same for everybody who may record: scribbling, little memory, a failed attach, another user."""

    def setUp(self):
        super().setUp()
        shutil.copy(program("trust"), self.path("bin"))
        self.program = self.path("bin/live_trust")

    def check(self, as_user, *command, **keywords):
        alone = run(*as_user(*command), **keywords)
        record = [self.millrace, "record", "--quiet", "--levels=runtime,dataflow", "-o", self.trace, "--", *command]
        result = run(*as_user(*record), **keywords)
        self.assertEqual((result.returncode, result.stderr), (alone.returncode, alone.stderr))
        self.assertEqual(others(result.stdout), others(alone.stdout))
        found = manifest(self.trace)
        shutil.rmtree(self.trace)
        return mapped(result.stdout), found

    def check_all(self, as_user):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
        _, found = self.check(as_user, self.program, "harm")
        self.assertIn(found["state"], ("complete", "stopped"))
        size, found = self.check(as_user, self.program, "crowd", preexec_fn=limit)
        self.assertTrue(0 < size["afterwards"] <= MAPPED_MAX, size)
        self.assertEqual(found["losses"]["by_reason"]["memory_limit"], found["losses"]["events"])
        _, found = self.check(as_user, "sh", "-c", "if test -n \"$MILLRACE_ARENA\"; then "
                              "printf spoiled! | dd of=\"$MILLRACE_ARENA\" conv=notrunc status=none; fi; "
                              "/bin/echo ran")
        self.assertEqual([each["reason"] for each in found["processes"] if not each["traced"]][-1],
                         "another version of millrace is in its environment")
        return self.check(as_user, self.program, "change_user")

    def check_unable(self, as_user):
        """One who cannot become another user, or is that user already, goes on as before."""
        size, found = self.check_all(as_user)
        self.assertEqual({each["reason"] for each in found["processes"]}, {None})
        self.assertGreater(size["after"], 0)

    def check_able(self, as_user):
        size, found = self.check_all(as_user)
        self.assertEqual(size["after"], 0)
        self.assertIn("runs as another user", [each["reason"] for each in found["processes"]])

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_root(self):
        self.check_able(lambda *command: list(command))

    def test_user(self):
        self.check_unable(without_privilege)

    @unittest.skipUnless(IS_ROOT, "needs root, to set capabilities of a file")
    def test_user_with_setcap(self):
        result = run("setcap", "cap_bpf,cap_perfmon+ep", self.millrace)
        if result.returncode != 0:
            self.skipTest("setcap: " + result.stderr.strip())
        self.check_unable(without_privilege)

    def test_user_namespace(self):
        """Root there has no other users to become."""
        def as_user(*command):
            return without_privilege("unshare", "-Ur", *command)
        result = run(*as_user("true"))
        if result.returncode != 0:
            self.skipTest("unshare: " + result.stderr.strip())
        self.check_unable(as_user)


class Leftovers(TrustTest):
    """What a killed record has left in /dev/shm."""

    def leave(self):
        """The arena of a record that was killed."""
        before = arenas()
        trace = self.path("killed.mill")
        record = subprocess.Popen([MILLRACE, "record", "--quiet", "-o", trace, "--", "sleep", "1000"],
                                  start_new_session=True)
        self.assertTrue(wait_until(lambda: arenas() - before and os.path.exists(trace + "/manifest.json")))
        (arena,) = arenas() - before
        os.killpg(record.pid, signal.SIGKILL)
        record.wait()
        self.addCleanup(lambda: os.path.exists(arena) and os.unlink(arena))
        return trace, arena

    def is_kept(self, arena, age_hours):
        then = time.time() - age_hours * 3600
        os.utime(arena, (then, then))
        self.assertEqual(self.record("true", options=["--quiet"]).returncode, 0)
        shutil.rmtree(self.path("trace.mill"))
        return os.path.exists(arena)

    def test_of_a_deleted_trace(self):
        trace, arena = self.leave()
        shutil.rmtree(trace)
        self.assertTrue(self.is_kept(arena, 1), "the folder may have been moved")
        self.assertFalse(self.is_kept(arena, 25))

    def test_of_a_trace_that_is_there(self):
        trace, arena = self.leave()
        self.assertTrue(self.is_kept(arena, 1000))
        self.assertEqual(run(MILLRACE, "info", trace).returncode, 0, "it is recovered")
        self.assertFalse(os.path.exists(arena))

    def test_of_programs_that_start_after_the_end(self):
        """system() of a daemon that outlives the recording: nobody would collect a note that the shell could not attach."""
        done = self.path("done")
        daemon = ("import os, time\n"
                  "if os.fork():\n"
                  "    os._exit(0)\n"
                  "os.setsid()\n"
                  "for stream in range(3):\n"
                  "    os.dup2(os.open(os.devnull, os.O_RDWR), stream)\n"
                  "arena = os.environ['MILLRACE_ARENA']\n"
                  "while os.path.exists(arena):\n"
                  "    time.sleep(0.01)\n"
                  "os.system('true')\n"
                  "with open('%s.new', 'w') as file:\n"
                  "    file.write(arena)\n"
                  "os.rename('%s.new', '%s')\n" % (done, done, done))
        self.assertEqual(self.record(sys.executable, "-c", daemon, options=["--quiet"]).returncode, 0)
        self.assertTrue(wait_until(lambda: os.path.exists(done)))
        with open(done) as file:
            arena = file.read()
        self.assertEqual([each for each in arenas() if each.startswith(arena)], [])


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
