# SPDX-License-Identifier: Apache-2.0
"""What tracing TensorFlow costs. bench/README.md explains the figures."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import ratio
from context import Recorded, interleave, run
from ratio import AtMost

HERE = pathlib.Path(__file__).parent
VERSION = "2.18.1"
COUNTED_STEPS = 40
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
CALLGRIND = pathlib.Path(f"/usr/libexec/valgrind/callgrind-{MACHINE}-linux")
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
    return [*work(context, "TensorFlow step, level off", AtMost(1.05), "mlp", 300, "runtime"), instructions_off(context)]


def count_instructions(context, record):
    """Of counted steps: all, and those of objects that callgrind has no name for, among which is libmillrace."""
    counts = context.work / "callgrind.out"
    run([*record, sys.executable, HERE / "plain_exec.py", CALLGRIND, "--tool=callgrind", "--instr-atstart=no",
         f"--callgrind-out-file={counts}", python(), HERE / "tensorflow_count.py", COUNTED_STEPS],
        env={**os.environ, "VALGRIND_LAUNCHER": shutil.which("valgrind.bin"), "TF_CPP_MIN_LOG_LEVEL": "2"})
    everything, nameless = 0, 0
    thing, nameless_thing, is_call = None, None, False
    for line in counts.read_text(errors="replace").splitlines():
        if line.startswith("ob="):
            thing = line[3:].split()[0]
            nameless_thing = thing if line.endswith(" ???") else nameless_thing
        elif line.startswith("calls="):
            is_call = True  # the next line is the cost of what is called, which is counted there
        elif re.match(r"[-+*\d]", line):
            cost = 0 if is_call else int(line.split()[-1])
            everything += cost
            nameless += cost if thing == nameless_thing else 0
            is_call = False
    return everything, nameless


def instructions_off(context):
    """Threads that wait for work spin, which no two runs do alike: the library's own instructions are compared."""
    figure = "the same, instructions added"
    if not python() or not CALLGRIND.exists():
        return ratio.skipped(figure, f"tensorflow-cpu {VERSION} or valgrind is missing: run make soft, tools/setup bench")
    everything, alone = count_instructions(context, [])
    trace = context.work / "count.mill"
    _, ours = count_instructions(context, [context.millrace, "record", "-q", "-o", trace, "--levels", "runtime", "--"])
    shutil.rmtree(trace)
    share = (ours - alone) / everything
    return ratio.row(figure, "", AtMost(0.005), (ours - alone) / COUNTED_STEPS, everything / COUNTED_STEPS, share, share,
                     share)


def soft(context, _):
    """All levels, on the software GPU."""
    library = context.build / "soft" / "millrace_soft.so"
    figure = "network on the software GPU, all levels"
    if not library.exists():
        return [ratio.skipped(figure, "the software GPU is not built: run make soft")]
    return work(context, figure, AtMost(1.05), "cnn", 10, "kernel,runtime,dataflow", library)
