#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The critical paths of real traces, against a walk by the words of doc/causes.md over what `dump` prints.

These traces have no kernel level. `dispatch` and `device unknown` are one here: what divides them, the
device's usual latency, is tested elsewhere.

The traces are not part of the project. They are looked for in MILLRACE_TRACES, or beside the source
tree in shared/traces."""

import bisect
import collections
import itertools
import json
import os
import pathlib
import unittest

import harness
from support import MILLRACE, run

TRACES = pathlib.Path(os.environ.get(
    "MILLRACE_TRACES", pathlib.Path(os.environ["SOURCE_DIR"]).parent / "shared" / "traces"))
NAMES = ("a100-nccl", "a100-train-control", "alexnet-critical-path", "cuda-event-sync", "h100-qwen",
         "mi250-minitoy", "mi300-resnet-checkpoint")
WAITING = {f"{runtime}{what}Synchronize" for runtime in ("cuda", "hip")
           for what in ("Device", "Stream", "Event")}


class Interval:
    def __init__(self, start, end, name="", correlation=0, thread=None):
        self.start, self.end, self.name = start, end, name
        self.correlation, self.thread = correlation, thread
        self.launch = self.before = None  # of an operation
        self.listed = []  # operations that it waits for by a record of its own
        self.operation = self.awaited = None  # of a call
        self.is_blocking = False


class Track:
    """Intervals of one thread, which nest."""

    def __init__(self, intervals):
        self.rows = sorted(intervals, key=lambda i: (i.start, -i.end))
        self.starts = [row.start for row in self.rows]
        self.around, stack = [], []
        for row in self.rows:
            while stack and stack[-1].end < row.end or stack and stack[-1].end <= row.start:
                stack.pop()
            self.around.append(list(stack))
            stack.append(row)

    def outermost(self, prefix, thread):
        """Rows of that name that are in no other of it."""
        found = [row for row, around in zip(self.rows, self.around) if row.name.startswith(prefix) and
                 not any(other.name.startswith(prefix) for other in around)]
        for row in found:
            row.thread = thread
        return found

    def containing(self, ns):
        """From the innermost to the outermost."""
        place = bisect.bisect_right(self.starts, ns) - 1
        if place < 0:
            return []
        return [row for row in [self.rows[place], *reversed(self.around[place])] if row.end > ns]

    def change_before(self, ns):
        """The last time before at which an interval began or ended."""
        place = bisect.bisect_left(self.starts, ns) - 1
        if place < 0:
            return None
        nearby = [self.rows[place], *self.around[place]]
        return max(edge for row in nearby for edge in (row.start, row.end) if edge < ns)


class Trace:
    def __init__(self, path):
        self.operations, calls, others = [], collections.defaultdict(list), collections.defaultdict(list)
        queues, listed = collections.defaultdict(list), []
        for line in run(MILLRACE, "dump", "--json", str(path)).stdout.splitlines():
            event = json.loads(line)
            fields, thread = event["fields"], (event["process"], event["tid"])
            if event["event"] == "runtime_call":
                calls[thread].append(Interval(event["ns"] - fields["duration_ticks"], event["ns"],
                                              event["names"]["function"], fields["correlation"], thread))
            elif event["event"] == "device_operation":
                operation = Interval(fields["start"], fields["end"], event["names"]["name"],
                                     fields["correlation"], thread)
                operation.kind = fields["kind"]
                self.operations.append(operation)
                queues[event["process"], fields["queue"]].append(operation)
            elif event["event"] == "runtime_wait":
                listed.append((event["process"], fields["correlation"], fields["awaited"]))
            elif event["event"] in ("node_interval", "step_interval"):
                others[thread].append(Interval(event["ns"] - fields["duration_ticks"], event["ns"],
                                               event["names"].get("node", "")))
            elif event["event"] == "node_interval_at":
                others[thread].append(Interval(fields["start"], fields["end"]))
        self.find_waits(calls, others)
        self.join([call for rows in calls.values() for call in rows], queues, listed)
        self.nodes = collections.defaultdict(lambda: Track([]))
        self.nodes.update((thread, Track([row for row in rows if row.name]))
                          for thread, rows in others.items())
        self.tracks = {thread: Track(rows) for thread, rows in calls.items()}
        self.last = {thread: max(row.end for row in calls[thread] + others[thread])
                     for thread in {*calls, *others}
                     if others[thread] or any(self.waits(call) or call.operation for call in calls[thread])}
        work = sorted((o.start, o.end) for o in self.operations if o.end > o.start)
        self.starts = [start for start, _ in work]
        self.until = list(itertools.accumulate((end for _, end in work), max))
        self.edges = sorted(edge for interval in work for edge in interval)

    def find_waits(self, calls, others):
        """Gaps of the thread that executes most, in which autograd's threads execute functions."""
        self.thread_waits, self.clients = collections.defaultdict(list), {}
        for process in {thread[0] for thread in others}:
            work = [row for thread, rows in others.items() if thread[0] == process
                    for row in Track(rows).outermost("autograd::engine::evaluate_function", thread)]
            busy = {row.thread for row in work}
            idle = [thread for thread in others if thread[0] == process and thread not in busy and
                    any(row.name for row in others[thread])]
            if not work or not idle:
                continue
            client = max(idle, key=lambda thread: sum(bool(row.name) for row in others[thread]))
            edges = sorted({edge for row in calls[client] + [o for o in others[client] if o.name]
                            for edge in (row.start, row.end)})
            in_calls = Track(calls[client])
            for begin, end in zip(edges, edges[1:]):
                inside = [row for row in work if row.start < end and row.end > begin]
                if not inside or in_calls.containing(begin) or \
                        any(row.start < begin or row.end > end for row in inside):
                    continue
                last = max(inside, key=lambda row: row.end)
                self.thread_waits[client].append(
                    (min(row.start for row in inside), last.end, last.thread))
            for _, _, worker in self.thread_waits[client]:
                self.clients[worker] = client

    def wait_at(self, thread, ns):
        return next((wait for wait in self.thread_waits[thread] if wait[0] <= ns < wait[1]), None)

    @staticmethod
    def waits(call):
        return call.name in WAITING and not call.operation

    def join(self, calls, queues, listed):
        by_correlation = {(call.thread[0], call.correlation): call for call in calls if call.correlation}
        operations = {(o.thread[0], o.correlation): o for o in self.operations if o.correlation}
        for process, correlation, awaited in listed:
            waiting = operations.get((process, correlation)) or by_correlation.get((process, correlation))
            if waiting and (process, awaited) in operations:
                waiting.listed.append(operations[process, awaited])
        for operation in self.operations:
            operation.launch = by_correlation.get((operation.thread[0], operation.correlation))
            if operation.launch:
                operation.launch.operation = operation
                is_plain = operation.launch.name in ("cudaMemcpy", "hipMemcpy", "hipMemcpyWithStream")
                is_async = operation.launch.name == "cudaMemcpyAsync"
                launch = operation.launch
                if operation.kind == "copy_from_device" and (
                        is_plain or is_async and "-> Pageable" in operation.name) or \
                        operation.kind == "copy_to_device" and launch.start <= operation.start and \
                        operation.end <= launch.end and (
                            is_plain or is_async and "(Pageable ->" in operation.name):
                    operation.launch.is_blocking = True
                    operation.launch.awaited = operation
        for rows in queues.values():
            rows.sort(key=lambda o: (o.start, -o.end))
            for before, operation in zip(rows, rows[1:]):
                operation.before = before
        for call in filter(self.waits, calls):
            awaited = [o for o in call.listed or self.operations if call.start < o.end <= call.end and
                       (not o.launch or o.launch.start < call.start) and
                       o.thread[0] == call.thread[0]]
            call.awaited = max(awaited, key=lambda o: (o.end, -o.correlation), default=None)


