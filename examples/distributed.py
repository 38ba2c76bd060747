# SPDX-License-Identifier: Apache-2.0
"""Runs one graph in two processes on this machine: the first multiplies and sends its result to the second.

    python distributed.py [--steps 10]

The program starts the second process itself; both are tasks of a TensorFlow cluster on 127.0.0.1."""

import argparse
import socket
import subprocess
import sys

import tensorflow as tf

SIDE = 64


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for opened in sockets:
        opened.bind(("127.0.0.1", 0))
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports


def start_server(ports, task):
    cluster = {"worker": [f"127.0.0.1:{port}" for port in ports]}
    return tf.distribute.Server(cluster, job_name="worker", task_index=task)


def train(server, steps):
    with tf.Graph().as_default():
        with tf.device("/job:worker/task:0"):
            fed = tf.compat.v1.placeholder(tf.float32, [SIDE, SIDE], name="fed")
            first = tf.matmul(fed, fed, name="first")
        with tf.device("/job:worker/task:1"):
            second = tf.reduce_sum(tf.nn.relu(tf.matmul(first, first, name="second")))
        with tf.compat.v1.Session(server.target) as session:
            for step in range(steps):
                result = session.run(second, {fed: [[0.01 * step] * SIDE] * SIDE})
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--serve", nargs=2, type=int, metavar="PORT", help="be the second task")
    given = parser.parse_args()
    if given.serve:
        server = start_server(given.serve, 1)
        sys.stdin.read()  # until the first task is done
        return
    ports = free_ports(2)
    second = subprocess.Popen([sys.executable, __file__, "--serve", *map(str, ports)], stdin=subprocess.PIPE)
    try:
        print(f"result: {train(start_server(ports, 0), given.steps):.6g}")
    finally:
        second.stdin.close()
        second.wait(30)


if __name__ == "__main__":
    main()
