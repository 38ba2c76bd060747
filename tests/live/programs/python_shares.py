# SPDX-License-Identifier: Apache-2.0
"""Spends known shares of its CPU time in known lines, and writes how much it spent in each:

    python_shares.py SECONDS OUTPUT [THREADS]"""

import json
import sys
import threading
import time

SLICES = [("first", 5), ("second", 3), ("third", 2)]  # function, milliseconds a round
spent = {}
lock = threading.Lock()


def first(end):
    while time.thread_time() < end: pass


def second(end):
    while time.thread_time() < end: pass


def third(end):
    [None for _ in iter(lambda: time.thread_time() < end, False)]


def work(seconds):
    mine = {}
    stop = time.thread_time() + seconds
    while time.thread_time() < stop:
        for name, milliseconds in SLICES:
            begin = time.thread_time()
            globals()[name](begin + milliseconds / 1000)
            mine[name] = mine.get(name, 0) + time.thread_time() - begin
    with lock:
        for name, time_spent in mine.items():
            spent[name] = spent.get(name, 0) + time_spent


def main():
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seconds = float(sys.argv[1]) / count
    threads = [threading.Thread(target=work, args=[seconds]) for _ in range(count - 1)]
    for thread in threads:
        thread.start()
    work(seconds)
    for thread in threads:
        thread.join()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump(spent, file)


main()
