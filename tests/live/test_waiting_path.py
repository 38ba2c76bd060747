#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it compares how long threads ran and waited
"""Where the critical path comes back from waits, in truth: small Python programs of which it is known what must become
faster so that they do. How long they want a CPU depends on the machine and counts for nothing."""

import json
import os
import shutil
import sys

import harness
from kernel import KernelTest, skip_unless_possible
from support import MILLRACE, run

SPIN = """
import time
def spin(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(200))
"""

HEARTBEAT = SPIN + """
import threading
def beat():
    while True:
        time.sleep(0.01)
        sum(range(5000))
threading.Thread(target=beat, daemon=True).start()
spin(1)
"""

# The logging thread computes; main, which never sleeps, needs the lock that this one has.
INTERPRETER = SPIN + """
import threading
is_over = False
def log():
    while not is_over:
        sum(range(1000))
logger = threading.Thread(target=log)
logger.start()
spin(0.5)
is_over = True
logger.join()
spin(0.01)
"""

HELD = SPIN + """
import threading
lock = threading.Lock()
def hold():
    for i in range(10):
        with lock:
            time.sleep(0.05)
        spin(0.002)
holder = threading.Thread(target=hold)
holder.start()
time.sleep(0.01)
for i in range(40):
    with lock:
        spin(0.003)
holder.join()
"""

# The child computes and sends; its parent waits in the call that its argument names.
SENDER = SPIN + """
import os, select, socket, sys
listener = socket.create_server(("127.0.0.1", 0))
if os.fork() == 0:
    peer = socket.create_connection(listener.getsockname())
    for i in range(10):
        spin(0.03)
        peer.sendall(b"x")
    peer.recv(1)
    os._exit(0)
peer = listener.accept()[0]
epoll, poll = select.epoll(), select.poll()
epoll.register(peer, select.EPOLLIN)
poll.register(peer, select.POLLIN)
for i in range(10):
    {"epoll": epoll.poll, "poll": poll.poll, "select": lambda: select.select([peer], [], [])}[sys.argv[1]]()
    peer.recv(100)
spin(0.02)
peer.sendall(b"y")
os._exit(0)
"""


class WaitingPath(KernelTest):
    def shares(self, program, *arguments):
        """Time on the critical path by cause, and the culprits of each, without what was waiting for a CPU."""
        with open(self.path("program.py"), "w", encoding="utf-8") as file:
            file.write(program)
        shutil.rmtree(self.path("trace.mill"), ignore_errors=True)
        result = self.record(sys.executable, file.name, *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        path = json.loads(run(MILLRACE, "report", "--json", result.trace).stdout)["critical_path"]
        self.assertEqual(sum(row["ns"] for row in path["shares"]), path["span_ns"])
        found = {}
        for row in path["shares"]:
            if row["cause"] not in ("preempted", "wake-up", "throttled", "interrupt"):
                found[row["cause"]] = found.get(row["cause"], 0) + row["ns"]
        total = sum(found.values())
        return {cause: ns / total for cause, ns in found.items()}, path["shares"]

    def test_heartbeat(self):
        """A thread that sleeps all the time does not make the program sleep."""
        found, rows = self.shares(HEARTBEAT)
        self.assertLess(found.get("sleep", 0), 0.05, rows)
        self.assertGreater(found["cpu"], 0.8, rows)

    def test_interpreter(self):
        """Timed waits that run out every 5 ms are no sleeps but one wait for the lock of the interpreter."""
        found, rows = self.shares(INTERPRETER)
        self.assertLess(found.get("sleep", 0), 0.05, rows)
        self.assertGreater(found["gil"], 0.2, rows)

    def test_held_lock(self):
        found, rows = self.shares(HELD)
        self.assertGreater(found.get("lock", 0) + found.get("hand-over", 0) + found.get("sleep", 0), 0.3, rows)
        self.assertLess(found["cpu"], 0.7, rows)

    def test_senders(self):
        """Behind sockets of the same machine the path goes on in the process that sends."""
        for call in ("epoll", "poll", "select"):
            found, rows = self.shares(SENDER, call)
            self.assertLess(found.get("poll", 0) + found.get("network", 0), 0.2, rows)
            self.assertGreater(found["cpu"], 0.7, rows)


if __name__ == "__main__":
    skip_unless_possible()
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be preloaded")
    harness.main()
