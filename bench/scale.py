# SPDX-License-Identifier: Apache-2.0
"""Large traces: loading and all analyses, opening them again, and looking at them from afar. bench/README.md
explains it."""

import os
import re
import shutil
import statistics
import subprocess
import time

import ratio
from context import interleave, run
from ratio import AtMost

MILLION = 1000000
MOST_RUNS = 5  # of ten seconds each
SLICES = 100 * MILLION
DEPTHS = 1, 8


def measure(command):
    """Wall time, CPU time and the most memory of a command that is run to its end."""
    begin = time.monotonic()
    with open(os.devnull, "r+b") as nothing:
        process = subprocess.Popen([str(word) for word in command], stdin=nothing, stdout=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


def judged(figure, unit, limit, values):
    low, high = ratio.bounds_of_median(values)
    middle = statistics.median(values)
    return ratio.row(figure, unit, AtMost(limit), middle, None, middle, low, high)


def scale(context, _):
    traces = {}
    for millions in (1, 10):
        traces[millions] = context.work / f"{millions}.mill"
        run([context.program("big_trace"), millions * MILLION, traces[millions]])

    def report(millions):
        (traces[millions] / "index.millrace").unlink(missing_ok=True)
        return measure([context.millrace, "report", traces[millions]])

    def reopen():
        return measure([context.millrace, "info", traces[10]])[0]

    runs = min(context.pairs, MOST_RUNS)
    small, large = interleave([lambda: report(1), lambda: report(10)], runs)
    (opened,) = interleave([reopen], runs)
    for trace in traces.values():
        shutil.rmtree(trace)
    growth = [each[1] / (10 * other[1]) for each, other in zip(large, small)]
    return [judged("report of 10 M events", "s", 30, [each[0] for each in large]),
            judged("report of 10 M events, memory", "B", 2e9, [each[2] for each in large]),
            judged("the same, CPU time per event against 1 M", "", 1.3, growth),
            judged("info of 10 M events, index saved", "s", 0.2, opened)]


def detail(context, _):
    rows = []
    for depth in DEPTHS:
        output = run([context.program("detail"), SLICES, depth])
        each = float(re.search(r"([\d.]+) bytes per slice", output)[1])
        looks = [float(look) / 1000 for look in re.findall(r"([\d.]+) ms", output)]
        rows += [judged(f"look at 10^8 slices, {depth} deep", "s", 0.008, [max(looks)]),
                 judged(f"index of them, {depth} deep, for a slice", "B", 1, [each])]
    return rows
