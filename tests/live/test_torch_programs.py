# SPDX-License-Identifier: Apache-2.0
"""Kinds of PyTorch programs under `record`: each behaves as by itself, and leaves in the trace what arithmetic demands."""

import unittest

import harness
from support import MILLRACE, query, run
from traced_torch import ENVIRONMENT, IS_OLD, OPERATOR, TIMEOUT, VERSION, TorchTest

STEPS = 4  # of most cases
CASES = ("mlp", "cnn", "transformer", "loader:0", "loader:4", "loader:2:spawn", "exceptions", "threads", "jit")


class Many(TorchTest):
    """Cases of one process, recorded once."""

    def test_all(self):
        trace = self.trace(*CASES)
        self.assertEqual(self.status, 0)
        for check in (self.check_mlp, self.check_cnn, self.check_transformer, self.check_loader, self.check_workers,
                      self.check_exceptions, self.check_threads, self.check_jit, self.check_steps, self.check_edges,
                      self.check_tensors, self.check_shapes, self.check_modules, self.check_lines, self.check_roles, self.check_report):
            with self.subTest(check.__name__):
                check(trace)

    def of_case(self, trace, case):
        return self.counts(trace, self.scope(trace, f"case {case}"))

    def check_mlp(self, trace):
        counts = self.of_case(trace, "mlp")
        self.assertEqual((counts["forward/aten::linear"], counts["forward/aten::relu"]), (2 * STEPS, STEPS), counts)
        self.assertEqual((counts["backward/AddmmBackward0"], counts["backward/ReluBackward0"]), (2 * STEPS, STEPS))
        self.assertEqual(counts["backward/torch::autograd::AccumulateGrad"], 4 * STEPS)
        self.assertTrue(any(name.startswith("optimizer/aten::") for name in counts), counts)

    def check_cnn(self, trace):
        counts = self.of_case(trace, "cnn")
        self.assertEqual((counts["forward/aten::conv2d"], counts["forward/aten::batch_norm"]), (5 * STEPS, 4 * STEPS))
        self.assertEqual((counts["backward/ConvolutionBackward0"], counts["backward/NativeBatchNormBackward0"]),
                         (5 * STEPS, 4 * STEPS))

    def check_transformer(self, trace):
        """With gradients, and then without, where PyTorch may take one operator for a layer."""
        counts = self.of_case(trace, "transformer")
        self.assertEqual(counts["forward/aten::layer_norm"], 4 * STEPS)
        self.assertTrue(any(name.startswith("eager/aten::") for name in counts), counts)

    def check_loader(self, trace):
        """Every batch that the program takes, and that there are no more."""
        for case, name in (("loader:0", "DataLoader"), ("loader:4", "ParallelPrefetch::DataLoader"),
                           ("loader:2:spawn", "ParallelPrefetch::DataLoader")):
            rows = query(trace, "select e.name as name from scopes e where e.detail like 'enumerate(DataLoader)%' and " +
                         self.scope(trace, f"case {case}"))
            self.assertEqual([row["name"] for row in rows], [name] * (64 // 8 + 1), case)

    def check_workers(self, trace):
        """What workers compute is computed there: one sin() for each element."""
        for case, workers in (("loader:0", 1), ("loader:4", 4), ("loader:2:spawn", 2)):
            rows = query(trace, "select t.process as process, count(*) as count from node_executions e join nodes n on "
                                "e.node = n.rowid join tracks t on e.track = t.rowid where n.type = 'aten::sin' and " +
                         self.scope(trace, f"case {case}") + " group by 1")
            self.assertEqual((len(rows), sum(row["count"] for row in rows)), (workers, 64), case)

    def check_exceptions(self, trace):
        rows = query(trace, "select e.flags as flags from scopes e where e.name = 'tries'")
        self.assertEqual([row["flags"] for row in rows], [None] * 4)
        counts = self.of_case(trace, "exceptions")
        self.assertEqual(counts["backward/RefusesBackward"], 1)

    def check_threads(self, trace):
        """Each thread does its own forward and backward pass."""
        rows = query(trace, "select t.tid as tid, sum(n.name = 'forward/aten::matmul') as forward, "
                            "sum(n.name = 'backward/MmBackward0') as backward from node_executions e join nodes n on "
                            "e.node = n.rowid join tracks t on e.track = t.rowid where " +
                     self.scope(trace, "case threads") + " group by 1 having forward > 0")
        self.assertEqual([(row["forward"], row["backward"]) for row in rows], [(5, 5)] * 4)

    def check_jit(self, trace):
        counts = self.of_case(trace, "jit")
        self.assertGreater(counts["forward/aten::linear"], 0, counts)

    def check_steps(self, trace):
        """A step ends with each step of the optimizer, and everything between has its number."""
        rows = query(trace, "select distinct step, function from steps order by step")
        numbers = [row["step"] for row in rows if row["function"] == "Optimizer.step#SGD.step"]
        self.assertEqual(numbers, list(range(2 * STEPS + 3 * 8)))
        rows = query(trace, "select e.step as step, count(*) as count from node_executions e join nodes n on e.node = "
                            "n.rowid where n.type = 'AddmmBackward0' and " + self.scope(trace, "case mlp") +
                     " group by 1")
        self.assertEqual([(row["step"], row["count"]) for row in rows], [(step, 2) for step in range(STEPS)])

    def edges(self, trace, kind):
        rows = query(trace, "select s.name as source, t.name as target from edges e join nodes s on e.source = s.rowid "
                            f"join nodes t on e.target = t.rowid where e.kind = '{kind}'")
        return {(row["source"], row["target"]) for row in rows}

    def check_edges(self, trace):
        """From an operator of the forward pass to the function that autograd made for it."""
        edges = self.edges(trace, "control")
        self.assertIn(("forward/first/aten::addmm", "backward/first/AddmmBackward0"), edges)
        self.assertIn(("forward/rest/0/aten::relu", "backward/rest/0/ReluBackward0"), edges)

    def check_tensors(self, trace):
        """The graph as it was executed: from operators to those that take what they made, as the model's source has it."""
        edges = self.edges(trace, "data")
        model = ["forward/first/aten::linear", "forward/rest/0/aten::relu", "forward/rest/1/aten::linear",
                 "forward/aten::cross_entropy_loss"]
        self.assertLessEqual(set(zip(model, model[1:])), edges)
        gradients = ["backward/rest/1/AddmmBackward0", "backward/rest/0/ReluBackward0", "backward/first/AddmmBackward0",
                     "backward/first/TBackward0", "backward/torch::autograd::AccumulateGrad", "optimizer/aten::add_"]
        self.assertLessEqual(set(zip(gradients, gradients[1:])), edges)
        block = ["conv1/aten::conv2d", "bn1/aten::batch_norm", "aten::relu", "conv2/aten::conv2d", "bn2/aten::batch_norm",
                 "aten::add", "aten::relu"]
        self.assertLessEqual({(f"forward/layer1/0/{one}", f"forward/layer1/0/{two}") for one, two in zip(block, block[1:])},
                             edges)
        # What the model does not say is not there: each layer takes what the one before it made, and nothing else.
        takers = {target for source, target in edges if source == "forward/first/aten::linear"}
        self.assertEqual({target for target in takers if target.startswith("forward/")}, {"forward/rest/0/aten::relu"})
        self.assertFalse([(source, target) for source, target in edges
                          if source.startswith("optimizer/") and target.startswith("forward/")])

    def check_shapes(self, trace):
        for case, name, shapes in (("mlp", "aten::linear", {"(float32[8,16];float32[32,16];float32[32])",
                                                            "(float32[8,32];float32[4,32];float32[4])"}),
                                   ("cnn", "aten::batch_norm", {"(float32[8,8,8,8];" + 3 * "float32[8];" + "float32[8])"})):
            rows = query(trace, "select distinct e.shapes as shapes from node_executions e join nodes n on e.node = n.rowid "
                                f"where n.type = '{name}' and e.shapes is not null and e.step is not null and " +
                         self.scope(trace, f"case {case}"))
            self.assertEqual({row["shapes"] for row in rows}, shapes)

    def modules(self, trace, case, name):
        rows = query(trace, "select e.module as module, count(*) as count from node_executions e join nodes n on e.node = "
                            f"n.rowid where {OPERATOR} = '{name}' and " + self.scope(trace, f"case {case}") + " group by 1")
        return {row["module"]: row["count"] for row in rows}

    def check_modules(self, trace):
        """Operators and gradients belong to the parts of the model as named_modules() calls them."""
        convolutions = ["stem"] + [f"layer1.{block}.conv{i}" for block in (0, 1) for i in (1, 2)]
        expected = {name: STEPS for name in convolutions}
        self.assertEqual(self.modules(trace, "cnn", "forward/aten::conv2d"), expected)
        self.assertEqual(self.modules(trace, "cnn", "backward/ConvolutionBackward0"), expected)
        self.assertEqual(self.modules(trace, "mlp", "forward/aten::linear"), {"first": STEPS, "rest.1": STEPS})
        # The first backward pass of the process, too, whose functions show where autograd's numbers stand.
        self.assertEqual(self.modules(trace, "mlp", "backward/AddmmBackward0"), {"first": STEPS, "rest.1": STEPS})
        rows = query(trace, "select distinct module from node_executions e join nodes n on e.node = n.rowid where "
                            "n.name like 'optimizer/%' or n.name like 'input/%'")
        self.assertEqual([row["module"] for row in rows], [None])

    def check_lines(self, trace):
        rows = query(trace, "select distinct e.site_stack as line from node_executions e join nodes n on e.node = n.rowid "
                            "where n.type = 'aten::sin'")
        self.assertTrue(rows and all("torch_cases.py:28 " in row["line"].split(" < ")[0] for row in rows), rows)

    def check_roles(self, trace):
        """Processes of data loaders are seen to be that where they are looked at while they work, which is soon over."""
        rows = query(trace, "select distinct t.role as role from tracks t join node_executions e on e.track = t.rowid "
                            "join nodes n on n.rowid = e.node where n.type = 'aten::sin'")
        self.assertLessEqual({row["role"] for row in rows}, {"MAIN", "LOADER"})

    def check_report(self, trace):
        """Nothing is missing."""
        told = run(MILLRACE, "report", "--whole", trace).stdout
        self.assertNotIn("nothing of PyTorch is traced", told)
        self.assertNotIn("autograd's sequence numbers", told)


class Ends(TorchTest):
    """Programs that end in their own way."""

    def test_uncaught(self):
        self.trace("uncaught")
        self.assertEqual(self.status, 1)

    def test_leave(self):
        """_exit() in a backward function: what goes on then is recorded as far as it went."""
        trace = self.trace("leave")
        self.assertEqual(self.status, 3)
        rows = query(trace, "select n.name as name from node_executions e join nodes n on e.node = n.rowid where "
                            "e.flags = 'UNFINISHED'")
        self.assertIn("backward/LeavesBackward", {row["name"] for row in rows})

    def test_fork(self):
        """The child has not begun what its parent has: its own operators are recorded, with its own process."""
        trace = self.trace("fork")
        self.assertEqual(self.status, 0)
        rows = query(trace, "select t.process as process, count(*) as count from node_executions e join nodes n on "
                            "e.node = n.rowid join tracks t on e.track = t.rowid where n.type = 'AddmmBackward0' "
                            "group by 1")
        self.assertEqual([row["count"] for row in rows], [2 * STEPS] * 2)


class Distributed(TorchTest):
    def test_ddp(self):
        """Two processes: their gradients are reduced together, in the same order in both."""
        alone = run(*self.command(f"ddp:{self.folder}"), env=ENVIRONMENT, timeout=TIMEOUT)
        run("rm", "-f", self.path("meeting"))
        trace = self.trace(f"ddp:{self.folder}", alone=alone)
        self.assertEqual(self.status, 0, alone.stderr)
        rows = query(trace, "select t.process as process, n.type as type, c.instance_key as instance from collectives c "
                            "join tracks t on c.track = t.rowid join nodes n on c.node = n.rowid order by 1, 3")
        kinds = {}
        for row in rows:
            kinds.setdefault(row["process"], []).append((row["instance"], row["type"]))
        (first, second) = kinds.values()
        self.assertEqual(first, second)
        self.assertEqual([kind for _, kind in first].count("gloo:all_reduce"), STEPS + 1, first)
        self.check_bytes(trace)

    def check_bytes(self, trace):
        """All gradients go together in one bucket; the sum of the losses is of one number for each step."""
        layers = 8 * 3 * 9 + 8 + 4 * 8 * 8 * 9 + 4 * 2 * 8 + 4 * 8 + 4  # stem, convolutions, norms, head
        rows = query(trace, "select c.bytes as bytes, count(*) as count from collectives c join nodes n on c.node = n.rowid "
                            "where n.type = 'gloo:all_reduce' group by 1")
        self.assertEqual({row["bytes"]: row["count"] for row in rows}, {4 * layers: 2 * STEPS, 4 * STEPS: 2})


@unittest.skipIf(IS_OLD, "PyTorch 1.13 has no torch.compile")
class Compiled(TorchTest):
    def test_compiled(self):
        trace = self.trace("compiled")
        self.assertEqual(self.status, 0)
        rows = query(trace, "select name from scopes where name like 'Torch-Compiled Region%'")
        self.assertTrue(rows, VERSION)


if __name__ == "__main__":
    harness.main()
