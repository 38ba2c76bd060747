# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the kernel level: an independent reader of its events (babeltrace2), and simple
computations on them, to compare with what programs say."""

import collections
import ctypes
import os
import platform
import re
import shutil

import harness
from support import LiveTest, manifest, program, run

RECORDER = 1
ATTEMPTS = 8
WANTS_CPU = {"wake-up", "preempted"}  # causes for which a thread that could run does not
BLOCKED = {"interruptible", "uninterruptible", "disk", "stopped"}
LINE = re.compile(r"\[(\d+)\].*? (\w+): \{ process = (\d+), pid = \d+, tid = (\d+),[^}]*\}, \{(.*)\}$")
DISCARDED = re.compile(r"^WARNING: Tracer (?:discarded (\d+) events?|may have discarded events) .*$", re.M)
FIELD = re.compile(r'(\w+) = (?:\( "?(\w+)"? : container = \d+ \)|"((?:[^"\\]|\\.)*)"|(-?\d+))')
CAP_PERFMON, CAP_BPF = 38, 39
BPF_CALL = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
BPF_PROG_GET_FD_BY_ID, BPF_LINK_GET_FD_BY_ID, BPF_LINK_GET_NEXT_ID = 13, 30, 31

Event = collections.namedtuple("Event", "time cpu name fields")
Call = collections.namedtuple("Call", "start end name path result argument event")
Wait = collections.namedtuple("Wait", "start woken end reason waker context source cpu")


def why_not():
    """Why the kernel level cannot be tested here, or None."""
    if not shutil.which("babeltrace2"):
        return "babeltrace2 is not installed"
    with open("/proc/self/status") as file:
        effective = int(re.search(r"CapEff:\s+(\w+)", file.read())[1], 16)
    if not effective >> CAP_BPF & effective >> CAP_PERFMON & 1:
        return "the kernel level needs CAP_BPF and CAP_PERFMON: run as root"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF)"
    return None


def skip_unless_possible():
    reason = why_not()
    if reason:
        harness.skip(reason)


def parse_truth(text, what):
    """The lines of that kind that a program printed: dictionaries, with numbers where they are."""
    result = []
    for line in text.splitlines():
        kind, *words = line.split(" ")
        if kind == what:
            pairs = (word.split("=", 1) for word in words)
            result.append({key: int(value) if value.lstrip("-").isdigit() else value
                           for key, value in pairs})
    return result


# What a time of one thread must be by accounts of the kernel that the trace does not use (task_times.h): at least, and
# at most. Wanted is how long the report says that the thread wanted a CPU. The kernel's own account of that, the delay,
# is less when a hypervisor has taken away the CPU for which the thread was woken: then the two bounds differ.

def bounds_of_running(truth, wanted_ns):
    return truth["on_cpu"], truth["on_cpu"]


def bounds_of_delay(truth, wanted_ns):
    return truth["delay"], truth["delay"]


def bounds_of_blocked(truth, wanted_ns):
    off_cpu = truth["wall"] - truth["on_cpu"]
    return off_cpu - wanted_ns, off_cpu - truth["delay"]


def is_within(found_ns, bounds, share, least_ns=0):
    """But for a share of the larger bound, or so many nanoseconds, whichever is more."""
    low, high = bounds
    allowed = max(high * share, least_ns)
    return low - allowed <= found_ns <= high + allowed


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


class Trace:
    """The kernel's events, and the definitions they need."""

    def __init__(self, path):
        self.events = collections.defaultdict(list)  # by name
        self.files, self.strings, self.syscalls = {}, {}, {}
        result = run("babeltrace2", "--clock-cycles", os.path.join(path, "ctf"), timeout=300)
        # It does not tell how many were lost before the end of a stream's first packet.
        self.discarded = sum(int(number or 0) for number in DISCARDED.findall(result.stderr))
        complaints = DISCARDED.sub("", result.stderr).strip()
        if result.returncode != 0 or complaints:
            raise AssertionError(complaints)
        for line in result.stdout.splitlines():
            time, name, process, cpu, fields = LINE.search(line).groups()
            values = {key: int(number) if number else label or unescape(text)
                      for key, label, text, number in FIELD.findall(fields)}
            if name.startswith("kernel_") or (name == "loss" and int(process) == RECORDER):
                self.events[name].append(Event(int(time), int(cpu), name, values))
            elif name == "def_syscall":
                self.syscalls[values["number"]] = values["name"]
            elif name == "def_file" and int(process) == RECORDER:
                self.files[values["id"]] = values["path"]
            elif name == "def_string" and int(process) == RECORDER:
                self.strings[values["id"]] = values["value"]

    def of(self, *names, **fields):
        """Events of these names whose fields have these values, in order of time."""
        return sorted((event for name in names for event in self.events[name]
                       if all(event.fields[key] == value for key, value in fields.items())),
                      key=lambda event: event.time)

    def count(self, *names):
        return len(self.of(*names))

    # ---- system calls ----

    def call(self, event):
        fields = event.fields
        start = event.time - fields.get("duration_ns", 0)
        path = self.files[fields["file"]] if fields.get("file") else None
        return Call(start, event.time, self.syscalls[fields["number"]], path, fields.get("result"),
                    fields.get("argument"), event)

    def calls(self, tid):
        """Finished and unfinished system calls of a thread, in order of their beginning."""
        found = self.of("kernel_syscall", "kernel_syscall_argument", "kernel_syscall_wide",
                        "kernel_syscall_unfinished", tid=tid)
        return sorted(map(self.call, found), key=lambda call: (call.start, call.end))

    def call_of_wait(self, tid, wait):
        """The system call in which a thread waited, in both modes of recording them; None if unknown."""
        for call in self.calls(tid):
            if call.start <= wait.start and wait.end <= call.end:
                return call
        for event in self.of("kernel_blocked_call", tid=tid):
            if event.cpu == wait.cpu and wait.start <= event.time < wait.end:
                return self.call(event)
        return None

    # ---- states ----

    def switches(self, tid):
        """(time, is in, cpu, reason), in order."""
        found = []
        for event in self.of("kernel_switch"):
            if event.fields["next_tid"] == tid:
                found.append((event.time, True, event.cpu, None))
            if event.fields["previous_tid"] == tid:
                found.append((event.time, False, event.cpu, event.fields["reason"]))
        return found

    def has_holes(self):
        """Whether a thread left a CPU that it was not given, or ran again without having been woken."""
        for birth in self.of("kernel_fork"):
            tid = birth.fields["tid"]
            was_in = False
            for _, is_in, _, _ in self.switches(tid):
                if is_in == was_in:
                    return True
                was_in = is_in
            if any(wait.context is None for wait in self.waits(tid)):
                return True
        return False

    def run_ns(self, tid, until):
        """CPU time of a thread up to a time at which it does not run."""
        total, start = 0, None
        for time, is_in, _, _ in self.switches(tid):
            if time > until:
                break
            if is_in:
                start = time
            elif start is not None:
                total, start = total + time - start, None
        return total

    def off_cpu_ns(self, tid, start, end):
        """How long a thread had no CPU, of a time that it began and ended with one."""
        total, out = 0, None
        for time, is_in, _, _ in self.switches(tid):
            if start <= time <= end and not is_in:
                out = time
            elif out is not None and is_in:
                total, out = total + time - out, None
        return total

    def waits(self, tid):
        """Each time a thread left its CPU to wait, until it had one again."""
        wakings = self.of("kernel_waking", tid=tid)
        found, out = [], None
        for time, is_in, cpu, reason in self.switches(tid):
            if not is_in:
                out = (time, cpu, reason)
            elif out and out[2] in BLOCKED:
                start, out_cpu, why = out
                woken = next((w for w in wakings if start <= w.time <= time), None)
                says = woken.fields if woken else {"waker_tid": None, "context": None, "source": 0}
                found.append(Wait(start, woken.time if woken else time, time, why, says["waker_tid"],
                                  says["context"], self.strings.get(says["source"], ""), out_cpu))
        return found


