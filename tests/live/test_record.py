#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how long recording takes
"""`millrace record`: what it refuses, what its options do, what the manifest says of the processes."""

import json
import os
import pwd
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import harness
from privilege import IS_ROOT, PrivilegeTest
from support import MILLRACE, LiveTest, count, dump, info, manifest, program, run, wait_until

NOBODY = pwd.getpwnam("nobody").pw_uid


class Refusals(LiveTest):
    """Each before the program starts, with nothing left behind."""

    def check_refused(self, status, message, *arguments, **keywords):
        before = sorted(os.listdir(self.folder))
        result = run(MILLRACE, "record", *arguments, cwd=self.folder, **keywords)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "", "the program was started")
        self.assertRegex(result.stderr, "^millrace: .*" + re.escape(message))
        self.assertEqual(sorted(os.listdir(self.folder)), before, "something was left behind")

    def test_usage(self):
        echo = ["--", "echo", "ran"]
        self.check_refused(2, "missing operand")
        self.check_refused(2, "missing operand", "--")
        self.check_refused(2, "unknown option --bogus", "--bogus", *echo)
        self.check_refused(2, "--levels", "--levels", "dataflow,nonsense", *echo)
        self.check_refused(2, "auto, all, blocking or none", "--syscalls", "some", *echo)
        self.check_refused(2, "--delay", "--delay", "soon", *echo)
        self.check_refused(2, "--duration", "--duration", "-1s", *echo)
        self.check_refused(2, "--max-size", "--max-size", "1Q", *echo)
        self.check_refused(2, "--max-size", "--max-size", "999999999999G", *echo)
        self.check_refused(2, "--last", "--last", "x", *echo)
        self.check_refused(2, "--last", "--last", "", *echo)
        self.check_refused(2, "--buffer", "--buffer", "1e3", *echo)
        for option in ("--max-size=0", "--last=0", "--last=5", "--buffer=1", "--duration=0",
                       "--kernel-buffer=1"):
            self.check_refused(2, "is too small", option, *echo)
        self.check_refused(2, "the name is empty", "--output=", *echo)
        self.check_refused(2, "--wait", "--wait", "nobody", *echo)

    def test_program(self):
        os.mkdir(self.path("folder"))
        with open(self.path("text"), "w") as file:
            file.write("no program")
        with open(self.path("script"), "w") as file:
            file.write("#!/no/such/interpreter\n")
        os.chmod(self.path("script"), 0o755)
        self.check_refused(127, "cannot run no-such-program", "--", "no-such-program")
        self.check_refused(127, "cannot run ./none", "--", "./none")
        self.check_refused(127, "cannot run", "--", "")
        self.check_refused(127, "cannot run ./script", "--", "./script")
        self.check_refused(126, "cannot run ./text", "--", "./text")
        self.check_refused(126, "cannot run ./folder", "--", "./folder")
        self.check_refused(126, "cannot run ./text/below", "--", "./text/below")

    def test_not_executable_in_path(self):
        with open(self.path("text"), "w") as file:
            file.write("no program")
        self.check_refused(126, "cannot run text", "--", "text", env={"PATH": self.folder})

    def test_exists(self):
        os.mkdir(self.path("old"))
        self.check_refused(125, "already exists", "-o", "old", "--", "echo", "ran")
        with open(self.path("old/kept"), "w"):
            pass
        self.check_refused(125, "already exists", "-o", "old", "--", "echo", "ran")
        self.assertTrue(os.path.exists(self.path("old/kept")))

    def test_buffer_too_large(self):
        """Before anything is made, and not by tracing nothing."""
        self.check_refused(125, "the buffer is too large: the maximum is 4 GiB", "--buffer", "65G",
                           "--", "echo", "ran")

    def test_unwritable(self):
        self.check_refused(125, "cannot create the trace directory", "-o", "none/x", "--", "echo", "ran")
        self.check_refused(125, "cannot create the trace directory", "-o", "/proc/x", "--", "echo", "ran")
        self.check_refused(125, "cannot create the trace directory", "-o", "x" * 300, "--", "echo", "ran")
        if os.geteuid() == 0:
            os.chmod(self.folder, 0o755)
            self.check_refused(125, "Permission denied", "--", "echo", "ran", user=NOBODY, group=NOBODY)

    def test_no_space(self):
        if os.geteuid() != 0:
            self.skipTest("mounting a small file system needs root")
        small = self.path("small")
        os.mkdir(small)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        self.check_refused(125, "less than 32 MiB are free", "-o", "small/x", "--", "echo", "ran")
        self.assertEqual(os.listdir(small), [])


