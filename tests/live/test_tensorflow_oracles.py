# SPDX-License-Identifier: Apache-2.0
"""A trace of TensorFlow agrees with TensorFlow's own accounts: its profile, its graph dumps."""

import collections
import glob
import json
import os
import re

import harness
import tensorflow
from support import MILLRACE, query, run
from traced_tensorflow import ENVIRONMENT, PRODUCTS, PYTHON, TracedTest, with_and_without_onednn

OPERATION = re.compile(r"([^:# ][^:#]*):([A-Z_][A-Za-z0-9_>]*)(?:#|$)")


def executed(name):
    return name.replace("_retval_RetVal", "_RetVal")


class Oracles(TracedTest):
    def test_profile(self):
        """The program's own profile is not empty, and all operations in it are in ours."""
        folder = self.path("profile")
        trace = self.record_case("profile", folder)
        listed = run(PYTHON, tensorflow.python_program("tensorflow_profile"), folder, env=ENVIRONMENT, timeout=400)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        theirs = collections.Counter()
        for line in listed.stdout.splitlines():
            duration, name = line.split(" ", 1)
            found = OPERATION.match(name)
            if found:
                theirs[(found[1], found[2], int(duration))] += 1
        ours = collections.Counter()
        for line in run(MILLRACE, "dump", "--json", trace).stdout.splitlines():
            event = json.loads(line)
            if event["event"].startswith("traceme"):
                text = event["fields"]["text"] if event["event"] == "traceme_text" else event["names"]["text"]
                found = OPERATION.match(text)
                if found:
                    ours[(found[1], found[2], event["fields"]["end"] - event["fields"]["start"])] += 1
        self.assertGreater(sum(theirs.values()), 100, "the program's own profile is empty")
        self.assertEqual(theirs - ours, collections.Counter())

    @with_and_without_onednn
    def test_graph_dump(self):
        """Nodes and edges of a function, as TensorFlow dumps the graph that it executes."""
        folder = self.path("dump" + self.environment["TF_ENABLE_ONEDNN_OPTS"])
        os.mkdir(folder)
        environment = {**self.environment, "TF_DUMP_GRAPH_PREFIX": folder, "TF_DUMP_GRAPH_NAME_FILTER": "*",
                       "TF_DUMP_GRAPH_GROUPS": "main"}
        trace = self.record_case("function", environment=environment)
        (path,) = glob.glob(folder + "/*train_step*.after_partition_passes.pbtxt")
        with open(path) as file:
            dumped = file.read()
        nodes, edges = set(), collections.Counter()
        for body in re.split(r"^node \{$", dumped, flags=re.M)[1:]:
            body = body.split("\n}\n")[0]
            name = re.search(r'^  name: "(.*)"$', body, re.M)[1]
            nodes.add((name, re.search(r'^  op: "(.*)"$', body, re.M)[1]))
            for source in re.findall(r'^  input: "(.*)"$', body, re.M):
                edges[(source, name)] += 1
        ours = query(trace, "select n.name as node, n.type as type from nodes n join graphs g on n.graph = g.rowid "
                            "where g.name like '%train_step%'")
        # When it is executed, the graph gets a source, and results another name.
        self.assertEqual({(executed(row["node"]), row["type"]) for row in ours} - {("_SOURCE", "NoOp")}, nodes)
        found = query(trace, "select s.name as source, e.source_output as output, t.name as target, e.kind as kind "
                             "from edges e join nodes s on e.source = s.rowid join nodes t on e.target = t.rowid "
                             "join graphs g on t.graph = g.rowid where g.name like '%train_step%'")
        self.assertEqual(collections.Counter(
            (("^" if row["kind"] == "control" else "") + row["source"] +
             (f":{row['output']}" if row["output"] else ""), executed(row["target"]))
            for row in found if row["source"] != "_SOURCE"), edges)

    def counts_of_nodes(self, trace):
        """Of a run whose last scope ends after the recording, the graph is not known: executions count by name."""
        rows = query(trace, "select n.name as node, count(*) as count from node_executions e join nodes n on e.node = "
                            "n.rowid left join graphs g on n.graph = g.rowid where coalesce(g.name, '') <> 'eager' "
                            "group by 1")
        return {row["node"]: row["count"] for row in rows}

    def test_steps(self):
        """--steps: whole steps, and nothing of the others."""
        trace = self.record_case("function", options=("--steps", "7..9"))
        self.assertEqual(set(self.counts_of_nodes(trace).values()), {3})
        self.assertEqual([row["step"] for row in query(trace, "select step from steps order by start_ns")], [7, 8, 9])

    def test_steps_of_sessions(self):
        """Every run of a session is a step, also the first, which prepares the others."""
        trace = self.record_case("session", options=("--steps", "1..3"))
        nodes = self.counts_of_nodes(trace)
        self.assertEqual({nodes["squared"], *nodes.values()}, {3})
        self.assertNotIn("scale/Assign", nodes)

    def test_steps_have_one_number(self):
        """A step has the same number whether all or some are recorded, whatever the runs ask for."""
        def shapes(trace):
            return {row["step"]: row["shapes"] for row in query(
                trace, "select s.step as step, e.shapes as shapes from steps s join node_executions e on e.start_ns >= "
                "s.start_ns and e.start_ns < s.start_ns + s.duration_ns where e.node_name = 'product'")}

        all_steps = shapes(self.record_case("sessions", name="all.mill"))
        some = shapes(self.record_case("sessions", name="some.mill", options=("--steps", "5..8")))
        self.assertEqual(sorted(all_steps), list(range(12)))
        self.assertEqual(len(set(all_steps.values())), 12, all_steps)
        self.assertEqual(some, {step: all_steps[step] for step in range(5, 9)})

    @with_and_without_onednn
    def test_runs_and_memory(self):
        """Every operation has its run. Each product has memory for its elements; oneDNN may ask for more, to compute in."""
        trace = self.record_case("function")
        lost = query(trace, "select n.name as node, count(*) as count from node_executions e join nodes n on "
                            "e.node = n.rowid join graphs g on n.graph = g.rowid where g.name <> 'eager' and "
                            "e.run = 0 group by 1")
        self.assertEqual(lost, [])
        rows = query(trace, "select bytes, count(*) as count from memory m join nodes n on m.node = n.rowid where "
                            "n.family = 'MatMul' and not m.is_free group by 1")
        found = collections.Counter({row["bytes"]: row["count"] for row in rows})
        expected = collections.Counter(4 * elements for elements in PRODUCTS for _ in range(20))
        self.assertEqual(expected - found, collections.Counter(), found)
        if self.environment["TF_ENABLE_ONEDNN_OPTS"] == "0":
            self.assertEqual(found, expected)


if __name__ == "__main__":
    harness.main()
