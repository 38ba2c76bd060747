#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Includes go one way: each folder of src may use only the folders below it."""

import os
import pathlib
import re
import unittest

import harness

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"]) / "src"

# folder: what stands directly below it; what is below that is allowed too
BELOW = {
    "base": [],
    "schema": ["base"],
    "record": ["schema"],
    "hook": ["record"],
    "kernel": ["record"],
    "launch": ["hook", "kernel"],
    "trace": ["schema"],
    "clock": ["trace"],
    "model": ["clock"],
    "import": ["trace"],
    "load": ["model", "import"],
    "analysis": ["model"],
    "report": ["analysis"],
    "query": ["model"],
    "export": ["query"],
    "timeline": ["query", "analysis"],
    "graph": ["analysis"],
    "serve": ["load", "report", "timeline", "graph"],
    "cmd": ["launch", "export", "serve"],
}
# These run inside traced programs: of base, only what has no code of its own.
IN_PROCESS = {"record", "hook"}
IN_PROCESS_BASE = {"base/macros.h"}


def allowed(folder):
    result = {folder}
    for below in BELOW[folder]:
        result |= allowed(below)
    return result


def project_includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def complaint(folder, path, included):
    """Why `path` must not include `included`, or None."""
    if "/" not in included:
        return None if included == "millrace.h" else "is not written as folder/file.h"
    if not (SOURCE / included).exists():
        return "does not exist"
    if included.split("/")[0] not in allowed(folder):
        return f"is not below {folder}"
    if folder in IN_PROCESS and included.startswith("base/") and included not in IN_PROCESS_BASE:
        return "must not be used inside traced programs"
    return None


class Includes(unittest.TestCase):
    def test_every_folder_has_a_rule(self):
        folders = {path.name for path in SOURCE.iterdir() if path.is_dir()}
        self.assertEqual(folders, set(BELOW))

    def test_rule_refuses_what_it_should(self):
        self.assertIsNotNone(complaint("base", "base/x.c", "schema/schema.h"))
        self.assertIsNotNone(complaint("record", "record/x.c", "base/error.h"))
        self.assertIsNone(complaint("record", "record/x.c", "schema/schema.h"))

    def test_includes(self):
        wrong, paths = [], sorted([*SOURCE.rglob("*.[ch]"), *SOURCE.rglob("*.def")])
        self.assertGreater(sum(len(list(project_includes(path))) for path in paths), 1000)
        for path in paths:
            relative = path.relative_to(SOURCE)
            for number, included in project_includes(path):
                reason = complaint(relative.parts[0], relative, included)
                if reason:
                    wrong.append(f"src/{relative}:{number}: {included} {reason}")
        self.assertEqual(wrong, [])

    def test_layout_knows_no_trace(self):
        """How a graph is laid out follows from boxes and links alone."""
        folder = SOURCE / "graph/layout"
        wrong = [f"{path.name}:{number}: {included}" for path in sorted(folder.rglob("*.[ch]"))
                 for number, included in project_includes(path)
                 if not included.startswith(("base/", "graph/layout/"))]
        self.assertEqual(wrong, [])

    def test_soft_stands_alone(self):
        """The software devices use nothing of src; the build makes kernels.inc and names.inc."""
        soft = SOURCE.parent / "soft"
        paths = sorted(soft.rglob("*.[ch]"))
        self.assertGreater(len(paths), 10)
        wrong = [f"{path.name}:{number}: {included}" for path in paths for number, included in project_includes(path)
                 if included not in ("kernels.inc", "names.inc") and not (soft / included).exists()]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    harness.main()