class Options(LiveTest):
    def test_default_name(self):
        result = run(MILLRACE, "record", "--", "true", cwd=self.folder)
        self.assertEqual(result.returncode, 0)
        name, = os.listdir(self.folder)
        self.assertRegex(name, r"^millrace-\d{8}-\d{6}-.+-\d+\.mill$")
        self.assertIn(f"millrace: next: {MILLRACE} report {name}\n", result.stderr)
        self.assertEqual(os.stat(self.path(name)).st_mode & 0o777, 0o700)
        self.assertEqual(os.stat(self.path(name + "/manifest.json")).st_mode & 0o777, 0o600)

    def test_quiet(self):
        result = self.record("true", options=["-q"])
        self.assertEqual((result.stdout, result.stderr), ("", ""))

    def test_levels(self):
        result = self.record(program("load"), "1", "100", options=["--levels", "runtime"])
        self.assertEqual(count(dump(result.trace), "node_instant"), 0)
        self.assertEqual(manifest(result.trace)["levels"], ["runtime"])
        result = self.record(program("load"), "1", "100", options=["-l", "dataflow"], name="2.mill")
        self.assertEqual(count(dump(result.trace), "node_instant"), 100)

    def test_delay_and_duration(self):
        """load makes a round every 0.5 ms for at least four seconds; only a part of the first of them is wanted.
        Nothing comes too early; how late it is switched off depends on how busy the machine is."""
        result = self.record(program("load"), "1", "8000", "500000", options=["--delay", "300ms", "--duration", "1s"])
        self.assertEqual(result.returncode, 0)
        events = dump(result.trace)
        begin = next(event["ns"] for event in events if event["event"] == "recording_switched")  # before the program
        instants = [event for event in events if event["event"] == "node_instant"]
        steps = [event["fields"]["step"] for event in instants]
        self.assertEqual(steps, list(range(steps[0], steps[0] + len(steps))))
        self.assertGreater(instants[0]["ns"] - begin, 300_000_000)
        self.assertLess(instants[-1]["ns"] - begin, 3_500_000_000)
        self.assertGreater(len(steps), 10)

    def test_no_arguments(self):
        """The command line stands nowhere in the trace."""
        secret = "password-3141592"
        for options, expected in (([], True), (["--no-args"], False)):
            result = self.record("sh", "-c", f": {secret}; true {secret}", options=options,
                                 name=f"{expected}.mill", env={**os.environ, "SECRET": secret})
            found = run("grep", "-rl", secret, result.trace).stdout != ""
            self.assertEqual(found, expected)
        self.assertEqual(manifest(result.trace)["command"], [])
        self.assertNotIn("working_directory", manifest(result.trace))

    def test_strange_arguments(self):
        """Command lines may hold any bytes; manifest and info stay valid."""
        result = self.record("echo", "-n", b"\xff\xfe \"\\\n\x01", text=False)
        self.assertEqual(result.stdout, b"\xff\xfe \"\\\n\x01")
        self.assertEqual(len(manifest(result.trace)["command"]), 3)
        info(result.trace)

    def test_nothing_traced(self):
        result = self.record("true")
        self.assertIn("Nothing was traced inside the program: it loaded no known framework", result.stderr)
        result = self.record(program("load"), "1", "1", name="2.mill")
        self.assertNotIn("Nothing", result.stderr)


