# SPDX-License-Identifier: Apache-2.0
"""The cost of tracing CUDA, on stand-ins for NVIDIA's libraries (soft/cuda). bench/README.md explains the figures."""

import functools
import json
import os
import pathlib
import statistics
import subprocess

import opencl
import ratio
from context import Recorded, interleave, run
from figures import EVENTS, columns
from ratio import AtLeast, AtMost

SOURCE = pathlib.Path(__file__).resolve().parent.parent
TOOL = SOURCE / "tools/cuda"
VERSION = "13.0"
LAUNCHES = 1_000_000
BLOCKS = 10           # of each process; the minimum counts, because other load can only add time
BLOCK_LAUNCHES = 10_000
RECORDS = 50_000
MOST_NS, MOST_BYTES = 150e-9, 64


@functools.cache
def prepare(build):
    """Builds the stand-ins and what runs on them: the folder, or None if NVIDIA's headers cannot be had."""
    if subprocess.run([TOOL, "--make", VERSION], capture_output=True, check=False).returncode != 0:
        return None
    headers, folder = run([TOOL, VERSION]).strip(), build / "bench/cuda"
    run([SOURCE / "soft/cuda/build.py", folder, headers, headers])
    compiler = [os.environ.get("CC", "cc").split()[-1], "-O2", "-I", SOURCE / "src", "-I", SOURCE / "include", "-isystem",
                headers, "-L", folder, "-pthread"]
    libraries = ["-l:libcudart.so.13", "-l:libcuda.so.1"]
    bench = SOURCE / "bench"
    run([*compiler, "-o", folder / "calls", bench / "cuda_calls.c", bench / "rounds.c", *libraries])
    run([*compiler, "-o", folder / "launches", bench / "cuda_launches.c", *libraries])
    run([*compiler, "-fPIC", "-shared", "-o", folder / "libempty.so", bench / "cuda_empty_tool.c", "-l:libcupti.so.13"])
    return folder


def on_device(folder, program, *arguments, **more):
    """A command, with the environment that has it use the stand-ins."""
    environment = {"LD_LIBRARY_PATH": folder, "SOFT_CUDA_KERNEL_NS": 0, **more}
    return ["env", *(f"{name}={value}" for name, value in environment.items()), folder / program, *arguments]


def with_device(measure):
    """A figure that is skipped where there are no stand-ins."""
    @functools.wraps(measure)
    def checked(context, _):
        folder = prepare(context.build)
        if not folder:
            return [ratio.skipped(measure.__doc__, "the headers of CUDA cannot be downloaded (tools/cuda)")]
        return measure(context, folder)
    return checked


@with_device
def call(context, folder):
    """CUDA call, added, against a clock read"""
    arguments = "calls", opencl.ROUNDS, EVENTS
    ours = Recorded(context, on_device(folder, *arguments))
    empty = on_device(folder, *arguments, CUDA_INJECTION64_PATH=folder / "libempty.so")
    recorded, passed_on = interleave([ours, lambda: run(empty)], context.pairs)
    clock, again, untraced = zip(*map(opencl.costs, passed_on))
    *_, traced = zip(*map(opencl.costs, recorded))
    added = [one - other for one, other in zip(traced, untraced)]
    return [ratio.compare(call.__doc__, "s", AtMost(3), added, clock, again, ours.lost)]


def records(context, _):
    """From a buffer that CUPTI has completed to the trace."""
    output = run([context.program("cuda_records"), context.pairs, RECORDS])
    *rounds, last = output.splitlines()
    clock, again, each = columns("\n".join(rounds))
    size = float(last.split()[0])
    middle = statistics.median(each)
    return [ratio.row("record of a device kernel, time", "s", AtMost(MOST_NS), middle, None, middle,
                      *ratio.bounds_of_median(each), ratio.spread_of(clock, again)),
            ratio.row("record of a device kernel, bytes", "B", AtMost(MOST_BYTES), size, None, size, size, size)]


def value(context, trace, sql):
    row = json.loads(run([context.millrace, "query", "--format", "json", trace, sql]))
    return next(iter(row.values()))


@with_device
def launches(context, folder):
    """launches from 4 threads on 8 streams, joined once"""
    wanted = LAUNCHES // (10 if context.quick else 1)
    command = on_device(folder, "launches", 4, 8, wanted, 1)
    with context.recorded(*command) as (_, trace, lost):
        joined = value(context, trace, "select count(distinct c.rowid) as n from device_operations o join calls c on c.rowid "
                                       "= o.call where o.kind = 'kernel' and c.function = 'cudaLaunchKernel' and o.flags is null")
        operations = value(context, trace, "select count(*) as n from device_operations")
    share = joined / wanted if operations == wanted else 1e-9
    return [ratio.row(launches.__doc__, "", AtLeast(1 - 1e-9), share, None, share, share, share, lost=lost)]


@with_device
def off(context, folder):
    """CUDA launches, level off"""
    command = on_device(folder, "launches", 1, 1, BLOCK_LAUNCHES, BLOCKS)
    ours = Recorded(context, command, ("--levels", "dataflow"))
    outputs = interleave([ours, lambda: run(command), lambda: run(command)], context.pairs)
    seconds = [[min(map(float, output.split())) for output in each] for each in outputs]
    return [ratio.compare(off.__doc__, "s", AtMost(1.01), *seconds, ours.lost)]
