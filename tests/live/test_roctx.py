#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it looks at order and nesting, not at how long things take
"""roctx: ranges and marks of a program are scopes, and the library that the program uses is told the same as ever."""

import os
import subprocess
import sys

import harness
from support import LiveTest, query, run

PROGRAMS = os.path.join(os.environ["SOURCE_DIR"], "tests/live/programs")
OPTIONS = "--quiet", "--levels", "dataflow"


class Roctx(LiveTest):
    def build(self):
        library, program = self.path("libroctx64.so.4"), self.path("program")
        compiler = os.environ.get("CC", "cc").split()
        subprocess.run([*compiler, "-shared", "-fPIC", "-Wl,-soname,libroctx64.so.4", "-o", library,
                        os.path.join(PROGRAMS, "roctx_library.c")], check=True)
        subprocess.run([*compiler, "-o", program, os.path.join(PROGRAMS, "roctx.c"), library,
                        f"-Wl,-rpath,{self.folder}", "-ldl"], check=True)
        return program, library

    def test_ranges(self):
        command = self.build()
        alone = run(*command)
        self.assertEqual(alone.stdout, "push outer\n0\npush inner\n1\nmark here\n1\nstart across\n0\n-1\nstop 7\n7\n")
        result = self.record(*command, options=OPTIONS)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, alone.stdout, ""))
        rows = query(result.trace, "select s.name, s.detail, p.name as parent from scopes s "
                                   "left join scopes p on p.rowid = s.parent order by s.start_ns, s.rowid")
        self.assertEqual([(row["name"], row["parent"]) for row in rows],
                         [("outer", None), ("inner", "outer"), ("here", "inner"), ("across", None)])
        self.assertEqual({row["detail"] for row in rows}, {"domain=roctx"})

    def test_absent(self):
        """Where there is no roctx, nobody finds it by name."""
        looks = "import ctypes; print(ctypes.CDLL(None).roctxMarkA)"
        alone = run(sys.executable, "-c", looks)
        result = self.record(sys.executable, "-c", looks, options=OPTIONS)
        self.assertNotEqual(alone.returncode, 0)
        self.assertEqual((result.returncode, result.stdout), (alone.returncode, alone.stdout))
        self.assertIn("undefined symbol: roctxMarkA", result.stderr)

    def test_absent_from_c(self):
        program = self.path("absent")
        subprocess.run([*os.environ.get("CC", "cc").split(), "-D_GNU_SOURCE", "-o", program,
                        os.path.join(PROGRAMS, "roctx_absent.c"), "-ldl"], check=True)
        self.assertEqual(run(program).stdout, "default 0 next 0 says why program 0\n")
        self.assertEqual(self.record(program, options=OPTIONS).stdout, "default 0 next 0 says why program 0\n")

    def test_steps(self):
        result = self.record(*self.build(), options=(*OPTIONS, "--step-range", "inner"))
        self.assertEqual(len(query(result.trace, "select * from steps")), 1)


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into other programs")
    harness.main()
