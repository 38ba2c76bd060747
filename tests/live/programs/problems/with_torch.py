# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs with one problem each, as users write them.

    with_torch.py CASE...      prints for each: CASE FROM_NS TO_NS COST_NS, by CLOCK_MONOTONIC

COST_NS is what the program itself measures around the place that is wrong. Each case warms up before it counts."""

import os
import sys
import tempfile
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WIDTH = 128
ROUNDS = 25
BATCH = 8
REST = bytes(16 << 20)  # of a checkpoint, beside the small model


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


class Slow(Dataset):
    """Each item takes a while."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __len__(self):
        return ROUNDS * BATCH

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.ones(WIDTH), index % 4


class Few(Slow):
    """One batch."""

    def __init__(self):
        super().__init__(0)

    def __len__(self):
        return BATCH


class Trainer:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for _ in range(5):
            self.step(torch.ones(BATCH, WIDTH), torch.zeros(BATCH, dtype=torch.int64))

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss


def consume(loader):
    """What it costs is what the loop waits for the next batch."""
    trainer = Trainer()
    iterator = iter(loader)
    trainer.step(*next(iterator))
    begin, cost = now(), 0
    while True:
        called = now()
        batch = next(iterator, None)
        cost += now() - called
        if batch is None:
            return begin, cost
        trainer.step(*batch)


def loader():
    return consume(DataLoader(Slow(0.003), batch_size=BATCH))


def workers():
    """One worker that is too slow."""
    return consume(DataLoader(Slow(0.003), batch_size=BATCH, num_workers=1))


def again():
    """A loader with a process of its own for each few inputs."""
    trainer, cost = Trainer(), 0
    trainer.step(torch.ones(BATCH, WIDTH), torch.zeros(BATCH, dtype=torch.int64))
    begin = now()
    for _ in range(ROUNDS // 2):
        called = now()
        (batch,) = DataLoader(Few(), batch_size=BATCH, num_workers=1)
        cost += now() - called
        trainer.step(*batch)
    return begin, cost


def rounds(work):
    """What it costs is what else the loop does."""
    trainer = Trainer()
    x, y = torch.ones(BATCH, WIDTH), torch.zeros(BATCH, dtype=torch.int64)
    begin, cost = now(), 0
    for _ in range(ROUNDS):
        trainer.step(x, y)
        called = now()
        work(trainer)
        cost += now() - called
    return begin, cost


def python():
    return rounds(lambda trainer: compute(0.02))


def save():
    with tempfile.TemporaryDirectory(dir=os.environ.get("DISK")) as folder:
        def write(trainer):
            with open(os.path.join(folder, "checkpoint.pt"), "wb") as file:
                file.write(REST)
                torch.save(trainer.model.state_dict(), file)
                file.flush()
                os.fsync(file.fileno())

        return rounds(write)


def steady():
    """No problem: most of the time is computing."""
    trainer = Trainer()
    product = torch.randn(768, 768)
    begin = now()
    for _ in range(ROUNDS):
        trainer.step(torch.ones(BATCH, WIDTH), torch.zeros(BATCH, dtype=torch.int64))
        product = (product @ product).tanh()
    return begin, 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    for case in sys.argv[1:]:
        begin, cost = globals()[case]()
        print(case, begin, now(), cost, flush=True)
