#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fault injection: the n-th call of a function fails, for n = 1 until there is no n-th call. In the library, which makes
nearly all its system calls without the C library, also the n-th of those.

In `record`: it works all the same, or fails before the program starts, with a message and nothing left
behind. In the library inside the program: the program does not notice.
"""

import concurrent.futures
import errno
import itertools
import os
import pathlib
import shutil

import harness
from support import MILLRACE, LiveTest, dump, manifest, preload, program, run

DENSE_CALLS = 60  # those after them are tried less and less densely
KERNEL_DENSE_CALLS = 8  # loading BPF programs takes time
IN_RECORD = ("malloc", "calloc", "realloc", "mmap", "write", "open", "openat", "fork", "pipe2", "ftruncate",
             "fallocate", "epoll_create1", "mkdir", "mkdirat", "symlinkat", "renameat", "flock", "fclose",
             "stat", "readlink")
IN_PROGRAM = ("mmap", "pthread_key_create", "pthread_setspecific", "__register_atfork")
OWN_CALLS = (("openat", errno.EMFILE), ("openat", errno.EACCES), ("mmap", errno.ENOMEM), ("munmap", errno.ENOMEM),
             ("madvise", errno.EINVAL), ("newfstatat", errno.ENOMEM), ("fstat", errno.EIO),
             ("faccessat2", errno.ENOMEM), ("faccessat2", errno.ENOSYS), ("pread64", errno.EIO),
             ("readlinkat", errno.EACCES), ("getresuid", errno.EPERM), ("getresgid", errno.EPERM),
             ("prctl", errno.EPERM), ("close", errno.EIO))
PROGRAMS = ("live_load", "sh")
SECCOMP = pathlib.Path("/proc/sys/kernel/seccomp/actions_avail")
IN_KERNEL_LEVEL = ("malloc", "calloc", "realloc", "mmap", "open", "openat", "stat")
NO_KERNEL = ("--levels", "runtime,dataflow")


class Faults(LiveTest):
    def inject(self, what, number, where, command, options=NO_KERNEL, **fault):
        """Runs record with one fault. Returns the result, or None if there is no such call."""
        folder = self.path(f"{what}-{number}")
        os.mkdir(folder)
        happened = os.path.join(folder, "happened")
        environment = {**os.environ, **fault, "LD_PRELOAD": preload("fault"), "FAULT_NUMBER": str(number),
                       "FAULT_PROGRAM": where, "FAULT_FILE": happened}
        result = run(MILLRACE, "record", "-o", "trace.mill", *options, "--", *command, cwd=folder, env=environment)
        result.what = f"{what} number {number}: {result.returncode} {result.stderr}"
        result.trace = os.path.join(folder, "trace.mill")
        if not os.path.exists(happened):
            self.assertEqual(result.returncode, 0, result.what)
            shutil.rmtree(folder)
            return None
        os.unlink(happened)
        return result

    def check_record(self, function, number, **keywords):
        result = self.inject(function, number, "millrace", [program("load"), "1", "500"],
                             FAULT_FUNCTION=function, **keywords)
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

    def check_program(self, what, where, number, **fault):
        """A program that has threads, forks and executes others, one of which the library must stay out of; compared
        with the run without."""
        load = program("load")
        script = f"{load} 2 500; ({load} 1 5); {program('fragile')}; exec {load} 1 7"
        result = self.inject(f"{what} in {where}", number, where, ["sh", "-c", script], **fault)
        if not result:
            return False
        self.assertEqual((result.returncode, result.stdout), (0, "1000\n5\nwell\n7\n"), result.what)
        self.assertNotIn("Error", result.stderr)
        again = run(MILLRACE, "info", result.trace)
        self.assertEqual((again.returncode, again.stderr), (0, ""), result.what)
        names = [event for event in dump(result.trace) if event["event"] == "thread_name"]
        self.assertLessEqual({event["fields"]["name"] for event in names}, {"live_load"}, result.what)
        shutil.rmtree(os.path.dirname(result.trace))
        return True

    def check_function(self, case, number):
        function, where = case
        return self.check_program(function, where, number, FAULT_FUNCTION=function, FAULT_CALLER="libmillrace.so")

    def check_own_call(self, case, number):
        (name, error), where = case
        return self.check_program(f"{name} ({errno.errorcode[error]})", where, number, FAULT_SYSTEM_CALL=name,
                                  FAULT_ERROR=str(error))

    def check_kernel_level(self, function, number):
        return self.check_record(function, number, options=())

    def try_all(self, check, cases, dense_calls=DENSE_CALLS, slowness=10):
        """Two at a time, each function until there is no further call of it."""
        def try_one(case):
            number = 1
            while check(case, number):
                number += 1 + max(number - dense_calls, 0) // slowness
            return case, number - 1
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return dict(pool.map(try_one, cases))

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
        tried = self.try_all(self.check_function, list(itertools.product(IN_PROGRAM, PROGRAMS)))
        print("faults in the program:", tried)
        for case, count in tried.items():
            if case != ("pthread_setspecific", "sh"):  # it records no event of its own
                self.assertGreater(count, 0, f"nothing was tried: {case}")

    def test_own_calls(self):
        if not SECCOMP.exists() or "trap" not in SECCOMP.read_text().split():
            self.skipTest("this kernel has no seccomp filters")
        tried = self.try_all(self.check_own_call, list(itertools.product(OWN_CALLS, PROGRAMS)))
        print("faults in system calls of the library:", tried)
        for name in {name for name, _ in OWN_CALLS}:
            self.assertGreater(sum(count for case, count in tried.items() if case[0][0] == name), 0,
                               f"nothing was tried: {name}")


if __name__ == "__main__":
    harness.main()
