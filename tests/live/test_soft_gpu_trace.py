#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The software GPU under `millrace record`: TensorFlow computes the same, and the trace has every device kernel and copy."""

import os
import re
from collections import Counter

import harness
from opencl import OpenclTest, kernels_of, operations_of, skip_without_opencl
from support import info, run
from tensorflow import MAIN, SECOND, SOURCE, python_of, python_program, soft_gpu

TRAINING_STEPS, EVALUATION_STEPS = 8, 16
FIGURES = re.compile(r"(?:loss|accuracy):? [\d.%]+")


def count_of(kernel):
    """How often examples/mnist_like.py must run a kernel: forward twice convolution and twice a dense layer; backward
    two products per layer, but the pictures need no gradient. All convolutions but backward to the input spread."""
    forward, backward = {"sgemm": (4, 7), "spread": (2, 2), "gather": (0, 1), "max_pool": (2, 0),
                         "max_pool_gradient": (0, 2), "sparse_cross_entropy": (1, 0)}[kernel]
    return TRAINING_STEPS * (forward + backward) + EVALUATION_STEPS * forward


class SoftGpu(OpenclTest):
    def example(self):
        return (python_of(MAIN), os.path.join(SOURCE, "examples/mnist_like.py"), "--epochs", "1", "--examples",
                str(32 * TRAINING_STEPS), "--batch", "32")

    def test_training(self):
        """Figures do not change, and kernels are as many as the network has products, windows and losses."""
        environment = soft_gpu()
        alone = run(*self.example(), env=environment, timeout=400)
        recorded = self.record(*self.example(), options=("--quiet", "--levels", "runtime"), env=environment,
                               timeout=400)
        self.assertEqual((alone.returncode, recorded.returncode), (0, 0), recorded.stderr[-2000:])
        self.assertEqual(len(FIGURES.findall(alone.stdout)), 4, alone.stdout)
        self.assertEqual(FIGURES.findall(recorded.stdout), FIGURES.findall(alone.stdout))

        events = self.read(recorded)
        for kernel in ("sgemm", "spread", "gather", "max_pool", "max_pool_gradient", "sparse_cross_entropy"):
            self.assertEqual(len(kernels_of(events, kernel)), count_of(kernel), kernel)
        launched = sum(event["event"] == "runtime_launch_kernel" for event in events)
        kinds = Counter(operation["fields"]["kind"] for operation in operations_of(events).values())
        self.assertEqual(kinds["kernel"], launched)
        # A batch of pictures and labels goes to the device in each step.
        self.assertGreaterEqual(kinds["copy_to_device"], 2 * (TRAINING_STEPS + EVALUATION_STEPS))
        self.assertGreater(kinds["copy_from_device"], 0)
        self.assertEqual(sum(event["event"] == "def_device" for event in events), 1)

    def check_devices(self, version):
        program = python_program("soft_devices")
        recorded = self.record(python_of(version), program, options=("--quiet", "--levels", "runtime"),
                               env=soft_gpu(devices=2), timeout=400)
        self.assertEqual(recorded.returncode, 0, recorded.stderr[-2000:])
        events = self.read(recorded)
        device_of = {event["fields"]["id"]: event["fields"]["device"] for event in events
                     if event["event"] == "def_queue"}
        used = Counter(device_of[event["fields"]["queue"]] for event in kernels_of(events, "sgemm"))
        self.assertEqual(len(used), 2, used)
        kinds = Counter(operation["fields"]["kind"] for operation in operations_of(events).values())
        self.assertGreater(kinds["copy_on_device"], 0, "nothing went from device to device")

    def test_two_devices(self):
        self.check_devices(MAIN)

    def test_two_devices_second(self):
        self.check_devices(SECOND)

    def test_all_levels(self):
        """Whatever the machine permits, the figures are the same."""
        recorded = self.record(*self.example(), options=("--quiet",), env=soft_gpu(), timeout=400)
        self.assertEqual(recorded.returncode, 0, recorded.stderr[-2000:])
        self.assertEqual(len(FIGURES.findall(recorded.stdout)), 4)
        self.assertGreater(info(recorded.trace)["events"], 1000)


if __name__ == "__main__":
    skip_without_opencl()
    for version in (MAIN, SECOND):
        python_of(version)
    soft_gpu()
    harness.main()
