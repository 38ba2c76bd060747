# SPDX-License-Identifier: Apache-2.0
"""Runs TensorFlow steps on request: `tensorflow_work.py KIND STEPS [profile]`. Prints `ready` when warm. For each line
that it reads, it runs STEPS steps and prints the CPU seconds per step, of all threads together. With `profile`, the
steps run under TensorFlow's own profiler, including its stop()."""

import os
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf

WARM_SECONDS = 3  # until the graph is discovered and TensorFlow has learnt what operations cost


def mlp():
    """A small network: about 350 µs and 120 events."""
    weights = [tf.Variable(tf.random.normal(shape)) for shape in ([64, 128], [128], [128, 10])]
    images, labels = tf.random.normal([32, 64]), tf.constant([i % 10 for i in range(32)])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(images, weights[0]) + weights[1])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(hidden, weights[2])))
        for weight, gradient in zip(weights, tape.gradient(loss, weights)):
            weight.assign_sub(0.01 * gradient)

    return step


def cnn():
    """A convolutional network, on the device that TensorFlow considers the fastest."""
    filters = tf.Variable(tf.random.normal([3, 3, 1, 16]))
    weights = tf.Variable(tf.random.normal([14 * 14 * 16, 10]))
    images, labels = tf.random.normal([32, 28, 28, 1]), tf.constant([i % 10 for i in range(32)])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.max_pool2d(tf.nn.relu(tf.nn.conv2d(images, filters, 1, "SAME")), 2, 2, "SAME")
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(tf.reshape(hidden, [32, -1]), weights)))
        for variable, gradient in zip([filters, weights], tape.gradient(loss, [filters, weights])):
            variable.assign_sub(0.01 * gradient)
        return loss

    return lambda: float(step())


def data():
    """A tf.data pipeline that creates its iterator, with its threads, anew in each step."""
    pipeline = tf.data.Dataset.range(256).map(lambda i: i * 2, num_parallel_calls=2).batch(16).prefetch(2)

    def step():
        for _ in pipeline:
            pass

    return step


def main():
    kind, steps, is_profiled = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["profile"]
    tf.random.set_seed(1)
    step = globals()[kind]()
    end = time.monotonic() + WARM_SECONDS
    while time.monotonic() < end:
        step()
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            if is_profiled:
                tf.profiler.experimental.start(folder, tf.profiler.experimental.ProfilerOptions(
                    host_tracer_level=3))
            for _ in range(steps):
                step()
            if is_profiled:
                tf.profiler.experimental.stop()
        print((time.process_time() - start) / steps, flush=True)


if __name__ == "__main__":
    main()
