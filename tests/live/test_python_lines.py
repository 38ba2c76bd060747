#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The line of Python behind an event: what the trace says of marks from many kinds of code is what the interpreter
itself says, for every interpreter of this machine."""

import json
import os
import pathlib
import sys
import unittest

import harness
import pythons
from support import LiveTest, info, preload, query, run

PROGRAMS = pathlib.Path(os.environ["SOURCE_DIR"]) / "tests/live/programs"
SHOWN = 16  # lines of a stack in the column


class Lines(LiveTest):
    def record_lines(self, path, name):
        told = self.path(f"{name}.json")
        result = self.record(path, str(PROGRAMS / "python_lines.py"), preload("python_mark"), told,
                             options=["--levels", "dataflow"], name=f"{name}.mill")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(told, encoding="utf-8") as file:
            return result.trace, json.load(file)["expected"]

    def check(self, trace, expected):
        rows = query(trace, "SELECT node_name, site_stack FROM node_executions")
        found = {row["node_name"]: row["site_stack"] for row in rows}
        self.assertEqual(sorted(found), sorted(expected))
        for case, lines in expected.items():
            text = " < ".join(lines[:SHOWN]) + (" < ..." if len(lines) > SHOWN else "")
            self.assertEqual(found[case], text or None, case)

    def test_every_interpreter_at_events(self):
        for name, path in pythons.find().items():
            with self.subTest(python=name):
                trace, expected = self.record_lines(path, name)
                self.assertGreater(len(expected), 20)
                self.check(trace, expected)

    def test_end_with_daemons(self):
        """Daemon threads record until the interpreter has ended and freed their frames: no harm is done."""
        source = """
import ctypes, sys, threading, time
mark = ctypes.CDLL(sys.argv[1]).mark
def nested(depth):
    if depth:
        return nested(depth - 1)
    while True:
        mark(b"daemon")
for _ in range(3):
    threading.Thread(target=nested, args=(30,), daemon=True).start()
time.sleep(0.05)
"""
        for i in range(5):
            result = self.record(sys.executable, "-c", source, preload("python_mark"),
                                 options=["--levels", "dataflow"], name=f"daemons-{i}.mill")
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_lists(self):
        """Lines lead to functions and to the lines that called them."""
        trace, expected = self.record_lines(sys.executable, "lists")
        rows = query(trace, "SELECT s.stack, s.line, s.depth, c.name, c.file, c.first_line FROM node_executions e "
                            "JOIN sites s ON s.rowid = e.site JOIN codes c ON c.rowid = s.code "
                            "WHERE e.node_name = 'recursion'")
        self.assertEqual(len(rows), 1)
        self.assertEqual(rows[0]["name"], "mark")
        self.assertEqual(rows[0]["file"], str(PROGRAMS / "python_lines.py"))
        self.assertEqual(rows[0]["depth"], len(expected["recursion"]) - 1)
        self.assertEqual(rows[0]["line"], rows[0]["first_line"] + 5)

    def test_without_lines(self):
        """A program without Python has no sites, and says nothing about it."""
        result = self.record("true")
        self.assertEqual(query(result.trace, "SELECT count(*) AS n FROM samples"), [{"n": 0}])
        self.assertNotIn("Python", json.dumps(info(result.trace)))


class Embedded(LiveTest):
    """Interpreters that are no program of their own."""

    SOURCE = """
#include <Python.h>
int main(int count, char **arguments)
{
    (void)count;
    Py_Initialize();
    FILE *file = fopen(arguments[1], "r");
    wchar_t *given[] = {L"python_lines.py", Py_DecodeLocale(arguments[2], 0), Py_DecodeLocale(arguments[3], 0)};
    PyObject *list = PyList_New(0);
    for (int i = 0; i < 3; i++)
        PyList_Append(list, PyUnicode_FromWideChar(given[i], -1));
    PySys_SetObject("argv", list);
    int result = PyRun_SimpleFile(file, arguments[1]);
    return Py_FinalizeEx() < 0 || result != 0;
}
"""

    def test_embedded(self):
        found = [(name, path) for name, path in pythons.find().items()
                 if os.path.exists(os.path.join(os.path.dirname(path), f"python{name.rsplit('.', 1)[0]}-config"))]
        if not found:
            self.skipTest("no python3-config here")
        name, path = found[-1]
        config = os.path.join(os.path.dirname(path), f"python{name.rsplit('.', 1)[0]}-config")
        flags = run(config, "--includes", "--ldflags", "--embed").stdout.split()
        prefix = os.path.dirname(os.path.dirname(path))
        source, program, told = self.path("embed.c"), self.path("embed"), self.path("told.json")
        with open(source, "w") as file:
            file.write(self.SOURCE)
        built = run("cc", source, "-o", program, *flags, f"-Wl,-rpath,{prefix}/lib")
        if built.returncode != 0:
            self.skipTest(f"cannot embed Python {name}: {built.stderr.splitlines()[:1]}")
        result = self.record(program, str(PROGRAMS / "python_lines.py"), preload("python_mark"), told,
                             options=["--levels", "dataflow"], env={**os.environ, "PYTHONHOME": prefix})
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(told, encoding="utf-8") as file:
            Lines.check(self, result.trace, json.load(file)["expected"])


if __name__ == "__main__":
    harness.main()
