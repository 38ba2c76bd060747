#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: the n-th call of a function fails, for n = 1 until there is no n-th call.

In `record`: it works all the same, or fails before the program starts, with a message and nothing left
behind. In the library inside the program: the program does not notice.
"""

import concurrent.futures
import os
import shutil

import harness
from support import MILLRACE, LiveTest, manifest, preload, program, run

DENSE_CALLS = 60  # those after them are tried less and less densely
KERNEL_DENSE_CALLS = 8  # loading BPF programs takes time
IN_RECORD = ("malloc", "calloc", "realloc", "mmap", "write", "open", "openat", "fork", "pipe2", "ftruncate",
             "fallocate", "epoll_create1", "mkdir", "mkdirat", "symlinkat", "renameat", "flock", "fclose",
             "stat", "readlink")
IN_PROGRAM = ("mmap", "open", "openat", "madvise", "readlink", "stat", "fstat", "pthread_key_create",
              "pthread_setspecific")
IN_KERNEL_LEVEL = ("malloc", "calloc", "realloc", "mmap", "open", "openat", "stat")
NO_KERNEL = ("--levels", "runtime,dataflow")


class Faults(LiveTest):
    def inject(self, function, number, where, command, caller=None, options=NO_KERNEL):
        """Runs record with one fault. Returns the result, or None if there is no such call."""
        folder = self.path(f"{function}-{number}")
        os.mkdir(folder)
        happened = os.path.join(folder, "happened")
        environment = {**os.environ, "LD_PRELOAD": preload("fault"), "FAULT_FUNCTION": function,
                       "FAULT_NUMBER": str(number), "FAULT_PROGRAM": where, "FAULT_FILE": happened,
                       **({"FAULT_CALLER": caller} if caller else {})}
        result = run(MILLRACE, "record", "-o", "trace.mill", *options, "--", *command, cwd=folder, env=environment)
        if not os.path.exists(happened):
            shutil.rmtree(folder)
            return None
        os.unlink(happened)
        result.trace = os.path.join(folder, "trace.mill")
        result.what = f"{function} number {number}: {result.returncode} {result.stderr}"
        return result

    def check_record(self, function, number, **keywords):
        result = self.inject(function, number, "millrace", [program("load"), "1", "500"], **keywords)
        if not result:
            return False
        folder = os.path.dirname(result.trace)
        if result.returncode == 0:
            self.assertEqual(result.stdout, "500\n", result.what)
            self.assertIn(manifest(result.trace)["state"], ("complete", "stopped", "recording"), result.what)
            again = run(MILLRACE, "info", result.trace)
            self.assertEqual((again.returncode, again.stderr), (0, ""), result.what)
        else:
            self.assertIn(result.returncode, (125, 126, 127), result.what)
            self.assertEqual(result.stdout, "", result.what)
            self.assertRegex(result.stderr, "^millrace: ", result.what)
            self.assertEqual(os.listdir(folder), [], result.what)
        shutil.rmtree(folder)
        return True

    def check_program(self, function, number):
        """A program that has threads, forks and executes others; compared with the run without."""
        load = program("load")
        script = f"{load} 2 500; ({load} 1 5); exec {load} 1 7"
        for where in ("live_load", "sh", "dash"):
            result = self.inject(function, number, where, ["sh", "-c", script], caller="libmillrace.so")
            if not result:
                continue
            self.assertEqual((result.returncode, result.stdout), (0, "1000\n5\n7\n"), result.what)
            self.assertNotIn("Error", result.stderr)
            again = run(MILLRACE, "info", result.trace)
            self.assertEqual((again.returncode, again.stderr), (0, ""), result.what)
            shutil.rmtree(os.path.dirname(result.trace))
            return True
        return False

    def check_kernel_level(self, function, number):
        return self.check_record(function, number, options=())

    def try_all(self, check, functions, dense_calls=DENSE_CALLS, slowness=10):
        """Two at a time, each function until there is no further call of it."""
        def try_one(function):
            number = 1
            while check(function, number):
                number += 1 + max(number - dense_calls, 0) // slowness
            return function, number - 1
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(pool.map(try_one, functions))

    def test_in_record(self):
        tried = self.try_all(self.check_record, IN_RECORD)
        print("faults in record:", tried)
        for function in ("malloc", "mmap", "write", "fork"):
            self.assertGreater(tried[function], 0, "nothing was tried")

    def test_in_kernel_level(self):
        tried = self.try_all(self.check_kernel_level, IN_KERNEL_LEVEL, KERNEL_DENSE_CALLS, 2)
        print("faults in record with the kernel level:", tried)
        for function in ("malloc", "mmap"):
            self.assertGreater(tried[function], 0, "nothing was tried")

    def test_in_program(self):
        tried = self.try_all(self.check_program, IN_PROGRAM)
        print("faults in the program:", tried)
        for function in ("mmap", "open"):
            self.assertGreater(tried[function], 0, "nothing was tried")


if __name__ == "__main__":
    harness.main()
