#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual says what the program does: options, events, JSON fields, examples."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import harness

MILLRACE = os.environ["MILLRACE"]
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
ROOT = pathlib.Path(os.environ["SOURCE_DIR"])


def run(*arguments, **keywords):
    return subprocess.run([MILLRACE, *arguments], capture_output=True, text=True, timeout=60,
                          **keywords)


def rows(*arguments):
    """What `help` lists, which is never nothing."""
    result = run("help", *arguments)
    if result.returncode != 0 or not result.stdout:
        raise AssertionError(f"help {arguments}: {result.stderr}")
    return [line.split("\t") for line in result.stdout.splitlines()]


COMMANDS = [name for name, _ in rows("--list-commands")]


def manual_page(command):
    own = ROOT / f"doc/man/millrace-{command}.1.scd"
    return own if own.exists() else ROOT / "doc/man/millrace.1.scd"


def options(command):
    return {name for name, *_ in rows("--list-options", command)}


def keys(value, prefix=""):
    """The paths of all keys of a JSON value: a.b for objects, a[].b inside arrays."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield prefix + key
            yield from keys(member, f"{prefix}{key}.")
    elif isinstance(value, list):
        for member in value:
            yield from keys(member, prefix[:-1] + "[].")


class Documents(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="millrace-documents-")
        self.addCleanup(shutil.rmtree, self.folder)

    def record(self):
        result = run("record", "-o", "example.mill", "--", BUILD / "examples/pipeline",
                     cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_events(self):
        printed = subprocess.run([BUILD / "doc/schema-doc"], capture_output=True, text=True,
                                 check=True).stdout
        self.assertEqual(printed, (ROOT / "doc/events.md").read_text(), "run `make doc`")

    def test_tables(self):
        printed = subprocess.run([BUILD / "doc/tables-doc"], capture_output=True, text=True,
                                 check=True).stdout
        page = (ROOT / "doc/tables.md").read_text()
        self.assertEqual(printed, page[page.index("## Tables"):], "run `make doc`")

    def test_every_option_is_in_the_manual(self):
        for command in COMMANDS:
            page = manual_page(command).read_text()
            for option in options(command) - {"--help"}:
                self.assertRegex(page, re.escape(option) + r"\b", f"{command} {option}")

    def test_every_option_of_the_manual_exists(self):
        for command in COMMANDS:
            page = manual_page(command)
            if page.name == "millrace.1.scd":
                continue
            section = page.read_text().partition("# OPTIONS")[2].partition("\n# ")[0]
            named = set(re.findall(r"^\*?.*?(--[a-z-]+)", section, re.M))
            self.assertLessEqual(named, options(command), command)
            self.assertTrue(named or options(command) == {"--help"}, f"no options are found in {page.name}")

    def test_help_fits_a_terminal(self):
        for command in COMMANDS:
            result = run(command, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), command)
            long_lines = [line for line in result.stdout.splitlines() if len(line) > 80]
            self.assertEqual(long_lines, [], command)

    def run_example(self, example):
        if example.startswith("millrace view"):  # it is for the reader to end
            example = f"timeout --preserve-status -s INT 2 {example}"
        environment = {**os.environ, "PATH": f"{BUILD}:{BUILD}/examples:{os.environ['PATH']}",
                       "BROWSER": "true"}
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            trace = pathlib.Path(self.folder) / "example.mill"
            if trace.exists():
                shutil.copytree(trace, f"{folder}/example.mill")
            return subprocess.run(example, shell=True, cwd=folder, env=environment,
                                  capture_output=True, text=True, timeout=60)

    def test_examples_run(self):
        self.record()
        for command in COMMANDS:
            examples = [example for (example,) in rows("--list-examples", command)]
            for example in examples:
                with self.subTest(example=example):
                    result = self.run_example(example)
                    self.assertEqual(result.returncode, 0, result.stderr)

    def snapshot(self):
        """What is printed of a snapshot, for which something must be being recorded."""
        example = "millrace record -q -o a.mill -- sleep 2& sleep 1; millrace snapshot --json a.mill; wait"
        return self.run_example(example).stdout

    def test_every_json_field_is_documented(self):
        self.record()
        found = re.findall(r"^## ([\w, ]+)\n(.*?)(?=^## |\Z)",
                           (ROOT / "doc/json.md").read_text(), re.M | re.S)
        sections = {name: text for names, text in found for name in names.split(", ")}
        for command in COMMANDS:
            if "--json" not in options(command):
                continue
            documented = re.findall(r"^\| `([^`]+)`", sections.get(command, ""), re.M)
            pattern = "|".join(re.escape(name).replace(r"\*", r"\w+") for name in documented)
            output = self.snapshot() if command == "snapshot" else run(command, "--json", cwd=self.folder).stdout
            values = [json.loads(line) for line in output.splitlines()] if command == "dump" \
                else [json.loads(output)]
            printed = {key for value in values for key in keys(value)}
            self.assertTrue(printed, command)
            unknown = sorted(key for key in printed if not re.fullmatch(pattern, key))
            self.assertEqual(unknown, [], command)


if __name__ == "__main__":
    harness.main()
