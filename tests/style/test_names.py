#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""General code names no framework, runtime or format, except where a user reads the word."""

import os
import pathlib
import re
import unittest

import harness

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FOLDERS = ["src/model", "src/analysis", "src/timeline", "src/graph", "src/serve", "ui"]
NAMES = re.compile(r"tensorflow|opencl|traceme|kineto|cuda|\bhip(?-i:[A-Z]\w+|\b)|(?-i:\bcl[A-Z]\w+)", re.IGNORECASE)
# The sentences about single frameworks, in two places.
SENTENCES = [ROOT / "src/analysis/frameworks.def", ROOT / "src/analysis/problem/remedies.def"]
# What users read, by file: descriptions of tables, hints of the page.
ALLOWED = {
    "src/model/table.h": [
        "TensorFlow reports the run for which",
        "Calls to a runtime such as OpenCL or CUDA.",
        "TensorFlow copies when it makes a function",
    ],
    "ui/pages/overview.js": ["Programs that use CUDA, HIP, HSA or OpenCL are traced",
                             "TensorFlow and PyTorch are traced without changes"],
}


def names_in(path, text):
    """Lines of the text that name what they should not."""
    for allowed in ALLOWED.get(path, []):
        text = text.replace(allowed, "")
    return [f"{path}:{number}: {match.group()}" for number, line in enumerate(text.splitlines(), 1)
            for match in NAMES.finditer(line)]


class Names(unittest.TestCase):
    def test_general_folders(self):
        paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))
                 if path.suffix in {".c", ".h", ".def", ".js"} and path not in SENTENCES]
        self.assertGreater(len(paths), 0)
        wrong = [name for path in paths for name in names_in(str(path.relative_to(ROOT)), path.read_text())]
        self.assertEqual(wrong, [])

    def test_names_are_found(self):
        for text in ("mr_framework_tensorflow", "/* OpenCL */", 'strcmp(name, "clFinish")', "hipMemcpy", "CUDA", "MR_TRACEME_STEP"):
            self.assertEqual(len(names_in("src/model/x.c", text)), 1, text)
        for text in ("a chip of the ship", "clear the clocks", "close"):
            self.assertEqual(names_in("src/model/x.c", text), [])

    def test_nothing_is_allowed_that_is_not_there(self):
        for path, texts in ALLOWED.items():
            for text in texts:
                self.assertTrue(text in (ROOT / path).read_text(), f"{path}: {text}")


if __name__ == "__main__":
    harness.main()
