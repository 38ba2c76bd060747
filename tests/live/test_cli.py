#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: messages, exit statuses, help, completion."""

import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

MILLRACE = os.environ["MILLRACE"]
ROOT = pathlib.Path(os.environ["SOURCE_DIR"])


def run(*arguments, **keywords):
    return subprocess.run([MILLRACE, *arguments], capture_output=True, text=True, timeout=60,
                          **keywords)


def run_on_terminal(*arguments, **environment):
    """What the program prints when its output is a terminal."""
    primary, secondary = pty.openpty()
    child = subprocess.Popen([MILLRACE, *arguments], stdout=secondary, stderr=secondary,
                             env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
    os.close(secondary)
    output = b""
    try:
        while chunk := os.read(primary, 65536):
            output += chunk
    except OSError:  # the other side is closed
        pass
    os.close(primary)
    child.wait(timeout=60)
    return output.decode()


class CommandLine(unittest.TestCase):
    def check_refused(self, status, message, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, status, arguments)
        self.assertEqual(result.stdout, "", arguments)
        self.assertTrue(result.stderr.startswith("millrace: "), result.stderr)
        self.assertIn(message, result.stderr)

    def test_alone(self):
        result = run()
        self.assertEqual(result.returncode, 2)
        self.assertIn("Usage: millrace COMMAND", result.stdout)

    def test_wrong_usage(self):
        self.check_refused(2, "did you mean 'doctor'?", "docter")
        self.check_refused(2, "unknown command 'zzzzzz'", "zzzzzz")
        self.check_refused(2, "unknown command ''", "")
        self.check_refused(2, "unknown option --bogus", "doctor", "--bogus")
        self.check_refused(2, "--json takes no value", "version", "--json=1")
        self.check_refused(2, "unexpected operand 'x'", "version", "x")
        self.check_refused(2, "--list-options needs a value", "help", "--list-options")
        self.check_refused(2, "did you mean 'doctor'?", "help", "docter")
        self.check_refused(2, "unknown command 'zzzzzz'", "help", "--list-options=zzzzzz")

    def test_hostile_arguments(self):
        self.check_refused(2, "unknown command", "x" * 100000)
        self.check_refused(2, "unknown option", "doctor", "--" + "%s%n" * 1000)
        self.check_refused(2, "unknown command", "\x1b[31m")

    def test_help_everywhere(self):
        self.assertEqual(run("--help").stdout, run("help").stdout)
        for line in run("help", "--list-commands").stdout.splitlines():
            name, summary = line.split("\t")
            self.assertIn(summary, run("help").stdout)
            self.assertEqual(run(name, "--help").stdout, run("help", name).stdout)
            self.assertEqual(run(name, "-h").returncode, 0)

    def test_version(self):
        version = json.loads(run("version", "--json").stdout)
        self.assertEqual(run("version").stdout, f"millrace {version['version']}\n")
        self.assertEqual(run("--version").stdout, run("version").stdout)

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            for command in (["version"], ["version", "--json"], ["help"]):
                result = subprocess.run([MILLRACE, *command], stdout=full, stderr=subprocess.PIPE,
                                        text=True)
                self.assertEqual(result.returncode, 1, command)
                self.assertIn("cannot be written", result.stderr)
                self.assertEqual(result.stderr.count("\n"), 1, result.stderr)

    def test_colour(self):
        self.assertNotIn("\x1b", run("doctor").stdout)
        self.assertIn("\x1b[32m✓", run_on_terminal("doctor"))
        self.assertNotIn("\x1b", run_on_terminal("doctor", NO_COLOR="1"))
        self.assertNotIn("\x1b", run_on_terminal("doctor", TERM="dumb"))
        self.assertNotIn("✓", run_on_terminal("doctor", LC_ALL="C"))


class Doctor(unittest.TestCase):
    def doctor(self, **keywords):
        result = run("doctor", "--json", **keywords)
        answer = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if answer["recording_works"] else 1)
        return {each["name"]: each for each in answer["capabilities"]}, result.returncode

    def test_states(self):
        found, status = self.doctor()
        self.assertEqual(status, 0)
        for capability in found.values():
            self.assertIn(capability["state"], ("ok", "degraded", "missing"))
            self.assertTrue(capability["reason"])
        self.assertEqual(found["library"]["reason"],
                         os.path.join(os.environ["BUILD_DIR"], "libmillrace.so"))
        self.assertEqual(found["btf"]["state"],
                         "ok" if os.path.exists("/sys/kernel/btf/vmlinux") else "missing")
        self.assertEqual(found["babeltrace2"]["state"],
                         "ok" if shutil.which("babeltrace2") else "missing")
        self.assertEqual({each["level"] for each in found.values()},
                         {"core", "dataflow", "runtime", "kernel", "tools"})

    def test_no_tools_in_path(self):
        found, _ = self.doctor(env={"PATH": "/nowhere"})
        self.assertEqual(found["babeltrace2"]["state"], "missing")
        self.assertIn("apt-get install babeltrace2", found["babeltrace2"]["remedy"])
        self.assertIn("python3 is not installed", found["torch"]["reason"])

    def frameworks(self, **versions):
        """What doctor says where Python finds just these packages, made up, of these versions ("": not known)."""
        with tempfile.TemporaryDirectory() as folder:
            packages, tools = pathlib.Path(folder, "packages"), pathlib.Path(folder, "tools")
            for name, version in versions.items():
                (packages / name).mkdir(parents=True)
                (packages / name / "__init__.py").write_text("raise SystemExit('it must not be imported')")
                if version:
                    about = packages / f"{name}_cpu-{version}.dist-info"
                    about.mkdir()
                    (about / "METADATA").write_text(f"Name: {name}-cpu\nVersion: {version}\n")
                    (about / "top_level.txt").write_text(f"{name}\n")
            # Without -S Python would find what is installed here, too.
            tools.mkdir()
            (tools / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
            (tools / "python3").chmod(0o755)
            found, _ = self.doctor(env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}",
                                        "PYTHONPATH": str(packages)}, cwd=folder)
            return {name: {**each, "reason": each["reason"].replace(str(packages), "PACKAGES")}
                    for name, each in found.items()}

    def test_frameworks_not_installed(self):
        found = self.frameworks()
        self.assertEqual(found["tensorflow"]["state"], "missing")
        self.assertEqual(found["tensorflow"]["reason"], "not installed for python3")
        self.assertIn("pip install", found["tensorflow"]["remedy"])
        self.assertEqual(found["jax"]["reason"], "not installed; this version of millrace does not trace JAX")
        self.assertIsNone(found["jax"]["remedy"])

    def test_tensorflow_versions(self):
        for version in ("2.15.0.post1", "2.21.0"):
            found = self.frameworks(tensorflow=version)["tensorflow"]
            self.assertEqual((found["state"], found["reason"], found["remedy"]),
                             ("ok", f"version {version} in PACKAGES/tensorflow", None))
        for version in ("2.9.3", "2.22.0", ""):
            found = self.frameworks(tensorflow=version)["tensorflow"]
            self.assertEqual(found["state"], "degraded")
            self.assertIn(f"version {version or '?'} in PACKAGES/tensorflow is not tested", found["reason"])
            self.assertIn("2.15 to 2.21", found["reason"])
            self.assertIn("pip install", found["remedy"])

    def test_framework_that_is_not_traced(self):
        found = self.frameworks(torch="2.5.0", jax="0.4.30")
        self.assertEqual(found["torch"]["state"], "ok")
        self.assertEqual(found["jax"]["state"], "missing")
        self.assertRegex(found["jax"]["reason"],
                         "^version 0.4.30 in PACKAGES/jax, but this version of millrace does not trace JAX; .*millrace.h")

    def test_opencl(self):
        installed = os.path.exists("/etc/OpenCL/vendors/pocl.icd")
        self.assertEqual(self.doctor()[0]["libOpenCL"]["state"],
                         "ok" if installed else "missing")
        with tempfile.TemporaryDirectory() as folder:
            found, status = self.doctor(env={**os.environ, "OCL_ICD_VENDORS": folder})
        self.assertEqual((found["libOpenCL"]["state"], status), ("missing", 0))
        self.assertIn("apt-get install", found["libOpenCL"]["remedy"])

    def cuda(self, *libraries):
        """What doctor says of CUDA where the dynamic linker knows just these libraries."""
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder, "ldconfig")
            tool.write_text("#!/bin/sh\n" + "".join(f"echo '{name} (libc6,x86-64) => /somewhere/{name}'\n" for name in libraries))
            tool.chmod(0o755)
            return self.doctor(env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})[0]["libcuda"]

    def test_cuda(self):
        """It says where libcupti is, or how to get it."""
        found = self.cuda("libcuda.so.1", "libcupti.so.12")
        self.assertEqual((found["state"], found["reason"]),
                         ("ok", "/somewhere/libcuda.so.1 with /somewhere/libcupti.so.12"))
        self.assertEqual(self.cuda()["state"], "missing")
        found = self.cuda("libcuda.so.1")
        if os.path.exists("/usr/local/cuda/lib64/libcupti.so"):
            self.assertIn("with /usr/local/cuda/lib64/libcupti.so", found["reason"])
        else:
            self.assertEqual(found["state"], "degraded")
            self.assertIn("nvidia-cuda-cupti", found["remedy"])

    def test_folder_that_cannot_be_written(self):
        found, status = self.doctor(cwd="/proc")
        self.assertEqual((found["output"]["state"], status), ("missing", 1))
        self.assertTrue(found["output"]["remedy"])


class Completion(unittest.TestCase):
    def complete(self, *words):
        script = ROOT / "doc/completion/millrace.bash"
        command = f"source '{script}'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _millrace; " \
                  "printf '%s\\n' \"${COMPREPLY[@]}\""
        result = subprocess.run(["bash", "-c", command, "bash", MILLRACE, *words],
                                capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def test_commands(self):
        self.assertEqual(self.complete("doc"), ["doctor"])
        self.assertIn("version", self.complete(""))
        self.assertEqual(self.complete("help", "vers"), ["version"])

    def test_options(self):
        self.assertEqual(set(self.complete("doctor", "--")), {"--json", "--gpu-check", "--gpu-program", "--help"})
        self.assertEqual(self.complete("doctor", "--j"), ["--json"])


if __name__ == "__main__":
    harness.main()
