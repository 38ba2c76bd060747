# SPDX-License-Identifier: Apache-2.0
"""The figures: each function returns rows of the table. bench/README.md explains them."""

import functools
import shutil
import statistics
import time

import ratio
from context import cpu_seconds, interleave, run
from ratio import AtLeast, AtMost

EVENTS = 100_000      # in a block; far less than the recorders' buffers can hold
CALLS = 1_000_000     # in a block of calls that take next to no time
INTERVALS = 1_000_000
ROUNDS_PER_PAIR = 3   # rounds inside a process are short


def columns(output):
    """Seconds per operation, one loop after the other, from what bench/rounds.c prints."""
    rounds = [[float(word) / 1e9 for word in line.split()] for line in output.splitlines()[1:]]
    return list(zip(*rounds))


def event(context, lttng):
    loops = ["clock", "clock", "instant"]
    command = [context.program("cost"), context.pairs * ROUNDS_PER_PAIR, EVENTS]
    if lttng.why_not:
        with context.recorded(*command, *loops) as (output, _, lost):
            clock, again, instant = columns(output)
        against_lttng = ratio.skipped("event against LTTng-UST", lttng.why_not)
    else:
        with lttng.session() as session:
            with context.recorded(*command, *loops, "lttng", "lttng") as (output, _, lost):
                clock, again, instant, other, other_again = columns(output)
            discarded = session.discarded()
        against_lttng = ratio.compare("event against LTTng-UST", "s", AtLeast(5), instant, other,
                                      other_again, lost + discarded)
    against_clock = ratio.compare("event against a clock read", "s", AtMost(2), instant, clock,
                                  again, lost)
    return [against_clock, against_lttng]


def emit(context, _):
    output = run([context.program("emit"), context.pairs * ROUNDS_PER_PAIR, EVENTS])
    clock, again, emitted = columns(output)
    return [ratio.compare("event inside the library", "s", AtMost(2), emitted, clock, again)]


def interval(context, _):
    command = [context.program("cost"), context.pairs * ROUNDS_PER_PAIR, EVENTS]
    with context.recorded(*command, "clock", "clock", "interval") as (output, _, lost):
        clock, again, both = columns(output)
    return [ratio.compare("interval against a clock read", "s", AtMost(3), both, clock, again,
                          lost)]


def disabled(context, _):
    command = [context.program("cost"), context.pairs * ROUNDS_PER_PAIR, CALLS,
               "empty", "empty", "instant"]
    with context.recorded(*command, options=("--levels", "runtime")) as (output, _, lost):
        empty, again, instant = columns(output)
    level_off = ratio.compare("disabled event, level off", "s", AtMost(1.5), instant, empty, again,
                              lost)
    empty, again, instant = columns(run(command))
    no_tracer = ratio.compare("disabled event, no tracer", "s", AtMost(1.1), instant, empty, again)
    return [level_off, no_tracer]


def stream_bytes(trace):
    return sum(file.stat().st_size for file in (trace / "ctf").glob("stream-*"))


def size(context, _):
    with context.recorded(context.program("intervals"), INTERVALS) as (_, trace, lost):
        each = stream_bytes(trace) / INTERVALS
    return [ratio.row("bytes of an interval", "B", AtMost(20), each, None, each, each, each,
                      lost=lost)]


def decode(context, _):
    with context.recorded(context.program("intervals"), INTERVALS) as (_, trace, lost):
        own = [context.program("decode"), trace]
        babeltrace = ["babeltrace2", "-o", "dummy", trace / "ctf"]
        if f"intervals {INTERVALS} " not in run(own):
            raise RuntimeError("the reader did not find all intervals")
        measures = [functools.partial(cpu_seconds, command)
                    for command in (own, babeltrace, babeltrace)]
        ours, reference, again = interleave(measures, context.pairs)
    return [ratio.compare("decoding against babeltrace2", "s", AtLeast(25), ours, reference, again,
                          lost)]


def lives(context, what, count, limit):
    """Wall and CPU time of `count` short-lived processes or threads, with and without millrace."""
    command = [context.program("lives"), what, count]
    losses = []

    def with_millrace():
        with context.recorded(*command) as (output, _, lost):
            losses.append(lost)
            return list(map(float, output.split()))

    def without():
        return list(map(float, run(command).split()))

    results = interleave([with_millrace, without, without], context.pairs)
    wall, cpu = zip(*[zip(*result) for result in results])
    return [ratio.compare(f"{count} {what}, wall time", "s", AtMost(limit), *wall, sum(losses)),
            ratio.compare(f"{count} {what}, CPU time", "s", AtMost(limit), *cpu, sum(losses))]


def forks(context, _):
    return lives(context, "forks", 2000, 1.5)


def threads(context, _):
    return lives(context, "threads", 20000, 1.3)


def wall_seconds(command):
    began = time.perf_counter()
    run(command)
    return time.perf_counter() - began


def start(context, _):
    """What start and end of a recording add to a program that does nothing."""
    def recorded(*options):
        try:
            return wall_seconds([context.millrace, "record", "-q", "-o", context.work / "start.mill", *options, "--",
                                 "true"])
        finally:
            shutil.rmtree(context.work / "start.mill", ignore_errors=True)

    rows = []
    for title, options in (("start and end, all levels", ()),
                           ("the same, no kernel level", ("--levels", "runtime,dataflow"))):
        ours, alone = interleave([functools.partial(recorded, *options), functools.partial(wall_seconds, ["true"])],
                                 context.pairs)
        more = [a - b for a, b in zip(ours, alone)]
        middle = statistics.median(more)
        rows.append(ratio.row(title, "s", AtMost(0.1), middle, None, middle, *ratio.bounds_of_median(more)))
    return rows
