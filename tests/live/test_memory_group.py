#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others
"""A memory control group: a program that fits into it alone also fits into it recorded."""

import os

import harness
from kernel import why_not
from support import LiveTest, manifest, program, run, wait_until

MIB = 1 << 20
LIMIT = 256 * MIB
TAKEN_MAX = 16 * MIB  # what doc/security.md says of a recording without the kernel level,
KERNEL_MAX = 8 * MIB + os.cpu_count() * 5 * MIB // 16  # and of that level


def own_group():
    """The folder of the memory group that this process is in, and the name of the limit there."""
    with open("/proc/self/cgroup") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, group in lines:
        if "memory" in controllers.split(","):
            return "/sys/fs/cgroup/memory" + group, "memory.limit_in_bytes"
    return "/sys/fs/cgroup" + "".join(group for number, _, group in lines if number == "0"), "memory.max"


class Group(LiveTest):
    def setUp(self):
        super().setUp()
        parent, limit = own_group()
        self.group = os.path.join(parent, f"millrace-test-{os.getpid()}")
        try:
            os.mkdir(self.group)
            self.addCleanup(self.remove_group)
            with open(os.path.join(self.group, limit), "w") as file:
                file.write(str(LIMIT))
        except OSError as error:
            self.skipTest(f"no memory control group can be made: {error}")

    def remove_group(self):
        def is_removed():
            try:
                os.rmdir(self.group)
            except OSError:
                return False
            return True
        self.assertTrue(wait_until(is_removed, 20), "somebody is left in the control group")

    def enter(self):
        with open(os.path.join(self.group, "cgroup.procs"), "w") as file:
            file.write("0")

    def check(self, mib, threads, levels="runtime,dataflow"):
        command = [program("fill"), str(mib), str(threads)]
        alone = run(*command, preexec_fn=self.enter)
        self.assertEqual((alone.returncode, alone.stdout), (0, f"filled {mib}\n"))
        result = self.record(*command, options=["--quiet", f"--levels={levels}"], preexec_fn=self.enter)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, alone.stdout, ""))
        self.trace = result.trace

    def test_few_threads(self):
        self.check((LIMIT - TAKEN_MAX) // MIB, 4)
        self.assertEqual(manifest(self.trace)["losses"]["events"], 0)

    def test_kernel_level(self):
        """Its rings and tables are small where a group leaves little."""
        if why_not():
            self.skipTest(why_not())
        self.check((LIMIT - TAKEN_MAX - KERNEL_MAX) // MIB, 4, "kernel,runtime,dataflow")
        self.assertEqual((manifest(self.trace)["kernel_level"]["mode"], manifest(self.trace)["losses"]["events"]), ("bpf", 0))

    def test_many_threads(self):
        """They want more packets than there is memory for: what finds none is lost, and counted."""
        self.check((LIMIT - TAKEN_MAX) // MIB - 8, 200)
        self.assertGreater(manifest(self.trace)["losses"]["by_reason"]["memory_limit"], 0)


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
