# SPDX-License-Identifier: Apache-2.0
"""What tracing PyTorch costs. bench/README.md explains the figures."""

import os
import pathlib
import subprocess

from frameworks import compare
from ratio import AtMost

HERE = pathlib.Path(__file__).parent
DEBIAN = pathlib.Path("/usr/lib/python3/dist-packages/torch")
MISSING = "there is no PyTorch: run tools/setup frameworks, or make torch"


def python():
    """The Python that has the newest PyTorch, or None."""
    tool = HERE.parent / "tools/torch"
    *_, newest = subprocess.run([tool, "--supported"], capture_output=True, text=True, check=True).stdout.split()
    found = subprocess.run([tool, newest], capture_output=True, text=True)
    if found.returncode == 0:
        return os.path.join(found.stdout.strip(), "bin", "python")
    return "/usr/bin/python3" if DEBIAN.exists() else None


def compare_steps(context, figure, bar, kind, steps, reference=()):
    program = [python(), HERE / "torch_work.py", kind, steps]
    return compare(context, figure, AtMost(bar), program, "dataflow", reference, missing=MISSING)


def step(context, _):
    return [*compare_steps(context, "PyTorch step, small network", 1.24, "small", 300),
            *compare_steps(context, "PyTorch step, larger network", 1.04, "large", 60)]


def profiler(context, _):
    """Against torch.profiler, which is started and stopped around each block."""
    return compare_steps(context, "the same, small, against torch.profiler", 1, "small", 300, ["profile"])
