# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the kernel level and privileges: a copy of millrace that everybody may run, other users, and
system calls that are refused."""

import ctypes
import os
import pwd
import shutil
import struct

from support import BUILD, LiveTest, manifest

IS_ROOT = os.geteuid() == 0
NOBODY = pwd.getpwnam("nobody")
SECCOMP_NUMBERS = {"bpf": 321, "perf_event_open": 298, "process_vm_readv": 310} \
    if os.uname().machine == "x86_64" else {"bpf": 280, "perf_event_open": 241, "process_vm_readv": 270}


def refuse(error, *calls):
    """A preexec_fn: these system calls fail from now on."""
    def install():
        libc = ctypes.CDLL(None, use_errno=True)
        filters = [(0x20, 0, 0, 0)]  # load the number
        for i, call in enumerate(calls):
            filters.append((0x15, len(calls) - i, 0, SECCOMP_NUMBERS[call]))
        filters += [(0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, 0x00050000 | error)]  # allow; refuse
        code = b"".join(struct.pack("HBBI", *each) for each in filters)
        buffer = ctypes.create_string_buffer(code, len(code))
        rules = struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(buffer))
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.c_char_p(rules), 0, 0) != 0:
            os._exit(99)
    return install


def without_privilege(*command, uid=NOBODY.pw_uid):
    if not IS_ROOT:
        return list(command)
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", *command]


def capabilities_of(pid):
    """Of each thread of a process: the sets that it may use or pass on, and the user ids."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/status") as file:
            status = dict(line.rstrip("\n").split(":\t", 1) for line in file)
        sets = [int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")]
        found.append((sets, set(status["Uid"].split()), set(status["Gid"].split())))
    return found


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


class PrivilegeTest(LiveTest):
    """Has a folder that everybody may enter, with a copy of millrace in it."""

    def setUp(self):
        super().setUp()
        os.chmod(self.folder, 0o755)
        os.mkdir(self.path("bin"))
        for name in "millrace", "libmillrace.so":
            shutil.copy(os.path.join(BUILD, name), self.path("bin"))
        self.millrace = self.path("bin/millrace")
        os.mkdir(self.path("home"))
        if IS_ROOT:
            os.chown(self.path("home"), NOBODY.pw_uid, NOBODY.pw_gid)
        self.trace = self.path("home/trace.mill")

    def kernel_level(self):
        return manifest(self.trace)["kernel_level"]

    def check_mode(self, mode, reason=None):
        level = self.kernel_level()
        self.assertEqual(level["mode"], mode, level["reason"])
        if reason is None:
            self.assertIsNone(level["reason"])
        else:
            self.assertRegex(level["reason"], reason)
        self.assertEqual("kernel" in manifest(self.trace)["levels"], mode != "off")