class Processes(LiveTest):
    def names(self, trace):
        return [os.path.basename(each["program"]) for each in manifest(trace)["processes"]]

    def test_tree(self):
        """A process, a forked child of it, and the program that the child becomes."""
        result = self.record("sh", "-c", "(sleep 0.01; true); sleep 0.01")
        processes = {each["process"]: each for each in manifest(result.trace)["processes"]}
        self.assertEqual(sum(name.startswith("sleep") for name in self.names(result.trace)), 2)
        first = min(processes)
        for number, process in processes.items():
            self.assertEqual((process["seen"], process["traced"], process["reason"]),
                             ("library", True, None))
            if number != first:
                self.assertIn(process["parent_process"], processes)

    def test_exec_chain(self):
        result = self.record("sh", "-c", "exec env nice sh -c 'exec sleep 0.01'")
        processes = manifest(result.trace)["processes"]
        self.assertEqual([re.sub("dash|bash", "sh", name) for name in self.names(result.trace)],
                         ["sh", "env", "nice", "sh", "sleep"])
        self.assertEqual(len({each["pid"] for each in processes}), 1)
        self.assertIn("millrace: 1 process,", result.stderr)
        for before, after in zip(processes, processes[1:]):
            self.assertEqual(after["parent_process"], before["process"])
        # Shells try one folder of PATH after the other.
        self.assertGreaterEqual(count(dump(result.trace), "process_exec"), 4)

    def test_untraced(self):
        if not shutil.which("cc"):
            self.skipTest("no compiler")
        static = self.path("static")
        subprocess.run(["cc", "-static", "-x", "c", "-o", static, "-"], check=True,
                       input=b"int main(void) { return 7; }")
        result = self.record(static)
        self.assertEqual(result.returncode, 7)
        self.assertIn("the program was not instrumented (no library inside): statically linked", result.stderr)
        self.assertIn("millrace: 1 process, ", result.stderr)
        if manifest(result.trace)["kernel_level"]["mode"] == "bpf":
            self.assertIn("what the kernel level says of it is complete", result.stderr)
        health = run(MILLRACE, "info", result.trace).stdout
        self.assertIn("1 process was not instrumented: the trace lacks what happened inside it.", health)
        process, = manifest(result.trace)["processes"]
        self.assertEqual((process["traced"], process["seen"], process["reason"]),
                         (False, "wrapper", "statically linked"))
        result = self.record("sh", "-c", f"{static}; exit $?", name="2.mill")
        self.assertEqual(result.returncode, 7)
        self.assertIn("1 program was not instrumented (no library inside)", result.stderr)
        self.assertEqual([each["reason"] for each in manifest(result.trace)["processes"]
                          if not each["traced"]], ["statically linked"])

    def test_daemon(self):
        """A program that leaves a daemon behind is over after two seconds; the daemon goes on, for six at least."""
        script = (f"setsid {program('load')} 1 40000 150000 >{self.path('out')} 2>&1 & "
                  f"echo $! >{self.path('pid')}")
        begin = time.monotonic()
        result = self.record("sh", "-c", script)
        took = time.monotonic() - begin
        self.assertGreater(took, 1.9)
        self.assertEqual(os.path.getsize(self.path("out")), 0, "it waited for the daemon")
        self.assertIn("1 descendant is still running", result.stderr)
        alive = [each for each in manifest(result.trace)["processes"] if not each["ended"]]
        self.assertEqual([os.path.basename(each["program"]) for each in alive], ["live_load"])
        self.assertGreater(count(dump(result.trace), "node_instant"), 1000)
        self.check_against_babeltrace(result.trace)
        self.assertTrue(wait_until(lambda: os.path.getsize(self.path("out")) > 0))
        with open(self.path("out")) as file:
            self.assertEqual(file.read(), "40000\n", "the daemon was harmed")

    def test_wait_for_all(self):
        script = f"setsid {program('load')} 1 2500 1000000 >/dev/null 2>&1 &"
        begin = time.monotonic()
        result = self.record("sh", "-c", script, options=["--wait=all"])
        self.assertGreater(time.monotonic() - begin, 2.4)
        self.assertNotIn("still running", result.stderr)
        self.assertEqual(count(dump(result.trace), "node_instant"), 2500)

    def test_waiting_can_be_ended(self):
        """The program has ended and its pid may be another's: signals are for record now."""
        for number in (signal.SIGTERM, signal.SIGINT):
            trace = self.path(f"{number}.mill")
            record = subprocess.Popen([MILLRACE, "record", "-q", "-o", trace, "--wait=all", "--", "sh", "-c",
                                       "sleep 300 >/dev/null & echo $! $$; exit 4"], stdout=subprocess.PIPE)
            daemon, shell = map(int, record.stdout.readline().split())
            self.addCleanup(os.kill, daemon, signal.SIGKILL)
            self.assertTrue(wait_until(lambda: not os.path.exists(f"/proc/{shell}")), "the program has not ended")
            time.sleep(0.2)
            self.assertIsNone(record.poll())
            record.send_signal(number)
            self.assertEqual(record.wait(timeout=60), 4)
            record.stdout.close()
            self.assertEqual(sum(not each["ended"] for each in manifest(trace)["processes"]), 1)

    def test_more_processes_than_descriptors(self):
        """All are noticed when they come and when they go, also where record can watch but a few."""
        script = ("import os\nreader, writer = os.pipe()\n"
                  "for _ in range(450):\n"
                  "  if os.fork() == 0:\n"
                  "    os.close(writer); os.read(reader, 1); os._exit(0)\n"
                  "os.close(writer)\n"
                  "for _ in range(450): os.wait()\n")
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (310, 400))
        result = self.record(sys.executable, "-c", script, preexec_fn=limit)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("millrace: 451 processes,", result.stderr)
        self.assertNotIn("stopped", result.stderr)
        self.assertEqual([each for each in manifest(result.trace)["processes"] if not each["ended"]], [])

    def test_quick_daemons(self):
        """Children whose parent is gone before they have done anything are not missed."""
        script = "import os\nif os.fork() == 0:\n  os.fork() or os.execvp('sleep', ['sleep', '0.02'])"
        for number in range(10):
            result = self.record(sys.executable, "-c", script, name=f"{number}.mill")
            self.assertEqual(self.names(result.trace).count("sleep"), 1, manifest(result.trace))


