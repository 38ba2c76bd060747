# SPDX-License-Identifier: Apache-2.0
"""Two workers on this machine that add up what each has, with a collective: `tensorflow_workers.py STEPS`. The
program starts the second one itself. Both end by _exit(), so they settle (settled/sitecustomize.py) themselves."""

import json
import os
import socket
import subprocess
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf
from sitecustomize import settle


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for opened in sockets:
        opened.bind(("127.0.0.1", 0))
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def work(steps):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()

    @tf.function
    def add_up(value):
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(lambda: tf.fill([256], value)), axis=None)

    total = 0.0
    for step in range(steps):
        total += float(add_up(tf.constant(float(step)))[0])
    return total


def main():
    steps = int(sys.argv[1])
    if "TF_CONFIG" in os.environ:
        work(steps)
        settle()
        sys.stdin.read()  # until the first one is done
        os._exit(0)  # otherwise they wait for each other to leave
    workers = [f"127.0.0.1:{port}" for port in free_ports(2)]
    config = [json.dumps({"cluster": {"worker": workers}, "task": {"type": "worker", "index": i}}) for i in range(2)]
    second = subprocess.Popen([sys.executable, *sys.argv], env={**os.environ, "TF_CONFIG": config[1]},
                              stdin=subprocess.PIPE)
    os.environ["TF_CONFIG"] = config[0]
    print(work(steps), flush=True)
    settle()
    second.stdin.close()
    os._exit(second.wait(60))


if __name__ == "__main__":
    main()
