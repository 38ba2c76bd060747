# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on images read from files: is the model or the input pipeline the slow part?

    python input_pipeline.py [--files 200] [--steps 30] [--workers 2]

The program first writes the files to a temporary folder; each holds a batch of raw pixels and labels."""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf

SIDE, BATCH, CLASSES = 32, 16, 10


def write_files(folder, count):
    generator = np.random.default_rng(1)
    for i in range(count):
        pixels = generator.integers(256, size=BATCH * SIDE * SIDE, dtype=np.uint8)
        labels = generator.integers(CLASSES, size=BATCH, dtype=np.uint8)
        with open(os.path.join(folder, f"{i:05}.raw"), "wb") as file:
            file.write(pixels.tobytes() + labels.tobytes())


def parse(path):
    content = tf.io.decode_raw(tf.io.read_file(path), tf.uint8)
    pixels = tf.cast(tf.reshape(content[:BATCH * SIDE * SIDE], [BATCH, SIDE * SIDE]), tf.float32) / 255.0
    return pixels, tf.cast(content[BATCH * SIDE * SIDE:], tf.int32)


def make_step():
    tf.random.set_seed(1)
    weights = tf.Variable(tf.random.normal([SIDE * SIDE, CLASSES], stddev=0.1))

    @tf.function
    def train_step(pixels, labels):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(pixels, weights)))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return train_step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=200)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_files(folder, given.files)
        batches = (tf.data.Dataset.list_files(os.path.join(folder, "*.raw"), shuffle=False)
                   .map(parse, num_parallel_calls=given.workers).repeat().prefetch(2).take(given.steps))
        train_step = make_step()
        for pixels, labels in batches:
            loss = train_step(pixels, labels)
        print(f"loss after {given.steps} steps: {float(loss):.6f}")


if __name__ == "__main__":
    main()
