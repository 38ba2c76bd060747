# SPDX-License-Identifier: Apache-2.0
"""The networks of the face recognition, with weights made here: nothing is downloaded, and nothing is trained.

The detector looks for round bright things: its last layer has a disc with a dark ring around as weights. The network for
vectors has random weights, which is enough to tell pictures apart that differ as much as these.
"""

import numpy as np
import tensorflow as tf

layers = tf.keras.layers
STRIDE = 8  # pixels of the frame for each of the detector's map


def disc(size):
    y, x = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
    inside = x ** 2 + y ** 2 < 0.6
    return np.where(inside, 1 / inside.sum(), -1 / (~inside).sum()).astype(np.float32)


def make_detector():
    """Frames to maps of how much a face is there."""
    network = tf.keras.Sequential([layers.Input((None, None, 3)),
                                   layers.Conv2D(4, STRIDE, STRIDE, activation="relu", padding="same"),
                                   layers.Conv2D(4, 3, activation="relu", padding="same"),
                                   layers.Conv2D(1, 7, padding="same")])
    mean, smooth, round_thing = (layer for layer in network.layers)
    mean.set_weights([np.full((STRIDE, STRIDE, 3, 4), 1 / (3 * STRIDE ** 2)), np.zeros(4)])
    smooth.set_weights([np.full((3, 3, 4, 4), 1 / 36), np.zeros(4)])
    round_thing.set_weights([np.repeat(disc(7)[..., None, None] / 4, 4, axis=2), np.zeros(1)])
    return network


def make_embedder(size):
    """Faces to vectors of length one."""
    tf.keras.utils.set_random_seed(1)

    def residual(x, channels):
        y = layers.Conv2D(channels, 3, strides=2, padding="same", use_bias=False)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.BatchNormalization()(layers.Conv2D(channels, 3, padding="same", use_bias=False)(y))
        return layers.ReLU()(layers.Add()([y, layers.Conv2D(channels, 1, strides=2, padding="same")(x)]))

    faces = layers.Input((size, size, 3))
    x = layers.Rescaling(4, offset=-2)(faces)
    for channels in (8, 16, 32):
        x = residual(x, channels)
    x = layers.Dense(64)(layers.Flatten()(x))
    network = tf.keras.Model(faces, layers.UnitNormalization()(x))
    network.compile(jit_compile=False)
    return network
