#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""Signal handlers that jump out of events with siglongjmp(): what comes after is recorded completely."""

import os
import shutil

import harness
from hostile import HostileTest, lost_events, prepare, remove
from support import dump, manifest

AFTER = 1000


def setUpModule():
    prepare("jumps")


def tearDownModule():
    remove()


class Jumps(HostileTest):
    def check_after(self, situation):
        """The events of the node that is defined when the jumps are over."""
        for _ in harness.attempts(8):
            shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
            self.run_both("jumps", situation)
            if manifest(self.trace)["losses"]["by_reason"]["no_free_packet"] == 0:
                break
        events = dump(self.trace)
        texts = {event["fields"]["id"]: event["fields"]["value"] for event in events if event["event"] == "def_string"}
        nodes = [event["fields"]["id"] for event in events
                 if event["event"] == "def_node" and texts.get(event["fields"]["name"]) == "after"]
        self.assertEqual(len(nodes), 1)
        after = [event for event in events if event["event"] == "node_instant" and event["fields"]["node"] == nodes[0]]
        self.assertEqual(len(after), AFTER)
        self.assertEqual(manifest(self.trace)["state"], "complete")

    def test_out_of_instants(self):
        self.check_after("out_of_instants")

    def test_out_of_intervals(self):
        self.check_after("out_of_intervals")

    def test_out_of_definitions(self):
        self.check_after("out_of_definitions")

    def test_out_of_everything(self):
        self.check_after("out_of_everything")
        self.check_against_babeltrace(self.trace)

    def test_out_of_signal_stack(self):
        self.check_after("out_of_signal_stack")

    def test_coroutines(self):
        self.check("jumps", "coroutines")
        self.assertEqual(lost_events(self.trace), 0)

    def test_switched_by_signals(self):
        """Events end in another order than they began. Some are lost, but the program does not notice."""
        self.assertEqual(self.run_both("jumps", "switched_by_signals"), "switched 2000 times\n")
        self.assertEqual(manifest(self.trace)["state"], "complete")


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
