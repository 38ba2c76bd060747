# SPDX-License-Identifier: Apache-2.0
"""Threads with names of all kinds, and one that holds the interpreter's lock: argument 1 gets {tid: name} as the program
itself says."""

import concurrent.futures
import json
import sys
import threading
import time


class Many(threading.Thread):
    """More attributes than instances of a class share, and its dictionary is asked for."""

    def __init__(self, **options):
        for i in range(40):
            setattr(self, f"attribute_{i}", i)
        super().__init__(**options)
        assert self.__dict__["attribute_7"] == 7


def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(100))


def deep(depth):
    if depth:
        deep(depth - 1)
    else:
        done.wait()


def rename():
    threading.current_thread().name = "first"
    time.sleep(0.2)
    threading.current_thread().name = "renamed"
    done.wait()


done = threading.Event()
threads = [
    threading.Thread(target=spin, args=(0.5,), name="metrics"),
    threading.Thread(target=done.wait, name="Grüße 日本"),
    threading.Thread(target=deep, args=(300,), name="deep"),
    threading.Thread(target=rename),
    Many(target=done.wait, name="many"),
]
for thread in threads:
    thread.start()
expected = {}
with concurrent.futures.ThreadPoolExecutor(1, "pool") as pool:
    expected[pool.submit(threading.get_native_id).result()] = "pool_0"
    end = time.monotonic() + 1.5  # names are read again every half second
    while time.monotonic() < end:
        spin(0.01)
    expected.update({thread.native_id: thread.name for thread in threads})
    done.set()
for thread in threads:
    thread.join()
with open(sys.argv[1], "w") as file:
    json.dump(expected, file)
