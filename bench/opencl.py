# SPDX-License-Identifier: Apache-2.0
"""The cost of tracing OpenCL, compared with layers that do less. bench/README.md explains the figures."""

import os
import statistics

import ratio
from context import Recorded, interleave, run
from figures import EVENTS, columns
from ratio import AtMost

ROUNDS = 5
BLOCKS = 10           # of each process; the minimum counts, because other load can only add time
EMPTY_KERNELS = 10_000
STEPS = 30
# An empty device kernel has no work to share: two workers would only contend for the queue's lock.
ONE_WORKER = {"POCL_MAX_PTHREAD_COUNT": "1"}


def why_not(context):
    if not context.program("opencl_work").exists():
        return "the OpenCL headers and loader are not installed"
    try:
        run([context.program("opencl_calls"), 1, 1])
    except RuntimeError:
        return "there is no OpenCL device (install pocl-opencl-icd)"
    return None


def with_layer(context, name, command):
    """Runs a command under one of the layers in this folder; returns its output."""
    path = context.build / "bench" / f"libbench_opencl_{name}.so"
    return run(command, env={**os.environ, "OPENCL_LAYERS": str(path)})


def layered(context, name, command):
    return lambda: with_layer(context, name, command)


def costs(output):
    """Seconds of a clock read, of the same again, and of the call, from the output of opencl_calls.c."""
    return list(map(statistics.median, columns(output)))


def call(context, _):
    figure = "OpenCL call, added, against a clock read"
    if why_not(context):
        return [ratio.skipped(figure, why_not(context))]
    command = [context.program("opencl_calls"), ROUNDS, EVENTS]
    ours = Recorded(context, command)
    recorded, empty = interleave([ours, layered(context, "empty", command)], context.pairs)
    clock, again, untraced = zip(*map(costs, empty))
    *_, traced = zip(*map(costs, recorded))
    added = [one - other for one, other in zip(traced, untraced)]
    return [ratio.compare(figure, "s", AtMost(5), added, clock, again, ours.lost)]


def call_of_lttng(context, lttng):
    figure = "OpenCL call against LTTng-UST's"
    reason = why_not(context) or lttng.why_not
    if reason:
        return [ratio.skipped(figure, reason)]
    command = [context.program("opencl_calls"), ROUNDS, EVENTS]
    ours, other = Recorded(context, command), layered(context, "lttng", command)
    with lttng.session() as session:
        outputs = interleave([ours, other, other], context.pairs)
        lost = ours.lost + session.discarded()
    seconds = [[costs(output)[-1] for output in each] for each in outputs]
    return [ratio.compare(figure, "s", AtMost(1), *seconds, lost)]


def kernels(context, _):
    return work(context, "empty device kernel, CPU time", ["empty", BLOCKS, EMPTY_KERNELS], AtMost(1.2),
                lambda command: with_layer(context, "bare", command), ONE_WORKER)


def compute(context, _):
    return work(context, "OpenCL simulation, CPU time of a step", ["nbody", BLOCKS, STEPS], AtMost(1.02),
                run)


def work(context, figure, arguments, bar, reference, environment=()):
    """CPU time of a device kernel under record, compared with another way to run the program."""
    if why_not(context):
        return [ratio.skipped(figure, why_not(context))]
    command = ["env", *(f"{name}={value}" for name, value in dict(environment).items()),
               context.program("opencl_work"), *arguments]
    ours = Recorded(context, command)
    outputs = interleave([ours] + 2 * [lambda: reference(command)], context.pairs)
    seconds = [[min(map(float, output.split())) for output in each] for each in outputs]
    return [ratio.compare(figure, "s", bar, *seconds, ours.lost)]
