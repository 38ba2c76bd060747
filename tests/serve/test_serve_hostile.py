#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Any requests, in any order and from any number of clients: the server answers or says what is wrong with the request,
and serves the next client as always."""

import concurrent.futures
import json
import os
import pathlib
import random
import re
import urllib.parse

import harness
from viewer import ServerTest

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
# As the program has it: an endpoint that is added is asked, too.
ENDPOINTS = re.findall(r'^\t\{"(\w+)",', (SOURCE / "src/serve/endpoints.c").read_text(), re.MULTILINE)
# What they take; others are asked with whatever there is.
WANTED = {
    "slices": ["bands", "from", "to", "pixels", "lanes"],
    "series": ["bands", "from", "to", "pixels"],
    "row": ["table", "row"],
    "at": ["track", "from", "duration"],
    "label": ["table", "label"],
    "histogram": ["table", "label", "from", "to"],
    "next": ["table", "label", "from", "backward"],
    "find": ["text", "limit"],
    "groups": ["table", "from", "to"],
    "report": ["from", "to", "table", "first", "rows"],
    "node": ["node"],
    "live": ["band", "time"],
    "graph": ["graph", "open", "collapse"],
}
PARAMETERS = sorted({name for names in WANTED.values() for name in names} | {"tracks", "backward", "nothing"})
TABLES = ["node_executions", "scopes", "calls", "states", "system_calls", "major_faults", "block_io", "interrupts",
          "device_operations", "cpu_runs", "idle", "path", "steps"]
REPORTED = ["idle.by_all", "overview.causes", "calls.by_name", "idle.", ".by_name", "."]
NUMBERS = ["0", "1", "7", "8192", "8193", "-1", "-0", "1000000", "123456789", "2147483647", "2147483648",
           "4294967295", "4294967296", "9007199254740993", "9223372036854775807", "-9223372036854775808",
           "9223372036854775808", "-99999999999999999999", "00", "1e3", "0x10", "", " 1", "NaN", "1,2", ","]
TEXTS = ["", "a", "e", "s:", "a/b", "%", "\\", "'", '"', "é", "\U0001f600", "x" * 2000, "<script>", "..", "\n", "\x7f",
         "0" * 500]
LISTS = ["0,1,2,3", "0,0,0", "3,2,1,0", "0,99999", ",".join(map(str, range(256))), ",".join(map(str, range(257))),
         "1,,2", "0,"]
COUNTED = [event for i in range(300) for event in [
    {"ph": "X", "name": f"n{i % 5}", "ts": 10 * i, "dur": i % 17, "pid": 1, "tid": i % 3},
    {"ph": "C", "name": "bytes", "ts": 7 * i, "pid": 1, "tid": 1, "args": {"used": i % 50, "free": -i}}]]


class Questions:
    """Random ones; most make sense for the trace that the server has."""

    def __init__(self, server, seed):
        self.chance = random.Random(seed)
        self.trace = json.loads(server.ask("traces/0/trace").body)
        self.labels = [row["label"] for table in TABLES
                       for row in json.loads(server.ask(f"traces/0/groups?table={table}").body).get("rows", [])]

    def sensible(self, name):
        chance, span = self.chance, self.trace["span_ns"]
        if name in ("from", "time"):
            return chance.randrange(-span // 10 - 1, span // 2 + 1)
        if name in ("to", "duration"):
            return chance.randrange(span // 2, 2 * span + 2)
        if name == "bands":
            band = chance.choice(self.trace["bands"] or [{"kind": "slices"}])
            alike = [other["band"] for other in self.trace["bands"] if other["kind"] == band["kind"]]
            return ",".join(map(str, chance.choices(alike, k=chance.randrange(1, 9)) if alike else "0"))
        if name == "lanes":
            return ",".join(map(str, chance.choices([1, 2, 6, 256], k=chance.randrange(1, 9))))
        return chance.choice({
            "first": [0, 1, 100], "rows": [0, 1, 100],
            "table": TABLES + REPORTED, "label": self.labels or [0], "tracks": LISTS, "text": TEXTS, "open": LISTS + TEXTS,
            "collapse": LISTS + TEXTS, "pixels": [1, 2, 1500, 8192], "limit": [1, 10, 100], "backward": [0, 1],
            "graph": [graph["graph"] for graph in self.trace["graphs"]] or [1],
            "band": range(len(self.trace["bands"]) or 1)}.get(name, range(20)))

    def next(self):
        chance = self.chance
        endpoint = chance.choice(ENDPOINTS)
        names = set(chance.sample(PARAMETERS, chance.choice([0, 0, 0, 1, 2, 5])))
        names |= {name for name in WANTED.get(endpoint, []) if chance.random() < 0.95}
        values = {name: self.sensible(name) if chance.random() < 0.93 else
                  chance.choice(NUMBERS + TEXTS + TABLES + LISTS) for name in sorted(names)}
        return f"traces/0/{endpoint}?{urllib.parse.urlencode(values)}"


class Hostile(ServerTest):
    def check(self, server, path):
        answer = server.ask(path)
        self.assertIn(answer.status, (200, 400, 404), f"{path}: {answer.body[:200]}")
        if answer.headers["Content-Type"] == "application/json":
            value = json.loads(answer.body)
            if answer.status != 200:
                self.assertEqual(["error"], list(value))
                self.assertNotEqual("", value["error"])
        return answer.status

    def ask_much(self, server, seed, count):
        """By eight at once; also while what is made once is being made."""
        self.wait_until_loaded(server)
        questions = Questions(server, seed)
        asked = [questions.next() for _ in range(count)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(lambda path: self.check(server, path), asked))
        self.assertGreater(statuses.count(200), count // 8)
        self.assertGreater(statuses.count(400), count // 20)

    def test_endpoints_are_known(self):
        self.assertGreater(len(ENDPOINTS), 10)

    def test_many_questions(self):
        self.ask_much(self.serve(), 1, 1500)

    def test_of_a_trace_of_one_level(self):
        self.ask_much(self.serve(self.simulate("trace.mill", "no-kernel", "no-dataflow")), 2, 500)

    def test_of_next_to_nothing(self):
        hostile = [{"ph": "X", "name": "<script>", "ts": 1, "dur": 0, "pid": 1, "tid": 1}]
        for number, content in enumerate([[], {"traceEvents": []}, hostile, COUNTED]):
            path = pathlib.Path(self.path(f"{number}.json"))
            path.write_text(json.dumps(content))
            server = self.serve(str(path))
            self.wait_until_loaded(server)
            for endpoint in ENDPOINTS:
                self.check(server, f"traces/0/{endpoint}")
            self.ask_much(server, 10 + number, 200)


if __name__ == "__main__":
    harness.main()
