# SPDX-License-Identifier: Apache-2.0
"""Reads every file of a folder; prints wall and CPU time of that, in seconds."""

import os
import sys
import time

folder = sys.argv[1]
names = [os.path.join(folder, name) for name in os.listdir(folder)]
wall, cpu = time.perf_counter(), time.process_time()
for name in names:
    with open(name, "rb") as file:
        file.read()
print(time.perf_counter() - wall, time.process_time() - cpu)
