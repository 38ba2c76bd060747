# SPDX-License-Identifier: Apache-2.0
"""Large traces: loading and analysing them, opening them again, and viewing them at all zooms.
bench/README.md explains it."""

import json
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
VIEWED = 12 * MILLION  # events, of which 10 million are slices
DEPTHS = 1, 8
CROWD = 30000, 300  # slices of a track, and how many of them overlap
LAYOUTS = {5000: 0.1, 50000: 1}  # nodes: seconds


def measure(command):
    """Wall time, CPU time and peak memory of a command that runs to its end."""
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
        return measure([context.millrace, "report", "--whole", traces[millions]])

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
        rows += [judged(f"zoom on 10^8 slices, {depth} deep", "s", 0.008, [max(looks)]),
                 judged(f"index of them, {depth} deep, per slice", "B", 1, [each])]
    return rows


def write_crowd(path):
    """A trace of a queue with more overlapping operations than a band has lanes."""
    count, depth = CROWD
    path.write_text(json.dumps([{"ph": "X", "cat": "kernel", "name": f"kernel {i % 60}", "ts": 10 * i,
                                 "dur": 10 * depth + i % 7, "pid": 0, "tid": 7,
                                 "args": {"device": 0, "stream": 7, "correlation": 1 + i}} for i in range(count)]))


def crowd(context):
    """The slowest zoom on such a trace, for each run."""
    trace = context.work / "crowd.json"
    write_crowd(trace)
    slowest = []
    for _ in range(min(context.pairs, MOST_RUNS)):
        output = run([context.program("view"), trace])
        slowest.append(max(float(each) / 1000 for each in re.findall(r"([\d.]+) ms", output)))
    trace.unlink()
    return slowest


def view(context, _):
    trace = context.work / "view.mill"
    run([context.program("big_trace"), VIEWED, trace])
    run([context.program("view"), trace])  # saves the index
    opened, screens, slowest = [], [], []
    for _ in range(min(context.pairs, MOST_RUNS)):
        output = run([context.program("view"), trace])
        opened.append(float(re.search(r"opened in ([\d.]+) s", output)[1]))
        *zooms, any_zoom = [float(each) / 1000 for each in re.findall(r"([\d.]+) ms", output)]
        screens.append(any_zoom)
        slowest.append(max(zooms))
    shutil.rmtree(trace)
    return [judged("view of 10^7 slices, index saved, first answer", "s", 1, opened),
            judged("a screen of it, any zoom", "s", 0.01, screens),
            judged("a screen of it, slowest zoom", "s", 0.02, slowest),
            judged("a screen of 256 lanes of one track, slowest zoom", "s", 0.01, crowd(context))]


def layout(context, _):
    """The program prints lines of: graph, edges, milliseconds, crossings, edges cut."""
    rows = []
    for nodes, limit in LAYOUTS.items():
        runs = [run([context.program("layout"), nodes]).splitlines() for _ in range(min(context.pairs, MOST_RUNS))]
        for lines in zip(*runs):
            name = lines[0].split()[0]
            taken = [float(line.split()[2]) / 1000 for line in lines]
            rows.append(judged(f"layout of a {name} graph, {nodes} nodes", "s", limit, taken))
    return rows
