# SPDX-License-Identifier: Apache-2.0
"""TensorFlow programs with one problem each, as users write them.

    with_tensorflow.py CASE...      prints for each: CASE FROM_NS TO_NS COST_NS, by CLOCK_MONOTONIC

COST_NS is what the program itself measures around the place that is wrong. Each case warms up before it counts."""

import os
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

WIDTH = 256
ROUNDS = 25


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def make_step():
    weights = tf.Variable(tf.random.normal((WIDTH, WIDTH)))

    @tf.function
    def train_step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(batch, weights)))
        weights.assign_sub(1e-3 * tape.gradient(loss, weights))
        return loss

    return train_step


def make_model():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((WIDTH,)), layers.Dense(32, activation="relu"), layers.Dense(4)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    return model


# ---- input ---------------------------------------------------------------------------------------------------------

def batches(seconds, work):
    for _ in range(ROUNDS):
        work(seconds)
        yield np.ones((16, WIDTH), np.float32)


def labelled(seconds, work):
    return ((batch, np.zeros(16, np.int32)) for batch in batches(seconds, work))


def consume(dataset, train_step):
    """What it costs is what the loop waits for the next batch."""
    iterator, begin, cost = iter(dataset), now(), 0
    for _ in range(ROUNDS):
        called = now()
        batch = next(iterator)
        cost += now() - called
        train_step(batch)
    return begin, cost, now()


BATCH = tf.TensorSpec((16, WIDTH), tf.float32)
LABELS = tf.TensorSpec((16,), tf.int32)


def generator():
    """A generator in Python, and a loop over it."""
    train_step = make_step()
    train_step(tf.ones((16, WIDTH)))
    dataset = tf.data.Dataset.from_generator(lambda: batches(0.02, time.sleep), output_signature=BATCH)
    return consume(dataset, train_step)


def fit():
    """The same through Keras."""
    model = make_model()
    model.fit(np.ones((32, WIDTH), np.float32), np.zeros(32, np.int32), batch_size=16, verbose=0)
    dataset = tf.data.Dataset.from_generator(lambda: labelled(0.03, time.sleep), output_signature=(BATCH, LABELS))
    begin = now()
    model.fit(dataset, verbose=0)
    return begin, int(ROUNDS * 0.03e9)


def py_function():
    """A map that calls Python, in a pipeline that is consumed by a function."""
    def load(number):
        time.sleep(0.02)
        return np.ones((16, WIDTH), np.float32)

    dataset = tf.data.Dataset.range(ROUNDS).map(lambda number: tf.numpy_function(load, [number], tf.float32))
    dataset = dataset.map(lambda batch: tf.ensure_shape(batch, (16, WIDTH)))
    train_step = make_step()
    train_step(tf.ones((16, WIDTH)))
    return consume(dataset, train_step)


# ---- graphs --------------------------------------------------------------------------------------------------------

def retrace_numbers():
    """Python numbers as arguments."""
    weights = tf.Variable(tf.ones((WIDTH, WIDTH)))

    @tf.function
    def scaled(batch, scale):
        return tf.reduce_sum(tf.nn.relu(tf.matmul(batch, weights))) * scale

    batch = tf.ones((4, WIDTH))
    scaled(batch, -1.0)
    begin = now()
    for number in range(ROUNDS):
        scaled(batch, number / 3)
    whole = now() - begin
    again = now()
    for number in range(ROUNDS):
        scaled(batch, number / 3)
    return begin, whole - (now() - again), begin + whole


def retrace_shapes():
    """Batches of different sizes."""
    train_step = make_step()
    train_step(tf.ones((1, WIDTH)))
    begin = now()
    for number in range(ROUNDS):
        train_step(tf.ones((number + 2, WIDTH)))
    whole = now() - begin
    again = now()
    for number in range(ROUNDS):
        train_step(tf.ones((number + 2, WIDTH)))
    return begin, whole - (now() - again), begin + whole


