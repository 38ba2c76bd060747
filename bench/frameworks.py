# SPDX-License-Identifier: Apache-2.0
"""What tracing TensorFlow costs. bench/README.md explains the figures."""

import os
import pathlib
import subprocess

import ratio
from context import Recorded, interleave, run
from ratio import AtMost

HERE = pathlib.Path(__file__).parent
VERSION = "2.18.1"
BLOCKS = 5            # of each process; the least counts: whatever else the machine does only adds


def python():
    """The Python that has TensorFlow, or None."""
    found = subprocess.run([HERE.parent / "tools/tensorflow", VERSION], capture_output=True, text=True)
    return os.path.join(found.stdout.strip(), "bin", "python") if found.returncode == 0 else None


def work(context, figure, bar, kind, steps, levels, soft=None):
    """CPU time of a step under record, compared with the same program alone."""
    if not python():
        return [ratio.skipped(figure, f"tensorflow-cpu {VERSION} is missing: run make soft")]
    command = ["env", *([f"TF_PLUGGABLE_DEVICE_LIBRARY_PATH={soft}"] if soft else []),
               python(), HERE / "tensorflow_work.py", kind, BLOCKS, steps]
    ours = Recorded(context, command, levels)
    outputs = interleave([ours] + 2 * [lambda: run(command)], context.pairs)
    seconds = [[min(map(float, output.split())) for output in each] for each in outputs]
    return [ratio.compare(figure, "s", bar, *seconds, ours.lost)]


def step(context, _):
    return work(context, "TensorFlow step, small network", AtMost(1.15), "mlp", 300, "dataflow")


def profiler(context, _):
    """Against TensorFlow's own profiler at the same level."""
    figure = "the same against TensorFlow's own profiler"
    if not python():
        return [ratio.skipped(figure, f"tensorflow-cpu {VERSION} is missing: run make soft")]
    command = [python(), HERE / "tensorflow_work.py", "mlp", BLOCKS, 300]
    ours = Recorded(context, command, "dataflow")
    outputs = interleave([ours] + 2 * [lambda: run([*command, "profile"])], context.pairs)
    seconds = [[min(map(float, output.split())) for output in each] for each in outputs]
    return [ratio.compare(figure, "s", AtMost(1), *seconds, ours.lost)]


def data(context, _):
    return work(context, "tf.data, threads made anew", AtMost(1.25), "data", 20, "dataflow")


def off(context, _):
    return work(context, "TensorFlow step, level off", AtMost(1.05), "mlp", 300, "runtime")


def soft(context, _):
    """All levels, on the software GPU."""
    library = context.build / "soft" / "millrace_soft.so"
    figure = "network on the software GPU, all levels"
    if not library.exists():
        return [ratio.skipped(figure, "the software GPU is not built: run make soft")]
    return work(context, figure, AtMost(1.05), "cnn", 10, "kernel,runtime,dataflow", library)
