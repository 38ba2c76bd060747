#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is general knows no framework, runtime or format by name, except where a user reads the word."""

import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FOLDERS = ["src/model"]
NAMES = re.compile(r"tensorflow|opencl|traceme|kineto|cuda|\bhip(?-i:[A-Z]\w+|\b)|(?-i:\bcl[A-Z]\w+)", re.IGNORECASE)
# What users read: parts of the descriptions of tables, by file.
ALLOWED = {
    "src/model/table.h": [
        "each time one was executed. TensorFlow says when",
        "Calls of a runtime such as OpenCL or CUDA.",
        "TensorFlow copies when it makes a function",
    ],
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
                 if path.suffix in {".c", ".h", ".def", ".js"}]
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
                self.assertIn(text, (ROOT / path).read_text())


if __name__ == "__main__":
    unittest.main()
