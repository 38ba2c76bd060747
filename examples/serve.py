# SPDX-License-Identifier: Apache-2.0
"""Answers requests with a small network, as an inference server does: a queue, and threads that take requests from it.

    python serve.py [--requests 200] [--threads 2]"""

import argparse
import queue
import threading
import time

import tensorflow as tf

WIDTH = 256


def make_model():
    tf.random.set_seed(1)
    layers = [tf.Variable(tf.random.normal([WIDTH, WIDTH], stddev=0.1)) for _ in range(3)]

    @tf.function(input_signature=[tf.TensorSpec([None, WIDTH])])
    def infer(batch):
        for weights in layers:
            batch = tf.nn.relu(tf.matmul(batch, weights))
        return tf.reduce_sum(batch, axis=1)

    return infer


def serve(requests, answers, infer):
    while (request := requests.get()) is not None:
        arrived, vector = request
        answer = infer(vector[tf.newaxis])
        answers.put((time.perf_counter() - arrived, float(answer[0])))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    infer, requests, answers = make_model(), queue.Queue(), queue.Queue()
    threads = [threading.Thread(target=serve, args=(requests, answers, infer)) for _ in range(given.threads)]
    for thread in threads:
        thread.start()
    vector = tf.ones([WIDTH])
    for _ in range(given.requests):
        requests.put((time.perf_counter(), vector))
        time.sleep(0.001)
    for _ in threads:
        requests.put(None)
    for thread in threads:
        thread.join()
    latencies = sorted(answers.get()[0] for _ in range(given.requests))
    print(f"{given.requests} requests, median latency {latencies[len(latencies) // 2] * 1e3:.2f} ms, "
          f"longest {latencies[-1] * 1e3:.2f} ms")


if __name__ == "__main__":
    main()
