# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch steps on request: `torch_work.py KIND STEPS [profile]`. Prints `ready` when warm. For each line that it reads,
it runs STEPS steps and prints the CPU seconds per step. With `profile`, the steps run under torch.profiler, without what it
takes to export its trace."""

import contextlib
import sys
import time

import torch
from torch import nn

WARM_STEPS = 50
SIZES = {"small": (32, 32), "large": (256, 256)}  # batch and width


def make_step(batch, width):
    """Of a network of three layers, with SGD."""
    model = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(batch, width), torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def main():
    kind, steps, is_profiled = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["profile"]
    torch.set_num_threads(1)
    torch.manual_seed(1)
    step = make_step(*SIZES[kind])
    for _ in range(WARM_STEPS):
        step()
    print("ready", flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        with profiler if is_profiled else contextlib.nullcontext():
            for _ in range(steps):
                step()
        print((time.process_time() - start) / steps, flush=True)


if __name__ == "__main__":
    main()
