# SPDX-License-Identifier: Apache-2.0
"""The highest rate of events that reaches the disk without loss."""

import shutil

import ratio
from context import run

TRIAL_SECONDS = 3
FINAL_SECONDS = 20
START_RATE = 8_000_000
CLOSE_ENOUGH = 1.15      # highest that passed and lowest that failed, when the search ends
STEP_DOWN = 0.8          # after a final trial that failed: the disk is slower than its cache
MOST_STEPS_DOWN = 5
KEPT_UP = 0.97           # of the events wanted; fewer means that the producers are too slow
DISK_BYTES = 30 << 30    # of free space, for 20 s at disk speed and a margin
OPTIONS = ("--levels", "runtime,dataflow", "--max-size", "28G")


def passes(events, wanted, lost):
    return lost == 0 and int(events) >= KEPT_UP * wanted


def search(whose, trial, final_seconds):
    """(a rate that lasts for `final_seconds`, the lowest rate that failed)."""
    passed, failed = None, None
    rate = START_RATE
    while not (passed and failed) or failed / passed > CLOSE_ENOUGH:
        if trial(rate, TRIAL_SECONDS) or trial(rate, TRIAL_SECONDS):
            passed = rate
        else:
            failed = rate
        rate = passed * 2 if not failed else failed / 2 if not passed else (passed * failed) ** 0.5
        if not 1000 < rate < 1e9:
            raise RuntimeError(f"{whose}: no rate found")
    for _ in range(MOST_STEPS_DOWN):
        if trial(passed, final_seconds):
            return passed, failed
        passed, failed = passed * STEP_DOWN, passed
    raise RuntimeError(f"{whose}: {failed:.0f} events/s and more do not last for {final_seconds} s")


def rate(context, lttng):
    figure = "events per second to disk"
    if lttng.why_not:
        return [ratio.skipped(figure, lttng.why_not)]
    if shutil.disk_usage(context.work).free < DISK_BYTES:
        return [ratio.skipped(figure, f"less than {DISK_BYTES >> 30} GiB of free disk space")]
    final_seconds = TRIAL_SECONDS if context.quick else FINAL_SECONDS

    def try_millrace(wanted, seconds):
        command = [context.program("paced"), "millrace", int(wanted), seconds]
        with context.recorded(*command, options=OPTIONS) as (output, _, lost):
            return passes(output, wanted * seconds, lost)

    def try_lttng(wanted, seconds):
        with lttng.session() as session:
            output = run([context.program("paced"), "lttng", int(wanted), seconds])
            return passes(output, wanted * seconds, session.discarded())

    ours, ours_failed = search("millrace", try_millrace, final_seconds)
    other, other_failed = search("LTTng-UST", try_lttng, final_seconds)
    return [ratio.row(figure, "/s", ratio.AtLeast(2), ours, other, ours / other,
                      ours / other_failed, ours_failed / other)]
