#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program under `record` gets the signals, streams, limits and surroundings it would have without,
and `record` ends as the program does."""

import fcntl
import os
import pty
import re
import resource
import select
import signal
import struct
import subprocess
import termios
import time

import harness
from support import MILLRACE, LiveTest, manifest, program, run, wait_until

QUIET_SECONDS = 0.15  # after which a second signal would have come


class Signals(LiveTest):
    def start(self, *arguments, prepare=lambda: None):
        """`signals` under record, in a process group of its own, as shells do."""
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", self.path("trace.mill"), "--",
                                   program("signals"), *arguments], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE,
                                  preexec_fn=lambda: (os.setpgrp(), prepare()))
        self.output = b""
        self.addCleanup(record.stdout.close)
        self.addCleanup(record.wait, 60)
        self.addCleanup(record.kill)
        self.addCleanup(record.stdin.close)
        self.read_until(record.stdout.fileno(), b"ready")
        self.pid = int(re.search(rb"ready (\d+)", self.output)[1])
        return record

    def read_until(self, fd, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.output or not self.output.endswith(b"\n"):
            if not select.select([fd], [], [], max(end - time.monotonic(), 0))[0]:
                return False
            try:
                more = os.read(fd, 65536)
            except OSError:  # the terminal is gone
                return False
            if not more:  # the program is
                return False
            self.output += more
        return True

    def got(self):
        return [int(number) for number in re.findall(rb"signal (\d\d)", self.output)]

    def check_got_once(self, fd, number):
        line = b"signal %02d" % number
        self.assertTrue(self.read_until(fd, line), f"signal {number} did not arrive")
        self.read_until(fd, b"another", QUIET_SECONDS)
        self.assertEqual(re.findall(rb"signal \d\d", self.output), [line])
        self.output = b""

    def finish(self, record, status=3):
        record.stdin.close()
        self.assertEqual(record.wait(timeout=60), status)

    def test_sent_to_record(self):
        record = self.start()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGWINCH, signal.SIGPIPE, signal.SIGALRM, signal.SIGABRT, signal.SIGSEGV,
                       signal.SIGCHLD, signal.SIGRTMIN + 3):
            os.kill(record.pid, number)
            self.check_got_once(record.stdout.fileno(), number)
        self.finish(record)

    def test_sent_to_group(self):
        record = self.start()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1,
                       signal.SIGWINCH, signal.SIGABRT):
            os.killpg(record.pid, number)
            self.check_got_once(record.stdout.fileno(), number)
        self.finish(record)

    def test_sent_in_a_row(self):
        """Different signals, to record and to the group in turn: none is lost or doubled."""
        record = self.start()
        sent = []
        for number in range(signal.SIGRTMIN, signal.SIGRTMIN + 20):
            (os.kill if number % 2 else os.killpg)(record.pid, number)
            sent.append(number)
        end = time.monotonic() + 60
        while len(self.got()) < len(sent) and time.monotonic() < end:
            self.read_until(record.stdout.fileno(), b"never", QUIET_SECONDS)
        self.read_until(record.stdout.fileno(), b"never", 1)
        self.assertEqual(sorted(self.got()), sent)
        self.finish(record)

    def test_ignored(self):
        """As under nohup: ignored by record's parent, so ignored by the program."""
        record = self.start(prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.kill(record.pid, signal.SIGHUP)
        os.killpg(record.pid, signal.SIGHUP)
        os.kill(record.pid, signal.SIGUSR1)
        self.check_got_once(record.stdout.fileno(), signal.SIGUSR1)
        self.finish(record)

    def test_children_signalled_by_others(self):
        """A SIGCHLD from elsewhere that waits for record hides the one of the program's end: the kernel keeps one."""
        record = self.start()
        os.kill(record.pid, signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: self.state_of(record.pid) == "T"))
        os.kill(record.pid, signal.SIGCHLD)
        os.kill(self.pid, signal.SIGKILL)
        self.assertTrue(wait_until(lambda: self.state_of(self.pid) == "Z"))
        os.kill(record.pid, signal.SIGCONT)
        self.finish(record, -signal.SIGKILL)

    def test_before_the_program_runs(self):
        """A signal in the first milliseconds is not lost, whoever holds it then."""
        for delay in range(12):
            record = subprocess.Popen([MILLRACE, "record", "-q", "-o", self.path(f"{delay}.mill"), "--",
                                       "sleep", "100"], start_new_session=True)
            time.sleep(delay / 1000)
            os.kill(record.pid, signal.SIGTERM)
            self.assertEqual(record.wait(timeout=60), -signal.SIGTERM)

    # ---- terminals -----------------------------------------------------------------------------------

    def start_on_terminal(self, *command):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp(command[0], command)
        self.output = b""
        self.addCleanup(os.close, terminal)
        self.assertTrue(self.read_until(terminal, b"ready"), self.output)
        self.output = b""
        return pid, terminal

    def record_command(self):
        return [MILLRACE, "record", "-q", "-o", self.path("trace.mill"), "--", program("signals"), "120"]

    def test_keys(self):
        pid, terminal = self.start_on_terminal(*self.record_command())
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)):
            os.write(terminal, key)
            self.check_got_once(terminal, number)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 30, 90, 0, 0))
        self.check_got_once(terminal, signal.SIGWINCH)
        os.write(terminal, b"\x04")  # end of input
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)

    def test_hang_up(self):
        """The kernel tells the leader of the session, which is record; without it, it were the program."""
        heard = self.path("heard")
        script = f"trap 'echo hang-up >{heard}; exit 5' HUP; echo ready; while :; do sleep 0.02; done"
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(MILLRACE, [MILLRACE, "record", "-q", "-o", self.path("trace.mill"), "--", "sh", "-c",
                                script])
        self.output = b""
        self.assertTrue(self.read_until(terminal, b"ready"), self.output)
        os.close(terminal)
        self.assertTrue(wait_until(lambda: os.path.exists(heard)), "the program heard nothing")
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5)

    def test_stop_key(self):
        """Ctrl-Z gives the shell its prompt back; fg goes on."""
        command = " ".join(self.record_command())
        pid, terminal = self.start_on_terminal(
            "bash", "-mc", f"{command}; echo first $?; fg >/dev/null; echo then $?")
        os.write(terminal, b"\x1a")
        self.assertTrue(self.read_until(terminal, b"first 14"), self.output)
        # fg's SIGCONT is the group's: it comes once.
        self.check_got_once(terminal, signal.SIGCONT)
        os.write(terminal, b"\x04")
        self.assertTrue(self.read_until(terminal, b"then 3"), self.output)
        os.waitpid(pid, 0)

    def test_only_the_program_stops(self):
        """Record stops with it, so that a shell would notice, and goes on with it."""
        record = self.start("120")
        for _ in range(3):
            os.kill(self.pid, signal.SIGSTOP)
            self.assertTrue(wait_until(lambda: self.state_of(record.pid) == "T"), "record does not stop")
            os.kill(self.pid, signal.SIGCONT)
            self.assertTrue(wait_until(lambda: self.state_of(record.pid) != "T"), "record does not go on")
            self.check_got_once(record.stdout.fileno(), signal.SIGCONT)
        os.kill(record.pid, signal.SIGTSTP)  # forwarded: the program stops, then record
        self.assertTrue(wait_until(lambda: self.state_of(self.pid) == "T" == self.state_of(record.pid)))
        os.kill(record.pid, signal.SIGCONT)
        self.check_got_once(record.stdout.fileno(), signal.SIGCONT)
        self.finish(record)

    @staticmethod
    def state_of(pid):
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]


