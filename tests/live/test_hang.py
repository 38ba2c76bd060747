#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how soon the end of a program is seen
"""Programs that end, or continue, while an interval is open: the interval lasts until then, and no longer."""

import harness
from support import LiveTest, dump, program


class Hanging(LiveTest):
    def test_what_is_open_lasts_to_the_end(self):
        """`hang` does nothing for 200 ms in a step it never ends; in two situations something else then goes
        on for two seconds."""
        for situation in ("killed", "executed", "thread_ended", "left"):
            with self.subTest(situation):
                result = self.record(program("hang"), situation, name=situation,
                                     options=["--levels", "runtime,dataflow"])
                events = dump(result.trace)
                (step,) = [event for event in events if event["event"] == "interval_unfinished"]
                tick_ns = (step["ns"] - events[0]["ns"]) / (step["ticks"] - events[0]["ticks"])
                duration_ns = (step["ticks"] - step["fields"]["start"]) * tick_ns
                self.assertGreaterEqual(duration_ns, 199_000_000)
                self.assertLess(duration_ns, 1_500_000_000)


if __name__ == "__main__":
    harness.main()
