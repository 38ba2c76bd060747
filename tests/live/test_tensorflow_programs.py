# SPDX-License-Identifier: Apache-2.0
"""Kinds of TensorFlow programs under `record`: each behaves as by itself, and leaves in the trace what only it can."""

import collections
import unittest

from support import MILLRACE, query, run
from traced_tensorflow import VERSION, TracedTest


class Programs(TracedTest):
    def test_function(self):
        nodes = {node: count for _, node, _, _, count in self.executions(self.trace("function"), "%train_step%")}
        self.assertEqual(nodes["MatMul"], 20)
        self.assertEqual(nodes["Relu"], 20)

    def test_eager(self):
        nodes = {node: (count, device) for _, node, _, device, count in self.executions(self.trace("eager"), "eager")}
        self.assertEqual(nodes["MatMul"][0], 10)
        self.assertTrue(nodes["MatMul"][1].endswith("device:CPU:0"), nodes)

    def test_control_flow(self):
        names = " ".join(node for _, node, _, _, _ in self.executions(self.trace("control_flow")))
        self.assertIn("while", names)

    def test_data(self):
        trace = self.trace("data")
        types = {kind for _, _, kind, _, _ in self.executions(trace)}
        self.assertIn("EagerPyFunc", types)
        iterators = query(trace, "select distinct name, key, parent_key from scopes where name like 'Iterator::%'")
        keys = {row["key"] for row in iterators}
        self.assertTrue(any(row["parent_key"] in keys for row in iterators), iterators)
        produced, consumed = (query(trace, f"select distinct key from scopes where name = 'Prefetch{side}'")
                              for side in ("Produce", "Consume"))
        self.assertEqual(len(consumed), 8)
        self.assertLessEqual({row["key"] for row in consumed}, {row["key"] for row in produced})

    def test_keras(self):
        graphs = collections.Counter()
        for graph, _, kind, _, count in self.executions(self.trace("keras")):
            graphs[kind] += count
        self.assertEqual(graphs["Conv2D"] + graphs["_FusedConv2D"], 8)

    def test_checkpoint(self):
        types = {kind for _, _, kind, _, _ in self.executions(self.trace("checkpoint", self.path("saved")))}
        self.assertLessEqual({"SaveV2", "RestoreV2"}, types)

    def test_devices(self):
        device = {node: device for _, node, _, device, _ in self.executions(self.trace("devices"), "%towers%")}
        self.assertTrue(device["left"].endswith("CPU:0") and device["right"].endswith("CPU:1"), device)

    def test_session(self):
        nodes = {node: count for _, node, _, _, count in self.executions(self.trace("session"))}
        self.assertEqual(nodes["squared"], 5)

    def test_steps(self):
        """Calls of the function that is called most often are steps, where none are marked."""
        rows = query(self.trace("function"), "select step, function from steps order by start_ns")
        self.assertEqual([row["step"] for row in rows], list(range(20)))
        self.assertIn("train_step", rows[0]["function"])

    def test_annotations(self):
        """Steps that the program marks in Python; before 2.20 that cannot be seen, and health says so."""
        trace = self.trace("annotations")
        steps = [row["step"] for row in query(trace, "select step from steps where function is null "
                                                     "order by start_ns")]
        can_be_seen = tuple(map(int, VERSION.split("."))) >= (2, 20)
        self.assertEqual(steps, [100, 101, 102, 103, 104] if can_be_seen else [])
        told = run(MILLRACE, "report", trace).stdout
        self.assertEqual("annotations made in Python are not traced" in " ".join(told.split()), not can_be_seen, told)

    def test_exception(self):
        self.trace("exception")
        self.assertIn("refused", self.output)

    def test_interrupt(self):
        self.trace("interrupt")
        self.assertNotEqual(self.status, 0)

    def test_leave(self):
        nodes = {node: count for _, node, _, _, count in self.executions(self.trace("leave"), "%train_step%")}
        self.assertEqual((self.status, nodes["MatMul"]), (3, 5))

    def test_spawn(self):
        trace = self.trace("spawn")
        self.assertEqual(len(query(trace, "select distinct t.process from tracks t join node_executions e on "
                                          "e.track = t.rowid")), 1)

    def test_fork(self):
        nodes = {node: count for _, node, _, _, count in self.executions(self.trace("fork"), "%train_step%")}
        self.assertEqual(nodes["MatMul"], 2)


if __name__ == "__main__":
    unittest.main()
