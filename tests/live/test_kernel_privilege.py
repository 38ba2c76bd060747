#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares time on a CPU with the kernel's own account
"""The kernel level and privilege: what is permitted is used, nothing more is kept, the program gets none of
it, and where nothing is permitted the program runs and the trace says why."""

import grp
import json
import os
import pwd
import re
import shutil
import subprocess
import unittest

import harness
from kernel import ATTEMPTS, why_not
from privilege import (IS_ROOT, NOBODY, SECCOMP_NUMBERS, PrivilegeTest, capabilities_of, children_of, refuse,
                       without_privilege)
from support import count, dump, info, manifest, program, run

NO_SUCH_USER = 54321
PYTHON = "/usr/bin/python3"  # which everybody may execute
KEPT_BY_ROOT = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 5 | 1 << 19  # CHOWN, DAC_OVERRIDE, FOWNER, KILL, SYS_PTRACE
IDENTITY = ["sh", "-c", "id -u; id -g; id -G; grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status"]
NO_CAPABILITIES = ["0000000000000000"] * 4


class RecorderTest(PrivilegeTest):
    def capabilities_while_recording(self, prefix=(), **keywords):
        """Of the recorder, and of all its processes but the program's."""
        command = [*prefix, self.millrace, "record", "-q", "-o", self.trace, "--", "sh", "-c", "echo $$; read line"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **keywords) as record:
            program_pid = int(record.stdout.readline())
            found = capabilities_of(record.pid)
            for child in children_of(record.pid):
                found += capabilities_of(child) if child != program_pid else []
            record.communicate("\n", timeout=60)
        self.assertEqual(record.returncode, 0)
        self.assertGreaterEqual(len(found), 2)
        return found


