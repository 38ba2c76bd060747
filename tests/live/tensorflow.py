# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests with TensorFlow: its environments (tools/tensorflow), and the software GPU."""

import os
import subprocess
import sys

import harness
from support import BUILD

SOURCE = os.environ["SOURCE_DIR"]
SOFT = os.path.join(BUILD, "soft", "millrace_soft.so")
# The version that the software GPU is made for, and one that is far from it.
MAIN, SECOND = "2.18.1", "2.21.0"
# For programs whose threads shall have told everything before they end.
SETTLED = {"PYTHONPATH": os.pathsep.join([os.path.join(SOURCE, "tests", "live", "programs", "settled"),
                                         os.path.join(SOURCE, "tests")])}


def python_of(version):
    """The Python that has this TensorFlow; the test program ends where there is none."""
    found = subprocess.run([os.path.join(SOURCE, "tools/tensorflow"), version], capture_output=True, text=True)
    if found.returncode != 0:
        harness.skip(found.stderr.strip().removeprefix("tools/tensorflow: "))
    return os.path.join(found.stdout.strip(), "bin", "python")


def soft_gpu(devices=1, **changes):
    """An environment in which TensorFlow has the software GPU, and says only what is wrong."""
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into Python")
    if not os.path.exists(SOFT):
        harness.skip("the software GPU was not built: TensorFlow or OpenCL was missing")
    return {**os.environ,
            "TF_PLUGGABLE_DEVICE_LIBRARY_PATH": SOFT,
            "MILLRACE_SOFT_DEVICES": str(devices),
            "POCL_MAX_PTHREAD_COUNT": str(2 * devices),
            # On or off by the machine otherwise, and TensorFlow's optimiser does more with it.
            "TF_ENABLE_ONEDNN_OPTS": "1",
            "TF_CPP_MIN_LOG_LEVEL": "2",
            "PYTHONDONTWRITEBYTECODE": "1",
            **SETTLED,
            **changes}


def python_program(name):
    """A Python program of tests/live/programs."""
    return os.path.join(SOURCE, "tests", "live", "programs", name + ".py")


def run_as_test(version, name, timeout=800, **changes):
    """Ends the test program with the result of another, which has this TensorFlow and the software GPU."""
    python, environment = python_of(version), soft_gpu(**changes)
    sys.exit(subprocess.run([python, python_program(name)], env=environment, timeout=timeout).returncode)
