# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of HIP and HSA: the software AMD GPU, what it says it has executed, and the same from a trace."""

import os
import shutil
from collections import Counter, namedtuple

import harness
from support import BUILD, LiveTest, query, run

FOLDER = os.path.join(BUILD, "tests", "amd")
THUNK = os.path.join(BUILD, "soft", "amd")
KERNELS = ":".join(os.path.join(FOLDER, f"{name}_kernels.so") for name in ("compute", "ways", "triple"))
# Traced at their own levels only: other tests look at the kernel.
OPTIONS = ("--quiet", "--levels", "runtime,dataflow")
TICK_NS = 10

# One line of the device's log (soft/amd/device.h).
Executed = namedtuple("Executed", "what process node queue start end amount name")


def program(name):
    return os.path.join(FOLDER, name)


def read_log(path):
    """What the device has executed, in the order of its clock. The runtime's own copies by device kernels on queues of
    its own, which nobody else can see, are left out."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(" ", 7) for line in file]
    executed = [Executed(what, *map(int, numbers), name) for what, *numbers, name in lines]
    return sorted((one for one in executed if not one.name.startswith("(ROCr")), key=lambda one: one.start)


def without_warnings(text):
    """ROCr as Debian builds it warns of its own waits now and then, traced or not."""
    return "".join(line for line in text.splitlines(keepends=True) if "Use of non-host signal" not in line)


def skip_without_amd():
    """Ends the test program where there is nothing to trace."""
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into other programs")
    if not os.path.exists(program("ways")):
        harness.skip("HIP's compiler and headers were not there when the tests were built (tools/setup amd)")
    if not shutil.which("hipcc"):
        harness.skip("there is no HIP (package hipcc)")


class AmdTest(LiveTest):
    def environment(self, **changes):
        return {**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": THUNK, "SOFT_AMD_KERNELS": KERNELS, **changes}

    def run_both(self, *command, timeout=120, **environment):
        """Runs a program alone and recorded; both must look the same. Gives its result, with the trace, and what the
        device has executed meanwhile."""
        number = len(os.listdir(self.folder))
        log = self.path(f"log-{number}")
        keywords = {"env": self.environment(**environment), "cwd": self.folder, "timeout": timeout}
        alone = run(*command, **keywords)
        keywords["env"]["SOFT_AMD_LOG"] = log
        recorded = self.record(*command, options=OPTIONS, name=f"trace-{number}.mill", **keywords)
        self.assertEqual(recorded.stdout, alone.stdout)
        self.assertEqual(without_warnings(recorded.stderr), without_warnings(alone.stderr))
        self.assertEqual(recorded.returncode, alone.returncode)
        recorded.executed = read_log(log)
        return recorded

    def operations(self, result, where="1"):
        return query(result.trace, "select d.*, c.function, c.start_ns as call_ns from device_operations d "
                                   f"left join calls c on c.rowid = d.call where {where} order by d.raw_start")

    def check_executed(self, result):
        """The trace has what the device has executed: the same device kernels in the same order, each as long, and as many
        bytes copied by engines; and each belongs to a call."""
        operations = self.operations(result)
        self.assertEqual([one for one in operations if one["call"] is None], [])
        kernels = [one for one in operations if one["name"] and not one["name"].startswith("copy_")]
        executed = [one for one in result.executed if one.what in ("dispatch", "nothing")]
        self.assertEqual(Counter(one["name"] for one in kernels), Counter(one.name for one in executed))
        self.assertEqual(sum(one["bytes"] for one in operations if one not in kernels),
                         sum(one.amount for one in result.executed if one.what == "copy"))
        return kernels, executed

    def check_times(self, kernels, executed):
        """In the order of the device, and as long as it took there, to a tick at either end and 200 parts in a million."""
        self.assertEqual([one["name"] for one in kernels], [one.name for one in executed])
        for seen, done in zip(kernels, executed):
            wanted = (done.end - done.start) * TICK_NS
            self.assertLessEqual(abs(seen["duration_ns"] - wanted), 2 * TICK_NS + wanted // 5000, (seen, done))
