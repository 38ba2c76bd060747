# SPDX-License-Identifier: Apache-2.0
"""TensorFlow programs as users write them, knowing nothing of millrace: `tensorflow_cases.py CASE[+CASE...] [ARGUMENT]`.
Each prints results that are the same in every run, floats to the last digit. Several run one after another, as it takes
longest to load TensorFlow; the argument is the last one's."""

import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import tensorflow as tf


def show(*values):
    print(*(float(value).hex() for value in values), flush=True)


def make_step():
    tf.random.set_seed(1)
    first = tf.Variable(tf.random.normal([16, 32]))
    bias = tf.Variable(tf.zeros([32]))
    second = tf.Variable(tf.random.normal([32, 4]))

    @tf.function
    def train_step(images, labels):
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(images, first) + bias)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(hidden, second)))
        variables = [first, bias, second]
        for variable, gradient in zip(variables, tape.gradient(loss, variables)):
            variable.assign_sub(0.01 * gradient)
        return loss

    images = tf.random.normal([8, 16])
    labels = tf.constant([i % 4 for i in range(8)])
    return lambda: train_step(images, labels)


def function():
    step = make_step()
    for _ in range(20):
        loss = step()
    show(loss)


def eager():
    tf.random.set_seed(1)
    value = tf.random.normal([8, 8])
    for _ in range(10):
        value = tf.nn.tanh(tf.matmul(value, value))
    show(tf.reduce_sum(value))


def asynchronous():
    tf.config.experimental.set_synchronous_execution(False)
    total = tf.Variable(tf.zeros([300, 300]))

    @tf.function
    def add(value):
        total.assign_add(tf.matmul(value, value, name="product"))
        return tf.reduce_sum(total)

    value = tf.eye(300)
    for _ in range(10):
        value = tf.matmul(value, value)
    for _ in range(12):
        result = add(value)
    show(result)


def compiled():
    @tf.function(jit_compile=True)
    def squared(value):
        return tf.nn.relu(value @ value) + 1.0

    for _ in range(11):
        result = squared(tf.eye(8))
    show(result[0][0])


def control_flow():
    @tf.function
    def loop(count):
        total = tf.constant(0.0)
        for i in tf.range(count):
            if i % 2 == 0:
                total += tf.cast(i, tf.float32)
            else:
                total *= 1.25
        return total

    show(loop(tf.constant(10)), loop(tf.constant(7)))


def data():
    def square(value):
        return value * value

    pipeline = (tf.data.Dataset.range(64)
                .map(lambda i: tf.cast(i, tf.float32), num_parallel_calls=2)
                .map(lambda i: tf.py_function(square, [i], tf.float32))
                .batch(8).prefetch(2))
    show(*(tf.reduce_sum(batch) for batch in pipeline))


def keras():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([
        tf.keras.layers.Input([8, 8, 1]),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(4)])
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    images = tf.random.normal([32, 8, 8, 1])
    labels = tf.constant([i % 4 for i in range(32)])
    history = model.fit(images, labels, batch_size=8, epochs=2, verbose=0, shuffle=False)
    show(*history.history["loss"])


def checkpoint(folder):
    variable = tf.Variable([1.0, 2.0])
    saved = tf.train.Checkpoint(variable=variable).save(os.path.join(folder, "checkpoint"))
    variable.assign([5.0, 6.0])
    tf.train.Checkpoint(variable=variable).restore(saved).assert_consumed()
    show(*variable.numpy())


def devices():
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0],
        [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()])

    @tf.function
    def towers(value):
        with tf.device("/CPU:0"):
            left = tf.matmul(value, value, name="left")
        with tf.device("/CPU:1"):
            right = tf.matmul(left, value, name="right")
        return tf.reduce_sum(right)

    for _ in range(3):
        result = towers(tf.eye(16) * 2)
    show(result)


def session():
    tf.compat.v1.disable_eager_execution()
    fed = tf.compat.v1.placeholder(tf.float32, [4, 4], name="fed")
    scale = tf.compat.v1.Variable(2.0, name="scale")
    product = tf.matmul(scale * fed, fed, name="squared")
    with tf.compat.v1.Session() as opened:
        opened.run(scale.initializer)
        for i in range(5):
            result = opened.run(product, {fed: [[float(i)] * 4] * 4})
    show(result[0][0])


def sessions():
    """Every third run asks for something else; each is fed one row more than the one before."""
    tf.compat.v1.disable_eager_execution()
    fed = tf.compat.v1.placeholder(tf.float32, [None, 4])
    product = tf.matmul(fed, tf.ones([4, 2]), name="product")
    total = tf.reduce_sum(product)
    with tf.compat.v1.Session() as opened:
        for i in range(12):
            result = opened.run(total if i % 3 == 2 else product, {fed: [[1.0] * 4] * (i + 1)})
    show(result)


def annotations():
    step = make_step()
    for i in range(5):
        with tf.profiler.experimental.Trace("train", step_num=100 + i, _r=1):
            loss = step()
    show(loss)


def exception():
    @tf.function
    def check(value):
        tf.debugging.assert_positive(value)
        return value * 2

    show(check(tf.constant(2.0)))
    try:
        check(tf.constant(-2.0))
    except tf.errors.InvalidArgumentError:
        print("refused", flush=True)
    tf.Variable(1.0).assign(2.0)
    next(iter(tf.data.Dataset.range(1)))


def interrupt():
    import signal
    step = make_step()
    for i in range(1000):
        if i == 5:
            signal.raise_signal(signal.SIGINT)
        step()


def leave():
    step = make_step()
    for _ in range(5):
        loss = step()
    show(loss)
    os._exit(3)


def work(seed):
    tf.random.set_seed(seed)
    return float(tf.reduce_sum(tf.random.normal([4]))).hex()


def spawn():
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1, 2]))


def fork():
    import multiprocessing
    step = make_step()
    show(step())
    child = multiprocessing.get_context("fork").Process(target=print, args=("child",))
    sys.stdout.flush()
    child.start()
    child.join()
    show(step())
    print(child.exitcode)


def profile(folder):
    """The program's own profile: operations in it as start, duration and text, one in a line."""
    step = make_step()
    for _ in range(5):
        step()
    tf.profiler.experimental.start(folder)
    for _ in range(5):
        loss = step()
    tf.profiler.experimental.stop()
    show(loss)


def main():
    *cases, last = sys.argv[1].split("+")
    for case in cases:
        globals()[case]()
    globals()[last](*sys.argv[2:])


if __name__ == "__main__":
    main()
