# SPDX-License-Identifier: Apache-2.0
"""Two workers that add up what each has (MultiWorkerMirroredStrategy); the input of the second one takes longer:
`ranks_tensorflow.py FOLDER STEPS`. The program starts both. Each writes when it has its input, step by step; the first one
prints when the steps began and ended, and how long it waited for the other."""

import json
import os
import socket
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

LATE_S = 0.2


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for opened in sockets:
        opened.bind(("127.0.0.1", 0))
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def train(folder, steps):
    import tensorflow as tf
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rank = strategy.cluster_resolver.task_id

    def load(place):
        time.sleep(LATE_S if rank == 1 else 0)
        return place

    data = tf.data.Dataset.range(steps + 1).map(
        lambda place: tf.ensure_shape(tf.py_function(load, [place], tf.int64), []))

    @tf.function
    def add_up(value):
        return strategy.reduce(tf.distribute.ReduceOp.SUM,
                               strategy.run(lambda: tf.fill([256], tf.cast(value, tf.float32))), axis=None)

    times, total = [], 0.0
    for element in data:
        times.append(time.monotonic_ns())
        total += float(add_up(element)[0])
    times.append(time.monotonic_ns())
    with open(f"{folder}/times-{rank}.new", "w") as file:
        print(*times, file=file)
    os.rename(f"{folder}/times-{rank}.new", f"{folder}/times-{rank}")
    other = f"{folder}/times-{1 - rank}"
    while not os.path.exists(other):
        time.sleep(0.01)
    if rank == 0:
        late = [int(word) for word in open(other).read().split()]
        waited = sum(max(b - a, 0) for a, b in zip(times[1:-1], late[1:-1]))  # the first step traces and compiles
        print("loader", times[1], times[-1], waited, flush=True)
    os._exit(0)  # otherwise they wait for each other to leave


def main():
    folder, steps = sys.argv[1], int(sys.argv[2])
    if "TF_CONFIG" in os.environ:
        train(folder, steps)
    workers = [f"127.0.0.1:{port}" for port in free_ports(2)]
    started = [subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "TF_CONFIG": json.dumps(
        {"cluster": {"worker": workers}, "task": {"type": "worker", "index": i}})}) for i in range(2)]
    sys.exit(max(worker.wait(300) for worker in started))


if __name__ == "__main__":
    main()
