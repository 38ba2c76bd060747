#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: it measures again where record could not keep up
"""Programs under limits, in namespaces, without descriptors, killed, daemonised: each ends under `record` exactly as it
does alone, with the same output and the same files. Each row of SITUATIONS is one test."""

import os
import pathlib
import shutil
import subprocess
import sys

import harness
from hostile import PROGRAMS, HostileTest, build, lost_events, prepare, remove
from support import run

IS_ROOT = os.geteuid() == 0
PYTHON = os.path.realpath(sys.executable)
LINKER = "/lib64/ld-linux-x86-64.so.2" if os.uname().machine == "x86_64" else "/lib/ld-linux-aarch64.so.1"
NOBODY = "setpriv --reuid=65534 --regid=65534 --clear-groups"
ODD = ("title", "no_arguments", "stack_overflow", "execute_in_thread", "aborts", "ignored_children", "by_signalfd",
       "stopped_child", "other_namespace", "chain_of_forks")

# Shell commands, run in an empty folder, whose files are compared, too. "root: " needs root.
SITUATIONS = {
    # limits
    "limit_of_address_space": "ulimit -v 400000; $PYTHON -c 'print(len(bytearray(50 << 20)))'",
    "no_address_space": "ulimit -v 200000; $PYTHON -c 'bytearray(400 << 20)' 2>&1 | tail -n 1",
    "limit_of_data": "ulimit -d 100000; $PYTHON -c 'bytearray(400 << 20)' 2>&1 | tail -n 1",
    "small_main_stack": "ulimit -s 128; hello again; sh -c 'hello again; exit $?'",
    "few_descriptors": "ulimit -n 4; hello again",
    "three_descriptors": "ulimit -n 3; hello again; echo $?",
    "file_size": "ulimit -f 1; head -c 100000 /dev/zero >file; echo $?",
    "file_size_none": "ulimit -f 0; hello again; hello again >file; echo $?",
    "cpu_time": "ulimit -t 1; while :; do :; done",
    "no_core": "ulimit -c 0; sh -c 'kill -SEGV $$'; echo $?",
    "locked_memory": "ulimit -l 1024; $PYTHON -c 'import ctypes; print(ctypes.CDLL(None).mlockall(1))'",
    "all_memory_locked": "root: $PYTHON -c 'import ctypes; l = ctypes.CDLL(None); print(l.mlockall(3)); "
                         "import subprocess; print(subprocess.run([\"hello\"]).returncode)'",
    "few_processes": f"root: {NOBODY} sh -c 'ulimit -u 1; (echo child); echo $?' 2>&1",
    # users and namespaces
    "another_user": f"root: {NOBODY} hello again; {NOBODY} id -u",
    "no_new_privileges": "setpriv --no-new-privs hello again",
    "no_capabilities": "root: setpriv --bounding-set=-all --inh-caps=-all hello again",
    "user_namespace": "unshare -U -r sh -c 'id -u; hello again'",
    "pid_namespace": "root: unshare -p -f --mount-proc sh -c 'echo $$; hello again; (hello again)'",
    "pid_namespace_bare": "root: unshare -p -f sh -c 'echo $$; hello again'",
    "mount_namespace": "root: unshare -m hello again",
    "network_namespace": "root: unshare -n hello again",
    "other_namespaces": "root: unshare -i -u hello again",
    "new_root": "root: chroot / hello again",
    "empty_root": "root: mkdir root; chroot root /hello; echo $?",
    "no_proc": "root: unshare -m sh -c 'umount -l /proc; hello again; (hello again); sh -c \"hello again\"'",
    "no_shared_memory": "root: unshare -m sh -c 'mount -t tmpfs none /dev; hello again; sh -c \"hello again\"' 2>&1",
    "read_only_shared_memory": "root: unshare -m sh -c 'mount -o remount,ro /dev/shm; hello again; sh -c \"hello again\"'",
    "other_shared_memory": "root: unshare -m sh -c 'mount -t tmpfs none /dev/shm; hello again; sh -c \"hello again\"'",
    # descriptors
    "closed_input": "hello again <&-; cat <&-; echo $?",
    "closed_output": "hello again >&-; echo $?",
    "closed_errors": "hello again 2>&-; ls /no/such/file 2>&-; echo $?",
    "closed_all": "hello again <&- >&- 2>&-; echo $?",
    "full_disk": "echo much >/dev/full; echo $?",
    "descriptors_replaced": "$PYTHON -c 'import os\nfor i in range(3, 200): os.dup2(1, i)\nos.execvp(\"hello\", [\"hello\"])'",
    "everything_closed": "$PYTHON -c 'import os\nos.closerange(3, 1000)\nos.execvp(\"hello\", [\"hello\"])'",
    "broken_pipe": "yes | head -n 1; seq 100000 | head -n 1",
    # ends
    "killed": "kill -KILL $$",
    "terminated": "kill -TERM $$",
    "status_of_children": "sh -c 'exit 7'; echo $?; sh -c 'kill -INT $$'; echo $?",
    "timeout": "timeout 0.2 sleep 10; echo $?",
    "timeout_kill": "timeout -s KILL 0.2 sleep 10; echo $?",
    "nohup": "nohup hello again 2>&1 | cat",
    "stopped_and_continued": "sleep 0.3 & kill -STOP $!; kill -CONT $!; wait $!; echo $?",
    "orphan": "(sleep 0.2; echo late >file) & sleep 0.5; cat file",
    "daemon": "setsid sh -c '(sleep 0.1; echo daemon >file) &' </dev/null >/dev/null 2>&1; sleep 0.5; cat file",
    "new_session": "setsid -w hello again; echo $?",
    "trap_at_exit": "trap 'echo bye' EXIT; trap 'echo no; exit 3' TERM; kill -TERM $$",
    # programs and environments
    "by_the_linker": f"{LINKER} {PROGRAMS}/hello again",
    "by_the_linker_with_preload": f"{LINKER} --preload {PROGRAMS}/library.so {PROGRAMS}/hello again",
    "audited": f"LD_AUDIT={PROGRAMS}/audit.so hello again",
    "bound_now": "LD_BIND_NOW=1 hello again",
    "missing_preload": "LD_PRELOAD=/no/such/library.so hello again 2>&1 | grep -c no/such",
    "script": "printf '#!/bin/sh\\necho script $1\\nexit 5\\n' >script; chmod +x script; ./script again; echo $?",
    "script_of_script": "printf '#!/bin/sh\\necho $@\\n' >one; printf '#!./one x\\n' >two; chmod +x one two; ./two again",
    "script_without_interpreter": "printf '#!/no/such\\n' >script; chmod +x script; ./script 2>/dev/null; echo $?",
    "deleted_program": f"cp {PROGRAMS}/hello own; $PYTHON -c 'import os\nf = os.open(\"own\", os.O_RDONLY)\n"
                       "os.unlink(\"own\")\nos.execve(f, [\"own\", \"again\"], dict(os.environ))'",
    "program_in_memory": f"$PYTHON -c 'import os\nf = os.memfd_create(\"x\", 0)\n"
                         f"os.write(f, open(\"{PROGRAMS}/hello\", \"rb\").read())\n"
                         "os.execve(f, [\"own\", \"again\"], dict(os.environ))'",
    "spawned_with_attributes": f"$PYTHON -c 'import os\np = os.posix_spawn(\"{PROGRAMS}/hello\", [\"hello\"], os.environ, "
                               "setpgroup=0, setsigmask=[1, 2], setsigdef=[15], "
                               "file_actions=[(os.POSIX_SPAWN_CLOSE, 0)])\nprint(os.waitpid(p, 0)[1])'",
    "huge_variable": "export LARGE=$(head -c 100000 /dev/zero | tr '\\0' x); hello again; sh -c 'echo ${#LARGE}'",
    "environment_too_large": "export A=$(head -c 131072 /dev/zero | tr '\\0' x); hello again; echo $?",
    "empty_environment": f"env -i {PROGRAMS}/hello again",
    "capable_program": f"root: cp {PROGRAMS}/hello own; setcap cap_net_raw+ep own; {NOBODY} ./own again; ./own again",
    "setgid_program": f"root: cp {PROGRAMS}/hello own; chgrp 65534 own; chmod 2755 own; ./own again",
    "not_readable": f"root: cp {PROGRAMS}/hello own; chmod 111 own; {NOBODY} ./own again",
    "traced_by_strace": "strace -f -o /dev/null hello again; echo $?",
    "debugged": f"gdb -nx -q -batch -ex run -ex 'print $_exitcode' {PROGRAMS}/hello 2>/dev/null | tail -n 1",
    "by_xargs": "seq 20 | xargs -P 4 -n 1 hello | sort",
    "by_make": "printf 'all: a b c\\na b c:\\n\\t@echo $@ >$@\\n' >Makefile; make -s -j 2; cat a b c",
    "compiled": "echo 'int main(void) { return 3; }' >x.c; cc -o x x.c; ./x; echo $?; rm x",
    "many_children": "for i in $(seq 100); do (exit $i) & done; wait; echo $?",
}