class RemovedArena(PrivilegeTest):
    """A cleaner removes the arena's file from /dev/shm while it is in use."""

    CLEAN = 'rm -f "$MILLRACE_ARENA"'
    WAIT = "i=0; while [ ! -L \"$MILLRACE_ARENA\" ] && [ $i -lt 500 ]; do sleep 0.01; i=$((i + 1)); done"

    def names(self, is_traced):
        processes = manifest(self.trace)["processes"]
        return [os.path.basename(process["program"]) for process in processes if process["traced"] == is_traced]

    def test_reached_through_the_recorder(self):
        """Programs that start later are traced; nothing is left behind."""
        command = f"{self.CLEAN}; {self.WAIT}; /usr/bin/env true; {program('load')} 1 100"
        result = run(MILLRACE, "record", "-o", self.trace, "--", "sh", "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(manifest(self.trace)["arena"]["removals"], 1)
        self.assertLessEqual({"env", "true", "live_load"}, set(self.names(True)))
        self.assertEqual(count(dump(self.trace), "node_instant"), 100)
        self.assertIn("removed the recording's buffer", run(MILLRACE, "info", self.trace).stdout)

    def test_not_reached(self):
        """Where the program may not look into the recorder, which has capabilities, it is said which were not traced."""
        if not IS_ROOT:
            self.skipTest("needs root")
        environment = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(NOBODY)}
        result = run(self.millrace, "record", "-o", self.trace, "--", "sh", "-c",
                     f"{self.CLEAN}; {self.WAIT}; /usr/bin/env true", env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        if manifest(self.trace)["kernel_level"]["mode"] != "bpf":
            self.skipTest("the recorder has no capabilities here")
        untraced = [process for process in manifest(self.trace)["processes"] if not process["traced"]]
        self.assertIn("env", self.names(False))
        self.assertEqual({process["reason"] for process in untraced}, {"the recording cannot be reached from there"})
        text = run(MILLRACE, "info", self.trace).stdout
        self.assertIn("removed the recording's buffer", text)

    def test_recorder_killed(self):
        """Then the arena is lost, and no link to it stays."""
        ready = self.path("home/ready")
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", self.trace, "--", "sh", "-c",
                                   f"{self.CLEAN}; {self.WAIT}; echo > {ready}; sleep 2"])
        self.assertTrue(wait_until(lambda: os.path.exists(ready)))
        record.kill()
        record.wait()
        self.assertEqual(run(MILLRACE, "info", self.trace).returncode, 0)
        self.assertEqual(manifest(self.trace)["state"], "lost")