class Endings(LiveTest):
    def test_exit_codes(self):
        for code in (0, 1, 2, 3, 77, 124, 125, 126, 127, 128, 130, 137, 143, 254, 255):
            result = self.record("sh", "-c", f"exit {code}", name=f"{code}.mill")
            self.assertEqual(result.returncode, code)
            self.assertEqual(manifest(result.trace)["exit"], {"code": code})

    def test_killed_by_signals(self):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGINT, signal.SIGPIPE,
                       signal.SIGHUP, signal.SIGABRT, signal.SIGUSR2, signal.SIGXFSZ):
            result = self.record("sh", "-c", f"kill -{int(number)} $$", name=f"{int(number)}.mill")
            self.assertEqual(result.returncode, -number)
            self.assertEqual(manifest(result.trace)["exit"], {"signal": number})

    def test_children_ignored(self):
        """Some parents ignore SIGCHLD, and leave that to their children."""
        result = self.record("sh", "-c", "exit 3",
                             preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 3)

    def test_in_a_shell(self):
        command = f"{MILLRACE} record -q -o {self.path('trace.mill')} -- sh -c 'kill -9 $$'; echo $?"
        self.assertEqual(run("sh", "-c", command).stdout, "137\n")

    def test_one_core_file_at_most(self):
        def allow():
            resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
        result = self.record("sh", "-c", "kill -ABRT $$", cwd=self.folder, preexec_fn=allow)
        self.assertEqual(result.returncode, -signal.SIGABRT)
        cores = [name for name in os.listdir(self.folder) if name.startswith("core")]
        self.assertLessEqual(len(cores), 1)


