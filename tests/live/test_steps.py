# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how soon levels are switched
"""`record --steps A..B`: those steps, and nothing of the others."""

import json
import os
import shutil

import harness
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


# Sleeps far longer than it runs, before the steps that are recorded and after them. Says how long it had a CPU.
SLEEPER = """
#include "millrace.h"
#include "task_times.h"
int main(void)
{
	int clock_fd = open_task_clock(0);
	usleep(400000);
	for (int i = 0; i < 9; i++) {
		struct millrace_span step = millrace_step_begin(i);
		usleep(100000);
		millrace_step_end(&step);
	}
	usleep(400000);
	printf("%" PRIu64 "\\n", read_task_clock(clock_fd));
	return 0;
}
"""


class Steps(LiveTest):
    def compile(self, text):
        source, executable = self.path("steps.c"), self.path("steps")
        with open(source, "w") as file:
            file.write(text)
        run("cc", "-o", executable, "-D_GNU_SOURCE", "-I", os.path.join(SOURCE, "include"), "-I",
            os.path.join(SOURCE, "tests/live/programs"), source, check=True)
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
                self.assertTrue(any(said["text"].startswith("As requested, millrace recorded from ") for said in health), health)

    def is_in_time(self, trace):
        """Whether the recorder switched the kernel level on and off nearly when it had to: a busy machine may keep it
        from running."""
        events = dump(trace)
        switched = [event["ns"] for event in events if event["event"] == "recording_switched" and event["process"] == 1]
        steps = [event["ns"] for event in events if event["event"] == "step_interval"]
        return len(switched) == 3 and 150_000_000 < switched[2] - switched[1] < 400_000_000 and \
            switched[2] < max(steps) + 200_000_000

    def record_in_time(self, executable, options):
        for _ in harness.attempts(kernel.ATTEMPTS):
            result = self.record(executable, options=options, name=options[0] + ".mill")
            if self.is_in_time(result.trace):
                return result
            shutil.rmtree(result.trace)
        return self.fail("the kernel level is always switched late")

    def check_the_rest(self, executable, options):
        result = self.record_in_time(executable, options)
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
        report = json.loads(run(MILLRACE, "report", "--whole", "--json", result.trace).stdout)["window"]
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
    harness.main()
