#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of OpenCL: a program cannot see whether it is traced, and the trace contains what it did.

The programs print every result and everything they can see; that must be the same, byte for byte, alone and
recorded. What they print is also what the trace must hold: each call with its result, in order, and each
operation with its kind, size and name."""

import os
import unittest

import opencl
from opencl import OpenclTest, by_correlation, calls_of, function_of, operations_of, said_by
from support import count, dump, program

OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"
ENDED_BADLY = "failed"  # what the programs say of an operation that the device gave up


class Conformance(OpenclTest):
    def check_calls(self, said, calls):
        self.assertEqual([function_of(call) for call in calls], [each.function for each in said])
        for each, call in zip(said, calls):
            if each.result is not None:
                self.assertEqual(call["fields"]["result"], each.result, call)

    def check_operation(self, said, call, operation):
        kind, *words = said.operation.split()
        self.assertEqual(operation["fields"]["kind"], kind, operation)
        if kind == "kernel":
            name, *sizes = words
            fields = [f"{where}_{axis}" for where in ("global", "local") for axis in "xyz"]
            self.assertEqual([call["fields"][field] for field in fields], list(map(int, sizes)), call)
            self.assertEqual(call["names"]["name"], name)
            self.assertEqual(operation["names"]["name"], name)
        else:
            bytes_moved, is_blocking = map(int, words)
            self.assertEqual(call["fields"]["kind"], kind)
            self.assertEqual(call["fields"]["bytes"], bytes_moved, call)
            self.assertEqual(operation["fields"]["bytes"], bytes_moved, operation)
            self.assertEqual(call["fields"]["is_blocking"], is_blocking, call)

    def check_operations(self, said, calls, events):
        operations = operations_of(events)
        unfinished = by_correlation(events, "device_operation_unfinished")
        ended = {**operations, **unfinished}
        launched = 0
        for each, call in zip(said, calls):
            if not each.operation or each.operation.split()[0] in ("pointer", "nothing"):
                continue
            key = call["process"], call["fields"]["correlation"]
            if each.result != 0:
                self.assertNotIn(key, ended, call)
                continue
            launched += 1
            self.assertIn(key, ended, call)
            operation = ended.pop(key)
            if each.operation != ENDED_BADLY:
                self.check_operation(each, call, operation)
                self.assertEqual(operation["event"], "device_operation")
        self.assertEqual(ended, {}, "operations that the program does not know of")
        return launched

    def check(self, name, **environment):
        result = self.run_both(program(name), **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        events = dump(result.trace)
        said, calls = said_by(result.stdout), calls_of(events)
        calls = [call for call in calls if call["tid"] == call["pid"]]
        self.check_calls(said, calls)
        self.assertGreater(self.check_against_babeltrace(result.trace), len(calls))
        return events, self.check_operations(said, calls, events)

    def test_objects(self):
        events, launched = self.check("opencl_objects")
        self.assertEqual((launched, count(events, "device_operation")), (0, 0))

    def test_commands(self):
        _, launched = self.check("opencl_commands")
        self.assertGreater(launched, 100)

    def test_level_off(self):
        result = self.run_both(program("opencl_commands"), options=["--quiet", "--levels", "dataflow"])
        events = dump(result.trace)
        self.assertEqual(calls_of(events), [])
        self.assertEqual(count(events, "device_operation"), 0)

    def test_no_platform(self):
        os.mkdir(self.path("vendors"))
        for name in ("opencl_objects", "opencl_dlopen"):
            result = self.run_both(program(name), OCL_ICD_VENDORS=self.path("vendors"))
            self.assertNotIn("clCreateContext = 0", result.stdout)

    @unittest.skipUnless(os.path.exists(OCLGRIND), "oclgrind is not installed")
    def test_oclgrind(self):
        """Another runtime: of OpenCL 1.2, synchronous."""
        result = self.run_both(program("opencl_commands"), "1.2", OCL_ICD_VENDORS=OCLGRIND)
        self.assertGreater(result.stdout.count("clEnqueue"), 50)


class Misuse(OpenclTest):
    def test_misuse(self):
        """What is wrong enough to end the program ends it in the same way."""
        for what in ("null_kernel", "null_wait_list", "unimplemented", "wrong_kind", "released_early",
                     "released_twice"):
            with self.subTest(what):
                self.run_both(program("opencl_misuse"), what)


if __name__ == "__main__":
    opencl.main()
