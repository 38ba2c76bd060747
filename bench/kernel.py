# SPDX-License-Identifier: Apache-2.0
"""The cost of the kernel level: each function returns rows of the table. bench/README.md explains them."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys

import ratio
from context import interleave, run
from figures import stream_bytes
from ratio import AtLeast, AtMost

CALLS, SLOW_CALLS = 300_000, 10_000   # under strace and perf trace a call takes far longer
ROUND_TRIPS = 20_000
FILES, FILE_BYTES = 3000, 2000
BYSTANDER_CALLS = 1_000_000
RATE, RATE_SECONDS, QUICK_RATE_SECONDS = 1_020_000, 20, 3
KERNEL = ("--levels", "kernel", "--syscalls=all")
REQUESTS, MANY_CALLS = 300_000, 3_000_000
SERVE_REDIS = pathlib.Path(__file__).with_name("kernel_redis.py")
READ_FILES = pathlib.Path(__file__).with_name("kernel_files.py")


def why_not():
    if os.geteuid() != 0:
        return "the kernel level needs root"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF"
    return None


def needs_privilege(figure):
    """Skips a figure, with a row that says so, if the kernel level is not permitted."""
    @functools.wraps(figure)
    def measured(context, lttng):
        reason = why_not()
        return [ratio.skipped(f"kernel: {figure.__name__}", reason)] if reason else figure(context)
    return measured


def times(output):
    """(wall, CPU) in seconds, as the programs print them."""
    wall, cpu = map(float, output.split())
    return wall, cpu


class Traced:
    """Runs a command under `millrace record` repeatedly: its times, and the total of what was lost."""

    def __init__(self, context, command, *options):
        self.context, self.command, self.options = context, command, options
        self.lost = 0

    def __call__(self):
        options = (*KERNEL, *self.options)
        with self.context.recorded(*self.command, options=options) as (output, _, lost):
            self.lost += lost
            return times(output)


def plain(*command):
    return lambda: times(run(command))


def strace(*command):
    return plain("strace", "-f", "-o", "/dev/null", *command)


class PerfTrace:
    """A command under `perf trace`; counts the system calls that it shows."""

    def __init__(self, context, command):
        self.output = context.work / "perf.txt"
        self.command = command
        self.shown = 0

    def __call__(self):
        result = times(run(["perf", "trace", "-o", self.output, *self.command]))
        with open(self.output, errors="replace") as file:
            self.shown += sum("getppid(" in line for line in file)
        self.output.unlink()
        return result


def walls(results):
    return [[wall for wall, _ in result] for result in results]


def cpus(results):
    return [[cpu for _, cpu in result] for result in results]


@needs_privilege
def calls(context):
    program = context.program("kernel")
    ours = Traced(context, [program, "calls", CALLS])
    perf = PerfTrace(context, [program, "calls", SLOW_CALLS])
    measures = {"ours": ours, "untraced": plain(program, "calls", CALLS)}
    if shutil.which("strace"):
        measures["strace"] = strace(program, "calls", SLOW_CALLS)
    if shutil.which("perf"):
        measures["perf trace"] = perf
    names = list(measures)
    doubled = [measure for name in names for measure in [measures[name]] * (1 if name == "ours" else 2)]
    ours_times, plain_times, plain_again, *others = interleave(doubled, context.pairs)
    rows = [ratio.compare("getppid against untraced", "s", AtMost(3.2),
                          *cpus([ours_times, plain_times, plain_again]), ours.lost)]
    for name, bar in (("strace", AtLeast(25)), ("perf trace", AtLeast(1.8))):
        if name not in measures:
            rows.append(ratio.skipped(f"getppid against {name}", f"{name} is not installed"))
            continue
        reference, again, others = others[0], others[1], others[2:]
        figure = f"getppid against {name}"
        if name == "perf trace":
            missed = 1 - perf.shown / (SLOW_CALLS * 2 * context.pairs)
            figure += f", which lost {100 * missed:.0f} %"
        rows.append(ratio.compare(figure, "s", bar, *walls([ours_times, reference, again]), ours.lost))
    return rows


@needs_privilege
def pingpong(context):
    command = [context.program("kernel"), "pingpong", ROUND_TRIPS]
    everything = Traced(context, command)
    no_calls = Traced(context, command, "--syscalls=none")
    untraced = plain(*command)
    full, less, reference, again = cpus(interleave([everything, no_calls, untraced, untraced],
                                                   context.pairs))
    return [ratio.compare("ping-pong, everything on", "s", AtMost(1.75), full, reference, again,
                          everything.lost),
            ratio.compare("ping-pong, no system calls", "s", AtMost(1.5), less, reference, again,
                          no_calls.lost)]


@needs_privilege
def files(context):
    folder = context.work / "files"
    folder.mkdir()
    for i in range(FILES):
        (folder / f"{i:05}").write_bytes(bytes(FILE_BYTES))
    command = [sys.executable, READ_FILES, folder]
    ours, untraced = Traced(context, command), plain(*command)
    measures = [ours, untraced, untraced]
    if shutil.which("strace"):
        other = plain("strace", "-f", "-y", "-o", "/dev/null", *command)
        measures += [other, other]
    results = interleave(measures, context.pairs)
    shutil.rmtree(folder)
    rows = [ratio.compare(f"{FILES} files from Python", "s", AtMost(1.7), *cpus(results[:3]), ours.lost)]
    if len(results) == 3:
        return [*rows, ratio.skipped("the same against strace -y", "strace is not installed")]
    return [*rows, ratio.compare("the same against strace -y", "s", AtLeast(15),
                                 *walls([results[0], *results[3:]]), ours.lost)]


@needs_privilege
def auto(context):
    """--syscalls=auto: programs that make so many calls that only those which block are recorded."""
    storm = [context.program("kernel"), "calls", MANY_CALLS]
    ours, untraced = Traced(context, storm, "--syscalls=auto"), plain(*storm)
    rows = [ratio.compare("getppid when there are too many", "s", AtMost(2.3),
                          *cpus(interleave([ours, untraced, untraced], context.pairs)), ours.lost)]
    if not shutil.which("redis-benchmark"):
        return [*rows, ratio.skipped("redis", "redis-server is not installed")]
    redis = [sys.executable, SERVE_REDIS, REQUESTS, context.work]
    ours, untraced = Traced(context, redis, "--syscalls=auto"), plain(*redis)
    return [*rows, ratio.compare("redis, both sides", "s", AtMost(1.15),
                                 *walls(interleave([ours, untraced, untraced], context.pairs)), ours.lost)]


class Beside:
    """Runs an untraced command while an idle program is traced."""

    def __init__(self, context, command, *options):
        self.trace = context.work / "beside.mill"
        self.record = [context.millrace, "record", "-q", "-o", self.trace, *KERNEL, *options, "--",
                       "sh", "-c", "echo ready; exec cat"]
        self.command = command

    def __call__(self):
        with subprocess.Popen(self.record, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as record:
            record.stdout.readline()
            result = times(run(self.command))
            record.stdin.close()
        shutil.rmtree(self.trace)
        return result


@needs_privilege
def bystander(context):
    command = [context.program("kernel"), "calls", BYSTANDER_CALLS]
    measures = [Beside(context, command), Beside(context, command, "--syscalls=none"),
                plain(*command), plain(*command)]
    full, less, reference, again = cpus(interleave(measures, context.pairs))
    return [ratio.compare("getppid of a bystander", "s", AtMost(2.3), full, reference, again),
            ratio.compare("the same, no system calls", "s", AtMost(1.05), less, reference, again)]


def size_row(figure, limit, context, command, counted, options):
    """All bytes of the trace, divided by the number of counted events."""
    with context.recorded(*command, options=(*KERNEL, *options)) as (_, trace, lost):
        lines = run(["babeltrace2", trace / "ctf"]).splitlines()
        each = stream_bytes(trace) / sum(any(name in line for name in counted) for line in lines)
    return ratio.row(figure, "B", AtMost(limit), each, None, each, each, each, lost=lost)


@needs_privilege
def size(context):
    program = context.program("kernel")
    return [size_row("bytes of a switch or wake-up", 24, context, [program, "pingpong", ROUND_TRIPS],
                     (" kernel_switch:", " kernel_waking:"), ["--syscalls=none"]),
            size_row("bytes of a system call", 32, context, [program, "calls", CALLS],
                     (" kernel_syscall:", " kernel_syscall_argument:"), [])]


@needs_privilege
def rate(context):
    seconds = QUICK_RATE_SECONDS if context.quick else RATE_SECONDS
    command = [context.program("paced"), "calls", RATE, seconds]
    with context.recorded(*command, options=KERNEL) as (output, _, lost):
        millions = int(output) / seconds / 1e6
    return [ratio.row(f"million system calls per second, {seconds} s", "", AtLeast(1), millions, None,
                      millions, millions, millions, lost=lost)]
