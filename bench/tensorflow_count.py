# SPDX-License-Identifier: Apache-2.0
"""Runs steps of a small network under callgrind, which counts only these steps: `tensorflow_count.py STEPS`. Waiting
threads spin, so there is only one thread for each purpose."""

import os
import subprocess
import sys

import tensorflow as tf

import tensorflow_work

WARM_STEPS = 50


def count(state):
    subprocess.run(["vgdb", f"--pid={os.getpid()}", "instrumentation", state], check=True, stdout=subprocess.DEVNULL)


def main():
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    step = tensorflow_work.mlp()
    for _ in range(WARM_STEPS):
        step()
    count("on")
    for _ in range(int(sys.argv[1])):
        step()
    count("off")
    os._exit(0)  # shutting TensorFlow down under valgrind takes longer than the steps


main()