class Sentences(LiveTest):
    """What is said at the end, and in the health, of programs in which nothing was to be traced."""

    def test_flight_recorder(self):
        """What was overwritten was not the program's, as it made no events."""
        result = self.record("sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done",
                             options=["--last", "256K"])
        kept = manifest(result.trace)["kept"]
        if kept["overwritten_packets"] == 0:
            self.skipTest("nothing was overwritten: there is no kernel level")
        self.assertEqual(kept["overwritten_user_packets"], 0)
        self.assertIn("it loaded no known framework or GPU runtime", result.stderr)
        self.assertNotIn("overwritten; give", run(MILLRACE, "info", result.trace).stdout)

    def test_delay(self):
        """A program without hooks, one that ended too early."""
        result = self.record("sleep", "0.5", options=["--delay", "100ms"])
        self.assertIn("it loaded no known framework or GPU runtime", result.stderr)
        result = self.record("true", options=["--delay", "1m"], name="early.mill")
        self.assertIn("the program ended before the time of --delay was over", result.stderr)

    def test_recorder(self):
        """Its CPU time is known, by its own clock; its threads are called what they are."""
        result = self.record("sh", "-c", "i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done")
        recorder = manifest(result.trace)["recorder"]
        self.assertEqual(recorder["name"], "millrace")
        self.assertGreater(recorder["cpu_ns"], 0)
        self.assertRegex(run(MILLRACE, "info", result.trace).stdout,
                         r"Recording took millrace itself \S+ \S+ of CPU time, \S+% of one CPU")
        self.assertNotIn("'millrace' threads (", run(MILLRACE, "report", "--whole", result.trace).stdout)


class WhileRecording(LiveTest):
    def setUp(self):
        super().setUp()
        self.trace = self.path("trace.mill")
        self.record = subprocess.Popen([MILLRACE, "record", "-q", "-o", self.trace, "--", "sleep", "600"])
        self.addCleanup(self.end)
        manifest_path = os.path.join(self.trace, "manifest.json")
        self.assertTrue(wait_until(lambda: os.path.exists(manifest_path)))

    def end(self):
        self.record.send_signal(signal.SIGTERM)
        self.record.wait(timeout=60)

    def test_info(self):
        time.sleep(1)
        text = run(MILLRACE, "info", self.trace).stdout
        self.assertRegex(text, r"\nrecording +still, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([\d.]+ s so far\)\n")
        self.assertNotIn("ran for", text)
        self.assertGreater(info(self.trace)["wall_ns"], 1_000_000_000)

    def test_snapshot_elsewhere(self):
        """In the same file system and in another; the next one is not confused by it."""
        places = [self.path("moved.mill")]
        if os.stat("/dev/shm").st_dev != os.stat(self.folder).st_dev:
            places.append(f"/dev/shm/{os.path.basename(self.folder)}.mill")
            self.addCleanup(shutil.rmtree, places[1], ignore_errors=True)
        for place in places:
            result = run(MILLRACE, "snapshot", "-o", place, self.trace)
            self.assertEqual((result.returncode, result.stdout), (0, place + "\n"), result.stderr)
            self.assertEqual(manifest(place)["state"], "snapshot")
        self.assertEqual([name for name in os.listdir(self.trace) if name.startswith("snapshot-")], [])
        said = json.loads(run(MILLRACE, "snapshot", "--json", self.trace).stdout)
        self.assertEqual(manifest(said["trace"])["state"], "snapshot")

    def test_snapshot_is_refused(self):
        os.mkdir(self.path("old"))
        result = run(MILLRACE, "snapshot", "-o", self.path("old"), self.trace)
        self.assertEqual(result.returncode, 1)
        self.assertIn("already exists", result.stderr)
        self.assertEqual(os.listdir(self.path("old")), [])
        self.assertEqual([name for name in os.listdir(self.trace) if name.startswith("snapshot")], [])

    def test_snapshot_that_cannot_be_moved(self):
        """It is said where it is."""
        result = run(MILLRACE, "snapshot", "-o", self.path("no/such/folder.mill"), self.trace)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        stays = re.search(r"the snapshot stays in (\S+): ", result.stderr)
        self.assertTrue(stays, result.stderr)
        self.assertEqual(manifest(stays[1])["state"], "snapshot")


