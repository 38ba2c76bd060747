# SPDX-License-Identifier: Apache-2.0
"""Variables on the software GPU, changed in place, against TensorFlow's CPU device."""

import threading
import unittest

import numpy as np
import harness
import tensorflow as tf
from soft_ops import CPU, XPU, OpTest, random
from tensorflow.python.eager import context

# The device needs functions that these releases lack, and knows other ways for later ones (soft/hold.h).
POSSIBLE = not tf.__version__.startswith(("2.19.", "2.20."))
NEEDED = unittest.skipUnless(POSSIBLE, "this TensorFlow does not let devices change variables")


class Variables(OpTest):
    def on_both(self, function):
        """The values of the variables that function makes, on each device."""
        with tf.device(CPU):
            expected = [variable.read_value() for variable in function()]
        if not POSSIBLE:
            with self.assertRaisesRegex(tf.errors.UnimplementedError, "does not let devices change variables"):
                with tf.device(XPU):
                    function()
            return
        with tf.device(XPU):
            variables = function()
        for variable, value in zip(variables, expected):
            self.assertIn("XPU", variable.device)
            self.assert_same(variable.read_value(), value, 1, "variable")

    def test_assign(self):
        """The only way that all versions have."""
        with tf.device(XPU):
            variable = tf.Variable(random((3, 4)))
            before = variable.read_value()
            variable.assign(variable * 2 - 1)
        np.testing.assert_array_equal(variable.numpy(), before.numpy() * 2 - 1)

    def test_assign_add(self):
        def change():
            number, count = tf.Variable(random((5, 7))), tf.Variable([1, 2], dtype=tf.int64)
            number.assign_add(random((5, 7), seed=1))
            number.assign_sub(random((5, 7), seed=2))
            count.assign_add([10, 20])
            count.assign_sub([1, 1])
            return number, count
        self.on_both(change)

    @NEEDED
    def test_what_was_read_stays(self):
        with tf.device(XPU):
            variable = tf.Variable(random((100,)))
            before = variable.read_value()
            copy = before.numpy()
            variable.assign_add(tf.ones([100]))
            np.testing.assert_array_equal(before.numpy(), copy)
            np.testing.assert_array_equal(variable.numpy(), copy + 1)

    @NEEDED
    def test_without_a_value(self):
        with tf.device(XPU):
            handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[3], shared_name=context.anonymous_name())
            # TensorFlow itself, where it is asked, finds that the shapes differ.
            with self.assertRaises((tf.errors.FailedPreconditionError, tf.errors.InvalidArgumentError)):
                tf.raw_ops.AssignAddVariableOp(resource=handle, value=tf.ones([3]))

    @NEEDED
    def test_changed_by_many_threads(self):
        with tf.device(XPU):
            variable, one = tf.Variable(tf.zeros([1000])), tf.ones([1000])

        def add():
            for i in range(100):
                variable.assign_add(one)
                if i % 10 == 0:
                    variable.read_value()
        threads = [threading.Thread(target=add) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(variable.numpy(), np.full(1000, 400, np.float32))

    @NEEDED
    def test_memory_comes_back(self):
        """More variables in turn than the device could hold at once."""
        with tf.device(XPU):
            one = tf.ones([4 << 20])
            for _ in range(100):
                variable = tf.Variable(one)
                variable.assign_add(one)
                tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=1.0, delta=one)
            self.assertEqual(variable.numpy()[-1], 1)

    def test_gradient_descent(self):
        def change():
            variable = tf.Variable(random((5, 7)))
            for step in range(3):
                tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=0.1, delta=random((5, 7), seed=step))
            return (variable,)
        self.on_both(change)

    def test_momentum(self):
        for nesterov in (False, True):
            def change():
                variable, momentum = tf.Variable(random((5, 7))), tf.Variable(tf.zeros([5, 7]))
                for step in range(3):
                    tf.raw_ops.ResourceApplyMomentum(var=variable.handle, accum=momentum.handle, lr=0.1,
                                                     grad=random((5, 7), seed=step), momentum=0.9,
                                                     use_nesterov=nesterov)
                return variable, momentum
            self.on_both(change)

    def test_adam(self):
        for nesterov in (False, True):
            def change():
                variable, first, second = (tf.Variable(random((5, 7))), tf.Variable(tf.zeros([5, 7])),
                                           tf.Variable(tf.zeros([5, 7])))
                for step in range(3):
                    tf.raw_ops.ResourceApplyAdam(
                        var=variable.handle, m=first.handle, v=second.handle, beta1_power=0.9 ** (step + 1),
                        beta2_power=0.999 ** (step + 1), lr=0.1, beta1=0.9, beta2=0.999, epsilon=1e-7,
                        grad=random((5, 7), seed=step), use_nesterov=nesterov)
                return variable, first, second
            self.on_both(change)


if __name__ == "__main__":
    harness.main()
