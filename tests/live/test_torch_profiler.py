# SPDX-License-Identifier: Apache-2.0
"""Against an independent witness: a program's own torch.profiler. It gets the same events as without millrace, and all
operators that it saw are in the trace, in the same order, on the same threads, nested in the same way."""

import collections
import json

import harness
from support import query, run
from traced_torch import ENVIRONMENT, IS_OLD, TIMEOUT, TorchTest


Operator = collections.namedtuple("Operator", "name start end")


def profiled(path):
    """Of a trace of the profiler: operators by thread (only the one that profiles, unless told otherwise), in order of their
    beginning; the unit of its times, in µs. Debian's PyTorch is built without Kineto, has only whole microseconds, and
    numbers instead of tids; but its events are in order."""
    with open(path) as file:
        events = json.load(file)
    has_kineto = not isinstance(events, list)
    found = collections.defaultdict(list)
    for event in events["traceEvents"] if has_kineto else events:
        if event.get("cat") == "cpu_op" or (not has_kineto and event["ph"] == "X"):
            found[event["tid"]].append(Operator(event["name"], event["ts"], event["ts"] + event["dur"]))
    if has_kineto:
        for each in found.values():
            each.sort(key=lambda operator: (operator.start, -operator.end))
    return found, 0.002 if has_kineto else 1


class Profiler(TorchTest):
    def recorded(self, trace):
        """The same of ours."""
        rows = query(trace, "select t.tid as tid, n.type as name, e.start_ns as start, e.start_ns + e.duration_ns as end "
                            "from node_executions e join nodes n on e.node = n.rowid join tracks t on e.track = t.rowid "
                            "order by e.start_ns, e.duration_ns desc")
        found = collections.defaultdict(list)
        for row in rows:
            found[row["tid"]].append(Operator(row["name"], row["start"], row["end"]))
        return found

    def check(self, order):
        path = self.path("profile.json")
        alone = run(*self.command(f"profiled:{path}:{order}"), env=ENVIRONMENT, timeout=TIMEOUT)
        expected = {len(each) for each in profiled(path)[0].values()}
        trace = self.trace(f"profiled:{path}:{order}", alone=alone)
        (seen, unit), ours = profiled(path), self.recorded(trace)
        annotations = {row["name"] for row in query(trace, "select distinct name from scopes")}
        self.assertEqual({len(each) for each in seen.values()}, expected, "the profiler has other events when traced")
        self.assertGreater(max(expected), 300)
        for tid, theirs in seen.items():
            # Where the profiler does not say the tid, it says what only the main thread did.
            own = ours[tid] if tid in ours else max(ours.values(), key=len)
            self.check_stretch(own, [each for each in theirs if each.name not in annotations], unit)

    def check_stretch(self, ours, theirs, unit):
        """Theirs are a stretch of ours, as the profiler was on for a part of the time, with the same nesting."""
        names, own_names = ([operator.name for operator in each] for each in (theirs, ours))
        begins = [at for at in range(len(ours) - len(names) + 1) if own_names[at:at + len(names)] == names]
        self.assertEqual(len(begins), 1, (names[:20], own_names[:20]))
        around = []
        for own, their in zip(ours[begins[0]:], theirs):
            while around and around[-1][0].end <= own.start:
                self.assertLessEqual(around.pop()[1].end, their.start + unit)
            if around:
                self.assertLessEqual(around[-1][1].start, their.start)
                self.assertLessEqual(their.end, around[-1][1].end + unit)
            around.append((own, their))

    def test_profiler_first(self):
        """The profiler observes before millrace does."""
        self.check("first")

    def test_profiler_late(self):
        self.check("late")

    def test_marked(self):
        """profiler.step() marks steps: PyTorch 1.13 says 0 twice, and later ones begin one more that stays empty."""
        trace = self.trace("marked")
        rows = query(trace, "select step from steps where function is null order by start_ns")
        self.assertEqual([row["step"] for row in rows], [0, *range(5)] if IS_OLD else list(range(6)))


if __name__ == "__main__":
    harness.main()
