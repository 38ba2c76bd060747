# SPDX-License-Identifier: Apache-2.0
"""What the camera sees: frames with faces of known persons, drawn here and written as PNG files.

    frames(folder, count)    paths of the frames, and who is on each; draws those that are missing
    portraits()              one picture of each person

A person is an oval with eyes and a mouth, in colours and places of their own; the light varies. The same number of frames
is the same film every time.
"""

import os

import numpy as np
import tensorflow as tf

NAMES = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Fred", "Gina", "Hugo"]
HEIGHT, WIDTH, FACE = 192, 256, 48
PLACES = [(40, 48), (40, 200), (136, 64), (136, 184)]  # where heads can be: centres


def draw_face(person, light=1.0):
    own = np.random.RandomState(1000 + person)
    tone = np.array([1, 0.7, 0.4])[own.permutation(3)] - own.uniform(0, 0.2, 3)
    eyes, mouth = own.uniform(0.12, 0.25, 2), own.uniform(0.1, 0.3, 2)
    y, x = np.mgrid[-1:1:FACE * 1j, -1:1:FACE * 1j]
    face = np.where((x ** 2 / 0.6 + y ** 2 / 0.95 < 1)[..., None], tone, 0.1)
    for side in (-1, 1):
        face[(x - side * (0.2 + eyes[0])) ** 2 + (y + 0.2) ** 2 < eyes[1] ** 2] = tone[::-1] / 3
    face[(np.abs(x) < mouth[0] + 0.1) & (np.abs(y - 0.4) < mouth[1] / 2)] = (0.8, 0.1, 0.2)
    return face * light


def draw_frame(number):
    generator = np.random.RandomState(number)
    frame = np.full((HEIGHT, WIDTH, 3), 0.1)
    light = generator.uniform(0.9, 1.0)
    people = generator.choice(len(NAMES), generator.randint(1, len(PLACES) + 1), replace=False)
    for person, place in zip(people, generator.permutation(len(PLACES))):
        top, left = np.array(PLACES[place]) + generator.randint(-6, 7, 2) - FACE // 2
        frame[top:top + FACE, left:left + FACE] = draw_face(person, light)
    return np.clip(frame + generator.normal(0, 0.02, frame.shape), 0, 1), sorted(NAMES[person] for person in people)


def frames(folder, count):
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{number:05}.png") for number in range(count)]
    people = []
    for number, path in enumerate(paths):
        frame, seen = draw_frame(number)
        people.append(seen)
        if not os.path.exists(path):
            with tf.device("/CPU:0"):
                tf.io.write_file(path, tf.io.encode_png((frame * 255).astype(np.uint8)))
    return paths, people


def portraits():
    return np.stack([draw_face(person) for person in range(len(NAMES))]).astype(np.float32)
