# SPDX-License-Identifier: Apache-2.0
"""The rule for ratios: pairs, medians, 95 % bounds, a control, a verdict. See bench/README.md."""

import random
import statistics

MET, NOT_MET, INCONCLUSIVE = "met", "NOT MET", "inconclusive"
SKIPPED, FAILED = "skipped", "FAILED"
RESAMPLES = 2000


def bounds_of_median(values):
    """95 % bounds of the median, from a bootstrap; deterministic."""
    if len(values) == 1:
        return values[0], values[0]
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))
    return medians[int(RESAMPLES * 0.025)], medians[int(RESAMPLES * 0.975)]


def ratios(above, below):
    return [a / b for a, b in zip(above, below)]


def spread_of(reference, again):
    """How far the ratio of the reference to itself is from 1: the larger of its two 95 % bounds."""
    low, high = bounds_of_median(ratios(again, reference))
    return max(abs(low - 1), abs(high - 1))


class AtMost:
    """Ours costs at most `limit` times the reference."""

    def __init__(self, limit):
        self.limit, self.text = limit, f"≤ {limit:g}"

    def verdict(self, low, high):
        return MET if high < self.limit else NOT_MET if low > self.limit else INCONCLUSIVE


class AtLeast(AtMost):
    """The ratio, inverted so that more is better, is at least `limit`."""

    def __init__(self, limit):
        self.limit, self.text = limit, f"≥ {limit:g}"

    def verdict(self, low, high):
        return MET if low > self.limit else NOT_MET if high < self.limit else INCONCLUSIVE


def row(figure, unit, bar, ours, reference, ratio, low, high, control=None, lost=0):
    """One row of the table, with its verdict."""
    verdict = bar.verdict(low, high)
    margin = max(ratio / bar.limit, bar.limit / ratio) - 1
    if control is not None and control > margin / 2:
        verdict = INCONCLUSIVE
    if lost:
        verdict = NOT_MET
    return {"figure": figure, "unit": unit, "ours": ours, "reference": reference, "ratio": ratio,
            "low": low, "high": high, "control": control, "bar": bar.text, "lost": lost,
            "verdict": verdict}


def compare(figure, unit, bar, ours, reference, again, lost=0):
    """Judges interleaved measurements: ours, the reference, and the reference again."""
    pairs = (reference, ours) if isinstance(bar, AtLeast) else (ours, reference)
    values = ratios(*pairs)
    low, high = bounds_of_median(values)
    return row(figure, unit, bar, statistics.median(ours), statistics.median(reference),
               statistics.median(values), low, high, spread_of(reference, again), lost)


def skipped(figure, reason):
    return {"figure": figure, "verdict": SKIPPED, "reason": reason}


def failed(figure, reason):
    return {"figure": figure, "verdict": FAILED, "reason": reason}
