#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The colours of causes and states stay apart, also for people who cannot see red, green or blue.

The distance is CIEDE2000; about 2.3 can just be noticed side by side. Dichromats see what the matrices of Machado,
Oliveira and Fernandes (2009) make of linear RGB."""

import itertools
import math
import os
import pathlib
import re
import unittest

import harness

SOURCE = (pathlib.Path(os.environ["SOURCE_DIR"]) / "ui/shared/colours.js").read_text()
APART = 9          # any two causes
STATES_APART = 10  # states of threads, of which there are few, beside each other everywhere
EYES = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanope": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranope": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanope": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1.0, 1.08883)


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def lab(colour, eye):
    """CIELAB of "#rrggbb" as these eyes see it."""
    parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    seen = [min(max(part, 0), 1) for part in times(EYES[eye], linear)]
    x, y, z = (value ** (1 / 3) if value > (6 / 29) ** 3 else value / (3 * (6 / 29) ** 2) + 4 / 29
               for value in (part / white for part, white in zip(times(TO_XYZ, seen), WHITE)))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other):
    """CIEDE2000 of two colours in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    grey = 0.5 * (1 - math.sqrt(mean ** 7 / (mean ** 7 + 25 ** 7)))
    a1, a2 = (1 + grey) * a1, (1 + grey) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = (math.degrees(math.atan2(b, a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = 0 if c1 * c2 == 0 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = h1 + h2 if c1 * c2 == 0 else (h1 + h2) / 2 if abs(h1 - h2) <= 180 else ((h1 + h2 + 360) / 2) % 360

    def cosine(factor, offset):
        return math.cos(math.radians(factor * middle + offset))

    weight = (1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.20 * cosine(4, -63))
    of_light = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    of_chroma, of_hue = 1 + 0.045 * chroma, 1 + 0.015 * chroma * weight
    rotation = -2 * math.sqrt(chroma ** 7 / (chroma ** 7 + 25 ** 7)) * math.sin(
        math.radians(60 * math.exp(-((middle - 275) / 25) ** 2)))
    dl, dc, dh = (l2 - l1) / of_light, (c2 - c1) / of_chroma, hue / of_hue
    return math.sqrt(dl ** 2 + dc ** 2 + dh ** 2 + rotation * dc * dh)


def nearest(colours):
    """The two that somebody can tell apart least: their distance, who, which."""
    return min((distance(lab(colours[one], eye), lab(colours[other], eye)), eye, one, other)
               for one, other in itertools.combinations(colours, 2) for eye in EYES)


def block(name):
    return re.search(rf"const {name} = \{{(.*?)\}};", SOURCE, re.S)[1]


class Colours(unittest.TestCase):
    causes = dict(re.findall(r'(\w+): "(#\w{6})"', block("CAUSES")))

    def test_the_distance_is_that_of_published_pairs(self):
        for one, other, wanted in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                                   ((50, -1, 2), (50, 0, 0), 2.3669), ((50, 2.5, 0), (73, 25, -18), 27.1492),
                                   ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
                                   ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082)):
            self.assertAlmostEqual(wanted, distance(one, other), places=4)

    def test_causes_are_apart_for_everybody(self):
        self.assertGreater(len(self.causes), 25)
        apart, *which = nearest(self.causes)
        self.assertGreaterEqual(apart, APART, which)

    def test_states_are_apart_for_everybody(self):
        states = {}
        for name, value in re.findall(r'"?([\w ]+)"?: (CAUSES\.\w+|"#\w{6}")', block("STATES") + block("BLOCKED")):
            states[name] = self.causes[value.removeprefix("CAUSES.")] if "." in value else value.strip('"')
        self.assertGreater(len(states), 5)
        apart, *which = nearest(states)
        self.assertGreaterEqual(apart, STATES_APART, which)

    def test_the_check_finds_colours_that_are_too_near(self):
        apart, eye, *_ = nearest({"red": "#c8553d", "green": "#6f7f2f", "blue": "#2b7bba"})
        self.assertLess(apart, APART)
        self.assertIn(eye, ("protanope", "deuteranope"))


if __name__ == "__main__":
    harness.main()
