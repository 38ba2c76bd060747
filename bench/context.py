# SPDX-License-Identifier: Apache-2.0
"""Locates the programs and runs them, alone or under `millrace record`."""

import contextlib
import json
import os
import shutil
import subprocess


def run(command, **options):
    """Returns the command's standard output. If it fails, raises an error that contains its stderr."""
    process = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    try:
        output, errors = process.communicate()
    except BaseException:
        process.terminate()  # not kill(): record passes SIGTERM on and cleans up
        process.wait()
        raise
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {process.returncode}\n"
                           f"{errors}")
    return output


def cpu_seconds(command):
    """User and system time of a command that is run to its end."""
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen([str(word) for word in command], stdin=nothing, stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def lost_in(trace):
    losses = json.loads((trace / "manifest.json").read_text())["losses"]
    return losses["events"] + losses["definitions"] + losses["packets"]


def interleave(measures, count):
    """Results of each function, called `count` times in turn; the order is reversed each time."""
    results = [[] for _ in measures]
    for turn in range(count):
        order = list(range(len(measures)))
        for which in order if turn % 2 else reversed(order):
            results[which].append(measures[which]())
    return results


class Context:
    def __init__(self, build, work, pairs, quick):
        self.build, self.work = build, work
        self.pairs, self.quick = pairs, quick
        self.millrace = build / "millrace"

    def program(self, name):
        return self.build / "bench" / f"bench_{name}"

    @contextlib.contextmanager
    def recorded(self, *command, options=("--levels", "runtime,dataflow")):
        """Runs the command under `millrace record`: its output, trace (then deleted), losses."""
        trace = self.work / "bench.mill"
        try:
            output = run([self.millrace, "record", "-q", "-o", trace, *options, "--", *command])
            yield output, trace, lost_in(trace)
        finally:
            shutil.rmtree(trace, ignore_errors=True)


class Recorded:
    """Runs a command under `millrace record` repeatedly and counts what is lost."""

    def __init__(self, context, command, options=("--levels", "runtime,dataflow")):
        self.context, self.command, self.options, self.lost = context, command, options, 0

    def __call__(self):
        with self.context.recorded(*self.command, options=self.options) as (output, _, lost):
            self.lost += lost
            return output
