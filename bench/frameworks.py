# SPDX-License-Identifier: Apache-2.0
"""What tracing TensorFlow costs, and how steps of a framework are compared. bench/README.md explains the figures."""

import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import ratio
from context import interleave, lost_in, run
from ratio import AtMost

HERE = pathlib.Path(__file__).parent
VERSION = "2.18.1"
COUNTED_STEPS = 40
MACHINE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine)
CALLGRIND = pathlib.Path(f"/usr/libexec/valgrind/callgrind-{MACHINE}-linux")
BLOCKS = 30           # of each process
MISSING = f"tensorflow-cpu {VERSION} is missing: run make soft"


def python():
    """The Python that has TensorFlow, or None."""
    found = subprocess.run([HERE.parent / "tools/tensorflow", VERSION], capture_output=True, text=True)
    return os.path.join(found.stdout.strip(), "bin", "python") if found.returncode == 0 else None


class Worker:
    """A process that runs steps on request: tensorflow_work.py. The context manager ends it in any case."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(word) for word in command], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        if raised[0]:
            self.process.terminate()  # not kill(): record passes SIGTERM on and cleans up
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        status = self.process.wait()
        self.process.stdout.close()
        if status and not raised[0]:
            self.fail()
        self.errors.close()

    def fail(self):
        status = self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"{' '.join(self.process.args)}: exit status {status}\n{self.errors.read()}")

    def answer(self):
        return self.process.stdout.readline() or self.fail()

    def block(self):
        with contextlib.suppress(BrokenPipeError):  # then there is no answer either
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        return float(self.answer())


def take_turns(commands, blocks):
    """CPU time of a step in each command: the medians. All start, then run blocks of steps in turn, so that they meet
    the same conditions."""
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(Worker(command)) for command in commands]
        for worker in workers:
            worker.answer()
        seconds = interleave([worker.block for worker in workers], blocks)
    return [statistics.median(each) for each in seconds]


def compare(context, figure, bar, program, levels, reference=(), blocks=BLOCKS, missing=MISSING):
    """A step under record, compared with the same program alone or with other arguments."""
    if None in program:
        return [ratio.skipped(figure, missing)]
    trace = context.work / "bench.mill"
    ours = [context.millrace, "record", "-q", "-o", trace, "--levels", levels, "--", *program]
    pairs, lost = [], 0
    for _ in range(context.pairs):
        try:
            pairs.append(take_turns([ours, [*program, *reference], [*program, *reference]], blocks))
            lost += lost_in(trace)
        finally:
            shutil.rmtree(trace, ignore_errors=True)
    return [ratio.compare(figure, "s", bar, *zip(*pairs), lost)]


def steps_of(kind, steps):
    return [python(), HERE / "tensorflow_work.py", kind, steps]


def step(context, _):
    return compare(context, "TensorFlow step, small network", AtMost(1.15), steps_of("mlp", 100), "dataflow")


def profiler(context, _):
    """Against TensorFlow's own profiler at the same level, which is started and stopped around each block."""
    return compare(context, "the same against TensorFlow's own profiler", AtMost(1), steps_of("mlp", 300), "dataflow",
                   ["profile"], BLOCKS // 3)


def data(context, _):
    return compare(context, "tf.data, threads made anew", AtMost(1.25), steps_of("data", 10), "dataflow")


def off(context, _):
    return [*compare(context, "TensorFlow step, level off", AtMost(1.05), steps_of("mlp", 100), "runtime"),
            instructions_off(context)]


def count_instructions(context, record):
    """Instructions of the counted steps: all, and those in objects without a name in callgrind, such as libmillrace."""
    counts = context.work / "callgrind.out"
    run([*record, sys.executable, HERE / "plain_exec.py", CALLGRIND, "--tool=callgrind", "--instr-atstart=no",
         f"--callgrind-out-file={counts}", python(), HERE / "tensorflow_count.py", COUNTED_STEPS],
        env={**os.environ, "VALGRIND_LAUNCHER": shutil.which("valgrind.bin"), "TF_CPP_MIN_LOG_LEVEL": "2"})
    everything, nameless = 0, 0
    thing, nameless_things, is_call = None, set(), False
    for line in counts.read_text(errors="replace").splitlines():
        named = re.match(r"c?ob=(\(\d+\))( \?\?\?)?", line)  # an object's name appears where it first occurs
        if named:
            thing = named[1] if line.startswith("ob=") else thing
            nameless_things.update([named[1]] if named[2] else [])
        elif line.startswith("calls="):
            is_call = True  # the next line is the cost of the callee, which is counted there
        elif re.match(r"[-+*\d]", line):
            cost = 0 if is_call else int(line.split()[-1])
            everything += cost
            nameless += cost if thing in nameless_things else 0
            is_call = False
    return everything, nameless


def instructions_off(context):
    """Waiting threads spin, and no two runs spin alike; so only the library's own instructions are compared."""
    figure = "the same, instructions added"
    if not python() or not CALLGRIND.exists():
        return ratio.skipped(figure, f"tensorflow-cpu {VERSION} or valgrind is missing: run make soft, tools/setup bench")
    everything, alone = count_instructions(context, [])
    trace = context.work / "count.mill"
    _, ours = count_instructions(context, [context.millrace, "record", "-q", "-o", trace, "--levels", "runtime", "--"])
    shutil.rmtree(trace)
    if not alone or not ours:
        return ratio.failed(figure, "callgrind counted nothing without a name: its output has an unexpected format")
    share = (ours - alone) / everything
    return ratio.row(figure, "", AtMost(0.005), (ours - alone) / COUNTED_STEPS, everything / COUNTED_STEPS, share, share,
                     share)


def soft(context, _):
    """All levels, on the software GPU."""
    library = context.build / "soft" / "millrace_soft.so"
    figure = "network on the software GPU, all levels"
    if not library.exists():
        return [ratio.skipped(figure, "the software GPU is not built: run make soft")]
    program = ["env", f"TF_PLUGGABLE_DEVICE_LIBRARY_PATH={library}", *steps_of("cnn", 5)]
    return compare(context, figure, AtMost(1.05), program, "kernel,runtime,dataflow")