def steady():
    """Nothing is wrong: a function that is called again and again."""
    weights = tf.Variable(tf.ones((512, 512)))

    @tf.function
    def multiply(batch):
        for _ in range(4):
            batch = tf.matmul(batch, weights) / 512
        return batch

    batch = tf.ones((512, 512))
    multiply(batch)
    begin = now()
    for _ in range(ROUNDS):
        batch = multiply(batch)
    return begin, 0


# ---- around the steps ----------------------------------------------------------------------------------------------

def save():
    """A checkpoint after each step."""
    train_step, batch = make_step(), tf.ones((16, WIDTH))
    checkpoint = tf.train.Checkpoint(**{f"v{i}": tf.Variable(tf.ones((512, 512))) for i in range(4)})
    cost = 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("DISK")) as folder:
        train_step(batch)
        checkpoint.write(f"{folder}/checkpoint")
        begin = now()
        for _ in range(ROUNDS):
            train_step(batch)
            called = now()
            checkpoint.write(f"{folder}/checkpoint")
            cost += now() - called
        return begin, cost, now()


def predict():
    """One sample at a time."""
    model, sample = make_model(), np.ones((1, WIDTH), np.float32)
    model.predict(sample, verbose=0)
    begin = now()
    for _ in range(ROUNDS):
        model.predict(sample, verbose=0)
    whole = now() - begin
    again = now()
    for _ in range(ROUNDS):
        model(sample, training=False)
    return begin, whole - (now() - again), begin + whole


# ---- with a device -------------------------------------------------------------------------------------------------

def numpy():
    """Looks at the loss after each step, and then prepares the next one."""
    weights = tf.Variable(tf.random.normal((512, 512)))

    @tf.function
    def train_step(batch):
        for _ in range(4):
            batch = tf.matmul(batch, weights)
        loss = tf.reduce_mean(batch)
        weights.assign_sub(1e-30 * loss * tf.ones((512, 512)))
        return loss

    batch = tf.ones((512, 512))
    float(train_step(batch))
    begin, waited, prepared = now(), 0, 0
    for _ in range(ROUNDS):
        called = now()
        train_step(batch).numpy()
        done = now()
        compute(0.01)
        waited += done - called
        prepared += now() - done
    return begin, min(waited, prepared)


def small():
    """Very many operations on very small tensors."""
    @tf.function
    def small_step(values):
        for _ in range(60):
            values = tf.nn.relu(values + 1e-3) * 0.99
        return values

    values = tf.ones((2, 8))
    small_step(values).numpy()
    begin = now()
    for _ in range(2 * ROUNDS):
        values = small_step(values)
    values.numpy()
    return begin, now() - begin


def on_host():
    """One operation runs on the host."""
    @tf.function
    def mixed_step(values):
        values = values * 1.01
        with tf.device("/CPU:0"):
            values = tf.sort(values, axis=-1)
        return values + 1.0

    values = tf.random.normal((512, 1024))
    mixed_step(values).numpy()
    begin = now()
    for _ in range(ROUNDS):
        values = mixed_step(values)
    values.numpy()
    return begin, now() - begin


def feed():
    """Large batches come from the host, and little is done with them."""
    total = tf.Variable(0.0)
    batch = np.ones((4096, 4096), np.float32)

    @tf.function
    def look(values):
        total.assign_add(values[0, 0])

    with tf.device("/XPU:0"):
        look(tf.constant(batch))
        begin, cost = now(), 0
        for _ in range(ROUNDS // 2):
            called = now()
            values = tf.constant(batch)
            cost += now() - called
            look(values)
    total.numpy()
    return begin, cost


def kernels():
    """The device has enough to do."""
    weights = tf.Variable(tf.random.normal((512, 512)))

    @tf.function
    def multiply(batch):
        return tf.matmul(tf.matmul(batch, weights), weights) * 1e-3

    batch = tf.ones((512, 512))
    multiply(batch).numpy()
    begin = now()
    for _ in range(ROUNDS):
        batch = multiply(batch)
    batch.numpy()
    return begin, now() - begin


for case in sys.argv[1:]:
    begin, cost, *end = globals()[case]()
    print(case, begin, end[0] if end else now(), cost, flush=True)
