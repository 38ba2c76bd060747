# SPDX-License-Identifier: Apache-2.0
"""With this folder in PYTHONPATH, Python programs end when their other threads have come to rest.

On a busy machine a thread of TensorFlow that has executed the last operation may stand still before it leaves the
executor. If the program ends meanwhile, it never tells what it worked for."""

import atexit
import os
import re
import threading
import time

STATUS = re.compile(r"^State:\s*(\w).*^voluntary_ctxt_switches:\s*(\d+)", re.M | re.S)


def look():
    """Of each other thread its state, and how often it has gone to sleep."""
    found = {}
    for tid in set(map(int, os.listdir("/proc/self/task"))) - {threading.get_native_id()}:
        try:
            with open(f"/proc/self/task/{tid}/status") as file:
                status = STATUS.search(file.read())
        except OSError:
            continue  # it has ended
        if status:
            found[tid] = status.groups()
    return found


def settle(seconds=30):
    """Returns when all other threads sleep, and have not done anything else since the look before."""
    before, now, end = {}, look(), time.monotonic() + seconds
    while (now != before or {state for state, _ in now.values()} - {"S"}) and time.monotonic() < end:
        time.sleep(0.001)
        before, now = now, look()


atexit.register(settle)
