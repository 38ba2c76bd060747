#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The saved index of a large trace: every command says the same with it and without it, also when several
run at a time, when it is damaged, and where it cannot be written."""

import os
import shutil
import subprocess
import unittest

import harness
from support import MILLRACE, LiveTest, program, run

ROUNDS = 80000  # of two threads, three events each: enough to be worth an index
COMMANDS = [["info", "--json"], ["report"], ["report", "--json"]]
IS_ROOT = os.geteuid() == 0


def say(trace, *command):
    result = run(MILLRACE, *command, trace)
    if result.returncode != 0 or result.stderr:
        raise AssertionError(result.stderr)
    return result.stdout


class Index(LiveTest):
    def setUp(self):
        super().setUp()
        self.trace = self.record(program("load"), "2", str(ROUNDS)).trace
        self.index = os.path.join(self.trace, "index.millrace")

    def remove_index(self):
        if os.path.exists(self.index):
            os.unlink(self.index)

    def say_without(self, *command):
        self.remove_index()
        said = say(self.trace, *command)
        self.assertTrue(os.path.exists(self.index))
        return said

    def test_says_the_same(self):
        for command in COMMANDS:
            without = self.say_without(*command)
            kept = os.stat(self.index).st_ino
            self.assertEqual(say(self.trace, *command), without)
            self.assertEqual(os.stat(self.index).st_ino, kept, "it was believed")
        self.assertEqual(os.stat(self.index).st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.trace)), ["ctf", "index.millrace", "manifest.json"])
        self.assertEqual(run("babeltrace2", "-o", "dummy", self.trace + "/ctf").returncode, 0)

    def test_is_made_anew(self):
        without = self.say_without("report", "--json")
        stream = os.path.join(self.trace, "ctf", sorted(os.listdir(self.trace + "/ctf"))[-1])

        def cut():
            os.truncate(self.index, os.path.getsize(self.index) // 2)

        def empty():
            os.truncate(self.index, 0)

        def touch():
            os.utime(stream)

        def replace():
            shutil.copy(self.trace + "/manifest.json", self.index)

        for damage in (cut, empty, touch, replace):
            damage()
            before = os.stat(self.index).st_ino
            self.assertEqual(say(self.trace, "report", "--json"), without, damage.__name__)
            self.assertNotEqual(os.stat(self.index).st_ino, before, damage.__name__)

    def test_several_at_a_time(self):
        without = self.say_without("report", "--whole")
        self.remove_index()
        for _ in range(2):  # while it is made, and from it
            running = [subprocess.Popen([MILLRACE, "report", "--whole", self.trace], stdout=subprocess.PIPE, text=True)
                       for _ in range(4)]
            for process in running:
                self.assertEqual(process.communicate(timeout=60)[0], without)
                self.assertEqual(process.returncode, 0)
            self.assertEqual(sorted(os.listdir(self.trace)), ["ctf", "index.millrace", "manifest.json"])

    @unittest.skipUnless(IS_ROOT, "mounting a small file system needs root")
    def test_no_room(self):
        small = self.path("small")
        os.mkdir(small)
        size = sum(os.path.getsize(os.path.join(folder, file))
                   for folder, _, files in os.walk(self.trace) for file in files)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size + (4 << 20)}", "tmpfs", small], check=True)
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        shutil.copytree(self.trace, small + "/trace.mill")
        for _ in range(2):
            self.assertIn("health", say(small + "/trace.mill", "info", "--json"))
        self.assertEqual(sorted(os.listdir(small + "/trace.mill")), ["ctf", "manifest.json"])
        subprocess.run(["mount", "-o", "remount,ro", small], check=True)
        self.assertIn("health", say(small + "/trace.mill", "info", "--json"))


if __name__ == "__main__":
    harness.main()
