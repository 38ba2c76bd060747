#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small convolutional network on pictures of seven-segment digits.

    python3 examples/mnist_like.py [--epochs N] [--examples N] [--batch N] [--optimizer sgd|adam]

The program draws the pictures, so there is nothing to download. TensorFlow uses whatever accelerator it finds.
"""

import argparse

import numpy as np
import tensorflow as tf

# Segments as (row, column, height, width) in a 28 x 28 picture, and which of them make each digit.
SEGMENTS = {"a": (4, 9, 3, 10), "b": (6, 17, 7, 3), "c": (15, 17, 7, 3), "d": (21, 9, 3, 10), "e": (15, 8, 7, 3),
            "f": (6, 8, 7, 3), "g": (12, 9, 3, 10)}
DIGITS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def draw(digit):
    picture = np.zeros((28, 28), np.float32)
    for segment in DIGITS[digit]:
        row, column, height, width = SEGMENTS[segment]
        picture[row:row + height, column:column + width] = 1
    return picture


def make_examples(count, seed):
    """Pictures with noise, each shifted a little, and the digits they show."""
    generator = np.random.RandomState(seed)
    clean = np.stack([draw(digit) for digit in range(10)])
    labels = generator.randint(0, 10, count)
    pictures = np.stack([np.roll(clean[label], generator.randint(-3, 4, 2), (0, 1)) for label in labels])
    pictures += generator.normal(0, 0.4, pictures.shape)
    return pictures[..., None].astype(np.float32), labels


def make_model(optimizer):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Input((28, 28, 1)),
        layers.Conv2D(16, 3, padding="same", use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Conv2D(32, 3, padding="same", activation="relu"),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dropout(0.25),
        layers.Dense(10),
    ])
    model.compile(optimizer={"sgd": tf.keras.optimizers.SGD(0.05, momentum=0.9),
                             "adam": tf.keras.optimizers.Adam(0.002)}[optimizer],
                  loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], jit_compile=False)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--examples", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="adam")
    options = parser.parse_args()

    tf.keras.utils.set_random_seed(1)
    model = make_model(options.optimizer)
    model.fit(*make_examples(options.examples, 2), batch_size=options.batch, epochs=options.epochs, verbose=2)
    loss, accuracy = model.evaluate(*make_examples(512, 3), batch_size=options.batch, verbose=0)
    print(f"loss {loss:.3f}, accuracy {accuracy:.1%} on pictures not seen before")


if __name__ == "__main__":
    main()
