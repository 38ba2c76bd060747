# SPDX-License-Identifier: Apache-2.0
"""The cost of tracing HIP and HSA on the software AMD GPU. bench/README.md explains the figures."""

import opencl
import ratio
from context import Recorded, interleave, run
from figures import EVENTS
from ratio import AtMost

BLOCKS = 10           # of each process; the minimum counts, because other load can only add time
EMPTY_KERNELS = 10_000
STEPS = 30
RUNTIME = "--levels", "runtime,dataflow"


def environment(context, **more):
    folder = context.build / "bench"
    return {"LD_LIBRARY_PATH": str(context.build / "soft/amd"), "SOFT_AMD_KERNELS": str(folder / "hip_kernels.so"), **more}


def on_device(context, program, *arguments, **more):
    """A command, with the environment that has it use the software GPU."""
    return ["env", *(f"{name}={value}" for name, value in environment(context, **more).items()),
            context.program(program), *arguments]


def why_not(context):
    return None if context.program("hip_work").exists() else "AMD's compiler and headers are not installed (tools/setup amd)"


def call(context, _):
    figure = "HSA call, added, against a clock read"
    if why_not(context):
        return [ratio.skipped(figure, why_not(context))]
    arguments = "hsa_calls", opencl.ROUNDS, EVENTS
    ours = Recorded(context, on_device(context, *arguments))
    tool = context.build / "bench/libbench_hsa_empty.so"
    empty = on_device(context, *arguments, HSA_TOOLS_LIB=tool)
    recorded, passed_on = interleave([ours, lambda: run(empty)], context.pairs)
    clock, again, untraced = zip(*map(opencl.costs, passed_on))
    *_, traced = zip(*map(opencl.costs, recorded))
    added = [one - other for one, other in zip(traced, untraced)]
    return [ratio.compare(figure, "s", AtMost(3), added, clock, again, ours.lost)]


def work(context, figure, arguments, bar, options):
    """CPU time of a device kernel under record, compared with the same program alone."""
    if why_not(context):
        return [ratio.skipped(figure, why_not(context))]
    command = on_device(context, "hip_work", *arguments)
    ours = Recorded(context, command, options)
    outputs = interleave([ours, lambda: run(command), lambda: run(command)], context.pairs)
    seconds = [[min(map(float, output.split())) for output in each] for each in outputs]
    return [ratio.compare(figure, "s", bar, *seconds, ours.lost)]


def kernels(context, _):
    return work(context, "empty device kernel of HIP, CPU time", ["empty", BLOCKS, EMPTY_KERNELS], AtMost(1.9), RUNTIME)


def compute(context, _):
    return work(context, "HIP simulation, CPU time of a step", ["nbody", BLOCKS, STEPS], AtMost(1.02), RUNTIME)


def off(context, _):
    return work(context, "HIP simulation, level off", ["nbody", BLOCKS, STEPS], AtMost(1.01), ("--levels", "dataflow"))
