# SPDX-License-Identifier: Apache-2.0
"""The cost of GROUP BY on the model's columns, compared with SQLite's own table. bench/README.md explains it."""

import ratio
from context import run
from ratio import AtLeast

# Rows, and how often: SQLite needs half a minute to sort ten million.
SIZES = [("10 M rows", 10_000_000, 1), ("1 M rows", 1_000_000, 8)]


def group_by(context, _):
    figures = []
    for name, rows, rounds in SIZES[1:] if context.quick else SIZES:
        output = run([context.program("query"), rows, rounds])
        times = zip(*(map(float, line.split()) for line in output.splitlines()))
        figures.append(ratio.compare(f"query, {name}", "s", AtLeast(3), *times))
    return figures
