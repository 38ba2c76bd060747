#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Impossible traces of other tools: times and numbers beyond all bounds, times that go backwards, a million
threads. The trace's health counts what cannot be kept; the rest sums exactly, and nothing crashes."""

import json
import os
import unittest

import harness
from support import MILLRACE, run
from test_import import complete, events, kernel, written

# As they stand in the file: JSON has no bounds.
NUMBERS = ["9223372036854775808", "9223372036854775807", "-9223372036854775808", "9.3e18", "1e308", "-1e308",
           "9223372036854775.807", "2305843009213693.952", "-0.001", "0.0005", "-1", "1e-308"]
LAST_US = (2**61 - 1) // 1000 - 1  # the latest time there can be
THREADS = 50_000 if os.environ.get("SANITIZED") else 1_000_000

PLACES = {
    "duration": '{"ph":"X","cat":"cpu_op","name":"x","ts":5,"dur":%s,"pid":7,"tid":7}',
    "time": '{"ph":"X","cat":"cpu_op","name":"x","ts":%s,"dur":5,"pid":7,"tid":7}',
    "duration of a kernel": '{"ph":"X","cat":"kernel","name":"x","ts":5,"dur":%s,"pid":0,"tid":7,'
                            '"args":{"device":0,"stream":7,"correlation":1}}',
    "duration of a call": '{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","ts":5,"dur":%s,'
                          '"pid":7,"tid":7,"args":{"correlation":3}}',
    "correlation": '{"ph":"X","cat":"cuda_runtime","name":"x","ts":5,"dur":1,"pid":7,"tid":7,'
                   '"args":{"correlation":%s}}',
    "step": '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%s","ts":5,"dur":1,"pid":7,"tid":7}',
    "begin": '{"ph":"B","name":"x","ts":%s,"pid":7,"tid":7},{"ph":"E","name":"x","ts":9,"pid":7,"tid":7}',
    "counter": '{"ph":"C","name":"x","ts":4,"pid":7,"tid":7,"args":{"value":%s}}',
    "memory": '{"ph":"i","name":"[memory]","cat":"cpu_instant_event","ts":4,"pid":7,"tid":7,'
              '"args":{"Bytes":%s,"Addr":5,"Device Type":1,"Device Id":0}}',
}


def launch(start, correlation, duration=1):
    return complete("cudaLaunchKernel", start, duration, "cuda_runtime", correlation=correlation)


class Impossible(unittest.TestCase):
    def report(self, path, *options, timeout=60):
        result = run(MILLRACE, "report", "--whole", "--json", *options, str(path), timeout=timeout)
        said = json.loads(result.stdout)
        is_damaged = any(table["id"] == "damage" and table["rows"] for finding in said["findings"]
                         for table in finding["tables"])
        self.assertEqual((result.returncode, "damaged" in result.stderr), (3, True) if is_damaged else (0, False))
        return said

    def health(self, said):
        return " ".join(sentence["text"] for sentence in said["health"]["sentences"])

    def check_sums(self, said):
        for finding in said["findings"]:
            for table in finding["tables"]:
                for column in table["columns"]:
                    if "whole" in column:
                        self.assertEqual(sum(row[column["key"]] for row in table["rows"]), column["whole"],
                                         (finding["id"], table["id"], column["key"]))

    def test_numbers(self):
        """Kept or refused, the others are as they are without it."""
        for what, place in PLACES.items():
            every = [place % number for number in NUMBERS]
            sound = [json.dumps(event) for event in (complete("sound", 1, 2), launch(1, 1), kernel("k", 9, 3, 2))]
            for event in every:
                with self.subTest(what=what, event=event), \
                        written('{"traceEvents":[%s]}' % ",".join(sound + [event])) as path:
                    said = self.report(path)
                    self.check_sums(said)
                    self.assertEqual([row["total_ns"] for row in said["ops"] if row["node"] == "sound"], [2000])
                    lost = [row for finding in said["findings"] if finding["id"] == "health"
                            for table in finding["tables"] for row in table["rows"]]
                    kept = sum(row["count"] for name in ("ops", "calls", "kernels") for row in said[name])
                    if what in ("duration", "time", "duration of a kernel", "duration of a call"):
                        self.assertEqual(kept + len(lost), 4, self.health(said))

    def test_far_ends(self):
        first = 2_000_000  # what begins within a second of 0 has no time, if all others are far from it
        every = [complete("a", first, 1), complete("b", LAST_US, 0.5), kernel("k", first + 1, 1, 1),
                 kernel("l", LAST_US, 0.5, 2), launch(first, 2, LAST_US - first)]
        with written(events(*every)) as path:
            said = self.report(path)
            self.check_sums(said)
            self.assertEqual(said["devices"][0]["busy_ns"], 1500)
            self.check_sums(self.report(path, "--from", "1000h", "--to", "300000h"))

    def test_more_than_all_time(self):
        """Six threads of 73 years each."""
        with written(events(*(complete("a", 0, LAST_US, tid=tid) for tid in range(6)))) as path:
            self.assertIn("together are more than 292 years: their sums are wrong",
                          self.health(self.report(path)))

    def test_times_backwards(self):
        every = [complete("a", 1000 - i, 2) for i in range(500)]
        every += [kernel("k", 900 - i, 3, i + 1) for i in range(300)]
        every += [launch(1000 - i, i + 1) for i in range(300)]
        with written(events(*every)) as path:
            said = self.report(path)
            self.check_sums(said)
            self.assertIn("300 of 300 device operations started before their launch began", self.health(said))

    def test_correlation_of_many(self):
        every = [launch(i, 7) for i in range(50)] + [kernel("k", 100 + i, 1, 7) for i in range(50)]
        with written(events(*every)) as path:
            said = self.report(path)
            self.check_sums(said)
            self.assertIn("49 runtime calls have the correlation of another", self.health(said))

    def test_million_threads(self):
        event = '{"ph":"X","name":"a","cat":"cpu_op","ts":%d,"dur":5,"pid":%d,"tid":%d}'
        every = ",".join(event % (3 * i, i % 3, i) for i in range(THREADS))
        with written('{"traceEvents":[%s]}' % every) as path:
            result = run(MILLRACE, "report", "--whole", str(path), timeout=700)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn(f"process 0 and 2 others, {THREADS} threads", result.stdout)
            self.assertLess(len(result.stdout), 20_000)


if __name__ == "__main__":
    harness.main()
