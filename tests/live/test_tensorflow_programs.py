# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are in one order, however far apart
"""Kinds of TensorFlow programs under `record`: each behaves as by itself, and leaves in the trace what only it can."""

import harness
from support import MILLRACE, query, run
from traced_tensorflow import PRODUCTS, VERSION, TracedTest, with_and_without_onednn


class Programs(TracedTest):
    @with_and_without_onednn
    def test_function(self):
        """Calls of the function that is called most often are steps, where none are marked."""
        trace = self.trace("function")
        families = self.families(trace, "%train_step%")
        self.assertEqual((families["MatMul"], families["ReluGrad"]), (20 * len(PRODUCTS), 20), families)
        types = {kind for _, _, kind, _, _ in self.executions(trace, "%train_step%")}
        if self.environment["TF_ENABLE_ONEDNN_OPTS"] == "0":
            self.assertEqual([kind for kind in types if "Mkl" in kind], [])
        rows = query(trace, "select step, function from steps order by start_ns")
        self.assertEqual([row["step"] for row in rows], list(range(20)))
        self.assertIn("train_step", rows[0]["function"])
        self.check_steps(trace, "train_step", range(20))

    @with_and_without_onednn
    def test_eager_and_keras(self):
        """Keras: two epochs of four batches."""
        trace = self.trace("eager+keras")
        families = self.families(trace)
        self.assertEqual((families["Conv2D"], families["Conv2DBackpropFilter"]), (8, 8), families)
        families = self.families(trace, "eager")
        self.assertEqual((families["MatMul"], families["Tanh"]), (10, 10), families)
        self.assertEqual({device.rpartition("/")[2] for _, _, _, device, _ in self.executions(trace, "eager")},
                         {"device:CPU:0"})

    def test_asynchronous(self):
        """Executed by a thread of TensorFlow's own: as long, and there, as its own scopes say."""
        trace = self.trace("asynchronous")
        rows = query(trace, "select e.track as track, e.start_ns as start_ns, e.duration_ns as duration_ns, "
                            "asked_ns, done_ns, e.flags as flags from node_executions e join nodes n on "
                            "e.node = n.rowid join graphs g on n.graph = g.rowid where g.name = 'eager' "
                            "order by e.start_ns")
        scopes = query(trace, "select track, start_ns, duration_ns from scopes where name = 'EagerKernelExecute' "
                              "order by start_ns")
        self.assertEqual(len(rows), len(scopes))
        bound_ns = 1000  # TensorFlow reads another clock than the recorder: the two are known to each other this well
        for row, scope in zip(rows, scopes):
            self.assertEqual((row["flags"], row["track"]), ("ASYNCHRONOUS", scope["track"]))
            self.assertLess(row["asked_ns"], row["start_ns"])
            self.assertLessEqual(row["start_ns"], scope["start_ns"] + bound_ns)
            self.assertLessEqual(scope["start_ns"] + scope["duration_ns"], row["done_ns"] + bound_ns)
        self.assertEqual(self.families(trace, "eager")["MatMul"], 10)
        inside = {node: count for _, node, _, _, count in self.executions(trace, "__inference_add%")}
        self.assertEqual(inside["product"], 12)
        steps = query(trace, "select step, count(*) as count from node_executions where node_name = 'product' "
                             "group by 1")
        self.assertEqual([(row["step"], row["count"]) for row in steps], [(i, 1) for i in range(12)])

    def test_compiled(self):
        """A function that XLA compiles is executed once a call, and health says that its operations are not seen. With
        2.15 XLA tells nothing of what it made, by which that is known."""
        trace = self.trace("compiled")
        calls = [row for row in self.executions(trace) if "squared" in row[1]]
        self.assertEqual([(graph, count) for graph, _, _, _, count in calls], [("eager", 11)])
        told = " ".join(run(MILLRACE, "report", "--whole", trace).stdout.split())
        is_told = tuple(map(int, VERSION.split("."))) >= (2, 18)
        self.assertEqual("XLA compiled some functions" in told, is_told, told)

    def test_control_flow_data_and_checkpoint(self):
        trace = self.trace("control_flow+data+checkpoint", self.path("saved"))
        executions = self.executions(trace)
        self.assertIn("while", " ".join(node for _, node, _, _, _ in executions))
        self.assertLessEqual({"EagerPyFunc", "SaveV2", "RestoreV2"}, {kind for _, _, kind, _, _ in executions})
        iterators = query(trace, "select distinct name, key, parent_key from scopes where name like 'Iterator::%'")
        keys = {row["key"] for row in iterators}
        self.assertTrue(any(row["parent_key"] in keys for row in iterators), iterators)
        produced, consumed = (query(trace, f"select distinct key from scopes where name = 'Prefetch{side}'")
                              for side in ("Produce", "Consume"))
        self.assertEqual(len(consumed), 8)
        self.assertLessEqual({row["key"] for row in consumed}, {row["key"] for row in produced})

    def test_devices(self):
        device = {node: device for _, node, _, device, _ in self.executions(self.trace("devices"), "%towers%")}
        self.assertTrue(device["left"].endswith("CPU:0") and device["right"].endswith("CPU:1"), device)

    def test_session(self):
        nodes = {node: count for _, node, _, _, count in self.executions(self.trace("session"))}
        self.assertEqual(nodes["squared"], 5)

    def check_steps(self, trace, function, numbers):
        """All that the function did was done for these steps; what was done before them was for none."""
        rows = query(trace, "select e.step as step, count(*) as count, sum(n.family = 'MatMul') as products "
                            "from node_executions e join nodes n on e.node = n.rowid "
                            f"join graphs g on n.graph = g.rowid where g.name like '%{function}%' group by 1")
        self.assertEqual([row["step"] for row in rows], list(numbers))
        self.assertEqual({row["products"] for row in rows}, {len(PRODUCTS)})
        (none,) = query(trace, "select count(*) as count from node_executions e join nodes n on e.node = n.rowid where "
                               "e.step is null and e.start_ns > (select min(start_ns) from steps) and "
                               "n.family = 'MatMul'")
        self.assertEqual(none["count"], 0)

    def test_annotations(self):
        """Steps that the program marks in Python; before 2.20 that cannot be seen, and health says so."""
        trace = self.trace("annotations")
        steps = [row["step"] for row in query(trace, "select step from steps where function is null "
                                                     "order by start_ns")]
        can_be_seen = tuple(map(int, VERSION.split("."))) >= (2, 20)
        self.assertEqual(steps, [100, 101, 102, 103, 104] if can_be_seen else [])
        self.check_steps(trace, "train_step", range(100, 105) if can_be_seen else range(5))
        told = run(MILLRACE, "report", "--whole", trace).stdout
        self.assertEqual("annotations made in Python are traced only" in " ".join(told.split()), not can_be_seen, told)

    def test_exception(self):
        trace = self.trace("exception")
        self.assertIn("refused", self.output)
        eager = self.executions(trace, "eager")
        self.assertEqual([(row[1], row[4]) for row in eager if "check" in row[1]], [(eager[-1][1], 2)])
        self.assertLessEqual({"AssignVariableOp", "MakeIterator"}, {row[1] for row in eager})
        self.assertEqual([row for row in eager if not (row[3] or "").endswith("device:CPU:0")], [])

    def test_interrupt(self):
        self.trace("interrupt")
        self.assertNotEqual(self.status, 0)

    def test_leave(self):
        """A thread that has executed its last operation, but is still in the executor when the program leaves, never
        tells of which run that was: then the node's graph is unknown, but not what was executed."""
        self.assertEqual((self.families(self.trace("leave"))["MatMul"], self.status), (5 * len(PRODUCTS), 3))

    def test_spawn(self):
        trace = self.trace("spawn")
        self.assertEqual(len(query(trace, "select distinct t.process from tracks t join node_executions e on "
                                          "e.track = t.rowid")), 1)

    def test_fork(self):
        self.assertEqual(self.families(self.trace("fork"), "%train_step%")["MatMul"], 2 * len(PRODUCTS))


if __name__ == "__main__":
    harness.main()
