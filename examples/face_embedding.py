#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns pictures of faces into vectors, in batches, and compares them: the heart of face recognition.

    python3 examples/face_embedding.py [--batches N] [--batch N] [--size PIXELS]

A residual network maps each picture to a vector of length one; pictures of the same person should lie close together.
The weights are random and the program draws the faces, so there is nothing to download; recognition is only as good as
chance. TensorFlow uses whatever accelerator it finds.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

PEOPLE = 8


def draw_face(person, size, generator):
    """An oval with eyes and a mouth. Colours and positions depend on the person; the light varies."""
    own = np.random.RandomState(1000 + person)
    tone, eyes, mouth = own.uniform(0.3, 0.9, 3), own.uniform(0.12, 0.25, 2), own.uniform(0.1, 0.3, 2)
    y, x = np.mgrid[-1:1:size * 1j, -1:1:size * 1j] + generator.uniform(-0.1, 0.1, 2)[:, None, None]
    picture = np.where((x ** 2 / 0.5 + y ** 2 / 0.8 < 1)[..., None], tone, 0.1)
    for side in (-1, 1):
        picture[(x - side * (0.2 + eyes[0])) ** 2 + (y + 0.2) ** 2 < (eyes[1] / 2) ** 2] = tone[::-1] / 3
    picture[(np.abs(x) < mouth[0] + 0.1) & (np.abs(y - 0.4) < mouth[1] / 3)] = (0.8, 0.1, 0.2)
    return picture * generator.uniform(0.7, 1.2) + generator.normal(0, 0.03, picture.shape)


def make_pictures(count, size, seed):
    generator = np.random.RandomState(seed)
    people = generator.randint(0, PEOPLE, count)
    return np.stack([draw_face(person, size, generator) for person in people]).astype(np.float32), people


def make_network(size):
    layers = tf.keras.layers

    def residual(x, channels):
        y = layers.Conv2D(channels, 3, strides=2, padding="same", use_bias=False)(x)
        y = layers.ReLU()(layers.BatchNormalization()(y))
        y = layers.Conv2D(channels, 3, padding="same", use_bias=False)(y)
        y = layers.BatchNormalization()(y)
        shortcut = layers.Conv2D(channels, 1, strides=2, padding="same")(x)
        return layers.ReLU()(layers.Add()([y, shortcut]))

    pictures = layers.Input((size, size, 3))
    x = pictures
    for channels in (32, 64, 128):
        x = residual(x, channels)
    x = layers.Dense(128)(layers.GlobalAveragePooling2D()(x))
    return tf.keras.Model(pictures, layers.UnitNormalization()(x))


def similarities(vectors, people):
    """Mean cosine of pairs of pictures of the same person, and of different people."""
    cosines = vectors @ vectors.T
    same = people[:, None] == people[None, :]
    return cosines[same & ~np.eye(len(people), dtype=bool)].mean(), cosines[~same].mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--size", type=int, default=112)
    options = parser.parse_args()

    tf.keras.utils.set_random_seed(1)
    network = make_network(options.size)
    embed = tf.function(lambda pictures: network(pictures, training=False))
    pictures, people = make_pictures(options.batches * options.batch, options.size, 2)
    vectors = []
    begin = time.perf_counter()
    for batch in np.split(pictures, options.batches):
        vectors.append(embed(tf.constant(batch)).numpy())
    seconds = time.perf_counter() - begin
    same, different = similarities(np.concatenate(vectors), people)
    print(f"{len(people)} faces in {seconds:.2f} s; cosine {same:.4f} for the same person, {different:.4f} for others")


if __name__ == "__main__":
    main()