class Walk:
    def __init__(self, trace, first, last):
        self.trace, self.first, self.ns = trace, first, last
        self.sums = collections.Counter()
        threads = [(end, 1, thread) for thread, end in trace.last.items()]
        operations = [(o.end, 0, o) for o in trace.operations]
        end, is_thread, self.place = max(threads + operations, key=lambda item: item[:2])
        self.emit(end, "untraced")
        self.ordinary = None
        while self.ns > self.first:
            (self.on_thread if isinstance(self.place, tuple) else self.on_operation)()

    def emit(self, start, cause):
        start = max(start, self.first)
        if start < self.ns:
            self.sums[cause] += self.ns - start
            self.ns = start

    def go(self, place, ns):
        self.place, self.ns, self.ordinary = place, min(self.ns, ns), None

    def on_operation(self):
        operation = self.place
        self.emit(operation.start, "device")
        launch = operation.launch
        before = max([operation.before, *operation.listed] if operation.before else operation.listed,
                     key=lambda o: min(o.end, self.ns), default=None)
        if not before and not launch:
            return self.emit(self.first, "unlaunched")
        is_before = before and (not launch or min(before.end, self.ns) >= min(
            launch.start if launch.is_blocking else launch.end, self.ns))
        ns = min(self.ns, before.end if is_before else launch.end)
        while self.ns > max(ns, self.first):
            started = bisect.bisect_left(self.trace.starts, self.ns)
            edge = bisect.bisect_left(self.trace.edges, self.ns) - 1
            is_busy = started > 0 and self.trace.until[started - 1] >= self.ns
            self.emit(max(ns, self.trace.edges[edge]) if edge >= 0 else ns,
                      "device busy" if is_busy else "slack")
        self.go(before if is_before else launch.thread, ns)
        if not is_before:
            self.ordinary = True

    def on_thread(self):
        track, ns = self.trace.tracks.get(self.place), self.ns - 1
        calls = track.containing(ns) if track else []
        if not calls:
            wait = self.trace.wait_at(self.place, ns)
            if wait:
                return self.go(wait[2], self.ns)
            client = self.trace.clients.get(self.place)
            if client and not self.trace.wait_at(client, ns) and \
                    not self.trace.nodes[self.place].containing(ns):
                return self.go(client, self.ns)
        waiting = [call for call in calls if self.trace.waits(call) or
                   call.is_blocking and call.awaited.start <= ns]
        start = (track.change_before(self.ns) if track else None) or self.first
        if waiting:
            outermost = waiting[-1]
            awaited = outermost.awaited
            if awaited and awaited.end > ns:
                if self.ordinary is True:
                    self.ordinary = outermost
                if self.ordinary is not outermost:
                    return self.go(awaited, self.ns)
            else:
                start = max(start, awaited.end if awaited else start)
                self.ordinary = None
                return self.emit(start, "sync")
        elif self.ordinary is True:
            self.ordinary = None
        for call in calls:
            if call.is_blocking and call.awaited.start < self.ns:
                start = max(start, call.awaited.start)
        if not calls:
            ended = [wait[1] for wait in self.trace.thread_waits[self.place] if wait[1] <= ns]
            since = [wait[0] for wait in self.trace.thread_waits[self.trace.clients.get(self.place)]
                     if wait[0] <= ns < wait[1]]
            return self.emit(max([start, *ended, *since]), "untraced")
        return self.emit(start, "launch" if any(call.operation for call in calls) else "call")


