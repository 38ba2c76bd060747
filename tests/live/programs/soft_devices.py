# SPDX-License-Identifier: Apache-2.0
"""Two software GPUs: both work, data goes from one to the other, and variables live on each."""

import threading
import unittest

import numpy as np
import harness
import tensorflow as tf

FIRST, SECOND = "/device:XPU:0", "/device:XPU:1"


def random(*shape, seed=0):
    return np.random.RandomState(seed).normal(0, 0.05, shape).astype(np.float32)


class Devices(unittest.TestCase):
    def setUp(self):
        self.assertEqual(len(tf.config.list_physical_devices("XPU")), 2)

    def test_copies(self):
        for count in (1, 1000, 1 << 20):
            value = random(count)
            with tf.device(FIRST):
                here = tf.constant(value) + 1
            with tf.device(SECOND):
                there = tf.identity(here)
            self.assertIn("XPU:1", there.device)
            with tf.device(FIRST):
                back = tf.identity(there) - here
            self.assertFalse(back.numpy().any())
            np.testing.assert_array_equal(there.numpy(), value + 1)

    def test_two_towers(self):
        """Each device computes, one adds up; by many threads at once."""
        weights = [random(128, 128, seed=i) for i in range(2)]
        variables = []
        for device, weight in zip((FIRST, SECOND), weights):
            with tf.device(device):
                variables.append(tf.Variable(weight))

        @tf.function
        def towers(x):
            results = []
            for device, variable in zip((FIRST, SECOND), variables):
                with tf.device(device):
                    y = x
                    for _ in range(3):
                        y = tf.nn.relu(tf.matmul(y, variable))
                    results.append(y)
            with tf.device(SECOND):
                return tf.add_n(results)

        inputs = [random(16, 128, seed=10 + i) for i in range(4)]
        outputs = [None] * len(inputs)
        towers(tf.constant(inputs[0]))

        def work(number):
            for _ in range(10):
                outputs[number] = towers(tf.constant(inputs[number])).numpy()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(len(inputs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for x, output in zip(inputs, outputs):
            expected = 0
            for weight in weights:
                y = x.astype(np.float64)
                for _ in range(3):
                    y = np.maximum(y @ weight, 0)
                expected = expected + y
            np.testing.assert_allclose(output, expected, atol=1e-5 * np.abs(expected).max())

    def test_training_across(self):
        """A network of which each device has a half, against numpy; assign() works on every version."""
        x, target = random(32, 20, seed=1) * 20, random(32, 5, seed=2) * 20
        first, second = random(20, 30, seed=3), random(30, 5, seed=4)
        with tf.device(FIRST):
            ours_first = tf.Variable(first)
        with tf.device(SECOND):
            ours_second = tf.Variable(second)

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                with tf.device(FIRST):
                    hidden = tf.nn.relu(tf.matmul(x, ours_first))
                with tf.device(SECOND):
                    loss = tf.reduce_mean(tf.square(tf.matmul(hidden, ours_second) - target))
            for variable, gradient in zip((ours_first, ours_second),
                                          tape.gradient(loss, (ours_first, ours_second))):
                variable.assign(variable - 0.5 * gradient)
            return loss

        losses, expected = [], []
        for _ in range(5):
            losses.append(step().numpy())
            hidden = np.maximum(x @ first, 0)
            error = hidden @ second - target
            expected.append(np.mean(error ** 2))
            error *= 2 / error.size
            back = (error @ second.T) * (hidden > 0)
            second = second - 0.5 * hidden.T @ error
            first = first - 0.5 * x.T @ back
        np.testing.assert_allclose(losses, expected, rtol=1e-5)
        self.assertLess(losses[-1], losses[0])


class Mirrored(unittest.TestCase):
    @unittest.skipIf(tf.__version__.startswith(("2.19.", "2.20.")),
                     "this TensorFlow does not let devices change variables")
    def test_mirrored(self):
        """One model on both devices learns what one alone would."""
        def losses(strategy):
            tf.keras.utils.set_random_seed(1)
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Input((16,)), tf.keras.layers.Dense(32, "relu"),
                                             tf.keras.layers.Dense(1)])
                model.compile(tf.keras.optimizers.SGD(0.1), "mse", jit_compile=False)
            x = random(64, 16, seed=5) * 20
            history = model.fit(x, x.sum(1), batch_size=64, epochs=4, shuffle=False, verbose=0)
            return history.history["loss"]

        both = losses(tf.distribute.MirroredStrategy(
            ["XPU:0", "XPU:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()))
        one = losses(tf.distribute.OneDeviceStrategy("/device:CPU:0"))
        np.testing.assert_allclose(both, one, rtol=1e-4)


if __name__ == "__main__":
    harness.main()
