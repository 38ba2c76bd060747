#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of threads: what the trace calls them is what the program itself does, for every interpreter of this machine."""

import json
import os
import pathlib
import sys
import unittest

import harness
import pythons
from support import LiveTest, query, run, MILLRACE

PROGRAMS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/live/programs"


class Names(LiveTest):
    def record_names(self, path, name, options=()):
        told = self.path(f"{name}.json")
        result = self.record(path, str(PROGRAMS / "python_names.py"), told, options=options, name=f"{name}.mill")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(told) as file:
            return result.trace, {int(tid): text for tid, text in json.load(file).items()}

    def test_every_interpreter(self):
        for name, path in pythons.find().items():
            with self.subTest(python=name):
                trace, expected = self.record_names(path, name, ["--levels", "dataflow"])
                rows = query(trace, "SELECT tid, name, kernel_name, role, process FROM tracks WHERE kind = 'THREAD'")
                found = {row["tid"]: row["name"] for row in rows}
                self.assertEqual({tid: found.get(tid) for tid in expected}, expected)
                self.assertIn("metrics", found.values())
                self.assertIn("renamed", found.values())

    def test_holder_of_the_lock(self):
        """Reports call the thread by its name; the kernel's stays beside it."""
        trace, expected = self.record_names(sys.executable, "holder")
        rows = query(trace, "SELECT t.tid, t.name, t.kernel_name, t.role FROM tracks t JOIN processes p "
                            "ON p.rowid = t.process WHERE t.kind = 'THREAD' AND p.thread_count > 1")
        kernel = {row["tid"]: row["kernel_name"] for row in rows}
        roles = {row["tid"]: row["role"] for row in rows}
        self.assertEqual({roles.pop(tid) for tid in expected}, {"NONE"})
        self.assertEqual(list(roles.values()), ["MAIN"])
        self.assertTrue(all(kernel[tid].startswith("python") for tid in expected if kernel.get(tid)), kernel)
        result = run(MILLRACE, "report", "--whole", trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("'metrics'", result.stdout)


if __name__ == "__main__":
    harness.main()
