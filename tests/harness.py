# SPDX-License-Identifier: Apache-2.0
"""Shared by all Python tests: how they end, and how they repeat measurements. tools/run-tests reads this output.

    harness.main()                          runs the tests of a file
    harness.skip("there is no chromium")    ends a test program that cannot run here
    for left in harness.attempts(8):        measures until it breaks out of the loop

A program ends with 77 if all its tests were skipped, and with 1 if it has none: neither is a success."""

import signal
import sys
import unittest

SKIPPED = 77


def skip(why):
    """Ends the test program."""
    print(f"skipped: {' '.join(why.split())}", flush=True)
    sys.exit(SKIPPED)


def attempts(most):
    """For a loop that breaks as soon as a measurement is good: says each time how many attempts are left, and prints
    how often the measurement had to be repeated."""
    done = 0
    try:
        while done < most:
            done += 1
            yield most - done
    finally:
        print(f"repeated {done - 1} of {most - 1}", flush=True)


class Result(unittest.TextTestResult):
    """Counts successes, which unittest does not."""

    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self.success_count = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.success_count += 1

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.success_count += 1


def exit_status(result):
    """Prints what was skipped; the exit status of a test program."""
    for test, reason in result.skipped:
        name = test.id().removeprefix("__main__.")
        print(f"skipped {name}: {' '.join(reason.split())}")
    if not result.wasSuccessful():
        return 1
    if result.success_count:
        return 0
    if not result.skipped:
        print("failed: there are no tests")
        return 1
    print(f"skipped: {'; '.join(sorted({' '.join(reason.split()) for _, reason in result.skipped}))}", flush=True)
    return SKIPPED


def main(**keywords):
    # Whoever runs the tests by nohup, or in a shell's background, leaves these ignored to all programs that they start.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    runner = unittest.TextTestRunner(resultclass=Result, verbosity=2)
    program = unittest.main(testRunner=runner, exit=False, **keywords)
    sys.exit(exit_status(program.result))