class CriticalPaths(unittest.TestCase):
    def report(self, name):
        result = run(MILLRACE, "report", "--whole", "--json", str(TRACES / f"{name}.json.gz"))
        return json.loads(result.stdout)

    def shares(self, report):
        finding = next(f for f in report["findings"] if f["id"] == "critical_path")
        tables = {table["id"]: table["rows"] for table in finding["tables"]}
        span = report["window"]["last_ns"] - report["window"]["first_ns"]
        for rows in tables.values():
            self.assertEqual(sum(row["time_ns"] for row in rows), span)
        self.assertEqual(report["critical_path"]["span_ns"], span)
        self.assertEqual(sum(share["ns"] for share in report["critical_path"]["shares"]), span)
        sums = collections.Counter()
        for row in tables["shares"]:
            is_slack = row["cause"] in ("dispatch", "device unknown")
            sums["slack" if is_slack else row["cause"]] += row["time_ns"]
        return sums

    def test_all(self):
        for name in NAMES:
            with self.subTest(trace=name):
                report = self.report(name)
                walk = Walk(Trace(TRACES / f"{name}.json.gz"), report["window"]["first_ns"],
                            report["window"]["last_ns"])
                self.assertEqual(dict(self.shares(report)), dict(walk.sums))

    def test_busy_device_is_not_blamed_on_the_host(self):
        sums = self.shares(self.report("mi300-resnet-checkpoint"))  # its device is 3 % idle
        host = sum(sums[cause] for cause in ("untraced", "call", "launch", "sync"))
        self.assertLess(host, sum(sums.values()) // 100)


if __name__ == "__main__":
    if not TRACES.is_dir():
        harness.skip(f"the real traces are not in {TRACES}")
    harness.main()
