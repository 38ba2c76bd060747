# SPDX-License-Identifier: Apache-2.0
"""Shared by the OpenCL tests: what programs say they have done, and the same from a trace."""

import os
import re
from collections import namedtuple

import harness
from support import BUILD, LiveTest, dump, program, run

CALLS = {"runtime_call", "runtime_call_on", "runtime_launch", "runtime_launch_kernel"}
LAUNCHES = {"runtime_launch", "runtime_launch_kernel"}
# Traced at their own levels only: other tests look at the kernel.
OPTIONS = ("--quiet", "--levels", "runtime,dataflow")

# One line of tests/live/programs/opencl_say.h.
Said = namedtuple("Said", "function result operation")
SAID = re.compile(r"^(cl\w+)(?: = (-?\d+))?(?: made| null)?(?: : (.*))?$", re.M)


def said_by(output):
    """The calls that a program says it has made; result is None where the function has no status."""
    return [Said(function, int(result) if result else None, operation)
            for function, result, operation in SAID.findall(output)]


def calls_of(events, process=None):
    """Calls in the order in which they returned."""
    return [event for event in events if event["event"] in CALLS
            and (process is None or event["process"] == process)]


def function_of(call):
    return call["names"]["function"]


def by_correlation(events, *names):
    """Events of those names by process and correlation, each of which must be there once."""
    found = {}
    for event in events:
        if event["event"] in names:
            key = event["process"], event["fields"]["correlation"]
            if key in found:
                raise AssertionError(f"twice: {event}")
            found[key] = event
    return found


def operations_of(events):
    return by_correlation(events, "device_operation")


def kernels_of(events, name):
    """Finished executions of a kernel."""
    return [event for event in events if event["event"] == "device_operation"
            and event["names"].get("name") == name]


def skip_without_opencl():
    """Ends the test program where there is no OpenCL to trace."""
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be a layer of other programs")
    if not os.path.exists(program("opencl_objects")):
        harness.skip("the OpenCL headers and loader were not there when the tests were built")
    result = run(program("opencl_dlopen"))
    if "clFinish = 0" not in result.stdout:
        harness.skip("no OpenCL device (package pocl-opencl-icd)")


def main():
    skip_without_opencl()
    harness.main()


class OpenclTest(LiveTest):
    def environment(self, **changes):
        return {**os.environ, "LC_ALL": "C", **changes}

    def run_both(self, *command, options=OPTIONS, timeout=120, **environment):
        """Runs a program alone and recorded; both must look the same. Gives its result, with the trace."""
        keywords = {"env": self.environment(**environment), "cwd": self.folder, "timeout": timeout}
        alone = run(*command, **keywords)
        name = f"trace-{len(os.listdir(self.folder))}.mill"
        recorded = self.record(*command, options=options, name=name, **keywords)
        self.assertEqual(recorded.stdout, alone.stdout)
        self.assertEqual(recorded.stderr, alone.stderr)
        self.assertEqual(recorded.returncode, alone.returncode)
        return recorded

    def check_joined(self, events):
        """Each operation belongs to a call that succeeded, on the same queue, and its times are in order."""
        launches = by_correlation(events, *LAUNCHES)
        for key, operation in operations_of(events).items():
            self.assertIn(key, launches, operation)
            launch, fields = launches[key]["fields"], operation["fields"]
            self.assertEqual(launch["result"], 0)
            self.assertEqual(launch["queue"], fields["queue"])
            self.assertNotEqual(fields["queue"], 0)
            self.assertTrue(0 < fields["queued"] <= fields["submitted"] <= fields["start"]
                            <= fields["end"], operation)
        return launches

    def read(self, result):
        events = dump(result.trace)
        self.check_joined(events)
        return events


def layer(name="opencl_layer"):
    return os.path.join(BUILD, "tests", f"liblive_{name}.so")