class Window(LiveTest):
    """What is reported begins with the program's start and ends with the last traced exit."""

    LEVELS = {"all levels": [], "no kernel level": ["--levels", "runtime,dataflow"]}

    def report(self, trace):
        return json.loads(run(MILLRACE, "report", "--whole", "--json", trace).stdout)

    def span_ns(self, trace):
        window = self.report(trace)["window"]
        return window["last_ns"] - window["first_ns"]

    def check_span(self, *command, **keywords):
        """The window is as long as the program ran by the recorder's own clock. The recorder may learn of the end
        before the last thread has left its CPU, and that thread may have to wait for one: then it is measured again."""
        for left in harness.attempts(8):
            result = self.record(*command, **keywords)
            span_ns, wall_ns = self.span_ns(result.trace), self.report(result.trace)["wall_ns"]
            self.assertGreater(span_ns, 300_000_000)
            if span_ns <= wall_ns + 100_000:
                break
            self.assertTrue(left, f"{span_ns} ns, but the program ran for {wall_ns} ns")

    def test_is_that_of_the_program(self):
        for name, options in self.LEVELS.items():
            with self.subTest(name):
                self.check_span("sleep", "0.3", options=options, name=f"{name}.mill")

    def test_is_not_longer_by_the_recorder(self):
        """With the kernel level nothing of it is untraced: the thread is known from its exec to its exit."""
        result = self.record("sleep", "0.3")
        if manifest(result.trace)["kernel_level"]["mode"] != "bpf":
            self.skipTest("needs the kernel level")
        shares = self.report(result.trace)["critical_path"]["shares"]
        untraced = sum(share["ns"] for share in shares if share["cause"] == "untraced")
        self.assertLess(untraced, 1_000_000)

    def test_descendant(self):
        """One that outlives the program, but not its two seconds, is in the window."""
        for name, options in self.LEVELS.items():
            with self.subTest(name):
                result = self.record("sh", "-c", "sleep 0.7 & true", options=options, name=f"{name}.mill")
                self.assertGreater(self.span_ns(result.trace), 700_000_000)
                self.assertLess(self.report(result.trace)["wall_ns"], 650_000_000)

    def test_delay(self):
        result = self.record("sleep", "1", options=["--delay", "600ms"])
        span_ns = self.span_ns(result.trace)
        self.assertLess(span_ns, self.report(result.trace)["wall_ns"] - 600_000_000 + 100_000)

    def test_killed_program(self):
        self.check_span("sh", "-c", "sleep 0.3; kill -9 $$")

    def test_dump_begins_with_it(self):
        """What the recorder wrote before has negative times."""
        result = self.record("true", options=["--levels", "dataflow"])
        lines = run(MILLRACE, "dump", result.trace).stdout.splitlines()
        self.assertRegex(lines[0], r"^\[-0\.\d{9}\] \(\+0\.0{9}\) ")
        started = next(line for line in lines if "process_start" in line and "/true" in line)
        self.assertRegex(started, r"^\[")


if __name__ == "__main__":
    harness.main()
