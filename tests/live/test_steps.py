# SPDX-License-Identifier: Apache-2.0
"""`record --steps A..B`: those steps, and nothing of the others."""

import json
import os
import unittest

import kernel
from support import MILLRACE, LiveTest, dump, run

SOURCE = os.environ["SOURCE_DIR"]
PROGRAM = """
#include <unistd.h>
#include "millrace.h"
int main(void)
{
	uint32_t node = millrace_node(millrace_graph("work"), "node", "Work", 0);
	for (int i = 0; i < 10; i++) {
		struct millrace_span step = millrace_step_begin(100 + i);
		struct millrace_span span = millrace_node_begin(node, 100 + i);
		usleep(100);
		millrace_node_end(&span);
		millrace_step_end(&step);
	}
	return 0;
}
"""


# Sleeps far longer than it runs, before the steps that are recorded and after them.
SLEEPER = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "millrace.h"
int main(void)
{
	struct timespec time;
	usleep(400000);
	for (int i = 0; i < 9; i++) {
		struct millrace_span step = millrace_step_begin(i);
		usleep(100000);
		millrace_step_end(&step);
	}
	usleep(400000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	printf("%ld\\n", time.tv_sec * 1000000000 + time.tv_nsec);
	return 0;
}
"""


class Steps(LiveTest):
    def compile(self, text):
        source, executable = self.path("steps.c"), self.path("steps")
        with open(source, "w") as file:
            file.write(text)
        run("cc", "-o", executable, "-I", os.path.join(SOURCE, "include"), source, check=True)
        return executable

    def query(self, trace, question):
        result = run(MILLRACE, "query", "--format=json", trace, question)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_what_is_known_of_the_rest(self):
        """Nothing: neither that a thread ran, nor that it waited. The report is of what was recorded."""
        reason = kernel.why_not()
        if reason:
            self.skipTest(reason)
        executable = self.compile(SLEEPER)
        for options in (("--steps", "3..4"), ("--delay", "750ms", "--duration", "200ms")):
            with self.subTest(options[0]):
                trace = self.check_the_rest(executable, options)
                health = json.loads(run(MILLRACE, "info", "--json", trace).stdout)["findings"][0]["sentences"]
                self.assertTrue(any(said["text"].startswith("Recorded was from ") for said in health), health)

    def check_the_rest(self, executable, options):
        result = self.record(executable, options=options, name=options[0] + ".mill")
        ran_ns = int(result.stdout)
        times = {(row["state"], row["reason"]): (row["time"], row["first"], row["last"])
                 for row in self.query(result.trace, "select state, reason, sum(duration_ns) as time, min(start_ns) as "
                                       "first, max(start_ns + duration_ns) as last from states where track_name = 'steps' "
                                       "group by state, reason")}
        (window,) = self.query(result.trace, "select min(start_ns) as first, max(start_ns + duration_ns) as last from "
                               "steps")
        run_ns = sum(time for (state, _), (time, _, _) in times.items() if state == "RUN")
        self.assertLessEqual(run_ns, ran_ns * 1.5 + 20_000_000)
        self.assertGreater(times["UNKNOWN", "NOT_RECORDED"][0], 1_000_000_000, times)
        self.assertGreater(times["BLOCKED", "INTERRUPTIBLE"][0], 100_000_000, times)
        for (state, _), (_, first, last) in times.items():
            if state != "UNKNOWN" and options[0] == "--steps":
                self.assertGreaterEqual(first, window["first"], times)
                self.assertLess(last, window["last"] + 250_000_000, times)
        report = json.loads(run(MILLRACE, "report", "--json", result.trace).stdout)["window"]
        self.assertLess(report["last_ns"] - report["first_ns"], 700_000_000)
        if options[0] == "--steps":
            self.assertLessEqual(report["first_ns"], window["first"])
            self.assertGreaterEqual(report["last_ns"], window["last"])
        return result.trace

    def test_range(self):
        executable = self.compile(PROGRAM)
        for steps, expected in (("3..5", [103, 104, 105]), ("0..0", [100]), ("8..20", [108, 109]), ("10..20", [])):
            with self.subTest(steps):
                result = self.record(executable, options=("--steps", steps, "--levels", "dataflow"),
                                     name=steps + ".mill")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual("did not get to the steps" in result.stderr, not expected, result.stderr)
                events = dump(result.trace)
                for kind in ("step_interval", "node_interval"):
                    self.assertEqual([event["fields"]["step"] for event in events if event["event"] == kind],
                                     expected, kind)

    def test_misuse(self):
        for options in (["5..3"], ["5"], ["a..b"], ["1..2x"], ["-1..2"], ["1..-2"], ["1.. 2"], ["1..99999999999999999999"], ["1..2", "--delay", "1s"]):
            with self.subTest(options):
                result = run(MILLRACE, "record", "--steps", *options, "--", "true")
                self.assertEqual((result.returncode, "--steps" in result.stderr), (2, True), result.stderr)


if __name__ == "__main__":
    unittest.main()
