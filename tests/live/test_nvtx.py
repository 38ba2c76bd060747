#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it looks at order and nesting, not at how long things take
"""NVTX: a program compiled with NVIDIA's own header, of two versions, runs as without millrace, and its ranges, marks and
names are in the trace."""

import json
import os
import subprocess
import unittest

import cuda
import harness
from support import MILLRACE, LiveTest, dump, query, run

OPTIONS = ("--quiet", "--levels", "dataflow,runtime")


class Nvtx(LiveTest):
    def build(self, version):
        headers = cuda.headers(version)
        if not headers:
            self.skipTest(f"the header of {version} cannot be downloaded (tools/cuda)")
        output = self.path(version)
        if not os.path.exists(output):
            subprocess.run([os.environ.get("CC", "cc"), "-O1", "-pthread", "-isystem", headers, "-o", output,
                            os.path.join(cuda.SOURCE, "tests", "live", "programs", "nvtx.c"), "-ldl"], check=True)
        return output

    def scopes(self, trace, where="1"):
        return query(trace, "select s.name, s.detail, s.start_ns, s.duration_ns, s.flags, p.name as parent, t.name as thread "
                     "from scopes s left join scopes p on p.rowid = s.parent join tracks t on t.rowid = s.track "
                     f"where {where} order by s.start_ns, s.rowid")

    def test_all(self):
        for version in "nvtx-12", "nvtx-13":
            with self.subTest(version):
                program = self.build(version)
                self.check(self.record(program, options=OPTIONS, name=f"{version}.mill"))

    def check(self, result):
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        rows = self.scopes(result.trace)
        found = {row["name"]: row for row in rows}
        self.assertEqual([row["name"] for row in rows],
                         ["outer", "innér", "here", "across", "assemble", "read", "registered", "registered"] +
                         [name for i in range(5) for name in (f"step {i}", "part")])
        details = [row["detail"] or "" for row in rows]
        self.assertEqual(details[:8], ["", "", "", "", "domain=solver,category=setup,payload=-42",
                                       "domain=input,category=9,payload=0.5",
                                       f"domain=solver,payload={2 ** 64 - 1}", "domain=solver"])
        self.assertEqual(found["innér"]["parent"], "outer")
        self.assertEqual(found["here"]["parent"], "innér")
        self.assertEqual(found["here"]["duration_ns"], 0)
        self.assertEqual([row["parent"] for row in rows if row["name"] == "part"], [f"step {i}" for i in range(5)])
        self.assertIn("ASYNCHRONOUS", found["across"]["flags"])
        self.assertGreater(found["read"]["start_ns"] + found["read"]["duration_ns"],
                           found["assemble"]["start_ns"] + found["assemble"]["duration_ns"])
        self.assertEqual({row["thread"] for row in rows}, {"conductor"})
        self.assertIn("finisher", [row["name"] for row in query(result.trace, "select name from tracks")])
        self.assertFalse(any("UNFINISHED" in (row["flags"] or "") for row in rows))

    def test_depths_and_open_ranges(self):
        """A tool returns the depth of a range. One that is left open is unfinished."""
        result = self.record(self.build("nvtx-13"), "depths", options=OPTIONS)
        self.assertEqual(result.stdout, "0 1 1\n")
        rows = self.scopes(result.trace, "s.name in ('left open', 'not')")
        self.assertIn("UNFINISHED", rows[0]["flags"])
        self.assertNotIn("UNFINISHED", rows[1]["flags"] or "")

    def test_steps(self):
        """A range is the step, of a report or of a recording."""
        program = self.build("nvtx-13")
        plain = self.record(program, options=OPTIONS, name="plain.mill")
        report = json.loads(run(MILLRACE, "report", "--json", "--step-range", "step *", "--step", "3", plain.trace).stdout)
        self.assertTrue(report)
        missing = run(MILLRACE, "report", "--step-range", "step", plain.trace)
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("no range 'step' was recorded", missing.stderr)
        marked = self.record(program, options=(*OPTIONS, "--step-range", "step *"), name="marked.mill")
        steps = query(marked.trace, "select step, start_ns, duration_ns, origin from steps order by step")
        scopes = self.scopes(marked.trace, "s.name like 'step %'")
        self.assertEqual([(row["step"], row["start_ns"], row["duration_ns"], row["origin"]) for row in steps],
                         [(i, row["start_ns"], row["duration_ns"], "MARKED") for i, row in enumerate(scopes)])

    def test_part(self):
        """Only some of the steps are recorded, and they keep their numbers."""
        result = self.record(self.build("nvtx-13"), options=(*OPTIONS, "--steps", "2..3", "--step-range", "step *"))
        self.assertEqual([row["name"] for row in self.scopes(result.trace)], ["step 2", "part", "step 3", "part"])
        self.assertEqual([row["step"] for row in query(result.trace, "select step from steps order by start_ns")], [2, 3])

    def test_level_off(self):
        result = self.record(self.build("nvtx-13"), options=("--quiet", "--levels", "runtime"))
        self.assertEqual(result.returncode, 0)
        self.assertEqual([event for event in dump(result.trace) if event["event"].startswith("nvtx")], [])

    def test_another_tool(self):
        """Somebody else's tool keeps its place."""
        tool = self.path("tool.so")
        result = self.record(self.build("nvtx-13"), "depths", options=OPTIONS, name="other.mill",
                             env={**os.environ, "NVTX_INJECTION64_PATH": tool})
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stdout, "-2 -2 -2\n")


class Streams(cuda.CudaTest):
    @unittest.skipUnless(cuda.headers(cuda.versions()[0]), "the headers of CUDA cannot be downloaded (tools/cuda)")
    def test_names(self):
        """A stream that the program names has that name; a range encloses the launch that is made in it."""
        program = cuda.compile_program("cuda_nvtx.c", "-isystem", cuda.headers("nvtx-13"))
        result = self.run_both(program)
        self.assertEqual(result.returncode, 0)
        rows = query(result.trace, "select q.name as queue, s.name as scope from device_operations o join calls c on "
                     "c.rowid = o.call join tracks q on q.rowid = o.track join scopes s on s.track = c.track and "
                     "s.start_ns <= c.start_ns and s.start_ns + s.duration_ns >= c.start_ns + c.duration_ns")
        self.assertEqual(rows, [{"queue": "uploads", "scope": "launching"}])


def main():
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into other programs")
    if not cuda.headers("nvtx-13"):
        harness.skip("the header of NVTX cannot be downloaded (tools/cuda)")
    harness.main()


if __name__ == "__main__":
    main()
