#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Imports other tools' traces: real ones of PyTorch on GPUs, against a second reading of them here that
uses the standard library and exact decimals; made ones with one of each kind of event; and bad ones.

The real ones are not part of the project. They are looked for in MILLRACE_TRACES, or beside the source
tree in shared/traces."""

import collections
import contextlib
import decimal
import gzip
import json
import os
import pathlib
import resource
import tempfile
import unittest

import harness
from support import MILLRACE, run

TRACES = pathlib.Path(os.environ.get(
    "MILLRACE_TRACES", pathlib.Path(os.environ["SOURCE_DIR"]).parent / "shared" / "traces"))
REAL = ["a100-nccl", "a100-train-control", "alexnet-critical-path", "cuda-event-sync", "h100-qwen",
        "mi250-minitoy", "mi300-resnet-checkpoint"]
OPERATIONS = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime"}
TWICE = {"gpu_user_annotation", "cuda_sync"}
DIRECTIONS = {"HtoD": "copy_to_device", "DtoH": "copy_from_device", "DtoD": "copy_on_device"}


# ---- a second reading ----------------------------------------------------------------------------


def nanoseconds(microseconds):
    value = decimal.Decimal(microseconds) * 1000
    assert value == value.to_integral_value(), value
    return int(value)


class Interval:
    def __init__(self, event):
        self.name, self.category = event["name"], event.get("cat")
        self.start = nanoseconds(event["ts"])
        self.end = self.start + nanoseconds(event["dur"])
        self.pid, self.args = event["pid"], event.get("args", {})

    @property
    def length(self):
        return self.end - self.start

    @property
    def kind(self):
        if self.category == "kernel":
            return "kernel"
        if self.category == "gpu_memset":
            return "fill"
        return next((kind for text, kind in DIRECTIONS.items() if text in self.name), "other")


def covered(intervals):
    """Nanoseconds in at least one interval: a count of what is open goes up and down."""
    edges = sorted([(i.start, 1) for i in intervals] + [(i.end, -1) for i in intervals])
    total = depth = last = 0
    for time, change in edges:
        if depth > 0:
            total += time - last
        depth, last = depth + change, time
    return total


def grouped(intervals, key):
    """Count and total time of each group."""
    groups = collections.defaultdict(list)
    for interval in intervals:
        groups[key(interval)].append(interval.length)
    return {name: (len(lengths), sum(lengths)) for name, lengths in groups.items()}


class Reading:
    def __init__(self, path):
        with gzip.open(path) as file:
            document = json.load(file, parse_float=decimal.Decimal)
        every = [Interval(event) for event in document["traceEvents"] if event["ph"] == "X"]
        self.operations = [i for i in every if i.category in OPERATIONS]
        self.calls = [i for i in every if i.category in CALLS]
        other = [i for i in every if i.category not in OPERATIONS | CALLS | TWICE
                 and i.pid not in ("Spans", "Traces")]
        self.steps = [i for i in other if i.category == "user_annotation"
                      and i.name.startswith("ProfilerStep#")]
        self.executions = [i for i in other if i not in set(self.steps)]

    def devices(self):
        by_device = collections.defaultdict(list)
        for operation in self.operations:
            by_device[operation.args["device"]].append(operation)
        for number, operations in by_device.items():
            span = max(o.end for o in operations) - min(o.start for o in operations)
            busy = covered(operations)
            yield number, {
                "operations": len(operations),
                "queues": len({o.args["stream"] for o in operations}),
                "span_ns": span,
                "busy_ns": busy,
                "idle_ns": span - busy,
                "compute_ns": covered([o for o in operations if o.category == "kernel"]),
                "transfer_ns": covered([o for o in operations if o.category != "kernel"]),
            }

    def uncorrelated(self):
        known = {call.args.get("correlation") for call in self.calls}
        return sum(operation.args.get("correlation") not in known for operation in self.operations)


# ---- what millrace says --------------------------------------------------------------------------


class Report:
    def __init__(self, path):
        result = run(MILLRACE, "report", "--whole", "--json", str(path))
        if result.returncode not in (0, 3):
            raise AssertionError(result.stderr)
        self.status = result.returncode
        self.all = json.loads(result.stdout)
        self.findings = {finding["id"]: finding for finding in self.all["findings"]}

    def rows(self, finding, table):
        tables = {table["id"]: table for table in self.findings.get(finding, {"tables": []})["tables"]}
        return tables[table]["rows"] if table in tables else []

    def groups(self, finding, table, key, total):
        return {key(row): (row["count"], row[total]) for row in self.rows(finding, table)}

    def health(self):
        return " ".join(sentence["text"] for sentence in self.findings["health"]["sentences"])

    def damage(self):
        return [(row["reason"], row["offset"]) for row in self.rows("health", "damage")]


@contextlib.contextmanager
def written(content, name="trace.json"):
    """A file of a text, bytes, or what becomes JSON."""
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content)
    if isinstance(content, str):
        content = content.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.write_bytes(content)
        yield path


def events(*every, **more):
    return {**more, "traceEvents": list(every)}


def complete(name, start, duration, category="cpu_op", pid=7, tid=7, **args):
    return {"ph": "X", "cat": category, "name": name, "ts": start, "dur": duration, "pid": pid, "tid": tid,
            "args": args}


def kernel(name, start, duration, correlation, device=0, stream=7, **more):
    return complete(name, start, duration, "kernel", device, stream, device=device, stream=stream,
                    correlation=correlation, **more)


def dump(path):
    result = run(MILLRACE, "dump", "--json", str(path))
    return [json.loads(line) for line in result.stdout.splitlines()]


# ---- real traces ---------------------------------------------------------------------------------


@unittest.skipUnless(TRACES.is_dir(), f"the real traces are not in {TRACES}")
class RealTraces(unittest.TestCase):
    def compare(self, name):
        path = TRACES / f"{name}.json.gz"
        reading, report = Reading(path), Report(path)
        with self.subTest(what="devices"):
            said = {int(row["device"].split()[1]): row for row in report.rows("devices", "devices")}
            for number, truth in reading.devices():
                row = said.pop(number)
                self.assertEqual({key: row[key] for key in truth}, truth)
                self.assertIsNone(row["bound_ns"])  # the file does not say how exact it is
            self.assertEqual(said, {})
        with self.subTest(what="operations"):
            self.assertEqual(
                report.groups("device_operations", "by_name", lambda row: (row["name"], row["kind"]),
                              "total_ns"),
                grouped(reading.operations, lambda i: (i.name, i.kind)))
        with self.subTest(what="calls"):
            self.assertEqual(report.groups("calls", "by_name", lambda row: row["function"], "total_ns"),
                             grouped(reading.calls, lambda i: i.name))
        with self.subTest(what="executions"):
            self.assertEqual(report.groups("operations", "by_node",
                                           lambda row: (row["node"], row["graph"]), "total_ns"),
                             grouped(reading.executions, lambda i: (i.name, i.category)))
        with self.subTest(what="steps"):
            rows = [row for row in report.rows("steps", "steps") if row["source"] == "marked"]
            self.assertEqual((len(rows), sum(row["duration_ns"] for row in rows)),
                             (len(reading.steps), sum(step.length for step in reading.steps)))
        with self.subTest(what="uncorrelated operations"):
            count = reading.uncorrelated()
            self.assertEqual(f"{count} device operations cannot be tied" in report.health(), count > 0)
        self.assertEqual(report.damage(), [])

    def test_all(self):
        for name in REAL:
            with self.subTest(trace=name):
                self.compare(name)

    def test_plain_file_gives_the_same(self):
        path = TRACES / "mi250-minitoy.json.gz"
        with written(gzip.decompress(path.read_bytes())) as plain:
            self.assertEqual(Report(plain).all["findings"], Report(path).all["findings"])

    def test_cut_off_file_is_told(self):
        whole = (TRACES / "mi250-minitoy.json.gz").read_bytes()
        for cut, reason in ((whole[:-600], "the compressed file ends too early"),
                            (gzip.decompress(whole)[:-20000], "the file ends too early")):
            with self.subTest(reason=reason), written(cut) as path:
                report = Report(path)
                self.assertIn("GPU 2", report.rows("devices", "devices")[0]["device"])
                self.assertEqual([why for why, _ in report.damage()], [reason])


# ---- made traces ---------------------------------------------------------------------------------


class MadeTraces(unittest.TestCase):
    def executions(self, document):
        with written(document) as path:
            report = Report(path)
        return report.groups("operations", "by_node", lambda row: row["node"], "total_ns"), report

    def test_bare_array_without_end(self):
        text = json.dumps([complete("a", 1, 2)])[:-1]
        for ending in ("]", "", ",", ",\n", ", ]"):
            with self.subTest(ending=ending):
                self.assertEqual(self.executions(text + ending)[0], {"a": (1, 2000)})

    def test_times_are_exact(self):
        for text, truth in (("0.001", 1), ("1661203462598738.123", 1661203462598738123),
                            ("1.661203462598738123e15", 1661203462598738123), ("12E-1", 1200),
                            ("0.0004", 0), ("0.0005", 1), ("2305843009213693.951", 2**61 - 1),
                            ('"2.5"', 2500)):
            with self.subTest(text=text):
                document = '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":%s}]' % text
                self.assertEqual(self.executions(document)[0], {"a": (1, truth)})

    def test_begin_and_end(self):
        document = [
            {"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 10},
            {"ph": "B", "name": "inner", "pid": 1, "tid": 1, "ts": 12},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 15},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 30},
            {"ph": "E", "pid": 1, "tid": 1, "ts": 40},
            {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 41},
            {"ph": "X", "name": "last", "pid": 1, "tid": 2, "ts": 50, "dur": 1},
        ]
        found, report = self.executions(document)
        self.assertEqual(found, {"outer": (1, 20000), "inner": (1, 3000), "open": (1, 10000),
                                 "last": (1, 1000)})
        self.assertEqual([why for why, _ in report.damage()],
                         ["the end of an interval that did not begin"])
        self.assertIn("1 interval was open", report.health())

    def test_asynchronous_intervals_do_not_overlap_others(self):
        document = [{"ph": phase, "cat": "io", "name": "read", "id": number, "pid": 1, "tid": 1, "ts": time}
                    for phase, number, time in (("b", "0x1", 0), ("b", 2, 5), ("e", "0x1", 10), ("e", 2, 20),
                                                ("S", 3, 0), ("F", 3, 1))]
        found, report = self.executions(document)
        self.assertEqual(found, {"read": (3, 26000)})
        self.assertNotIn("overlap", report.health())

    def test_every_other_phase(self):
        document = events(
            {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 1, "s": "t"},
            {"ph": "C", "name": "load", "pid": 1, "ts": 2, "args": {"value": 3, "gpu": -4}},
            {"ph": "s", "cat": "fwdbwd", "name": "flow", "id": 9, "pid": 1, "tid": 1, "ts": 3},
            {"ph": "f", "cat": "fwdbwd", "name": "flow", "id": 9, "pid": 1, "tid": 2, "ts": 4, "bp": "e"},
            {"ph": "s", "cat": "ac2g", "name": "ac2g", "id": 9, "pid": 1, "tid": 1, "ts": 3},
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5,
             "args": {"Bytes": 512, "Addr": 4096, "Device Id": 0, "Device Type": 1}},
            {"ph": "i", "name": "[memory]", "pid": 1, "tid": 1, "ts": 6,
             "args": {"Bytes": -512, "Addr": 4096, "Device Id": 0, "Device Type": 1}},
            {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "loader \u00e9\ud83d\ude00\n"}},
            {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "worker"}},
            {"ph": "M", "name": "process_name", "pid": 99, "args": {"name": "nobody"}},
            baseTimeNanoseconds=1700000000000000001)
        with written(document) as path:
            found = dump(path)
            processes = json.loads(run(MILLRACE, "info", "--json", str(path)).stdout)["processes"]
        said = [(event["event"], event["names"], event["fields"]) for event in found
                if event["event"] in ("node_instant", "counter", "message_send", "message_receive",
                                      "memory_allocate", "memory_free")]
        self.assertEqual([name for name, _, _ in said],
                         ["node_instant", "counter", "counter", "message_send", "message_receive",
                          "memory_allocate", "memory_free"])
        self.assertEqual([(names["name"], fields["value"]) for name, names, fields in said
                          if name == "counter"], [("load", 3), ("load gpu", -4)])
        self.assertEqual([fields["key"] for name, _, fields in said if name.startswith("message")], [9, 9])
        self.assertEqual([fields["bytes"] for name, _, fields in said if name.startswith("memory")],
                         [512, 512])
        self.assertEqual([event["fields"]["program"] for event in found
                          if event["event"] == "process_start"], ["loader \u00e9\U0001f600\n"])
        self.assertEqual([event["fields"]["name"] for event in found
                          if event["event"] == "thread_start" and event["tid"] == 2], ["worker"])
        self.assertEqual(found[-1]["realtime_ns"], 1700000000000000001 + 6000)
        self.assertEqual(processes, 1)

    def test_operations_of_several_processes(self):
        """Correlation 5 is of one process, 6 of both: it cannot be known whose the operation is."""
        calls = [complete("cudaLaunchKernel", 10 * i, 1, "cuda_runtime", pid, correlation=correlation)
                 for i, (pid, correlation) in enumerate(((100, 5), (100, 6), (200, 6), (200, 8)))]
        with written(events(*calls, kernel("k", 100, 5, 5), kernel("l", 110, 5, 6), kernel("m", 120, 5, 8),
                            kernel("n", 130, 5, 99))) as path:
            report = Report(path)
            found = [(event["pid"], event["names"]["name"]) for event in dump(path)
                     if event["event"] == "device_operation"]
        self.assertEqual(found, [(100, "k"), (0, "l"), (200, "m"), (0, "n")])
        self.assertIn("2 device operations cannot be tied", report.health())

    def test_overlap_on_one_stream(self):
        with written(events(kernel("a", 10, 10, 1), kernel("b", 15, 10, 2), kernel("c", 16, 2, 0),
                            kernel("d", 40, 0, 3))) as path:
            row = Report(path).rows("devices", "devices")[0]
        self.assertEqual((row["span_ns"], row["busy_ns"], row["idle_ns"], row["operations"]),
                         (30000, 15000, 15000, 4))

    def test_threads_and_processes_with_odd_names(self):
        odd = [1, -1, "1", "x", 2**40, 1.5, None]
        document = [{"ph": "X", "name": f"n{i}", "pid": pid, "tid": tid, "ts": 1, "dur": 1}
                    for i, (pid, tid) in enumerate((pid, tid) for pid in odd for tid in odd)]
        document.append({"ph": "X", "name": "nowhere", "ts": 1, "dur": 1})
        found, report = self.executions(document)
        self.assertEqual(len(found), len(document))
        self.assertNotIn("overlap", report.health())

    def test_last_of_two_members_counts(self):
        self.assertEqual(self.executions('[{"ph":"i","ph":"X","name":"a","name":"b","pid":1,"tid":1,'
                                         '"ts":7,"ts":1,"dur":1,"dur":2}]')[0], {"b": (1, 2000)})

    def test_many_threads(self):
        count = 100000
        document = [{"ph": "X", "name": "n", "pid": 1, "tid": i, "ts": 1, "dur": 1} for i in range(count)]
        found, report = self.executions(document)
        self.assertEqual(found, {"n": (count, 1000 * count)})
        self.assertEqual(report.all["threads"], count)


# ---- bad input -----------------------------------------------------------------------------------


class BadInput(unittest.TestCase):
    def test_not_a_trace(self):
        unknown = "not a trace: it is neither a recording of millrace nor Chrome trace JSON (Kineto, chrome://tracing), " \
                  "SQLite of Nsight Systems, Perfetto protobuf, SQLite of rocprofv3 (rocpd) or XPlane protobuf (TensorFlow, JAX)"
        for content, why in ((b"", "not a trace: the file is empty"), (b"hello", unknown), (b"17", unknown),
                             (b"\x7fELF\0\0", "this is a program or library, which millrace does not read: "
                                               "record it with 'millrace record -- PROGRAM'"),
                             (gzip.compress(b"\x89PNG\r\n\x1a\n"), "this is a PNG image, which millrace does not "
                                                                   "read: give the trace that it was made from"),
                             (b"{}", "not a trace: it has no list of traceEvents"),
                             (b'{"a": 1}', "not a trace: it has no list of traceEvents"),
                             (b'{"traceEvents": 7}', "not a trace: it is not JSON"),
                             (b'{"a": ', "not a trace: it ends too early"),
                             (b'{"a": "x', "not a trace: it ends too early"),
                             (b'{"a" 1}', "not a trace: it is not JSON"),
                             (b"\x1f\x8b\x08\x00garbage", "not a trace: the compressed file ends too early")):
            with self.subTest(content=content), written(content) as path:
                for command in ("info", "report", "dump"):
                    result = run(MILLRACE, command, str(path))
                    self.assertEqual(result.returncode, 1)
                    self.assertEqual(result.stderr, f"millrace: {path}: {why}\n")

    def test_not_a_file(self):
        self.assertIn("No such file", run(MILLRACE, "report", "--whole", "/nonexistent.json").stderr)
        self.assertIn("not a regular file", run(MILLRACE, "report", "--whole", "/dev/null").stderr)

    def damage(self, *bad, count=1):
        """Reasons given for bad events that stand between two good ones."""
        good = [complete(f"good {i}", i, 1) for i in range(2)]
        with written(events(good[0], *bad, good[1])) as path:
            report = Report(path)
        self.assertEqual(sum(row["count"] for row in report.rows("operations", "by_node")), 2)
        self.assertEqual(report.findings["health"]["severity"], "warning")
        return [why for why, _ in report.damage()]

    def test_events_that_cannot_be(self):
        base = {"ph": "X", "name": "bad", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
        without_time = {key: value for key, value in base.items() if key != "ts"}
        without_duration = {key: value for key, value in base.items() if key != "dur"}
        time = "an event without a valid time"
        duration = "an invalid duration"
        for bad, why in (({**base, "ts": -1}, time), (without_time, time), ({**base, "ts": "soon"}, time),
                         ({**base, "ts": 2**63}, time), ({**base, "ts": 2305843009213694}, time),
                         ({**base, "ts": 1e300}, time),
                         ({**base, "ts": None}, time), ({**base, "dur": -1}, duration),
                         ({**base, "dur": 2**63}, duration), ({**base, "dur": 9223372036854775}, duration),
                         ({**base, "dur": [1]}, duration),
                         (without_duration, "an interval without a duration"),
                         ({**base, "ph": "XX"}, "an event of a phase that is not imported"),
                         (17, "not an event: not a JSON object"),
                         ([[]], "not an event: not a JSON object"),
                         ({**base, "cat": "kernel", "pid": "x"},
                          "a device operation without a device number"),
                         ({**base, "cat": "cuda_runtime", "dur": 10**13},
                          "a runtime call that lasts for days"),
                         ({**base, "ph": "C"}, "a counter without values"),
                         ({**base, "ph": "C", "args": {"a": "x"}},
                          "a counter value that is not a number or is too large"),
                         ({**base, "ph": "C", "args": {"a": 1.5}},
                          "a counter value that is not an integer and was rounded")):
            with self.subTest(bad=bad):
                self.assertEqual(self.damage(bad), [why])
        self.assertEqual(self.damage({**base, "ts": -1}, {**base, "ts": -2}), [time + " (2 times)"])

    def test_json_that_stops_being_json(self):
        text = json.dumps(events(complete("a", 1, 1), complete("b", 3, 1)))
        place = text.index('"name": "b"')
        with written(text[:place] + "\0" + text[place:]) as path:
            report = Report(path)
        self.assertEqual([why for why, _ in report.damage()], ["not JSON from here on"])
        self.assertEqual([row["node"] for row in report.rows("operations", "by_node")], ["a"])

    def test_deep_nesting_and_large_values(self):
        deep = "[" * 1000000 + "]" * 1000000
        with written('{"deep": %s, "traceEvents": [{"ph": "X", "name": "%s", "args": %s, "ts": 1, "dur": 1}]}'
                     % (deep, "n" * 3000000, deep)) as path:
            names = [row["node"] for row in Report(path).rows("operations", "by_node")]
        self.assertEqual(len(names), 1)
        self.assertEqual(set(names[0]), {"n"})

    def test_small_file_that_becomes_large(self):
        """Half a gigabyte of blanks, and as much of one string: little memory, and a clear answer."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

        size = 512 << 20
        for begin, fill, answer in (("[", b" ", "decompress it first"),
                                    ('[{"name": "', b"x", "a value is too large")):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "bomb.json.gz"
                with gzip.open(path, "wb", compresslevel=1) as file:
                    file.write(begin.encode())
                    for _ in range(size >> 20):
                        file.write(fill * (1 << 20))
                command = [MILLRACE, "info", str(path)]
                result = run(*command, preexec_fn=None if os.environ["SANITIZED"] else limit)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(answer, result.stdout)


if __name__ == "__main__":
    harness.main()
