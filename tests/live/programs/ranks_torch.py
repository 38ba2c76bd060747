# SPDX-License-Identifier: Apache-2.0
"""Ranks on this machine that train together (gloo), the last of which is late: `ranks_torch.py FOLDER RANKS PIDS CASE...`

    slow      it computes longer in each step
    loader    its input takes longer
    once      it sleeps in one step
    taken     processes of others have its CPU: PIDS ("1,2"), which go on for so long

The program starts the ranks itself, as torchrun does: RANK and WORLD_SIZE are in their environment. Rank 0 prints for each
case its name, when it began and ended, and how long all others waited for the late one in its collectives."""

import os
import signal
import subprocess
import sys
import time

STEPS = 12
LATE_S = 0.1
ONCE_S = 1.0
WORK_S = 0.002  # of each step, without being late
TAKEN_WORK_S = 0.01


def spin(seconds):
    """Computes for so long; time in which others have the CPU does not count."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Numbers:
    """A data set whose elements take a while."""

    def __init__(self, count, late_s):
        self.count, self.late_s = count, late_s

    def __len__(self):
        return self.count

    def __getitem__(self, place):
        import torch
        time.sleep(self.late_s)
        return torch.full([8], float(place))


def run_case(torch, case, is_late):
    """When this rank arrived at each collective."""
    late_s = LATE_S if is_late and case == "loader" else 0
    weights, arrivals = torch.nn.Linear(8, 8), []
    for step, batch in enumerate(torch.utils.data.DataLoader(Numbers(STEPS, late_s), batch_size=1)):
        result = weights(batch).sum().detach()
        spin(TAKEN_WORK_S if case == "taken" else WORK_S)
        if is_late and case == "slow":
            spin(LATE_S)
        if is_late and case == "once" and step == STEPS // 2:
            time.sleep(ONCE_S)
        arrivals.append(time.monotonic_ns())
        torch.distributed.all_reduce(result)
    return arrivals


def waited_for_last(arrivals):
    """What all others waited for the last rank; arrivals by rank."""
    return sum(max(last - max(others), 0) for *others, last in zip(*arrivals))


def train(folder, pids, cases):
    import torch
    torch.set_num_threads(1)
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    is_late, cpus = rank == size - 1, sorted(os.sched_getaffinity(0))
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=size)
    for case in cases:
        torch.distributed.barrier()
        if case == "taken":
            os.sched_setaffinity(0, {cpus[-1]} if is_late else set(cpus[:-1]))
            for pid in pids if is_late else []:
                os.kill(pid, signal.SIGCONT)
        begin = time.monotonic_ns()
        arrivals = run_case(torch, case, is_late)
        end = time.monotonic_ns()
        if case == "taken":
            for pid in pids if is_late else []:
                os.kill(pid, signal.SIGSTOP)
            os.sched_setaffinity(0, set(cpus))
        with open(f"{folder}/{case}-{rank}", "w") as file:
            print(*arrivals, file=file)
        torch.distributed.barrier()
        if rank == 0:
            told = [[int(word) for word in open(f"{folder}/{case}-{i}").read().split()] for i in range(size)]
            print(case, begin, end, waited_for_last(told), flush=True)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main():
    folder, ranks, pids, *cases = sys.argv[1:]
    if "RANK" in os.environ:
        return train(folder, [int(pid) for pid in pids.split(",") if pid], cases)
    started = [subprocess.Popen([sys.executable, *sys.argv],
                                env={**os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": ranks})
               for rank in range(int(ranks))]
    return max(rank.wait() for rank in started)


if __name__ == "__main__":
    sys.exit(main())
