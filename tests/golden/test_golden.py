#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Output of the commands on a small trace, compared with what is stored in expected/.

After a wanted change, look at the difference and accept it:   test_golden.py --bless
The traces were written by tests/unit/small_trace.c:           unit_test_model small.mill
and tests/unit/test_runtime_model.c:                           unit_test_runtime_model runtime/opencl.mill
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

HERE = pathlib.Path(__file__).parent
MILLRACE = os.environ["MILLRACE"]
BLESS = "--bless" in sys.argv

CASES = {
    "info.txt": ["info", "small.mill"],
    "info.json": ["info", "--json", "small.mill"],
    "report.txt": ["report", "small.mill"],
    "report.json": ["report", "--json", "small.mill"],
    "report-step.txt": ["report", "--step", "7", "small.mill"],
    "dump.txt": ["dump", "small.mill"],
    "dump.json": ["dump", "--json", "small.mill"],
    "dump-runtime.txt": ["dump", "--level", "runtime", "small.mill"],
    "dump-limit.txt": ["dump", "--limit", "3", "small.mill"],
    "opencl-report.txt": ["report", "runtime/opencl.mill"],
    "opencl-report.json": ["report", "--json", "runtime/opencl.mill"],
    "opencl-info.txt": ["info", "runtime/opencl.mill"],
    "opencl-dump.txt": ["dump", "runtime/opencl.mill"],
}


def run(*arguments, **keywords):
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run([MILLRACE, *arguments], cwd=HERE, env=environment, timeout=60,
                          **{"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **keywords})


class Golden(unittest.TestCase):
    maxDiff = None

    def test_expected(self):
        for name, arguments in CASES.items():
            with self.subTest(name):
                result = run(*arguments, stdout=subprocess.PIPE)
                self.assertEqual(result.stderr, b"")
                self.assertEqual(result.returncode, 0)
                path = HERE / "expected" / name
                if BLESS:
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(result.stdout)
                self.assertEqual(result.stdout.decode(), path.read_text())

    def test_newest_trace_is_the_default(self):
        self.assertEqual(run("report", stdout=subprocess.PIPE).stdout,
                         run("report", "small.mill", stdout=subprocess.PIPE).stdout)

    def test_no_trace(self):
        result = subprocess.run([MILLRACE, "info"], cwd=HERE / "expected", capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "millrace: no trace in this folder: record one with: "
                                        "millrace record -- PROGRAM\n")

    def test_not_a_trace(self):
        for command in "info", "report", "dump":
            for path in "expected", "missing.mill", "test_golden.py":
                result = run(command, path, stdout=subprocess.PIPE)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, b"")
                self.assertRegex(result.stderr.decode(), rf"^millrace: .*{path}.*\n$")

        self.assertIn(b"it has no ctf/metadata", run("info", "expected").stderr)
        self.assertIn(b"not a trace: it is neither a recording of millrace nor ", run("info", "test_golden.py").stderr)

    def damaged_copy(self):
        folder = tempfile.TemporaryDirectory(prefix="millrace-golden-")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(shutil.copytree(HERE / "small.mill", folder.name + "/copy.mill"))

    def test_dump_tells_of_damage(self):
        trace = self.damaged_copy()
        os.truncate(trace / "ctf/main", 200)
        result = run("dump", trace, stdout=subprocess.PIPE)
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, rb"^millrace: 200 bytes in 1 place could not be read")

    def test_manifest_that_cannot_be(self):
        trace = self.damaged_copy()
        manifest = trace / "manifest.json"
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()),
                                        "started_realtime_ns": -1 << 63}))
        self.assertIn(b"ran for     2.00 s", run("info", trace, stdout=subprocess.PIPE).stdout)
        manifest.unlink()
        os.mkfifo(manifest)
        result = run("info", trace, stdout=subprocess.PIPE)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"is not a regular file", b" ".join(result.stdout.split()))

    def test_clock_far_in_the_future(self):
        trace = self.damaged_copy()
        metadata = trace / "ctf/metadata"
        metadata.write_text(re.sub(r"offset_s = \d+", "offset_s = 8589934592", metadata.read_text()))
        self.assertEqual(run("dump", "--json", trace, stdout=subprocess.PIPE).returncode, 0)

    def test_texts_that_would_command_a_terminal(self):
        trace = self.damaged_copy()
        name, evil = b"worker\0", b"w\xc2\x9b1mr\0"
        stream = trace / "ctf/worker"
        stream.write_bytes(stream.read_bytes().replace(name, evil))
        for command, shown in ("report", b"w?1mr"), ("dump", b"w\\xc2\\x9b1mr"):
            output = run(command, trace, stdout=subprocess.PIPE).stdout
            self.assertIn(shown, output)
            self.assertNotIn(b"\xc2\x9b", output)

    def test_output_that_cannot_be_written(self):
        for command in "info", "report", "dump":
            for options in [], ["--json"]:
                with open("/dev/full", "wb") as full:
                    result = run(command, *options, "small.mill", stdout=full)
                self.assertEqual(result.returncode, 1)
                self.assertIn(b"cannot be written: No space left on device", result.stderr)

    def test_reader_that_goes_away(self):
        for command in "info", "report", "dump":
            reader, writer = os.pipe()
            os.close(reader)
            result = run(command, "small.mill", stdout=writer)
            os.close(writer)
            self.assertEqual(result.stderr, b"")


if __name__ == "__main__":
    harness.main(argv=[argument for argument in sys.argv if argument != "--bless"])
