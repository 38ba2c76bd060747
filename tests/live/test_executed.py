#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""Programs that execute others where that is difficult: with pointers that are none, in memory that several processes
share, in signal handlers."""

import os

import harness
from hostile import HostileTest, prepare, remove


def setUpModule():
    prepare("pointers", "sharing")


def tearDownModule():
    remove()


class Executed(HostileTest):
    def test_bad_pointers(self):
        output = self.run_both("pointers")
        self.assertIn("execve, file nowhere: 100\n", output)
        self.assertEqual(output.count("-1 Bad address"), output.count("Bad address"))
        self.assertGreater(output.count("Bad address"), 60)

    def test_clones_that_execute(self):
        self.check("sharing", "clones_execute")

    def test_clones_that_fail(self):
        self.check("sharing", "clones_fail")

    def test_handler_in_the_child_of_a_vfork(self):
        self.check("sharing", "handler_in_vfork")

    def test_handlers_everywhere(self):
        self.check("sharing", "handlers_everywhere")

    def test_threads_that_spawn(self):
        self.check("sharing", "threads_spawn")

    def test_vfork_leaves_nothing(self):
        self.check("sharing", "vfork_leaves_nothing")


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
