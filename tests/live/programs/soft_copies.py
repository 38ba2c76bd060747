# SPDX-License-Identifier: Apache-2.0
"""Tensors of sizes that tell them apart go to the software GPU and back: in a graph, and by eager operations.
Says of each how often it is copied: `DIRECTION NODE in|out NUMBER BYTES TIMES`; with - for what a trace cannot tell."""

import numpy as np
import tensorflow as tf

HOST, DEVICE = "/device:CPU:0", "/device:XPU:0"
STEPS = 20


@tf.function
def step(images, weights):
    with tf.device(HOST):
        few, many = tf.split(images, [3, 5], name="parts")
    with tf.device(DEVICE):
        product = tf.matmul(few, weights, name="product")
        many = tf.nn.relu(many, name="positive")
    with tf.device(HOST):
        return tf.sort(product), tf.sort(many)


def eager(value, weights):
    with tf.device(DEVICE):
        product = tf.matmul(value, weights)
    with tf.device(HOST):
        return tf.math.atan2(tf.zeros([11, 7]), product)


@tf.function
def add_constant(value):
    with tf.device(DEVICE):
        return value + tf.constant(np.arange(19, dtype=np.float32))


def change(variable):
    """What was read must stay as it is, so that TensorFlow makes a copy for the variable."""
    with tf.device(DEVICE):
        before = variable.read_value()
        variable.assign_add(tf.ones([13]))
        return before


def main():
    with tf.device(HOST):
        images = tf.constant(np.ones((8, 16), np.float32))
        value = tf.constant(np.ones((11, 16), np.float32))
    with tf.device(DEVICE):
        weights = tf.identity(tf.constant(np.ones((16, 7), np.float32)))
        variable, nineteen = tf.Variable(tf.zeros([13])), tf.zeros([19])
    for _ in range(STEPS):
        step(images, weights)
        eager(value, weights)
        change(variable)
        add_constant(nineteen).numpy()
    for line in (f"copy_to_device parts out 0 {3 * 16 * 4} {STEPS}", f"copy_to_device parts out 1 {5 * 16 * 4} {STEPS}",
                 f"copy_from_device product out 0 {3 * 7 * 4} {STEPS}",
                 f"copy_from_device positive out 0 {5 * 16 * 4} {STEPS}",
                 # TensorFlow keeps what it once copied for an eager operation.
                 f"copy_to_device MatMul in 0 {11 * 16 * 4} 1", f"copy_from_device Atan2 in 1 {11 * 7 * 4} {STEPS}",
                 f"copy_on_device AssignAddVariableOp in 0 {13 * 4} {STEPS}",
                 # A constant, when its function is made; and what is read outside of any operation.
                 f"copy_to_device - - - {19 * 4} 1", f"copy_from_device - - - {19 * 4} {STEPS}"):
        print(line)


if __name__ == "__main__":
    main()
