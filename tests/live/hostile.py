# SPDX-License-Identifier: Apache-2.0
"""Shared by tests of programs that do the things that break tracers.

Each program runs alone and under `millrace record`: output and exit status must be the same, and the trace must
hold exactly the events that the program says it has emitted, less those that are counted as lost. (A
program that prints its own environment, or is watched by a library that stands in front of some functions
of the exec family and not of others, can tell the difference.)
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import harness
from support import LiveTest, count, dump, manifest, run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])
PROGRAMS = pathlib.Path(tempfile.mkdtemp(prefix="millrace-hostile-"))
ATTEMPTS = 8
CALL_NUMBER = re.compile(r"^\d+ +\[ *(\d+)\]", re.M)  # as strace prints it


def prepare(*programs):
    """Compiles programs that need nothing but threads."""
    PROGRAMS.chmod(0o755)
    for name in programs:
        build(f"{name}.c", name, "-pthread")


def remove():
    shutil.rmtree(PROGRAMS)


def build(source, output, *options, compiler="cc"):
    """Compiles one of the programs; raises CalledProcessError where that cannot be done."""
    subprocess.run([compiler, "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Werror",
                    "-I", SOURCES / "include", SOURCES / "tests/live/programs" / source,
                    "-o", PROGRAMS / output, *options], check=True, capture_output=True, timeout=60)


def untraced(trace):
    """Reasons by program."""
    return {pathlib.Path(each["program"]).name: each["reason"]
            for each in manifest(trace)["processes"] if not each["traced"]}


def lost_events(trace):
    return manifest(trace)["losses"]["events"]


@functools.cache
def calls_of(action, hello):
    """Numbers of the system calls that an action of `confined` needs: once it is confined, as strace sees it."""
    log = PROGRAMS / f"{action}.strace"
    run("strace", "-f", "-n", "-o", log, PROGRAMS / "confined", "none", action, "kill",
        env={"PATH": f"{PROGRAMS}:/usr/bin:/bin", "HELLO": hello})
    text = log.read_text()
    begin = text.index('write(-1, "confined"')
    return ",".join(sorted(set(CALL_NUMBER.findall(text, text.rindex("\n", 0, begin)))))


class HostileTest(LiveTest):
    def run_both(self, *command, options=(), **environment):
        """Runs the program alone and recorded, compares, and returns what it printed."""
        environment = {"PATH": f"{PROGRAMS}:/usr/bin:/bin", "LC_ALL": "C",
                       "USER_LIBRARY": str(PROGRAMS / "library.so"),
                       "EMITTED_FILE": self.path("emitted"), **environment}
        keywords = {"env": environment, "cwd": self.folder, "stdin": subprocess.DEVNULL, "timeout": 400}
        alone = run(*command, **keywords)
        recorded = self.record(*command, options=["--quiet", "--levels=runtime,dataflow", *options],
                               **keywords)
        self.trace = recorded.trace
        self.assertEqual(recorded.stdout, alone.stdout)
        self.assertEqual(recorded.stderr, alone.stderr)
        self.assertEqual(recorded.returncode, alone.returncode)
        return recorded.stdout

    def check(self, *command, may_lose=False, **keywords):
        """... and compares the number of events; returns them."""
        for _ in harness.attempts(ATTEMPTS):
            output = self.run_both(*command, **keywords)
            lost = lost_events(self.trace)
            emitted = sum(int(number) for number in re.findall(r"^emitted (\d+)$", output, re.M))
            if emitted == 0:
                emitted = int(pathlib.Path(self.path("emitted")).read_text())
            events = dump(self.trace)
            self.assertGreater(emitted, 0)
            self.assertEqual(count(events, "node_instant") + lost, emitted)
            if may_lose or lost == 0:
                break
            shutil.rmtree(self.trace)  # a recorder that is kept from running has not room for everything
        self.assertTrue(may_lose or lost == 0, lost)
        return events

    def write(self, name, text):
        path = pathlib.Path(self.path(name))
        path.write_text(text)
        path.chmod(0o755)
        return str(path)
