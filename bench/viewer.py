# SPDX-License-Identifier: Apache-2.0
"""The viewer on a large trace, in Chromium without a GPU. bench/README.md explains it."""

import json
import pathlib
import shutil
import statistics
import subprocess

import ratio
from context import run
from scale import judged

SOURCE = pathlib.Path(__file__).resolve().parent.parent
EVENTS = 10_000_000
SLICES = 10_000_000
RUNS = 5


def percentile_95(values):
    return sorted(values)[len(values) * 95 // 100]


def view(context, _):
    environment = subprocess.run([SOURCE / "tools/browser"], capture_output=True, text=True, check=False)
    if environment.returncode != 0 or not shutil.which("chromium"):
        return [ratio.skipped("view of 10^7 slices", "there is no browser: run tools/setup browser")]
    trace = context.work / "view.mill"
    run([context.program("big_trace"), EVENTS, trace])
    uses = json.loads(run([pathlib.Path(environment.stdout.strip()) / "bin/python", SOURCE / "bench/viewer_driver.py",
                           context.millrace, trace, 2 if context.quick else RUNS]))
    shutil.rmtree(trace)
    if min(use["slices"] for use in uses) < SLICES:
        raise RuntimeError(f"the trace has only {uses[0]['slices']} slices")
    answers = [answer for use in uses for answer in use["answers"]]
    return [
        judged("view of 10^7 slices, first picture", "s", 1, [use["picture"] for use in uses]),
        judged("its frames, median", "s", 0.033, [statistics.median(use["frames"]) / 1000 for use in uses]),
        judged("its frames, 95th percentile", "s", 0.060, [percentile_95(use["frames"]) / 1000 for use in uses]),
        judged("its memory in the browser", "B", 100e6, [use["memory"] for use in uses]),
        judged("a viewport request, server time", "s", 0.010, [answer / 1000 for answer in answers]),
    ]
