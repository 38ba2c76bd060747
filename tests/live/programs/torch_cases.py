# SPDX-License-Identifier: Apache-2.0
"""Kinds of PyTorch programs, one after the other: torch_cases.py CASE[:ARGUMENT]... Each prints what it computed to the last
digit. An annotation stands around each, by which tests find it in the trace."""

import os
import sys
import threading

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = 4


def say(*numbers):
    """Every bit of them, in one piece: several processes may say something."""
    os.write(1, (" ".join(float(number).hex() for number in numbers) + "\n").encode())


class Squares(Dataset):
    """Items that are computed from their index, with operators."""

    def __len__(self):
        return 64

    def __getitem__(self, index):
        return (torch.arange(16, dtype=torch.float32) * (index + 1)).sin(), index % 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 32)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.rest(self.first(x))


class Block(nn.Module):
    """Of a ResNet."""

    def __init__(self, width):
        super().__init__()
        self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1, bias=False) for _ in range(2))
        self.bn1, self.bn2 = (nn.BatchNorm2d(width) for _ in range(2))

    def forward(self, x):
        return torch.relu(x + self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.layer1 = nn.Sequential(Block(8), Block(8))
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.layer1(self.stem(x)).mean((2, 3)))


def loss_of(model, x, y):
    return nn.functional.cross_entropy(model(x), y)


def train(model, batches, optimizer=None):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        say(loss.detach())
    return model


def batches(*shape, count=STEPS):
    return [(torch.randn(8, *shape), torch.randint(4, (8,))) for _ in range(count)]


def mlp():
    train(Model(), batches(16))


def cnn():
    train(ConvNet(), batches(3, 8, 8))


def transformer():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
            self.encoder = nn.TransformerEncoder(layer, 2)
            self.head = nn.Linear(16, 4)

        def forward(self, x):
            return self.head(self.encoder(x)[:, 0])

    model = Net()
    train(model, batches(6, 16), torch.optim.AdamW(model.parameters()))
    with torch.no_grad():
        say(model.eval()(torch.randn(2, 6, 16)).sum())


def loader(workers="0", context=""):
    options = {"multiprocessing_context": context} if context else {}
    train(Model(), DataLoader(Squares(), batch_size=8, num_workers=int(workers), **options))


def of_rank(rank, folder):
    """One process of a group."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(ConvNet())
    torch.manual_seed(2 + rank)
    losses = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches(3, 8, 8):
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    total = torch.stack(losses)
    torch.distributed.all_reduce(total)
    torch.distributed.barrier()
    if rank == 0:
        say(*total)
    torch.distributed.destroy_process_group()


def ddp(folder):
    torch.multiprocessing.spawn(of_rank, (folder,), nprocs=2)


def compiled(backend="aot_eager"):
    """With a break of the graph, and a shape that makes it compile again."""
    model = Model()

    def step(x, y):
        loss = loss_of(model, x, y)
        if loss.item() > 1e9:
            return loss * 2
        return loss + x.mean()

    fast = torch.compile(step, backend=backend)
    for size in (8, 8, 8, 12, 12):
        fast(torch.randn(size, 16), torch.randint(4, (size,))).backward()
    say(*(parameter.grad.sum() for parameter in model.parameters()))


class Refuses(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x * 2

    @staticmethod
    def backward(context, gradient):
        gradient.sum()
        raise ValueError("backward refuses")


def exceptions():
    """From an operator, from backward, and through annotations."""
    x = torch.randn(4, 4, requires_grad=True)
    for fail in (lambda: x @ torch.randn(3, 3), lambda: Refuses.apply(x).sum().backward(),
                 lambda: nn.Linear(3, 3)(x), lambda: torch.empty(-1)):
        try:
            with torch.autograd.profiler.record_function("tries"):
                fail()
        except (RuntimeError, ValueError) as error:
            os.write(1, type(error).__name__.encode() + b"\n")

def uncaught():
    mlp()
    torch.randn(2, 3) @ torch.randn(2, 3)


def leave():
    """Inside of an operator's backward function, with os._exit()."""
    class Leaves(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x + 1

        @staticmethod
        def backward(context, gradient):
            say(gradient.sum())
            os._exit(3)

    mlp()
    Leaves.apply(torch.ones(3, requires_grad=True)).sum().backward()


def fork():
    """Both sides go on; the child is forked inside of an annotation."""
    torch.set_num_threads(1)
    with torch.autograd.profiler.record_function("around the fork"):
        child = os.fork()
        say(torch.arange(10.0).sum())
    if child == 0:
        mlp()
        os._exit(5)
    status = os.waitpid(child, 0)[1]
    mlp()
    say(os.waitstatus_to_exitcode(status))


def threads():
    """Forward and backward, on several threads."""
    results = {}

    def work(number):
        generator = torch.Generator().manual_seed(number)
        x = torch.randn(16, 16, generator=generator, requires_grad=True)
        for _ in range(5):
            (x @ x).tanh().sum().backward()
        results[number] = x.grad.sum()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    say(*(results[number] for number in sorted(results)))


def jit():
    @torch.jit.script
    def piece(x):
        return x.tanh() + 1

    @torch.jit.script
    def whole(x):
        future = torch.jit.fork(piece, x)
        return torch.jit.wait(future) * piece(x)

    x = torch.randn(4, 4, requires_grad=True)
    for _ in range(4):
        whole(x).sum().backward()
    traced = torch.jit.trace(Model(), torch.randn(2, 16))
    say(x.grad.sum(), traced(torch.ones(2, 16)).sum())


def profiled(path, order):
    """With a profiler of its own, of which it writes what it saw."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if order == "late":
        mlp()
    with torch.profiler.profile(activities=activities, record_shapes=True) as profiler:
        with torch.profiler.record_function("mine"):
            mlp()
        threads()
    profiler.export_chrome_trace(path)
    say(torch.ones(3).sum())


def marked():
    """Steps that the program's profiler counts."""
    model, optimizer = Model(), None
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    schedule = torch.profiler.schedule(wait=0, warmup=1, active=STEPS)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule) as profiler:
        for x, y in batches(16, count=STEPS + 1):
            loss = loss_of(model, x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            profiler.step()
            say(loss.detach())


def sync():
    """Asks for a number after each step."""
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in batches(16, count=20):
        optimizer.zero_grad()
        loss = loss_of(model, x, y)
        loss.backward()
        optimizer.step()
        say(loss.item())


if __name__ == "__main__":
    torch.set_num_threads(2)
    for argument in sys.argv[1:]:
        case, *arguments = argument.split(":")
        torch.manual_seed(1)
        if case == "profiled":  # its profiler comes first
            profiled(*arguments)
            continue
        with torch.autograd.profiler.record_function(f"case {argument}"):
            globals()[case](*arguments)
