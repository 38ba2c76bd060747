# SPDX-License-Identifier: Apache-2.0
"""What the tests of traced TensorFlow programs share. TENSORFLOW is the version, if it shall be another.

TensorFlow executes with oneDNN or without it, by the CPU that it finds, unless TF_ENABLE_ONEDNN_OPTS says which. With
it other operations are executed, and more are fused. So tests say how often an operation's family is executed, which
is arithmetic, and those that depend on what is executed run both ways."""

import collections
import functools
import os
import shutil

import tensorflow
from support import LiveTest, query, run

VERSION = os.environ.get("TENSORFLOW", tensorflow.MAIN)
PYTHON = tensorflow.python_of(VERSION)
ENVIRONMENT = {"TF_ENABLE_ONEDNN_OPTS": "1", **os.environ, "TF_CPP_MIN_LOG_LEVEL": "2", "PYTHONDONTWRITEBYTECODE": "1",
               **tensorflow.SETTLED}
LEVELS = ("--levels", "dataflow")


# Of a step of tensorflow_cases.py: elements of the products. Forward two layers; backward two products for the second
# and one for the first, as images need no gradient.
PRODUCTS = (8 * 32, 8 * 4, 32 * 4, 8 * 32, 16 * 32)


def with_and_without_onednn(test):
    """A test that runs twice, with self.environment."""
    @functools.wraps(test)
    def both(self):
        for value in "01":
            with self.subTest(TF_ENABLE_ONEDNN_OPTS=value):
                self.environment = {**ENVIRONMENT, "TF_ENABLE_ONEDNN_OPTS": value}
                test(self)
                shutil.rmtree(self.path("trace.mill"))

    return both


@functools.cache
def run_alone(command, environment, timeout):
    """A program by itself, which does the same each time."""
    return run(*command, env=dict(environment), timeout=timeout)


class TracedTest(LiveTest):
    environment = ENVIRONMENT

    def command(self, case, *arguments):
        return PYTHON, tensorflow.python_program("tensorflow_cases"), case, *arguments

    def trace(self, case, *arguments):
        """Records a case; output and exit status are those of the program by itself."""
        command = self.command(case, *arguments)
        alone = run_alone(command, tuple(self.environment.items()), 400)
        traced = self.record(*command, options=LEVELS, env=self.environment, timeout=400)
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

    def families(self, trace, graph="%"):
        """How often operations were executed, in whatever form."""
        rows = query(trace, "select n.family as family, count(*) as count from node_executions e join nodes n on "
                            "e.node = n.rowid left join graphs g on n.graph = g.rowid where coalesce(g.name, '') like "
                            f"'{graph}' group by 1")
        return collections.Counter({row["family"]: row["count"] for row in rows})

    def record_case(self, case, *arguments, options=(), environment=None, **keywords):
        """Records a case, whatever it prints."""
        result = self.record(*self.command(case, *arguments), options=(*LEVELS, *options),
                             env=environment or self.environment, timeout=400, **keywords)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.trace
