# SPDX-License-Identifier: Apache-2.0
"""The cost of importing other tools' traces, compared with a tool made for them. bench/README.md explains it."""

import os
import pathlib
import sys

import ratio
from context import interleave, run
from ratio import AtLeast

TRACE = "a100-train-control.json.gz"
REFERENCE = "HolisticTraceAnalysis==0.5.0"
LOAD = pathlib.Path(__file__).with_name("import_reference.py")
# The real traces are not part of the project.
TRACES = pathlib.Path(os.environ.get("MILLRACE_TRACES", LOAD.parents[2] / "shared" / "traces"))


def install(folder):
    """A Python with the reference installed, in its own virtual environment."""
    python, complete = folder / "bin" / "python", folder / "complete"
    if not complete.exists():
        run([sys.executable, "-m", "venv", "--clear", folder])
        run([python, "-m", "pip", "install", "--quiet", REFERENCE])
        complete.touch()
    return python


def load(context, _):
    trace = TRACES / TRACE
    if not trace.exists():
        return [ratio.skipped("import", f"{TRACE} is not in {TRACES}")]
    try:
        python = install(context.build / "bench-reference")
    except RuntimeError as error:
        return [ratio.skipped("import", f"{REFERENCE} cannot be installed: {error}")]

    def measure(*command):
        return lambda: tuple(map(float, run([*command, trace]).split()))

    ours = measure(context.program("import"))
    reference = measure(python, LOAD)
    pairs = zip(*(zip(*results) for results in interleave([ours, reference, reference], context.pairs)))
    (times, *other_times), (memory, *other_memory) = pairs
    return [ratio.compare("import, CPU time", "s", AtLeast(50), times, *other_times),
            ratio.compare("import, memory", "B", AtLeast(20), memory, *other_memory)]
