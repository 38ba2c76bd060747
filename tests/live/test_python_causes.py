#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it compares shares of CPU time, and measures again
"""Causes name the line of Python: of what threads that run Python did on a CPU, and the program waited for, almost all
has one. Operations have lines of their own and do not count here."""

import json
import os
import re
import sys
import unittest

import harness
from kernel import skip_unless_possible
from support import MILLRACE, LiveTest, query, run

ENOUGH = 0.98
THREAD = re.compile(r"^thread (\d+)\b")         # runs, and no more is known
OF_THREAD = re.compile(r"\(thread (\d+)\b.*\)$")  # a line, or an operation, that a thread runs
LINE = re.compile(r":\d+ \S|^\(")               # train.py:41 load, (end of the interpreter)
TORCH = "/usr/lib/python3/dist-packages/torch"

PLAIN = """
import hashlib, json, os, re, subprocess, sys, threading, time

def parse(count):
    return [json.loads(json.dumps({"a": i, "b": [i] * 10})) for i in range(count)]

def search(count):
    return sum(len(re.findall(r"[0-9]+", "a1b22c333" * 20)) for _ in range(count))

def digest(count):
    return [hashlib.sha256(b"x" * (1 << 16)).hexdigest() for _ in range(count)]

def work(rounds):
    for _ in range(rounds):
        parse(2000), search(500), digest(50), time.sleep(0.001)

work(4)
threads = [threading.Thread(target=work, args=(2,)) for _ in range(3)]
for each in threads:
    each.start()
for each in threads:
    each.join()
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
    child = os.fork()
    if child == 0:
        work(2)
        os._exit(0)
    os.waitpid(child, 0)
"""

LOADER = """
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

class Slow(Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        total = sum(i * index for i in range(10_000))
        return torch.ones(64) * float(total % 7), index % 4

torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for workers in (0, 2):
    for x, y in DataLoader(Slow(), batch_size=16, num_workers=workers):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""


class Causes(LiveTest):
    def shares(self, trace):
        """Nanoseconds of cause `cpu` on threads that run Python: with a line, without, by culprit."""
        rows = query(trace, "SELECT DISTINCT t.tid AS tid FROM samples s JOIN tracks t ON s.track = t.rowid")
        tids = {str(row["tid"]) for row in rows}
        told = run(MILLRACE, "report", "--json", "--whole", trace)
        self.assertEqual(told.returncode, 0, told.stderr)
        (finding,) = (each for each in json.loads(told.stdout)["findings"] if each["id"] == "critical_path")
        (table,) = (each for each in finding["tables"] if each["id"] == "shares")
        with_line, without = {}, {}
        for row in table["rows"]:
            bare, of = THREAD.match(row["culprit"]), OF_THREAD.search(row["culprit"])
            if row["cause"] != "cpu" or "before exec" in row["culprit"]:
                continue
            if bare and bare[1] in tids:
                without[row["culprit"]] = row["time_ns"]
            elif of and of[1] in tids and LINE.search(row["culprit"][:of.start()]):
                with_line[row["culprit"]] = row["time_ns"]
        return with_line, without

    def check(self, python, source):
        program = self.path("program.py")
        with open(program, "w") as file:
            file.write(source)
        for left in harness.attempts(4):
            result = self.record(python, program, name=f"{left}.mill", env={**os.environ, "PYTHONWARNINGS": "ignore"})
            self.assertEqual(result.returncode, 0, result.stderr)
            with_line, without = self.shares(result.trace)
            named = sum(with_line.values())
            share = named / (named + sum(without.values()))
            print(f"with a line: {share:.4f} of {named / 1e6:.0f} ms")
            if share >= ENOUGH:
                return
            self.assertTrue(left, without)

    def test_plain(self):
        """Threads, a child by fork and one by exec, imports, extensions that give the lock away."""
        self.check(sys.executable, PLAIN)

    @unittest.skipUnless(os.path.exists(TORCH), "Debian's python3-torch is not installed (tools/setup frameworks)")
    def test_loader(self):
        """Large libraries take long to load and, after the interpreter has ended, to leave."""
        self.check("/usr/bin/python3", LOADER)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
