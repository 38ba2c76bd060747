# SPDX-License-Identifier: Apache-2.0
"""TensorFlow in odd surroundings under `record`: two processes, other allocators, broken installations, no device.
Programs behave as without it."""

import glob
import json
import os

import harness
import tensorflow
from support import MILLRACE, dump, run
from traced_tensorflow import ENVIRONMENT, LEVELS, PYTHON, TracedTest, query

EXAMPLES = os.path.join(tensorflow.SOURCE, "examples")


def memory_of(trace, *options):
    """The accounts that the report has."""
    report = json.loads(run(MILLRACE, "report", "--whole", "--json", *options, trace).stdout)
    (finding,) = [finding for finding in report["findings"] if finding["id"] == "memory"]
    return finding["tables"][0]["rows"]


class Hostile(TracedTest):
    def both(self, *command, environment=ENVIRONMENT, options=LEVELS):
        """The trace of a command whose output and status are the same as without `record`."""
        alone = run(*command, env=environment, timeout=400)
        traced = self.record(*command, options=options, env=environment, timeout=400)
        self.assertEqual((traced.returncode, traced.stdout), (alone.returncode, alone.stdout), traced.stderr)
        return traced.trace

    def test_distributed(self):
        """What one process sends, the other receives: the same channel, the same run."""
        trace = self.both(PYTHON, os.path.join(EXAMPLES, "distributed.py"), "--steps", "5")
        pairs = query(trace, "select s.channel as channel, s.node_name as source, r.node_name as target, "
                             "count(*) as count from messages s join messages r on s.peer = r.rowid and r.peer = "
                             "s.rowid and s.channel = r.channel and s.key = r.key join tracks a on s.track = a.rowid "
                             "join tracks b on r.track = b.rowid where s.is_receive = 0 and r.is_receive = 1 and "
                             "a.process <> b.process group by 1, 2, 3")
        across = {(row["source"].split("_")[0], row["target"].split("_")[0]): row["count"] for row in pairs
                  if "task:0" in row["channel"] and "task:1" in row["channel"]}
        self.assertEqual(across, {("first", "first"): 5, ("Sum", "Sum"): 5})
        self.assertEqual(query(trace, "select 1 from messages where bytes is not null"), [], "nobody tells the length")

    def test_collectives(self):
        """What both workers do together has the same keys in both, in each step others."""
        trace = self.both(PYTHON, tensorflow.python_program("tensorflow_workers"), "5")
        rows = query(trace, "select c.group_key as grouped, c.instance_key as instance, count(*) as count, "
                            "count(distinct t.process) as processes, count(distinct e.rowid) as executions from "
                            "collectives c join tracks t on c.track = t.rowid join node_executions e on "
                            "e.node = c.node and e.run = c.run where c.node_name like 'CollectiveReduceV2%' "
                            "group by 1, 2")
        self.assertEqual([(row["count"], row["processes"], row["executions"]) for row in rows], [(2, 2, 2)] * 5)
        self.assertEqual(len({row["grouped"] for row in rows}), 1)
        self.check_nodes_and_devices(trace)
        self.check_memory(trace)

    def check_nodes_and_devices(self, trace):
        rows = query(trace, "select n.type as type, n.graph_name as graph, (select count(*) from node_executions e where "
                            "e.node = n.rowid) as executions from collectives c join nodes n on c.node = n.rowid")
        self.assertGreater(len(rows), 0)
        self.assertTrue(all(row["type"] and row["graph"] and row["executions"] for row in rows), rows)
        self.assertEqual(query(trace, "select name from nodes where type is null"), [])
        devices = [row["name"] for row in query(trace, "select name from devices order by name")]
        self.assertEqual(devices, [f"/job:worker/replica:0/task:{task}/device:CPU:0" for task in (0, 1)])

    def check_memory(self, trace):
        """Each worker has an account of its own, in the table, in the report and in the report on it alone."""
        accounts = query(trace, "select p.pid as pid, sum(not m.is_free) as allocations, max(m.live_bytes) as peak, "
                                "sum(case when m.is_free then -m.bytes else m.bytes end) as live from memory m join "
                                "tracks t on m.track = t.rowid join processes p on t.process = p.rowid group by 1")
        self.assertEqual(len(accounts), 2)
        reported = memory_of(trace)
        for account in accounts:
            (row,) = [row for row in reported if row["pid"] == account["pid"]]
            self.assertEqual((row["allocations"], row["peak_bytes"], row["live_bytes"]),
                             (account["allocations"], account["peak"], account["live"]))
            self.assertEqual(memory_of(trace, "--process", str(account["pid"])), [row])

    def test_foreign_allocator(self):
        found = glob.glob("/usr/lib/*/libjemalloc.so.2")
        if not found:
            self.skipTest("libjemalloc2 is not installed")
        trace = self.both(*self.command("function"), environment={**ENVIRONMENT, "LD_PRELOAD": found[0]})
        self.assertGreater(len(self.executions(trace, "%train_step%")), 10)

    def test_sandbox(self):
        """Killed for what it does not do itself, the program lives; its graph is known all the same."""
        trace = self.both(PYTHON, tensorflow.python_program("tensorflow_sandbox"), "function")
        devices = {device for _, _, _, device, _ in self.executions(trace, "%train_step%")}
        self.assertEqual({device.rpartition("/")[2] for device in devices}, {"device:CPU:0"})

    def test_broken_installation(self):
        """Without numpy TensorFlow cannot be imported."""
        trace = self.both(PYTHON, "-c", "import sys; sys.modules['numpy'] = None\n"
                                        "try:\n    import tensorflow\nexcept ImportError as error:\n    print(error)")
        self.assertEqual([event for event in dump(trace) if event["event"].startswith("traceme")], [])

    def test_no_device(self):
        """The software GPU without OpenCL."""
        environment = tensorflow.soft_gpu(OCL_ICD_VENDORS=self.folder)
        self.both(*self.command("eager"), environment=environment, options=())

    def test_level_is_off(self):
        trace = self.both(*self.command("function"), options=("--levels", "runtime"))
        told = {event["event"] for event in dump(trace)}
        self.assertFalse(told & {"traceme", "traceme_numbers", "activity", "eager_operation", "memory_allocate"})


if __name__ == "__main__":
    harness.main()
