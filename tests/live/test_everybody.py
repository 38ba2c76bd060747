#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others
"""Programs that harm tracers, recorded by everybody who may record: root, a user, a user whose millrace has capabilities,
root of a user namespace. Each ends as it does alone, with the same output. (What each situation is about:
test_executed.py, test_confined.py, test_jumps.py, test_trust.py.)"""

import os
import shutil
import unittest

import harness
from hostile import PROGRAMS, calls_of, prepare, remove
from privilege import IS_ROOT, PrivilegeTest, without_privilege
from support import manifest, run

SITUATIONS = (("pointers",), ("sharing", "clones_execute"), ("sharing", "clones_fail"), ("sharing", "handler_in_vfork"),
              ("jumps", "out_of_everything"), ("jumps", "out_of_definitions"), ("confined", "strict", "events", "kill"))
PYTHON = "/usr/bin/python3"  # which everybody may execute
CONFINED = ("events", "thread", "child", "execute", "spawn")  # with filters that allow what the program alone needs

# Puts other paths into all memory that it shares with others, then executes programs with an empty environment.
FORGER = """
import os, re
path = os.environ.get("MILLRACE_ARENA")
content = open(path, "rb").read() if path else b""
for name in (os.environ.get("LD_PRELOAD"), path) if path else ():
    for found in re.finditer(re.escape(name.encode()), content):
        with open(path, "r+b") as file:
            file.seek(found.start())
            file.write(b"/tmp/forged".ljust(len(name), b"x"))
os.execv("/bin/sh", ["sh", "-c", "env -i env; env -i /bin/sh -c env"])
"""


def setUpModule():
    prepare("pointers", "sharing", "jumps", "confined", "hello")


def tearDownModule():
    remove()


class Everybody(PrivilegeTest):
    def run_as(self, as_user, *command, **more):
        environment = {"PATH": f"{PROGRAMS}:/usr/bin:/bin", "LC_ALL": "C", "HELLO": str(PROGRAMS / "hello"),
                       "EMITTED_FILE": self.path("home/emitted"), **more}
        return run(*as_user(*command), env=environment, cwd=self.path("home"), timeout=400)

    def record_as(self, as_user, *command, **more):
        result = self.run_as(as_user, self.millrace, "record", "--quiet", "-o", self.trace, "--", *command, **more)
        self.assertIn(manifest(self.trace)["state"], ("complete", "stopped"))
        shutil.rmtree(self.trace)
        return result

    def compare(self, as_user, *command, **more):
        with self.subTest(command):
            alone = self.run_as(as_user, *command, **more)
            recorded = self.record_as(as_user, *command, **more)
            self.assertEqual((recorded.returncode, recorded.stdout, recorded.stderr),
                             (alone.returncode, alone.stdout, alone.stderr))

    def check_all(self, as_user):
        for command in SITUATIONS:
            self.compare(as_user, *command)
        for action in CONFINED:
            self.compare(as_user, "confined", "prctl", action, "kill",
                         ALLOWED=calls_of(action, str(PROGRAMS / "hello")))
        forged = self.record_as(as_user, PYTHON, "-c", FORGER).stdout
        self.assertEqual(forged.count(f"LD_PRELOAD={self.path('bin/libmillrace.so')}\n"), 2, forged)
        self.assertNotIn("forged", forged)

    @unittest.skipUnless(IS_ROOT, "needs root")
    def test_root(self):
        self.check_all(lambda *command: list(command))

    def test_user(self):
        self.check_all(without_privilege)

    @unittest.skipUnless(IS_ROOT, "needs root, to set capabilities of a file")
    def test_user_with_setcap(self):
        result = run("setcap", "cap_bpf,cap_perfmon+ep", self.millrace)
        if result.returncode != 0:
            self.skipTest("setcap: " + result.stderr.strip())
        self.check_all(without_privilege)

    def test_user_namespace(self):
        def as_user(*command):
            return without_privilege("unshare", "-Ur", *command)
        result = run(*as_user("true"))
        if result.returncode != 0:
            self.skipTest("unshare: " + result.stderr.strip())
        self.check_all(as_user)


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    if not shutil.which("strace"):
        harness.skip("strace is needed")
    harness.main()
