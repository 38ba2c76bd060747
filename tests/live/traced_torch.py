# SPDX-License-Identifier: Apache-2.0
"""What the tests of traced PyTorch programs share. TORCH is the version, if it shall be another than Debian's."""

import os
import subprocess

import harness
from support import LiveTest, query, run

SOURCE = os.environ["SOURCE_DIR"]
VERSION = os.environ.get("TORCH", "debian")
PROGRAM = os.path.join(SOURCE, "tests", "live", "programs", "torch_cases.py")
ENVIRONMENT = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "", "PYTHONWARNINGS": "ignore"}
LEVELS = ("--levels", "dataflow")
TIMEOUT = 500
OPERATOR = "substr(n.name, 1, instr(n.name, '/')) || n.type"  # of a node n, without its module: forward/aten::linear


def find_python():
    """The Python that has this PyTorch; the test program ends where there is none."""
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into Python")
    if VERSION == "debian":
        if not os.path.exists("/usr/lib/python3/dist-packages/torch"):
            harness.skip("no PyTorch: install Debian's python3-torch (tools/setup frameworks)")
        return "/usr/bin/python3"
    found = subprocess.run([os.path.join(SOURCE, "tools/torch"), VERSION], capture_output=True, text=True)
    if found.returncode != 0:
        harness.skip(found.stderr.strip().removeprefix("tools/torch: "))
    return os.path.join(found.stdout.strip(), "bin", "python")


PYTHON = find_python()
IS_OLD = VERSION == "debian"


class TorchTest(LiveTest):
    """Records cases of torch_cases.py."""

    def command(self, *cases):
        return PYTHON, PROGRAM, *cases

    def trace(self, *cases, alone=None, options=LEVELS):
        """Records cases; output and exit status are those of the program by itself."""
        alone = alone or run(*self.command(*cases), env=ENVIRONMENT, timeout=TIMEOUT)
        traced = self.record(*self.command(*cases), options=options, env=ENVIRONMENT, timeout=TIMEOUT)
        self.assertEqual((traced.returncode, traced.stdout), (alone.returncode, alone.stdout), traced.stderr)
        self.assertNotEqual(alone.stdout, "", alone.stderr)
        self.status = alone.returncode
        return traced.trace

    def scope(self, trace, name):
        """Condition of SQL: rows `e` of the processes' threads that lie inside of a scope of that name."""
        (row,) = query(trace, f"select start_ns, start_ns + duration_ns as end_ns from scopes where name = '{name}'")
        return f"e.start_ns >= {row['start_ns']} and e.start_ns < {row['end_ns']}"

    def counts(self, trace, condition="1"):
        """How often each operator was executed, in each phase."""
        rows = query(trace, f"select {OPERATOR} as name, count(*) as count from node_executions e join nodes n on "
                            f"e.node = n.rowid where {condition} group by 1")
        return {row["name"]: row["count"] for row in rows}
