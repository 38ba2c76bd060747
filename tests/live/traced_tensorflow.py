# SPDX-License-Identifier: Apache-2.0
"""What the tests of traced TensorFlow programs share. TENSORFLOW is the version, if it shall be another."""

import os

import tensorflow
from support import LiveTest, query, run

VERSION = os.environ.get("TENSORFLOW", tensorflow.MAIN)
PYTHON = tensorflow.python_of(VERSION)
ENVIRONMENT = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONDONTWRITEBYTECODE": "1",
               **tensorflow.SETTLED}
LEVELS = ("--levels", "dataflow")


class TracedTest(LiveTest):
    def command(self, case, *arguments):
        return PYTHON, tensorflow.python_program("tensorflow_cases"), case, *arguments

    def trace(self, case, *arguments, **keywords):
        """Records a case; output and exit status are those of the program by itself."""
        keywords = {"env": ENVIRONMENT, "timeout": 400, **keywords}
        alone = run(*self.command(case, *arguments), **keywords)
        traced = self.record(*self.command(case, *arguments), options=LEVELS, **keywords)
        self.assertEqual((traced.returncode, traced.stdout), (alone.returncode, alone.stdout), traced.stderr)
        self.status, self.output = alone.returncode, alone.stdout
        return traced.trace

    def executions(self, trace, graph="%"):
        """(graph, node, type, device, count) of what was executed."""
        rows = query(trace, "select g.name as graph, n.name as node, n.type as type, d.name as device, "
                            "count(*) as count from node_executions e join nodes n on e.node = n.rowid "
                            "join graphs g on n.graph = g.rowid left join devices d on n.device = d.rowid "
                            f"where g.name like '{graph}' group by 1, 2, 3, 4")
        return [(row["graph"], row["node"], row["type"], row["device"], row["count"]) for row in rows]

    def record_case(self, case, *arguments, options=(), environment=ENVIRONMENT, **keywords):
        """Records a case, whatever it prints."""
        result = self.record(*self.command(case, *arguments), options=(*LEVELS, *options), env=environment,
                             timeout=400, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.trace
