#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the stand-ins for CUDA into a folder: libcuda.so.1, libcudart.so.13 and libcupti.so.13.

    soft/cuda/build.py FOLDER CUDA_HEADERS CUPTI_HEADERS

CUDA_HEADERS is a folder with the headers of CUDA 13.0 and its CUPTI, CUPTI_HEADERS one with those of the CUPTI under test,
which may be of another version. Its file has the same name nevertheless: the one that belongs to the runtime. tools/cuda
downloads both."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
FLAGS = ["-std=gnu17", "-O1", "-g", "-Wall", "-Werror", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"]
RECORDS = {"CONCURRENT_KERNEL": "KERNEL_RECORD", "MEMCPY": "COPY_RECORD", "MEMSET": "FILL_RECORD",
           "SYNCHRONIZATION": "SYNCHRONISATION_RECORD", "OVERHEAD": "OVERHEAD_RECORD", "MEMORY2": "MEMORY_RECORD"}


def record_of(header, kind):
    """The struct that the comment of a kind names: the newest of this version."""
    comment = re.search(r"/\*\*((?:(?!\*/).)*?)\*/\s*CUPTI_ACTIVITY_KIND_%s\s*=" % kind, header, re.S)
    return re.search(r"CUpti_Activity\w+", comment.group(1)).group()


def names_of(headers, file, domain):
    with open(os.path.join(headers, file)) as opened:
        found = re.findall(r"CUPTI_%s_TRACE_CBID_((?:__)?cu\w+)\s*=\s*(\d+)" % domain, opened.read())
    lines = "".join(f'\t[{number}] = "{name}",\n' for name, number in found)
    return f"static const char *const {domain.lower()}_names[] = {{\n{lines}}};\n"


def compile_library(output, soname, headers, sources, *more):
    includes = [word for folder in headers for word in ("-isystem", folder)]
    sources = [os.path.join(HERE, source) for source in sources]
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, "-I", os.path.dirname(HERE), *includes, f"-Wl,-soname,{soname}", "-o", output,
                    *sources, *more], check=True)


def build(folder, cuda, cupti):
    os.makedirs(folder, exist_ok=True)
    libcuda = os.path.join(folder, "libcuda.so.1")
    compile_library(libcuda, "libcuda.so.1", [cuda], ["device.c", "driver.c", "driver_memory.c", "driver_streams.c"])
    version = os.path.join(folder, "runtime.map")
    with open(version, "w") as file:
        file.write("libcudart.so.13 { global: cuda*; __cuda*; local: *; };\n")
    runtime = os.path.join(folder, "libcudart.so.13")
    compile_library(runtime, "libcudart.so.13", [cuda], ["runtime.c", "runtime_streams.c"], f"-Wl,--version-script={version}", libcuda)
    with open(os.path.join(cupti, "cupti_activity.h")) as file:
        header = file.read()
    with open(os.path.join(folder, "names.inc"), "w") as file:
        file.write(names_of(cupti, "cupti_runtime_cbid.h", "RUNTIME"))
        file.write(names_of(cupti, "cupti_driver_cbid.h", "DRIVER"))
    defines = [f"-D{name}={record_of(header, kind)}" for kind, name in RECORDS.items()]
    library = "libcupti.so.13"
    compile_library(os.path.join(folder, library), library, [cupti, cuda], ["cupti.c"], *defines, "-I", folder, libcuda)
    for name in ("libcudart.so.13", library, "libcuda.so.1"):
        link = os.path.join(folder, name.split(".so")[0] + ".so")
        if not os.path.lexists(link):
            os.symlink(name, link)


if __name__ == "__main__":
    build(*sys.argv[1:])