@unittest.skipUnless(IS_ROOT and not why_not(), why_not() or "needs root")
class Sudo(RecorderTest):
    def record_through_sudo(self, *command, uid=NOBODY.pw_uid, gid=NOBODY.pw_gid, options=()):
        environment = {**os.environ, "SUDO_UID": str(uid), "SUDO_GID": str(gid)}
        return run(self.millrace, "record", "-o", self.trace, *options, "--", *command, env=environment)

    def check_identity(self, result, uid, gid, groups, capabilities):
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual((int(lines[0]), int(lines[1])), (uid, gid))
        self.assertEqual({int(group) for group in lines[2].split()}, set(groups))
        self.assertEqual([line.split()[1] for line in lines[3:]], capabilities)

    def check_owner(self, uid, gid):
        for folder, folders, files in os.walk(self.trace):
            for name in [".", *folders, *files]:
                status = os.lstat(os.path.join(folder, name))
                self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o77), (uid, gid, 0), name)

    def test_user(self):
        result = self.record_through_sudo(*IDENTITY)
        self.check_identity(result, NOBODY.pw_uid, NOBODY.pw_gid,
                            os.getgrouplist("nobody", NOBODY.pw_gid), NO_CAPABILITIES)
        self.check_owner(NOBODY.pw_uid, NOBODY.pw_gid)
        self.check_mode("bpf")

    def test_groups(self):
        """The groups are those of the user, not of root."""
        for entry in pwd.getpwall():
            groups = os.getgrouplist(entry.pw_name, entry.pw_gid)
            if entry.pw_uid == 0 or len(groups) < 2:
                continue
            os.chown(self.path("home"), entry.pw_uid, entry.pw_gid)
            result = self.record_through_sudo(*IDENTITY, uid=entry.pw_uid, gid=entry.pw_gid)
            self.check_identity(result, entry.pw_uid, entry.pw_gid, groups, NO_CAPABILITIES)
            return
        self.skipTest("no user here is in two groups: " + ", ".join(each.gr_name for each in grp.getgrall()))

    def test_user_without_a_name(self):
        os.chown(self.path("home"), NO_SUCH_USER, NO_SUCH_USER)
        result = self.record_through_sudo(*IDENTITY, uid=NO_SUCH_USER, gid=NO_SUCH_USER)
        self.check_identity(result, NO_SUCH_USER, NO_SUCH_USER, [NO_SUCH_USER], NO_CAPABILITIES)
        self.check_owner(NO_SUCH_USER, NO_SUCH_USER)

    def test_recorder(self):
        """Once the program runs, no thread of the recorder has a capability, and it is nobody else."""
        environment = {**os.environ, "SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid)}
        for sets, users, groups in self.capabilities_while_recording(env=environment):
            self.assertEqual((sets, users, groups), ([0] * 4, {str(NOBODY.pw_uid)}, {str(NOBODY.pw_gid)}))
        self.check_mode("bpf")

    def test_root_as_recorder(self):
        """Root keeps what is needed to write files, and to signal and inspect processes; the program gets all."""
        for (inheritable, permitted, effective, ambient), users, _ in self.capabilities_while_recording():
            self.assertEqual((inheritable, permitted & ~KEPT_BY_ROOT, ambient, users), (0, 0, 0, {"0"}))
            self.assertEqual(effective, permitted)
        self.check_mode("bpf")
        shutil.rmtree(self.trace)
        alone = run(*IDENTITY)
        result = run(self.millrace, "record", "-q", "-o", self.trace, "--", *IDENTITY)
        self.assertEqual((result.returncode, result.stdout), (0, alone.stdout))

    def test_ambient(self):
        """What a user gets from above, the program has as it would have alone, and the recorder has not."""
        given = ["setpriv", f"--reuid={NOBODY.pw_uid}", f"--regid={NOBODY.pw_gid}", "--clear-groups",
                 "--inh-caps=+bpf,+perfmon,+net_raw", "--ambient-caps=+bpf,+perfmon,+net_raw"]
        alone = run(*given, *IDENTITY)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        result = run(*given, self.millrace, "record", "-q", "-o", self.trace, "--", *IDENTITY)
        self.assertEqual((result.returncode, result.stdout), (0, alone.stdout), result.stderr)
        self.check_mode("bpf")
        shutil.rmtree(self.trace)
        for sets, _, _ in self.capabilities_while_recording(prefix=given):
            self.assertEqual(sets, [0] * 4)

    def test_as_root(self):
        result = self.record_through_sudo("id", "-u", options=["--as-root"])
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"))
        self.check_owner(0, 0)

    def test_root_ran_sudo(self):
        result = self.record_through_sudo("id", "-u", uid=0, gid=0)
        self.assertEqual((result.returncode, result.stdout), (0, "0\n"))

    def test_without_the_kernel_level(self):
        result = self.record_through_sudo(*IDENTITY, options=["--levels", "dataflow"])
        self.check_identity(result, NOBODY.pw_uid, NOBODY.pw_gid,
                            os.getgrouplist("nobody", NOBODY.pw_gid), NO_CAPABILITIES)
        self.check_owner(NOBODY.pw_uid, NOBODY.pw_gid)

    def test_nonsense(self):
        """Who cannot be told does not become root instead."""
        for uid, gid in (("", "1"), ("1", ""), ("x", "1"), ("1", "x"), ("-1", "1"), (" 1", "1"), ("1 ", "1"),
                         ("0x1", "1"), ("4294967295", "1"), ("1", "4294967295"), ("4294967296", "1"),
                         ("18446744073709551617", "1"), ("1\n", "1"), ("root", "root")):
            result = self.record_through_sudo("touch", self.path("ran"), uid=uid, gid=gid)
            self.assertEqual(result.returncode, 125, (uid, gid))
            self.assertIn("do not say who ran sudo", result.stderr)
            self.assertFalse(os.path.exists(self.trace))
            self.assertFalse(os.path.exists(self.path("ran")))
        environment = {**os.environ, "SUDO_GID": "1"}
        result = run(self.millrace, "record", "-o", self.trace, "--", "true", env=environment)
        self.assertEqual(result.returncode, 125)

    def test_planted_links(self):
        """In a folder of the user's, a name may lead anywhere: only where the user could go himself."""
        secret = self.path("secret")
        os.mkdir(secret, 0o700)
        self.assertEqual(os.stat(secret).st_uid, 0)
        os.symlink(secret, self.path("home/link"))
        os.symlink(self.path("secret/new.mill"), self.path("home/dangling.mill"))
        os.symlink(secret, self.path("home/folder.mill"))
        for name in "home/link/trace.mill", "home/dangling.mill", "home/folder.mill":
            self.trace = self.path(name)
            result = self.record_through_sudo("touch", self.path("home/ran"))
            self.assertEqual(result.returncode, 125, name)
            self.assertFalse(os.path.exists(self.path("home/ran")))
        self.assertEqual(os.listdir(secret), [])

    def test_exchanged_folder(self):
        """The user exchanges the trace's folders for links while it is recorded: nothing of root's is
        written."""
        target = self.path("target")
        os.mkdir(target)
        script = f"cd {self.path('home')}; mv trace.mill moved.mill; ln -s {target} trace.mill; " \
                 f"mv moved.mill/ctf moved.mill/old; ln -s {target} moved.mill/ctf; sleep 0.2"
        result = self.record_through_sudo("sh", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(os.listdir(target), [])
        self.assertTrue(os.path.exists(self.path("home/moved.mill/manifest.json")))

    def test_folder_of_others(self):
        self.trace = self.path("trace.mill")  # where the user may not write
        result = self.record_through_sudo("true")
        self.assertEqual(result.returncode, 125)
        self.assertIn("Permission denied", result.stderr)


@unittest.skipUnless(IS_ROOT and not why_not() and shutil.which("setcap"),
                     why_not() or "needs root and setcap")
class FileCapabilities(RecorderTest):
    def record_with(self, capabilities, *command, options=(), **keywords):
        subprocess.run(["setcap", capabilities, self.millrace], check=True)
        return run(*without_privilege(self.millrace, "record", "-o", self.trace, *options, "--", *command),
                   **keywords)

    def test_program_has_none(self):
        result = self.record_with("cap_bpf,cap_perfmon+ep", *IDENTITY)
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[0], str(NOBODY.pw_uid))
        self.assertEqual([line.split()[1] for line in lines[3:]], NO_CAPABILITIES)
        self.check_mode("bpf")
        self.assertEqual(os.stat(self.trace).st_uid, NOBODY.pw_uid)

    def test_recorder(self):
        subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", self.millrace], check=True)
        for sets, users, _ in self.capabilities_while_recording(prefix=without_privilege()):
            self.assertEqual((sets, users), ([0] * 4, {str(NOBODY.pw_uid)}))
        self.check_mode("bpf")

    def test_readers(self):
        """Commands that read traces, which anybody may have written, have no capability."""
        self.record_with("cap_bpf,cap_perfmon+ep", "true")
        with subprocess.Popen(without_privilege(self.millrace, "view", "--no-open", self.trace), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as view:
            view.stdout.readline()
            found = capabilities_of(view.pid)
            view.terminate()
        self.assertEqual({tuple(sets) for sets, _, _ in found}, {(0, 0, 0, 0)})

    def test_environment(self):
        """The dynamic linker hides such variables from a program with capabilities; not from ours."""
        wanted = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/nowhere", "TMPDIR": "/nowhere",
                  "GCONV_PATH": "/nowhere", "LD_PRELOAD": "libdl.so.2", "EMPTY": "", "LINES": "a\nb"}
        result = self.record_with("cap_bpf,cap_perfmon+ep", "env", "-0", env=wanted)
        self.assertEqual(result.returncode, 0, result.stderr)
        found = dict(line.split("=", 1) for line in result.stdout.split("\0") if line)
        preload = found.pop("LD_PRELOAD").split(":")
        self.assertEqual(preload, [self.path("bin/libmillrace.so"), wanted.pop("LD_PRELOAD")])
        self.assertLessEqual(wanted.items(), found.items())
        self.check_mode("bpf")

    def test_one_is_missing(self):
        for capabilities in "cap_bpf+ep", "cap_perfmon+ep":
            result = self.record_with(capabilities, "echo", "ran", options=["--levels", "kernel"])
            self.assertEqual((result.returncode, result.stdout), (0, "ran\n"))
            self.assertIn("setcap cap_bpf,cap_perfmon+ep", result.stderr)
            self.assertNotEqual(self.kernel_level()["mode"], "bpf")
            shutil.rmtree(self.trace)

    def test_doctor(self):
        def doctor():
            result = run(*without_privilege(self.millrace, "doctor", "--json"), cwd=self.path("home"))
            return {each["name"]: each for each in json.loads(result.stdout)["capabilities"]}
        before = doctor()
        self.assertEqual((before["kernel"]["state"], before["privileges"]["state"]), ("degraded", "missing"))
        remedy = before["privileges"]["remedy"]
        self.assertIn("lacks CAP_BPF and CAP_PERFMON", before["privileges"]["reason"])
        subprocess.run(remedy.removeprefix("sudo "), shell=True, check=True)
        after = doctor()
        self.assertEqual((after["kernel"]["state"], after["privileges"]["state"]), ("ok", "ok"))


FAMILY = """
import os, threading, time
print(os.getpid())
for _ in range(3):
    child = os.fork()
    if child == 0:
        time.sleep(0.01)
        os._exit(0)
    print(child)
    os.waitpid(child, 0)
thread = threading.Thread(target=lambda: [time.sleep(0.002) for _ in range(20)])
thread.start()
print(thread.native_id)
thread.join()
"""


# Works and sleeps for a while, of which it tells begin, end, how long it had a CPU by perf's clock of the thread, and
# the CPU time that the kernel accounts it: that is less by what a hypervisor took of a CPU.
WORKER = f"""
import ctypes, os, struct, time
TASK_CLOCK = struct.pack("IIQQQQQIIQ", 1, 64, 1, 0, 0, 0, 1 << 5 | 1 << 6, 0, 0, 0)  # of the user
clock = ctypes.CDLL(None).syscall({SECCOMP_NUMBERS["perf_event_open"]}, TASK_CLOCK, 0, -1, -1, 0)
def read_clocks():
    return time.monotonic_ns(), struct.unpack("Q", os.read(clock, 8))[0], time.thread_time_ns()
start, on_cpu, ran = read_clocks()
for _ in range(20):
    end = time.thread_time_ns() + 5000000
    while time.thread_time_ns() < end:
        pass
    time.sleep(0.001)
now = read_clocks()
print(os.getpid(), start, now[0], now[1] - on_cpu, now[2] - ran)
"""


def on_cpu_in(events, tid, start, end):
    """How long a thread had a CPU between two times at which it had one, and how often it got one; None where the
    kernel did not tell of a switch."""
    total, times, since = 0, 0, start
    for event in events:
        if event["event"] != "kernel_switch" or not start <= event["ticks"] <= end:
            continue
        if tid in (event["fields"]["previous_tid"], event["fields"]["next_tid"]):
            is_in = event["fields"]["next_tid"] == tid
            if is_in != (since is None):
                return None
            total += 0 if is_in else event["ticks"] - since
            times += is_in
            since = event["ticks"] if is_in else None
    return None if since is None else (total + end - since, times)


class Unprivileged(PrivilegeTest):
    def record_plainly(self, *command, options=(), **keywords):
        return run(*without_privilege(self.millrace, "record", "-o", self.trace, *options, "--", *command),
                   **keywords)

    def test_no_noise(self):
        result = self.record_plainly("echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n"))
        self.assertNotIn("kernel", result.stderr)
        self.check_mode("perf", "setcap cap_bpf,cap_perfmon")

    def test_asked_for(self):
        result = self.record_plainly("echo", "ran", options=["--levels", "kernel"])
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n"))
        self.assertEqual(len(re.findall("setcap cap_bpf,cap_perfmon", result.stderr)), 1)
        result = self.record_plainly("echo", "ran", options=["-q", "-o", self.trace + "2"])
        self.assertEqual(result.stderr, "")

    def test_life(self):
        """Every task is born and ends, under its name, and sleeps as often as it did."""
        for left in harness.attempts(ATTEMPTS):  # until the kernel has told of every switch
            result = self.record_plainly(PYTHON, "-c", FAMILY)
            self.assertEqual(result.returncode, 0, result.stderr)
            pid, *others = [int(line) for line in result.stdout.split()]
            events = dump(self.trace)
            fields = {name: [event["fields"] for event in events if event["event"] == "kernel_" + name]
                      for name in ("fork", "exec", "exit", "switch", "task_name")}
            left = sum(switch["previous_tid"] == others[3] and switch["reason"] != "preempted"
                       for switch in fields["switch"])
            if left >= 20 or left == 0:
                break
            shutil.rmtree(self.trace)
        self.assertGreaterEqual(left, 20)
        self.assertEqual([birth["tid"] for birth in fields["fork"]], [pid, *others])
        self.assertEqual([birth["parent_tid"] for birth in fields["fork"]][1:], [pid] * 4)
        self.assertEqual([birth["pid"] for birth in fields["fork"]], [pid, *others[:3], pid])
        self.assertEqual({birth["name"] for birth in fields["fork"]},
                         {"millrace", "python3"})
        self.assertEqual([each["tid"] for each in fields["exec"]], [pid])
        self.assertEqual(sorted(end["tid"] for end in fields["exit"]), sorted([pid, *others]))
        self.assertFalse(manifest(self.trace)["unseen_processes_possible"])
        self.check_against_babeltrace(self.trace)

    def test_on_cpu(self):
        """What lies between a switch in and the next switch out is the time on a CPU."""
        for left in harness.attempts(ATTEMPTS):
            result = self.record_plainly(PYTHON, "-c", WORKER)
            tid, start, end, on_cpu, ran = [int(word) for word in result.stdout.split()]
            total, times = on_cpu_in(dump(self.trace), tid, start, end) or (0, 0)
            # Perf's clock begins a little after each switch, and the two are read one after the other.
            allowed = on_cpu * 0.01 + 100_000 + 10_000 * times
            # Until the kernel has told of every switch, and no CPU was taken away between two clocks.
            if times and abs(total - on_cpu) <= allowed or left == 0:
                break
            shutil.rmtree(self.trace)
        self.assertGreaterEqual(times, 20)
        self.assertAlmostEqual(total, on_cpu, delta=allowed)
        self.assertGreaterEqual(total, ran * 0.98)

    def test_lost(self):
        """A ring too small: what was lost is counted, and all else is there."""
        result = self.record_plainly(PYTHON, "-c", """
import os, signal, threading
record = os.getppid()
os.kill(record, signal.SIGSTOP)
lock, other = threading.Semaphore(0), threading.Semaphore(0)
def answer():
    for _ in range(5000):
        lock.acquire()
        other.release()
thread = threading.Thread(target=answer)
thread.start()
for _ in range(5000):
    lock.release()
    other.acquire()
thread.join()
os.kill(record, signal.SIGCONT)
""", options=["--kernel-buffer", "64K"])
        self.assertEqual(result.returncode, 0, result.stderr)
        lost = sum(self.kernel_level()["lost_by_cpu"])
        told = sum(event["fields"]["count"] for event in dump(self.trace) if event["event"] == "loss")
        self.assertGreater(lost, 1000)
        self.assertEqual((told, manifest(self.trace)["losses"]["by_reason"]["kernel_buffer_full"]),
                         (lost, lost))
        self.assertTrue(manifest(self.trace)["unseen_processes_possible"])


