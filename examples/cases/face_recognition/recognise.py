#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says who is on each frame of a film.

    python3 examples/cases/face_recognition/recognise.py [--frames N] [--folder FOLDER]

The program as one finds such programs: each line is what the tutorial of its library shows. doc/cases/face_recognition.md
follows it with millrace until it is more than five times as fast.
"""

import argparse
import tempfile
import time

import numpy as np
import tensorflow as tf

import networks
import scene

detector = networks.make_detector()
embedder = networks.make_embedder(scene.FACE)


def read(path):
    """A frame as an array."""
    return tf.image.convert_image_dtype(tf.io.decode_png(tf.io.read_file(path)), tf.float32).numpy()


@tf.function
def detect(frames, light):
    """Maps of how much a face is there, in the light of a usual frame."""
    return detector(frames * (0.2 / light), training=False)


def find_peaks(face_map):
    """Where the map is above all around it, as rows and columns of the frame."""
    peaks = []
    for row, column in np.argwhere(face_map > 0.1):
        around = face_map[max(row - 3, 0):row + 4, max(column - 3, 0):column + 4]
        if face_map[row, column] == around.max():
            peaks.append((row * networks.STRIDE, column * networks.STRIDE))
    return peaks


def align(frame, row, column):
    """Cuts the face out so that its bright pixels lie in the middle."""
    half = scene.FACE // 2
    for _ in range(2):
        top = min(max(row - half, 0), scene.HEIGHT - scene.FACE)
        left = min(max(column - half, 0), scene.WIDTH - scene.FACE)
        face = frame[top:top + scene.FACE, left:left + scene.FACE]
        bright = face.mean(axis=2) > 0.201
        rows, columns = bright.sum(axis=1), bright.sum(axis=0)
        row = top + int(round((rows @ np.arange(scene.FACE)) / max(rows.sum(), 1)))
        column = left + int(round((columns @ np.arange(scene.FACE)) / max(columns.sum(), 1)))
    return face


def embed(face):
    return embedder.predict(face[None], verbose=0)


def match(vector, known):
    """The person whose vector is nearest."""
    return scene.NAMES[int(tf.argmax(tf.matmul(tf.constant(known), vector[0][:, None]), axis=0).numpy()[0])]


def recognise(path, known):
    frame = read(path)
    face_map = detect(frame[None], float(frame.mean())).numpy()[0, :, :, 0]
    return sorted(match(embed(align(frame, row, column)), known) for row, column in find_peaks(face_map))


def recognise_all(paths, known):
    return [recognise(path, known) for path in paths]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--folder", help="where frames are, or are put")
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp()

    paths, people = scene.frames(folder, options.frames)
    known = np.concatenate([embed(portrait) for portrait in scene.portraits()])
    recognise_all(paths[:10], known)  # the first time all takes longer
    begin = time.perf_counter()
    found = recognise_all(paths, known)
    seconds = time.perf_counter() - begin
    for path, names in zip(paths, found):
        print(path.rsplit("/", 1)[-1], *names)
    right = sum(names == seen for names, seen in zip(found, people))
    print(f"{right} of {len(paths)} frames right; {seconds:.2f} s, {seconds / len(paths) * 1000:.1f} ms a frame")


if __name__ == "__main__":
    main()