class Surroundings(LiveTest):
    def both(self, *command, **keywords):
        """A program's output without and with record."""
        alone = run(*command, cwd=self.folder, **keywords)
        result = self.record(*command, cwd=self.folder, options=["-q"], **keywords)
        self.assertEqual((alone.returncode, alone.stderr), (result.returncode, result.stderr))
        return alone.stdout, result.stdout

    def test_signal_state(self):
        def prepare():
            signal.signal(signal.SIGUSR1, signal.SIG_IGN)
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD, signal.SIGRTMIN])
        # Not SigQ, which counts what is queued for all processes of the user.
        alone, recorded = self.both("grep", "-E", "^(Sig[^Q]|Shd)", "/proc/self/status", preexec_fn=prepare)
        self.assertEqual(recorded, alone)
        self.assertIn("SigBlk", alone)

    def test_limits(self):
        def prepare():
            resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 4096))
            resource.setrlimit(resource.RLIMIT_STACK, (4 << 20, 16 << 20))
        alone, recorded = self.both("cat", "/proc/self/limits", preexec_fn=prepare)
        self.assertEqual(recorded, alone)

    def test_descriptors(self):
        with open("/dev/null") as inherited:
            alone, recorded = self.both("ls", "/proc/self/fd", pass_fds=[inherited.fileno()])
        self.assertEqual(recorded, alone)

    def test_environment(self):
        alone, recorded = self.both("env", "-0")
        added = sorted(set(recorded.split("\0")) - set(alone.split("\0")))
        self.assertEqual([each.partition("=")[0] for each in added],
                         ["CUDA_INJECTION64_PATH", "HSA_TOOLS_LIB", "LD_PRELOAD", "MILLRACE_ARENA", "NVTX_INJECTION64_PATH",
                          "OPENCL_LAYERS"])
        self.assertEqual(set(alone.split("\0")) - set(recorded.split("\0")), set())

    def test_family(self):
        """Parent, process group, session, umask, working folder."""
        record = subprocess.Popen([MILLRACE, "record", "-q", "-o", self.path("trace.mill"), "--", "sh",
                                   "-c", "cat /proc/$$/stat; umask; pwd"], stdout=subprocess.PIPE, text=True,
                                  start_new_session=True, cwd=self.folder, umask=0o027)
        lines = record.communicate(timeout=60)[0].splitlines()
        parent, group, session = lines[0].rpartition(")")[2].split()[1:4]
        self.assertEqual((int(parent), int(group), int(session)), (record.pid,) * 3)
        self.assertEqual(lines[1:], ["0027", self.folder])

    def test_streams(self):
        for redirection in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full", "</dev/zero"):
            script = "head -c 5 | wc -c; echo out; status=$?; echo err >&2; exit $status"
            alone = run("sh", "-c", f'sh -c "$0" {redirection}', script)
            trace = self.path(f"{hash(redirection)}.mill")
            recorded = run("sh", "-c", f'"$0" record -q -o "$1" -- sh -c "$2" {redirection}', MILLRACE,
                           trace, script)
            for field in ("returncode", "stdout", "stderr"):
                self.assertEqual(getattr(recorded, field), getattr(alone, field), redirection)

    def test_closed_streams_do_not_spoil_the_trace(self):
        """What record prints must not land in a file that got the number of a closed stream."""
        trace = self.path("trace.mill")
        run("sh", "-c", f'"$0" record -o "$1" -- "$2" 1 1000 <&- >&- 2>&-', MILLRACE, trace, program("load"))
        self.assertGreater(self.check_against_babeltrace(trace), 3000)


if __name__ == "__main__":
    harness.main()
