#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What operations are for, and which framework a process uses, are columns: analyses know no names of frameworks."""

import json

import harness
from support import LiveTest, query

EVENTS = [("aten::mm", "OTHER"), ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "INPUT"),
          ("record_param_comms", "COMMUNICATE"), ("my_enumerate(DataLoader)", "OTHER")]


class Purposes(LiveTest):
    def test_names(self):
        path = self.path("trace.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [
                {"ph": "X", "cat": "cpu_op", "name": name, "ts": 10 * i, "dur": 5, "pid": pid, "tid": pid}
                for pid, names in ((7, [name for name, _ in EVENTS]), (8, ["something"])) for i, name in enumerate(names)]}, file)
        found = query(path, "select distinct name, purpose from nodes where name <> ''")
        self.assertEqual({row["name"]: row["purpose"] for row in found}, dict([*EVENTS, ("something", "OTHER")]))
        found = query(path, "select pid, framework from processes where pid in (7, 8)")
        self.assertEqual({row["pid"]: row["framework"] for row in found}, {7: "torch", 8: None})


if __name__ == "__main__":
    harness.main()
