# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of problems: programs that have several in a row, each of which the report looks at by its times."""

import json

import harness
from support import MILLRACE, LiveTest, info, run

# What a busy machine adds to any program. It is no fault of a test if others use the CPUs.
OF_THE_MACHINE = "other_process"
# If others have the CPUs for more of a case, its times say little, and it is measured again.
DISTURBED = 0.15
SCREEN_LINES, SCREEN_COLUMNS = 24, 80


class ProblemsTest(LiveTest):
    def diagnose(self, trace, *options):
        """The problems of a part of a trace, which must sum to it with the rest."""
        result = run(MILLRACE, "report", "--json", *options, trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        whole = report["window"]["last_ns"] - report["window"]["first_ns"]
        (table,) = (table for finding in report["findings"] for table in finding["tables"] if table["id"] == "problems")
        self.assertEqual(sum(row["time_ns"] for row in table["rows"]), whole)
        for problem in report["problems"]:
            self.assertTrue(problem["why"] and problem["remedy"], problem)
            self.assertLessEqual(len(problem["remedy"]), 150, problem)
        return report["problems"]

    def check_screen(self, trace, *options):
        """What comes before the first section fits a terminal, and names the first problem."""
        result = run(MILLRACE, "report", *options, trace)
        self.assertEqual(result.returncode, 0, result.stderr)
        screen = result.stdout.split("\n\nProblems\n")[0].splitlines()
        self.assertLessEqual(len(screen), SCREEN_LINES, result.stdout)
        self.assertLessEqual(max(map(len, screen)), SCREEN_COLUMNS, result.stdout)
        said = ("No problem found",) if "No problem found" in screen else ("verdict ", "1. ")
        for begin in ("command ", *said, "Look next: "):
            self.assertTrue(any(line.startswith(begin) for line in screen), result.stdout)

    def record_cases(self, command, **keywords):
        recorded = self.record(*command, options=["-q"], **keywords)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        first = info(recorded.trace)["first_ns"]
        cases = {}
        for line in recorded.stdout.splitlines():
            case, begin, end, cost = line.split()
            part = ("--from", f"{int(begin) - first}ns", "--to", f"{int(end) - first}ns")
            cases[case] = self.diagnose(recorded.trace, *part), int(cost), int(end) - int(begin)
            self.check_screen(recorded.trace, *part)
        return cases

    def diagnose_cases(self, command, name="trace", **keywords):
        """Records a program; case: (problems, truth_ns, wall_ns) of each that it says. Measures again what others have
        disturbed, and keeps of each case the measurement that they have disturbed least."""
        best = {}
        for left in harness.attempts(5):
            for case, said in self.record_cases(command, name=f"{name}-{left}.mill", **keywords).items():
                if case not in best or self.disturbance(said) < self.disturbance(best[case]):
                    best[case] = said
            if all(self.disturbance(said) < DISTURBED for said in best.values()):
                break
        return best

    @staticmethod
    def disturbance(said):
        problems, _, wall = said
        return sum(problem["time_ns"] for problem in problems if problem["key"] == OF_THE_MACHINE) / wall

    def check_first(self, said, key, exact=True):
        """The problem is first, but for what the machine adds; it costs what the program itself has measured."""
        problems, truth, wall = said
        of_machine = sum(problem["time_ns"] for problem in problems if problem["key"] == OF_THE_MACHINE)
        (first, *_) = (problem for problem in problems if problem["key"] != OF_THE_MACHINE)
        self.assertEqual(first["key"], key, problems)
        if exact:
            self.assertLessEqual(abs(first["time_ns"] - truth), 0.1 * truth + 0.02 * wall + of_machine, (truth, problems))
        return first

    def check_absent(self, said, *keys):
        """None of these is named."""
        self.assertEqual([problem for problem in said[0] if problem["key"] in keys], [])
