#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The server's answers about slices, names and windows agree with SQL and the report."""

import collections
import json
import os
import urllib.parse

import harness
import viewer
from viewer import support

NAMES = {"node_executions": "node", "calls": "function", "device_operations": "name", "system_calls": "number"}
SEEDS = ["1", "3", "8"]


class Trace:
    """A trace, asked in both ways."""

    def __init__(self, server, path):
        self.server = server
        self.path = path
        self.first_ns = int(self.ask("trace")["first_ns"])

    def ask(self, name, **parameters):
        answer = self.server.ask(f"traces/0/{name}?{urllib.parse.urlencode(parameters)}")
        if answer.status != 200:
            raise AssertionError(f"{name} {parameters}: {answer.status} {answer.body}")
        return json.loads(answer.body)

    def query(self, sql):
        return support.query(self.path, sql)

    def arrows(self, table, row):
        return [(arrow["kind"], arrow["from"]["table"], arrow["from"]["row"], arrow["to"]["table"], arrow["to"]["row"])
                for arrow in self.ask("row", table=table, row=row)["arrows"]]


class Answers(viewer.ServerTest):
    def traces(self):
        for seed in SEEDS:
            path = self.path(f"{seed}.mill")
            made = support.run(os.path.join(support.BUILD, "tests/simulate"), seed, path)
            self.assertEqual(0, made.returncode, made.stderr)
            server = self.serve(path)
            self.wait_until_loaded(server)
            yield Trace(server, path)

    def test_groups_and_labels(self):
        for trace in self.traces():
            for table, column in NAMES.items():
                told = {row["label"]: row for row in trace.ask("groups", table=table)["rows"]}
                query = (f"SELECT count(*) AS count, sum(duration_ns) AS total_ns, min(duration_ns) AS min_ns, "
                         f"max(duration_ns) AS max_ns, min(rowid) AS row FROM {table} GROUP BY {column}")
                known = trace.query(query)
                self.assertEqual(len(known), len(told), table)
                for group in known:
                    label = trace.ask("row", table=table, row=group.pop("row"))["label"]
                    for answer in (told[label], trace.ask("label", table=table, label=label)):
                        self.assertEqual(group, {name: answer[name] for name in group})

    def test_fields_are_columns(self):
        for trace in self.traces():
            for table in [*NAMES, "states", "cpu_runs"]:
                for row in trace.query(f"SELECT rowid AS row, track, start_ns, duration_ns FROM {table}"):
                    answer = trace.ask("row", table=table, row=row["row"])
                    fields = {field["name"]: field for field in answer["fields"]}
                    self.assertEqual(row["start_ns"] - trace.first_ns, answer["from"])
                    self.assertEqual(answer["from"], fields["start"]["value"])
                    self.assertEqual(answer["to"], fields["end"]["value"])
                    self.assertEqual(row["duration_ns"], fields["duration"]["value"])
                    self.assertEqual({"track": row["track"]}, fields["track"]["link"])
                    at = trace.ask("at", track=row["track"], **{"from": answer["from"],
                                                               "duration": row["duration_ns"]})
                    self.assertEqual((answer["from"], answer["to"]), self.place(trace, at))

    def place(self, trace, at):
        """Where the slice is that was found: it may be another one at the same place."""
        answer = trace.ask("row", table=at["table"], row=at["row"])
        return answer["from"], answer["to"]

    def test_launches(self):
        """The same arrows, whichever end is asked for."""
        for trace in self.traces():
            for operation in trace.query("SELECT rowid AS row, call FROM device_operations WHERE call >= 0"):
                arrow = ("launched", "calls", operation["call"], "device_operations", operation["row"])
                self.assertIn(arrow, trace.arrows("device_operations", operation["row"]))
                self.assertIn(arrow, trace.arrows("calls", operation["call"]))
            for call in trace.query("SELECT rowid AS row, execution FROM calls "
                                    "WHERE execution >= 0 AND operation >= 0"):
                arrow = ("runs", "node_executions", call["execution"], "calls", call["row"])
                self.assertIn(arrow, trace.arrows("calls", call["row"]))
                self.assertIn(arrow, trace.arrows("node_executions", call["execution"]))
            for call in trace.query("SELECT rowid AS row, awaited FROM calls WHERE awaited >= 0"):
                arrow = ("waits for", "device_operations", call["awaited"], "calls", call["row"])
                self.assertIn(arrow, trace.arrows("calls", call["row"]))
                self.assertIn(arrow, trace.arrows("device_operations", call["awaited"]))

    def test_wakings(self):
        count = collections.Counter()
        for trace in self.traces():
            for state in trace.query("SELECT states.rowid AS row, waker FROM states JOIN wakeups "
                                     "ON wakeups.rowid = states.wakeup WHERE waker >= 0 AND context = 'task'"):
                woken = [arrow for arrow in trace.arrows("states", state["row"]) if arrow[0] == "woken by"]
                self.assertEqual([("states", state["row"])], [arrow[3:] for arrow in woken])
                waker = trace.ask("row", table="states", row=woken[0][2])
                self.assertEqual(state["waker"], waker["track"])
                count["seen"] += 1
                count["woke"] += ("woke", *woken[0][1:]) in trace.arrows("states", woken[0][2])
        self.assertGreater(count["seen"], 0)
        self.assertEqual(count["seen"], count["woke"])

    def test_report(self):
        for trace in self.traces():
            for options, window in [([], {}), (["--from", "50us", "--to", "300us"], {"from": 50000, "to": 300000})]:
                printed = support.run(support.MILLRACE, "report", "--whole", "--json", *options, trace.path)
                self.assertEqual(json.loads(printed.stdout), trace.ask("report", **window))

    def test_first_rows_of_a_report(self):
        for trace in self.traces():
            whole = trace.ask("report")
            short = trace.ask("report", rows=3)
            for finding, cut in zip(whole["findings"], short["findings"], strict=True):
                for table, first in zip(finding["tables"], cut["tables"], strict=True):
                    self.assertEqual(table["rows"][:3], first["rows"])
                    self.assertEqual(len(table["rows"]) - len(first["rows"]), first.get("left_out", 0))
                self.assertEqual({**finding, "tables": None}, {**cut, "tables": None})
            self.assertNotIn("ops", short)
            for device, summed in zip(whole["devices"], short["devices"], strict=True):
                self.check_causes(device["idle_causes"], summed["idle_causes"])
            if whole["critical_path"]:
                self.check_causes(whole["critical_path"]["shares"], short["critical_path"]["shares"])

    def check_causes(self, causes, summed):
        """Of each kind one, with the culprit of its largest that has any."""
        self.assertEqual(len({cause["cause"] for cause in summed}), len(summed))
        for each in summed:
            alike = [cause for cause in causes if cause["cause"] == each["cause"]]
            self.assertEqual(sum(cause["ns"] for cause in alike), each["ns"])
            self.assertEqual(next((cause["culprit"] for cause in alike if cause["culprit"]), ""), each["culprit"])
        self.assertEqual({cause["cause"] for cause in causes}, {cause["cause"] for cause in summed})

    def test_one_table_of_a_report(self):
        for trace in self.traces():
            for finding in trace.ask("report")["findings"]:
                for table in finding["tables"]:
                    name = f"{finding['id']}.{table['id']}"
                    self.assertEqual(table, trace.ask("report", table=name))
                    some = trace.ask("report", table=name, first=1, rows=2)
                    self.assertEqual(table["rows"][1:3], some["rows"])
                    self.assertEqual(len(table["rows"]) - len(some["rows"]), some.get("left_out", 0))
                    self.assertEqual([], trace.ask("report", table=name, first=len(table["rows"]) + 1)["rows"])

    def test_summary_is_the_head_of_the_report(self):
        for trace in self.traces():
            report = trace.ask("report")
            self.assertEqual(trace.ask("trace")["summary"], {key: report[key] for key in trace.ask("trace")["summary"]})
            self.assertIn("wall_ns", trace.ask("trace")["summary"])

    def test_idle_time_and_path_tile(self):
        for trace in self.traces():
            report = trace.ask("report")
            path = trace.ask("groups", table="path")["rows"]
            self.assertEqual(report["critical_path"]["span_ns"], sum(row["total_ns"] for row in path))
            idle = trace.ask("groups", table="idle")["rows"]
            self.assertEqual(sum(device["idle_ns"] for device in report["devices"]),
                             sum(row["total_ns"] for row in idle))


if __name__ == "__main__":
    harness.main()