class KernelTest(LiveTest):
    def record_kernel(self, *command, options=(), **keywords):
        """Records a program of tests/live/programs; its result also has the events read."""
        name, *arguments = command
        executable = program("kernel_" + name) if os.sep not in name else name
        result = self.record(executable, *arguments, options=options, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        level = manifest(result.trace)["kernel_level"]
        self.assertEqual(level["off"], [], "parts of the kernel level are off")
        result.events = Trace(result.trace)
        return result

    def record_whole(self, *command, **keywords):
        """The same, again if need be, until the kernel has told of every switch and waking. Some
        kernels are silent for a while now and then, and perf, too, then sees nothing."""
        for _ in harness.attempts(ATTEMPTS):
            result = self.record_kernel(*command, **keywords)
            if not result.events.has_holes():
                return result
            shutil.rmtree(result.trace)
        self.skipTest("this kernel does not tell of every switch")

    def make_file(self, name, size):
        """A file on a disk, not in memory: the test's folder may be in a tmpfs."""
        folder = self.disk_folder()
        path = os.path.join(folder, f"{os.path.basename(self.folder)}-{name}")
        with open(path, "wb") as file:
            file.write(os.urandom(size))
            os.fsync(file.fileno())
        self.addCleanup(os.unlink, path)
        return path

    def disk_folder(self):
        for folder in (self.folder, os.environ["BUILD_DIR"]):
            if os.major(os.stat(folder).st_dev) != 0:
                return folder
        self.skipTest("no folder on a disk")

    def assert_close(self, is_ns, should_be_ns, share, least_ns, what):
        """Within a share of the truth, or within so many nanoseconds, whichever is more."""
        allowed = max(should_be_ns * share, least_ns)
        self.assertLessEqual(abs(is_ns - should_be_ns), allowed,
                             f"{what}: {is_ns} ns, in truth {should_be_ns} ns")


def bpf_program_exists(number):
    """Asks the kernel for a BPF program by its id."""
    attributes = (ctypes.c_uint32 * 32)(number)
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(BPF_CALL, BPF_PROG_GET_FD_BY_ID, attributes, ctypes.sizeof(attributes))
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def bpf_tracepoints():
    """(tracepoint, id of the BPF program) of all that is attached on this machine."""
    libc, found, link = ctypes.CDLL(None, use_errno=True), [], (ctypes.c_uint32 * 32)(0)
    while libc.syscall(BPF_CALL, BPF_LINK_GET_NEXT_ID, link, ctypes.sizeof(link)) == 0:
        link[0] = link[1]
        attributes = (ctypes.c_uint32 * 32)(link[0])
        fd = libc.syscall(BPF_CALL, BPF_LINK_GET_FD_BY_ID, attributes, ctypes.sizeof(attributes))
        if fd < 0:
            continue
        with open(f"/proc/self/fdinfo/{fd}") as file:
            text = file.read()
        os.close(fd)
        name, program = re.search(r"^tp_name:\s+(\w+)", text, re.M), re.search(r"^prog_id:\s+(\d+)", text, re.M)
        if name and program:
            found.append((name[1], int(program[1])))
    return found


def bpf_programs_of(pid):
    """Ids of the BPF programs that a process holds."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{name}") as file:
                match = re.search(r"^prog_id:\s+(\d+)", file.read(), re.MULTILINE)
        except FileNotFoundError:
            continue
        if match:
            found.add(int(match[1]))
    return found
