#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the kernel level does not tell a user: files and addresses of programs that have rights which he does not have."""

import os
import shutil
import subprocess
import unittest

import harness
from kernel import why_not
from privilege import IS_ROOT, NOBODY, PrivilegeTest, without_privilege
from support import dump, run

PYTHON = "/usr/bin/python3"  # which everybody may execute


@unittest.skipUnless(IS_ROOT and not why_not() and shutil.which("setcap"), why_not() or "needs root and setcap")
class Guarded(PrivilegeTest):
    """What a user may not see of programs that have more rights than he has is not in his trace."""

    def setUp(self):
        super().setUp()
        subprocess.run(["setcap", "cap_bpf,cap_perfmon+ep", self.millrace], check=True)
        os.mkdir(self.path("closed"), 0o700)
        with open(self.path("closed/hidden-name"), "w") as file:
            file.write("text\n")
        os.symlink(self.path("closed/hidden-name"), self.path("link"))
        shutil.copy("/bin/cat", self.path("setuid-cat"))
        os.chmod(self.path("setuid-cat"), 0o4755)
        with open(self.path("open-name"), "w") as file:
            file.write("text\n")
        os.symlink(self.path("open-name"), self.path("open-link"))

    def record_for_user(self, *command):
        result = run(*without_privilege(self.millrace, "record", "-o", self.trace, "--syscalls=all", "--", *command))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check_mode("bpf")
        return result

    def paths(self):
        return {event["fields"]["path"] for event in dump(self.trace) if event["event"] == "def_file"}

    def calls_of(self, name):
        """All system calls of the program of that name."""
        events = dump(self.trace)
        tid = next(event["fields"]["tid"] for event in events
                   if event["event"] == "kernel_exec" and name in event["fields"]["command"].split()[0])
        return [event["fields"] for event in events
                if event["event"].startswith("kernel_syscall") and event["fields"]["tid"] == tid]

    def test_setuid(self):
        result = self.record_for_user(self.path("setuid-cat"), self.path("link"), self.path("open-link"))
        if result.stdout != "text\ntext\n":
            self.skipTest("setuid has no effect here")
        self.assertEqual(self.kernel_level()["guarded_threads"], 1)
        self.assertFalse({self.path("closed/hidden-name"), self.path("open-name")} & self.paths())
        calls = self.calls_of("setuid-cat")
        self.assertGreater(len(calls), 20)
        for call in calls[1:]:  # the first is the user's execve
            self.assertEqual((call.get("file", 0), call.get("argument", 0)), (0, 0))
            self.assertLessEqual(call.get("result", 0), 1 << 20)  # no address
        for folder, _, names in os.walk(self.trace):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(b"hidden-name", file.read())
        self.assertRegex(run(self.millrace, "info", self.trace).stdout, r"1\s+thread\s+had\s+rights")

    def test_own_programs(self):
        """With as many rights as he has: everything is there; also as root of a user namespace of his own."""
        self.record_for_user("cat", self.path("open-link"))
        self.assertEqual(self.kernel_level()["guarded_threads"], 0)
        self.assertIn(self.path("open-name"), self.paths())
        if run(*without_privilege("unshare", "-r", "true")).returncode != 0:
            self.skipTest("users may not make user namespaces here")
        shutil.rmtree(self.trace)
        self.record_for_user("unshare", "-r", "cat", self.path("open-link"))
        self.assertEqual(self.kernel_level()["guarded_threads"], 0)
        self.assertIn(self.path("open-name"), self.paths())

    def test_undumpable(self):
        """A program that says that nobody may look into it."""
        code = f"import ctypes; ctypes.CDLL(None).prctl(4, 0); open({self.path('open-link')!r}).read()"
        self.record_for_user(PYTHON, "-c", code)
        self.assertEqual(self.kernel_level()["guarded_threads"], 1)
        self.assertNotIn(self.path("open-name"), self.paths())

    def test_sudo(self):
        """The trace is the user's, although root made it."""
        environment = {**os.environ, "SUDO_UID": str(NOBODY.pw_uid), "SUDO_GID": str(NOBODY.pw_gid)}
        result = run(self.millrace, "record", "-o", self.trace, "--", self.path("setuid-cat"), self.path("link"),
                     env=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn(self.path("closed/hidden-name"), self.paths())

    def test_root(self):
        """Root sees everything, whoever does it."""
        result = run(self.millrace, "record", "-o", self.trace, "--",
                     *without_privilege(self.path("setuid-cat"), self.path("link")))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.kernel_level()["guarded_threads"], 0)
        self.assertIn(self.path("closed/hidden-name"), self.paths())


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
