# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of CUDA, which run on stand-ins for NVIDIA's libraries (soft/cuda): there need be no GPU.

The stand-ins keep a log of their own of what they did. It is what traces are compared with."""

import atexit
import contextlib
import functools
import hashlib
import os
import re
import shutil
import subprocess
from collections import namedtuple

import harness
from support import BUILD, LiveTest, run

SOURCE = os.environ["SOURCE_DIR"]
TOOL = os.path.join(SOURCE, "tools", "cuda")
OPTIONS = ("--quiet", "--levels", "runtime,dataflow")

# What the stand-in has done: `done` lines of its log.
Done = namedtuple("Done", "work name correlation device stream bytes direction start end grid block graph from_kind to_kind "
                  "node registers static dynamic target")
DONE = re.compile(r"done (\w+) (\S+) corr=(\d+) device=(\d+) stream=(\d+) bytes=(\d+) direction=(\d+) start=(\d+) end=(\d+) "
                  r"grid=([\d,]+) block=([\d,]+) graph=(\d+) from=(\d+) to=(\d+) "
                  r"node=(\d+) registers=(\d+) static=(\d+) dynamic=(\d+) target=(-?\d+)")
CALL = re.compile(r"call (\w+?)(?:_v\d+)? (\d+) (-?\d+)")

OPERATIONS = ("device_kernel", "device_transfer")

# Correlations of CUPTI are kept apart from others in this way.
FIRST_CORRELATION = 1 << 40


def versions():
    return run(TOOL, "--supported").stdout.split()


@functools.cache
def headers(version):
    """The folder of NVIDIA's headers, downloaded if need be; None if that is not possible."""
    run(TOOL, "--make", version, timeout=600)
    result = run(TOOL, version)
    return result.stdout.strip() if result.returncode == 0 else None


def content_of(folder):
    """A number that differs if any file does."""
    content = hashlib.sha256()
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            content.update(file.read())
    return content.hexdigest()[:16]


@functools.cache
def stand_ins(version):
    """The folder of stand-ins with the CUPTI of this version; built once, whichever test is the first. None if the headers
    are missing."""
    sources = os.path.join(SOURCE, "soft", "cuda")
    folder = os.path.join(BUILD, "soft", f"cuda-{version}-{content_of(sources)}")
    main, own = headers(versions()[0]), headers(version)
    if not main or not own:
        return None
    if not os.path.exists(folder):
        made = f"{folder}-{os.getpid()}"
        subprocess.run([os.path.join(sources, "build.py"), made, main, own], check=True)
        with contextlib.suppress(OSError):  # another test was faster
            os.rename(made, folder)
        shutil.rmtree(made, ignore_errors=True)
    return folder


def skip_without_cuda():
    if os.environ.get("SANITIZED"):
        harness.skip("a sanitized library cannot be loaded into other programs")
    if not headers(versions()[0]):
        harness.skip("the headers of CUDA cannot be downloaded (tools/cuda)")


def main():
    skip_without_cuda()
    harness.main()


def read_log(path):
    """The operations that the stand-in did, and the calls that it got: name, correlation, result."""
    with open(path) as file:
        text = file.read()
    operations = []
    for work, name, *rest in DONE.findall(text):
        numbers = [tuple(map(int, each.split(","))) if "," in each else int(each) for each in rest]
        operations.append(Done(work, name, *numbers))
    calls = [(name, int(correlation), int(result)) for name, correlation, result in CALL.findall(text)]
    return operations, calls


@functools.cache
def compile_program(source, *flags):
    """Builds a program of tests/live/programs against the stand-ins."""
    folder = stand_ins(versions()[0])
    output = os.path.join(folder, f"{source}-{os.getpid()}")
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-Wall", "-rdynamic", "-pthread",
                    "-isystem", headers(versions()[0]), "-o", output,
                    os.path.join(SOURCE, "tests", "live", "programs", source), *flags, f"-L{folder}",
                    "-l:libcudart.so.13", "-l:libcuda.so.1", f"-Wl,-rpath-link,{folder}"], check=True)
    atexit.register(os.remove, output)
    return output


class CudaTest(LiveTest):
    def environment(self, version, **changes):
        return {**os.environ, "LC_ALL": "C", "LD_LIBRARY_PATH": stand_ins(version), **changes}

    def run_both(self, *command, version=None, options=OPTIONS, **environment):
        """Runs a program alone and recorded: both must look the same. Gives its result, with the trace and the log."""
        version = version or versions()[0]
        alone = run(*command, env=self.environment(version, **environment), cwd=self.folder)
        name = f"trace-{len(os.listdir(self.folder))}.mill"
        log = self.path(name + ".log")
        recorded = self.record(*command, options=options, name=name, cwd=self.folder,
                               env=self.environment(version, SOFT_CUDA_LOG=log, **environment))
        self.assertEqual(recorded.stdout, alone.stdout)
        self.assertEqual(recorded.stderr, alone.stderr)
        self.assertEqual(recorded.returncode, alone.returncode)
        recorded.log = log
        return recorded
