# SPDX-License-Identifier: Apache-2.0
"""Whole networks on the software GPU against TensorFlow's CPU device: the examples' networks learn and infer there.

Training amplifies differences in the last digit from step to step, so the first steps are compared: their losses
must agree in five digits, of the seven that a float has.
"""

import os
import sys
import unittest

import numpy as np
import harness
import tensorflow as tf

sys.path.insert(0, os.path.join(os.environ["SOURCE_DIR"], "examples"))
import face_embedding
import mnist_like

CPU, XPU = "/device:CPU:0", "/device:XPU:0"
DIGITS = 1e-5
BATCH = 32


class Training(unittest.TestCase):
    def train(self, device, optimizer, steps):
        """Losses of the first steps, and the model."""
        tf.keras.utils.set_random_seed(1)
        with tf.device(device):
            model = mnist_like.make_model(optimizer)
            pictures, labels = mnist_like.make_examples(steps * BATCH, 2)
            losses = [model.train_on_batch(pictures[i:i + BATCH], labels[i:i + BATCH])[0]
                      for i in range(0, len(labels), BATCH)]
        for variable in model.trainable_variables + model.optimizer.variables:
            self.assertIn(device, variable.value.device)
        return losses, model

    def check(self, optimizer):
        ours, _ = self.train(XPU, optimizer, 4)
        theirs, _ = self.train(CPU, optimizer, 4)
        np.testing.assert_allclose(ours, theirs, rtol=DIGITS)
        self.assertNotAlmostEqual(ours[0], ours[1], 3, "nothing was learned")

    def test_sgd(self):
        self.check("sgd")

    def test_adam(self):
        self.check("adam")

    def test_learns(self):
        losses, model = self.train(XPU, "adam", 40)
        # train_on_batch() gives the mean of all steps so far.
        self.assertLess(losses[-1], 0.8 * losses[0])
        with tf.device(XPU):
            _, accuracy = model.evaluate(*mnist_like.make_examples(256, 3), batch_size=BATCH, verbose=0)
        self.assertGreater(accuracy, 0.3)


class Inference(unittest.TestCase):
    def test_face_embedding(self):
        size = 64
        pictures, people = face_embedding.make_pictures(12, size, 2)
        vectors = {}
        for device in (CPU, XPU):
            tf.keras.utils.set_random_seed(1)
            with tf.device(device):
                network = face_embedding.make_network(size)
                vector = tf.function(lambda x: network(x, training=False))(tf.constant(pictures))
                self.assertIn(device, vector.device)
                vectors[device] = vector.numpy()
        np.testing.assert_allclose(np.linalg.norm(vectors[XPU], axis=1), 1, rtol=DIGITS)
        np.testing.assert_allclose(vectors[XPU], vectors[CPU], atol=DIGITS)
        self.assertEqual(len(set(people)), len({tuple(np.round(vectors[XPU][people == person].mean(0), 3))
                                                for person in set(people)}), "all vectors are the same")


if __name__ == "__main__":
    harness.main()
