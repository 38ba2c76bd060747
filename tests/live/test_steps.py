# SPDX-License-Identifier: Apache-2.0
"""`record --steps A..B`: those steps, and nothing of the others."""

import os
import unittest

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


class Steps(LiveTest):
    def test_range(self):
        source, executable = self.path("steps.c"), self.path("steps")
        with open(source, "w") as file:
            file.write(PROGRAM)
        run("cc", "-o", executable, "-I", os.path.join(SOURCE, "include"), source, check=True)
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
