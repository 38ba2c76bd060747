# SPDX-License-Identifier: Apache-2.0
"""Python programs with one problem each, without a framework.

    plain.py CASE...      prints for each: CASE FROM_NS TO_NS COST_NS, by CLOCK_MONOTONIC

COST_NS is what the program itself measures around the place that is wrong."""

import multiprocessing
import os
import queue
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROUNDS = 20


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def compute(seconds):
    """Uses a CPU for so long, whoever else uses it."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def timed(function, *arguments):
    """How long a call took."""
    begin = now()
    function(*arguments)
    return now() - begin


# ---- input ---------------------------------------------------------------------------------------------------------

def consume(take):
    cost = 0
    for _ in range(ROUNDS):
        cost += timed(take)
        compute(0.004)
    return cost


def input_thread():
    """A loader thread that waits for something far away, one element after the other."""
    elements = queue.Queue(4)

    def load():
        for number in range(ROUNDS):
            time.sleep(0.03)
            elements.put(number)

    threading.Thread(target=load, name="loader").start()
    return consume(elements.get)


def input_condition():
    """The same by a condition and a list, and with work on a CPU instead of sleep."""
    condition, elements = threading.Condition(), []

    def load():
        for number in range(ROUNDS):
            time.sleep(0.025)
            compute(0.005)
            with condition:
                elements.append(number)
                condition.notify()

    def take():
        with condition:
            while not elements:
                condition.wait()
            elements.pop()

    threading.Thread(target=load, name="reader").start()
    return consume(take)


def load_into(pipe):
    for number in range(ROUNDS):
        time.sleep(0.03)
        pipe.send_bytes(b"x" * 1000)
    pipe.close()


def input_process():
    """A loader process, and a pipe."""
    ours, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(target=load_into, args=(theirs,))
    process.start()
    cost = consume(ours.recv_bytes)
    process.join()
    return cost


# ---- workers -------------------------------------------------------------------------------------------------------

def work_for(pipe, seconds):
    while pipe.recv():
        compute(seconds)
        pipe.send(now())


def run_processes(*seconds):
    """Processes that work side by side, each for so long; what the slowest takes longer than the others."""
    context, pipes, cost = multiprocessing.get_context("fork"), [], 0
    processes = []
    for each in seconds:
        ours, theirs = context.Pipe()
        processes.append(context.Process(target=work_for, args=(theirs, each)))
        processes[-1].start()
        pipes.append(ours)
    for _ in range(ROUNDS):
        for pipe in pipes:
            pipe.send(True)
        *others, last = sorted(pipe.recv() for pipe in pipes)
        cost += last - others[-1]
    for pipe, process in zip(pipes, processes):
        pipe.send(False)
        process.join()
    return cost


def slow_process():
    return run_processes(0.002, 0.03)


def even_processes():
    run_processes(0.01, 0.01)
    return 0


def slow_thread():
    """The same with threads, the slow one first; and it does not compute."""
    orders, results, cost = [queue.Queue() for _ in range(3)], queue.Queue(), 0

    def work(orders, seconds):
        while orders.get():
            time.sleep(seconds)
            results.put(now())

    threads = [threading.Thread(target=work, args=(order, seconds))
               for order, seconds in zip(orders, (0.03, 0.003, 0.003))]
    for thread in threads:
        thread.start()
    for _ in range(ROUNDS):
        for order in orders:
            order.put(True)
        *others, last = sorted(results.get() for _ in orders)
        cost += last - others[-1]
    for order, thread in zip(orders, threads):
        order.put(False)
        thread.join()
    return cost


def meet(*seconds):
    """Threads that meet at a barrier in each round, and the main thread waits for their end."""
    barrier, arrivals = threading.Barrier(len(seconds)), [[] for _ in seconds]

    def work(own, each):
        for _ in range(ROUNDS):
            time.sleep(each)
            own.append(now())
            barrier.wait()

    threads = [threading.Thread(target=work, args=(own, each)) for own, each in zip(arrivals, seconds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(last - before for *_, before, last in map(sorted, zip(*arrivals)))


def slow_peer():
    return meet(0.003, 0.003, 0.03)


def even_peers():
    return meet(0.02, 0.02, 0.02)


def sleep_and_say(seconds):
    time.sleep(seconds)
    return now()


def pool():
    """A pool of processes, which gets its orders through a thread of the pool."""
    with multiprocessing.get_context("fork").Pool(2) as workers:
        workers.map(sleep_and_say, [0, 0])
        begin = now()
        for _ in range(ROUNDS):
            workers.map(sleep_and_say, [0.02, 0.02], 1)
        return now() - begin


# ---- waiting for what was asked for --------------------------------------------------------------------------------

def answer(connection):
    while connection.recv(10):
        compute(0.02)
        connection.send(b"done")


def request():
    """Asks a server in another process, through a socket, and waits for its answer by poll()."""
    listening = socket.create_server(("127.0.0.1", 0))
    process = multiprocessing.get_context("fork").Process(target=lambda: answer(listening.accept()[0]))
    process.start()
    with socket.create_connection(listening.getsockname()) as connection:
        poll, cost = select.poll(), 0
        poll.register(connection, select.POLLIN)
        for _ in range(ROUNDS):
            connection.send(b"work")
            cost += timed(poll.poll)
            connection.recv(10)
            compute(0.001)
    process.join()
    return cost


def child():
    """Runs other programs, one after the other."""
    return timed(lambda: [subprocess.run(["sleep", "0.05"]) for _ in range(ROUNDS // 2)])


# ---- what is no input ----------------------------------------------------------------------------------------------

def worker():
    """A thread that is set to work in each round: the program waits for what it has asked for itself."""
    orders, results = queue.Queue(), queue.Queue()

    def work():
        while orders.get():
            time.sleep(0.02)
            results.put(True)

    thread = threading.Thread(target=work, name="worker")
    thread.start()
    cost = 0
    for _ in range(ROUNDS):
        orders.put(True)
        cost += timed(results.get)
        compute(0.002)
    orders.put(False)
    thread.join()
    return cost


def idle_worker():
    """A thread that has nothing to do for most of the time."""
    orders = queue.Queue()

    def work():
        while orders.get():
            time.sleep(0.001)

    thread = threading.Thread(target=work, name="helper")
    thread.start()
    cost = 0
    for _ in range(ROUNDS):
        cost += timed(compute, 0.02)
        orders.put(True)
    orders.put(False)
    thread.join()
    return cost


# ---- the interpreter -----------------------------------------------------------------------------------------------

def python():
    return timed(lambda: [compute(0.02) for _ in range(ROUNDS)])


def gil():
    """A thread that computes in Python keeps the others from doing so."""
    stop = False

    def count():
        while not stop:
            sum(range(1000))

    thread = threading.Thread(target=count, name="metrics")
    thread.start()
    cost = 0
    for _ in range(4 * ROUNDS):
        cost += timed(time.sleep, 0)
        compute(0.0005)
    stop = True
    thread.join()
    return cost


# ---- locks ---------------------------------------------------------------------------------------------------------

def lock():
    """A lock that another thread holds while it sleeps."""
    mutex, stop = threading.Lock(), False

    def hold():
        while not stop:
            with mutex:
                time.sleep(0.03)
            time.sleep(0.004)

    thread = threading.Thread(target=hold, name="saver")
    thread.start()
    cost = 0
    for _ in range(ROUNDS):
        cost += timed(mutex.acquire)
        time.sleep(0.006)
        mutex.release()
        compute(0.002)
    stop = True
    thread.join()
    return cost


def hold_briefly(lock, holds):
    """Takes a lock for a moment in each round, which another thread holds nearly always; that one never waits for it."""
    stop = False

    def hold():
        while not stop:
            with lock:
                holds()
            time.sleep(0.004)

    def take():
        with lock:
            pass

    thread = threading.Thread(target=hold, name="uploader")
    thread.start()
    cost = consume(take)
    stop = True
    thread.join()
    return cost


def held_lock():
    return hold_briefly(threading.Lock(), lambda: time.sleep(0.03))


def held_condition():
    """A condition is a lock, too."""
    return hold_briefly(threading.Condition(), lambda: select.select([], [], [], 0.03))


# ---- files ---------------------------------------------------------------------------------------------------------

def checkpoint():
    """Writes a file in each round, and waits until it is on the disk."""
    cost = 0
    with tempfile.NamedTemporaryFile(dir=os.environ.get("DISK", ".")) as file:
        for _ in range(ROUNDS):
            compute(0.0001)
            file.write(b"x" * 300000)
            file.flush()
            cost += timed(os.fsync, file.fileno())
    return cost


for case in sys.argv[1:]:
    begin = now()
    said, end = globals()[case](), now()
    print(case, begin, end, said, flush=True)