class Refused(PrivilegeTest):
    """The kernel says no, in all its ways: the program runs, other levels are recorded."""

    def check(self, mode, reason, *prefix, **keywords):
        result = run(*prefix, self.millrace, "record", "-o", self.trace, "--", program("load"), "1", "100",
                     **keywords)
        self.assertEqual((result.returncode, result.stdout), (0, "100\n"), result.stderr)
        self.check_mode(mode, reason)
        self.assertEqual(count(dump(self.trace), "node_instant"), 100)
        self.assertNotIn("kernel", result.stderr)
        shutil.rmtree(self.trace)

    def test_seccomp(self):
        for error in 1, 38:  # EPERM, ENOSYS
            self.check("off", "bpf.*perf_event_open is refused",
                       preexec_fn=refuse(error, "bpf", "perf_event_open"))

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_seccomp_without_bpf(self):
        for error in 1, 38:
            self.check("perf", r"bpf\(\)", preexec_fn=refuse(error, "bpf"))

    def test_said_once(self):
        result = run(self.millrace, "record", "-o", self.trace, "--levels", "kernel,dataflow", "--", "true",
                     preexec_fn=refuse(1, "bpf", "perf_event_open"))
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("the kernel level was not recorded: "), 1, result.stderr)
        self.assertIn("perf_event_open", str(info(self.trace)["findings"][0]["sentences"]))

    @unittest.skipUnless(IS_ROOT, "hiding a file needs root")
    def test_no_type_information(self):
        hide = 'mount -t tmpfs tmpfs /sys/kernel/btf && exec "$@"'
        self.check("perf", "/sys/kernel/btf/vmlinux", "unshare", "-m", "sh", "-c", hide, "sh")

    @unittest.skipUnless(IS_ROOT, "hiding a file needs root")
    def test_paranoid(self):
        with open(self.path("three"), "w") as file:
            file.write("3\n")
        hide = f'mount --bind {self.path("three")} /proc/sys/kernel/perf_event_paranoid && exec "$@"'
        self.check("off", "sysctl kernel.perf_event_paranoid=2", "unshare", "-m", "sh", "-c", hide, "sh",
                   preexec_fn=refuse(13, "bpf", "perf_event_open"))


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
