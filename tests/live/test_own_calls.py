#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What millrace does inside a program, seen by strace: a program that is about to be executed is read in few reads,
however many names it has. (That such calls do not count as the program's: test_kernel_calls.py.)"""

import re
import shutil

import harness
from support import MILLRACE, LiveTest, run

NAMES = 12000  # of functions, as cc1 and other programs with plugins have
READS = 4  # its head, where its names are, and those in two parts


class OwnCalls(LiveTest):
    def build_large(self):
        """A program whose table of names is larger than a megabyte."""
        source, large = self.path("large.c"), self.path("large")
        with open(source, "w") as file:
            for i in range(NAMES):
                file.write(f"void a_function_with_quite_a_long_name_{'x' * 80}_{i}(void) {{}}\n")
            file.write("int main(void) { return 0; }\n")
        result = run("cc", "-O0", "-rdynamic", "-o", large, source)
        self.assertEqual(result.returncode, 0, result.stderr)
        section = run("readelf", "-SW", large).stdout
        size = int(re.search(r"\.dynstr +STRTAB +\w+ \w+ (\w+)", section)[1], 16)
        self.assertGreater(size, 1 << 20)
        return large

    def reads_of(self, large):
        log = self.path("strace")
        result = run("strace", "-f", "-y", "-e", "trace=read,pread64,mmap", "-o", log, MILLRACE, "record", "-q", "-o",
                     self.path("trace.mill"), "--levels=runtime", "--", "/bin/sh", "-c", f"{large}; {large}")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(log) as file:
            return [line for line in file if f"<{large}>" in line]

    def test_few_reads(self):
        reads = self.reads_of(self.build_large())
        self.assertGreaterEqual(len(reads), 2, "it was looked at")
        self.assertLessEqual(len(reads), 2 * READS, "".join(reads[:20]))


if __name__ == "__main__":
    if not all(map(shutil.which, ("strace", "cc", "readelf"))):
        harness.skip("strace, a compiler and readelf are needed")
    harness.main()
