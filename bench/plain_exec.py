# SPDX-License-Identifier: Apache-2.0
"""Executes another program with an unchanged environment: `plain_exec.py PROGRAM ARGUMENT...`. For statically linked
programs, such as valgrind's tools, millrace would remove itself from the environment; but what they run may need it."""

import ctypes
import os
import sys

EXECVE = {"x86_64": 59, "aarch64": 221}[os.uname().machine]


def strings(texts):
    return (ctypes.c_char_p * (len(texts) + 1))(*map(os.fsencode, texts), None)


variables = [f"{name}={value}" for name, value in os.environ.items()]
ctypes.CDLL(None).syscall(EXECVE, os.fsencode(sys.argv[1]), strings(sys.argv[1:]), strings(variables))
sys.exit(f"cannot execute {sys.argv[1]}")
