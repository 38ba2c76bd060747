# SPDX-License-Identifier: Apache-2.0
"""tensorflow_cases.py in a process that is killed for system calls which TensorFlow does not make: those by which
one could look at memory, or talk to other processes. The numbers are those of x86-64 and aarch64."""

import ctypes
import os
import platform
import runpy
import struct
import sys

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
KILL, ALLOW = 0x80000000, 0x7fff0000
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
# mincore, msync, ptrace, process_vm_readv and _writev, memfd_create, userfaultfd
NUMBERS = {"x86_64": (27, 26, 101, 310, 311, 319, 323), "aarch64": (232, 227, 117, 270, 271, 279, 282)}


def forbid(numbers):
    program = [struct.pack("=HBBI", LOAD, 0, 0, 0)]
    for number in numbers:
        program += [struct.pack("=HBBI", JUMP_IF_EQUAL, 0, 1, number), struct.pack("=HBBI", RETURN, 0, 0, KILL)]
    program.append(struct.pack("=HBBI", RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b"".join(program))
    filters = struct.pack("@HP", len(program), ctypes.addressof(code))
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, MODE_FILTER, filters):
        sys.exit("cannot make a sandbox")


if __name__ == "__main__":
    forbid(NUMBERS[platform.machine()])
    runpy.run_path(os.path.join(os.path.dirname(__file__), "tensorflow_cases.py"), run_name="__main__")
