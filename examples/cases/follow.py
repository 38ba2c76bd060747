#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a case: records the program as found, asks millrace what is wrong and what the change would gain, makes the change,
and measures again, until there is no change left.

    python3 examples/cases/follow.py CASE [--runs N] [--keep FOLDER] [ARGUMENT...]

CASE is a folder of examples/cases. It has one program, and changes as NUMBER-NAME.diff: what is done, lines `Edit:` with
what millrace is asked, and the change itself. The last line that the program prints has its time ("12.3 ms a ..."), and may have
its peak of memory ("45.6 MiB"). All else that it prints must stay the same. $MILLRACE is the millrace to use.
"""

import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MILLRACE = os.environ.get("MILLRACE", "millrace")
# What is not the program's fault is nothing that a change of the program could help against.
NOT_ITS_OWN = {"other_process", "throttled", "warm_up"}

ALONE = "drop cause:preempted"


def changes_of(case):
    """Path, edits and program of each change."""
    changes = []
    for path in sorted(glob.glob(os.path.join(case, "*.diff"))):
        with open(path) as file:
            text = file.read()
        changes.append((path, re.findall(r"^Edit: (.*)$", text, re.M), re.search(r"^--- a/(\S+)", text, re.M)[1]))
    return changes


def make_stage(case, folder, changes):
    """A copy of the case with these changes."""
    shutil.copytree(case, folder, ignore=shutil.ignore_patterns("__pycache__", "*.diff"))
    for path, _, _ in changes:
        subprocess.run(["patch", "--quiet", "-p1", "-d", folder, "-i", path], check=True)


def split_output(text):
    """All but the last line; milliseconds and MiB of that."""
    lines = text.splitlines()
    peak = re.search(r"([\d.]+) MiB", lines[-1])
    return lines[:-1], float(re.search(r"([\d.]+) ms a ", lines[-1])[1]), float(peak[1]) if peak else None


def run(command, **keywords):
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, **keywords)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{result.stdout}{result.stderr}")
    return result.stdout


def ask(*command):
    return json.loads(run([MILLRACE, *command, "--json"]))


def first_problem(report):
    return next((problem for problem in report["problems"]
                 if not problem["is_verdict"] and problem["key"] not in NOT_ITS_OWN), None)


def predict(trace, edits):
    """How long the steps take then, in nanoseconds; the run if there are none."""
    (finding,) = ask("whatif", *edits, trace)["findings"]
    rows = {row["of"]: row for table in finding["tables"] if table["id"] == "predictions" for row in table["rows"]}
    return (rows.get("all steps") or rows["whole run"])["after_ns"]


def predict_left(trace, edits):
    """What is left of the time, as a share. Other programs may have disturbed the recording: as if none had."""
    return predict(trace, [*edits, ALONE]) / predict(trace, [ALONE])


class Stage:
    def __init__(self, case, folder, changes, number, arguments):
        self.folder = os.path.join(folder, str(number))
        self.command = [sys.executable, os.path.join(self.folder, changes[0][2]), *arguments]
        self.trace = self.folder + ".mill"
        make_stage(case, self.folder, changes[:number])
        self.edits = changes[number][1] if number < len(changes) else []
        self.times, self.peaks = [], []

    def record(self):
        self.printed, _, self.peak = split_output(run([MILLRACE, "record", "-q", "-o", self.trace, "--", *self.command]))
        self.report = ask("report", self.trace)
        self.problem = first_problem(self.report)
        self.left = predict_left(self.trace, self.edits) if self.edits else None

    def measure(self):
        printed, time, peak = split_output(run(self.command))
        self.times.append(time)
        self.peaks.append(peak)
        return printed


def follow(case, folder, arguments, runs):
    """The stages of a case, recorded and measured in turns."""
    changes = changes_of(case)
    stages = [Stage(case, folder, changes, number, arguments) for number in range(len(changes) + 1)]
    for stage in stages:
        stage.record()
    for _ in range(runs):
        for stage in stages:
            if stage.measure() != stages[0].printed:
                sys.exit(f"{stage.folder} prints something else than the program as found")
    return stages


def tell(stages):
    print(f"{'stage':5}  {'measured':>9}  {'predicted':>9}  {'peak':>9}  what is wrong first, and what it gains if changed")
    predicted = None
    for number, stage in enumerate(stages):
        time = statistics.median(stage.times)
        cells = [f"{time:.2f} ms", f"{predicted:.2f} ms" if predicted else "",
                 f"{statistics.median(stage.peaks):.0f} MiB" if stage.peak else ""]
        says = stage.problem["title"] if stage.problem else "nothing"
        if stage.edits:
            says += f"; {', '.join(stage.edits)}: -{(1 - stage.left) * 100:.0f} %"
        predicted = time * stage.left if stage.edits else None
        print(f"{number:5}  {cells[0]:>9}  {cells[1]:>9}  {cells[2]:>9}  {says}")
    first, last = (statistics.median(stage.times) for stage in (stages[0], stages[-1]))
    print(f"{first / last:.1f} times as fast")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case")
    parser.add_argument("--runs", type=int, default=3, help="how often each stage is measured")
    parser.add_argument("--keep", metavar="FOLDER", help="where stages and traces are kept")
    options, arguments = parser.parse_known_args()
    case = os.path.join(HERE, options.case)
    if not changes_of(case):
        sys.exit(f"there is no case '{options.case}': {', '.join(sorted(next(os.walk(HERE))[1]))}")
    folder = options.keep or tempfile.mkdtemp()
    tell(follow(case, folder, arguments, options.runs))
    if not options.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