def setUpModule():
    prepare("odd", "hello")
    build("library.c", "library.so", "-shared", "-fPIC")
    audit = PROGRAMS / "audit.c"
    audit.write_text("unsigned la_version(unsigned version) { return version; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", PROGRAMS / "audit.so", audit], check=True)


def tearDownModule():
    remove()


def contents(folder):
    return {path.name: path.read_bytes() if path.is_file() else None
            for path in sorted(pathlib.Path(folder).iterdir())}


class Situations(HostileTest):
    def run_in(self, folder, *command):
        os.mkdir(folder)
        os.chmod(self.folder, 0o755)
        environment = {"PATH": f"{PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "PYTHON": PYTHON}
        result = run(*command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, timeout=100)
        return {"status": result.returncode, "output": result.stdout, "errors": result.stderr,
                "files": contents(folder)}

    def compare(self, command):
        alone = self.run_in(self.path("alone"), "sh", "-c", command)
        recorded = self.run_in(self.path("recorded"), os.environ["MILLRACE"], "record", "--quiet",
                               "--levels=runtime,dataflow", "-o", self.path("trace.mill"), "--", "sh", "-c", command)
        self.assertEqual(recorded, alone)

    def test_time_stamp_counter_forbidden(self):
        """Reading it would kill the program: events that come afterwards are lost."""
        self.run_both("odd", "without_counter")
        self.assertGreater(lost_events(self.trace), 0)


def needed_tools(command):
    return [tool for tool in ("setpriv", "unshare", "strace", "gdb", "setcap", "make", "cc") if f"{tool} " in command]


def add_situation(name, command):
    needs_root = command.startswith("root: ")
    command = command.removeprefix("root: ")

    def test(self):
        missing = [tool for tool in needed_tools(command) if not shutil.which(tool)]
        if missing:
            self.skipTest(f"there is no {missing[0]}")
        if needs_root and not IS_ROOT:
            self.skipTest("needs root")
        self.compare(command)
    setattr(Situations, f"test_{name}", test)


def add_odd(name):
    def test(self):
        self.check("odd", name, HELLO=str(PROGRAMS / "hello"))
    setattr(Situations, f"test_{name}", test)


for each, line in SITUATIONS.items():
    add_situation(each, line)
for each in ODD:
    add_odd(each)


if __name__ == "__main__":
    if os.environ.get("SANITIZED"):
        harness.skip("a library built with a sanitizer cannot be preloaded")
    harness.main()
