#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares times of threads with the kernel's own accounts
"""What threads did with their time: against the kernel's own accounts, and in the report."""

import contextlib
import json
import os
import shutil
import subprocess

import harness
from kernel import ATTEMPTS, BLOCKED, KernelTest, parse_truth, skip_unless_possible
from support import MILLRACE, program, run, wait_until

QUOTA_US, PERIOD_US, BURN_MS = 3_000, 50_000, 60  # less than a busy machine gives


def report(trace):
    result = run(MILLRACE, "report", "--whole", "--json", trace)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    return json.loads(result.stdout)


@contextlib.contextmanager
def running(command, cpu):
    """A program that is not traced, on one CPU, until the end of the block."""
    process = subprocess.Popen(["taskset", "-c", str(cpu), *command], stdout=subprocess.DEVNULL)

    def is_running():
        with open(f"/proc/{process.pid}/comm") as file:
            return file.read().strip() == os.path.basename(command[0])
    try:
        if not wait_until(is_running):
            raise AssertionError(f"{command[0]} does not start")
        yield process.pid
    finally:
        process.kill()
        process.wait()


class States(KernelTest):
    def test_accounts(self):
        """Run time by perf's clock of the thread, and as many switches as the kernel counts, of each kind.
        Schedstat leaves out what a hypervisor took of a CPU, so run time there may be less, never more. A thread
        counts there as ready when it is put into a queue, which the CPU it was woken for may do late. Times are looked
        at again, as a CPU may be taken away just between the kernel's account of a switch and what it tells of it."""
        for left in harness.attempts(ATTEMPTS):
            result = self.record_whole("work", "threads", "600")
            truth = parse_truth(result.stdout, "thread")
            self.assertEqual(len(truth), 4)
            complaints = [text for said in truth for text in self.check_account(result.events, said)]
            if not complaints or left == 0:
                break
            shutil.rmtree(result.trace)
        self.assertEqual(complaints, [])

    def check_account(self, events, said):
        """What is wrong with the times of a thread."""
        tid, at = said["tid"], said["at"]
        out = [reason for time, is_in, _, reason in events.switches(tid) if not is_in and time <= at]
        self.assertEqual(sum(reason in BLOCKED for reason in out), said["voluntary"])
        self.assertEqual(sum(reason not in BLOCKED for reason in out), said["forced"])
        self.assertIn("yielded", out)
        run_ns = events.run_ns(tid, at)
        perf_late_ns = 50_000 + 10_000 * len(out)  # its clock begins a little after each switch
        runnable_ns, little_ns = self.runnable_ns(events, tid, at), max(said["delay"] // 50, 200_000)
        complaints = {
            "run time": abs(run_ns - said["on_cpu"]) > max(said["on_cpu"] // 100, perf_late_ns),
            "run time by schedstat": run_ns + max(said["run"] // 100, 50_000) < said["run"],
            "ready to run": abs(runnable_ns - said["delay"]) > little_ns,
        }
        return [f"{what}: {run_ns} ns, ready {runnable_ns} ns, {said}" for what, is_wrong in complaints.items()
                if is_wrong]

    def runnable_ns(self, events, tid, until):
        """From waking, or from the loss of the CPU, to the next switch in."""
        total, ready, wakings = 0, None, events.of("kernel_waking", tid=tid)
        born = events.of("kernel_fork", tid=tid)
        if born:
            ready = born[0].time
        for time, is_in, _, reason in events.switches(tid):
            if time > until:
                break
            if not is_in:
                out, ready = time, None if reason in BLOCKED else time
            elif ready is None:
                woken = [waking.time for waking in wakings if out <= waking.time <= time]
                total += time - woken[0] if woken else 0
            else:
                total += time - ready
        return total

    def test_preemptor(self):
        """Somebody else's program on the same CPU is told of, by name."""
        burner = self.path("burner")
        shutil.copy(program("kernel_work"), burner)
        cpu = min(os.sched_getaffinity(0))
        with running([burner, "burn", "600000"], cpu) as intruder:
            for left in harness.attempts(ATTEMPTS):
                result = self.record_kernel(shutil.which("taskset"), "-c", str(cpu), program("kernel_work"), "burn",
                                            "100")
                events, (said,) = result.events, parse_truth(result.stdout, "burnt")
                taken = self.time_taken(events, said["tid"], cpu)
                most = max(taken.values(), default=1)
                is_told = taken.get(intruder, 0) == most
                if os.getloadavg()[0] >= os.cpu_count():  # others are busy, too
                    is_told = taken.get(intruder, 0) > most // 4
                if is_told or left == 0:
                    break
                shutil.rmtree(result.trace)  # they have just become so
        self.assertTrue(is_told, (taken, intruder))
        names = {event.fields["name"] for event in events.of("kernel_task_name", tid=intruder)}
        self.assertEqual(names, {"burner"})
        self.check_preemption_in_report(result.trace, intruder)

    def time_taken(self, events, tid, cpu):
        """Who ran on the CPU, and for how long, while the thread was ready to run there."""
        taken, is_ready, since = {}, False, None
        for event in events.of("kernel_switch"):
            if event.cpu != cpu:
                continue
            previous = event.fields["previous_tid"]
            if is_ready:
                taken[previous] = taken.get(previous, 0) + event.time - since
            since = event.time
            if previous == tid:
                is_ready = event.fields["reason"] == "preempted"
            if event.fields["next_tid"] == tid:
                is_ready = False
        return taken

    def check_preemption_in_report(self, trace, intruder):
        text = run(MILLRACE, "report", "--whole", trace).stdout
        self.assertIn("burner", text)

    def throttled(self, folder):
        with open(os.path.join(folder, "cpu.stat")) as file:
            return int(dict(line.split() for line in file)["nr_throttled"])

    def test_throttling(self):
        """As many switches as the group was throttled. Where the kernel throttles each thread when it returns from the kernel,
        one that others have pushed off its CPU just then may never be: the group has its next quota before."""
        folder = f"/sys/fs/cgroup/cpu/millrace-test-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError as error:
            self.skipTest(f"no cgroup with a cpu controller can be made: {error}")
        self.addCleanup(os.rmdir, folder)
        for name, value in (("cpu.cfs_period_us", PERIOD_US), ("cpu.cfs_quota_us", QUOTA_US)):
            with open(os.path.join(folder, name), "w") as file:
                file.write(str(value))
        for left in harness.attempts(ATTEMPTS):  # on a busy machine it may get less than it may have
            before = self.throttled(folder)
            result = self.record_kernel("/bin/sh", "-c", 'echo $$ > "$0"; exec "$@"', os.path.join(folder, "tasks"),
                                        program("kernel_work"), "burn", str(BURN_MS))
            throttled = self.throttled(folder) - before
            switches = result.events.of("kernel_switch", reason="throttled")
            if (throttled > 3 and len(switches) in (0, throttled)) or left == 0:
                break
            shutil.rmtree(result.trace)
        self.assertGreater(throttled, 3)
        if not switches:
            with open("/proc/sys/kernel/osrelease") as file:
                self.skipTest(f"kernel {file.read().strip()} does not tell of throttled threads")
        pushed_off = len(result.events.of("kernel_switch", reason="preempted"))
        self.assertLessEqual(len(switches), throttled)
        self.assertGreaterEqual(len(switches) + pushed_off, throttled)


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
