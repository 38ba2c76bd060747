# SPDX-License-Identifier: Apache-2.0
"""kernel_redis.py REQUESTS FOLDER: a Redis server and its benchmark, over a socket in that folder. Prints wall and CPU
time of the requests, in seconds: CPU time of both processes, of which their start is a part too small to matter."""

import os
import resource
import subprocess
import sys
import time

requests, folder = sys.argv[1:]
address = os.path.join(folder, "redis.socket")
with open(os.devnull, "w") as nothing:
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", address, "--save", ""], stdout=nothing)
    while not os.path.exists(address):
        time.sleep(0.01)
    wall = time.perf_counter()
    subprocess.run(["redis-benchmark", "-s", address, "-n", requests, "-t", "get", "-q"], stdout=nothing, check=True)
    wall = time.perf_counter() - wall
    subprocess.run(["redis-cli", "-s", address, "shutdown", "nosave"], stdout=nothing, check=False)
    server.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(wall, used.ru_utime + used.ru_stime)
