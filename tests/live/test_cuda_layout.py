#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The places of members in CUPTI's records and in the parameters of CUDA's functions, as src/hook/cuda has them, are those
of NVIDIA's own headers, in every version that can be had."""

import os
import re
import subprocess
import tempfile
import unittest

import cuda
from cuda import SOURCE, headers, versions

RECORDS = {  # name of the layout: kind of the record
    "mr_cupti_kernel": "CONCURRENT_KERNEL",
    "mr_cupti_copy": "MEMCPY",
    "mr_cupti_peer_copy": "MEMCPY2",
    "mr_cupti_fill": "MEMSET",
    "mr_cupti_synchronisation": "SYNCHRONIZATION",
    "mr_cupti_overhead": "OVERHEAD",
    "mr_cupti_newer_overhead": "OVERHEAD",
    "mr_cupti_external": "EXTERNAL_CORRELATION",
    "mr_cupti_memory": "MEMORY2",
}
WHATS = {"SYNCHRONIZATION": "type", "OVERHEAD": "overheadKind", "EXTERNAL_CORRELATION": "externalKind",
         "MEMORY2": "memoryOperationType"}
MEMBERS = {"start": "start", "end": "end", "device": "deviceId", "context": "contextId", "stream": "streamId",
           "correlation": "correlationId", "bytes": "bytes", "name": "name", "copy_kind": "copyKind",
           "source_kind": "srcKind", "target_kind": "dstKind", "memory_kind": "memoryKind", "target_device": "dstDeviceId",
           "graph": "graphId", "graph_node": "graphNodeId", "registers": "registersPerThread",
           "static_bytes": "staticSharedMemory", "dynamic_bytes": "dynamicSharedMemory", "event": "cudaEventId",
           "object": "objectKind", "thread": "objectId.pt.threadId", "number": "externalId", "address": "address",
           "pool": "memoryPoolConfig.address", "time": "timestamp"}
CALLBACK = {"site": "callbackSite", "function": "functionName", "parameters": "functionParams",
            "result": "functionReturnValue", "symbol": "symbolName", "context": "context", "context_id": "contextUid",
            "data": "correlationData", "correlation": "correlationId"}
# Arguments in functions.def, and how NVIDIA's structs may call them.
ARGUMENTS = {"grid": ("gridDim", "gridDimX"), "block": ("blockDim", "blockDimX"), "stream": ("stream", "hStream", "pStream",
             "phStream"), "event": ("event", "hEvent"), "bytes": ("count", "ByteCount", "size", "bytesize", "N", "sizeBytes"),
             "direction": ("kind",), "flags": ("flags", "Flags"), "object": ("devPtr", "dptr", "ptr", "pHost", "p", "pp",
             "hostPtr")}


def read(*path):
    with open(os.path.join(SOURCE, *path)) as file:
        return file.read()


def layouts():
    """The tables of library.c: {layout: {member: place}}"""
    text = read("src", "hook", "cuda", "library.c")
    return {name: {member: int(place) for member, place in re.findall(r"\.(\w+) = (\d+)", body)}
            for name, body in re.findall(r"mr_cupti_layout (\w+) = \{(.*?)\}", text, re.S)}


def functions():
    """The rows of functions.def: (name, role, {argument: place})"""
    text = read("src", "hook", "cuda", "functions.def")
    return [(name, role, {argument: int(place) for argument, place in re.findall(r"\.(\w+) = (\d+)", rest)})
            for name, role, rest in re.findall(r"^CUDA\((\w+), (\w+)(.*)\)$", text, re.M)]


def record_struct(folder, kind):
    with open(os.path.join(folder, "cupti_activity.h")) as file:
        comment = re.search(r"/\*\*((?:(?!\*/).)*?)\*/\s*CUPTI_ACTIVITY_KIND_%s\s*=" % kind, file.read(), re.S)
    return re.search(r"CUpti_Activity\w+", comment.group(1)).group()


def parameter_structs(folder):
    """{function: [(struct, members)]}, of all versions of a function."""
    found = {}
    for header in ("generated_cuda_runtime_api_meta.h", "generated_cuda_meta.h"):
        with open(os.path.join(folder, header)) as file:
            text = file.read()
        for body, struct in re.findall(r"typedef struct \w+_params_st \{(.*?)\} (\w+_params);", text, re.S):
            name = re.sub(r"(_v\d+|_ptsz|_ptds)+$", "", struct.removesuffix("_params"))
            found.setdefault(name, []).append((struct, re.findall(r"(\w+)(?:\[\d+\])?;", body)))
    return found


class Layout(unittest.TestCase):
    def compile(self, folder, includes, lines, *flags):
        """Each line is an expression that must hold."""
        with tempfile.NamedTemporaryFile("w", suffix=".c") as source:
            source.write("".join(f"#include <{name}>\n" for name in includes))
            source.write("#include <stddef.h>\n#include <hook/cuda/cupti.h>\n")
            source.write("".join(f'_Static_assert({line}, "");\n' for line in lines))
            source.flush()
            result = subprocess.run(
                [os.environ.get("CC", "cc"), "-std=gnu17", "-fsyntax-only", "-I", os.path.join(SOURCE, "src"), "-isystem",
                 folder, *flags, source.name], capture_output=True, text=True, check=False)
        return [line for line in result.stderr.splitlines() if "error" in line]

    def records_of(self, folder):
        lines = []
        for layout, kind in RECORDS.items():
            struct = record_struct(folder, kind)
            if layout == "mr_cupti_newer_overhead" and not re.search(r"[3-9]$", struct):
                continue  # of versions that have no correlation in it
            places = layouts()[layout]
            length = places.pop("length")
            lines.append(f"sizeof({struct}) >= {length}")
            for member, place in places.items():
                theirs = WHATS[kind] if member == "what" else MEMBERS[member]
                lines.append(f"{length} >= {place} + sizeof((({struct} *)0)->{theirs})")
                lines.append(f"offsetof({struct}, {theirs}) == {place}")
        lines += [f"offsetof(CUpti_CallbackData, {theirs}) == offsetof(struct mr_cupti_call, {ours})"
                  for ours, theirs in CALLBACK.items()]
        for name in ("MEMCPY", "MEMSET", "DRIVER", "RUNTIME", "CONCURRENT_KERNEL", "MEMCPY2", "OVERHEAD", "SYNCHRONIZATION",
                     "EXTERNAL_CORRELATION", "MEMORY2"):
            lines.append(f"(int)CUPTI_ACTIVITY_KIND_{name} == (int)MR_CUPTI_KIND_{name}")
        for kind, number in ("PAGEABLE", 1), ("PINNED", 2), ("DEVICE", 3), ("ARRAY", 4), ("MANAGED", 5), \
                ("DEVICE_STATIC", 6), ("MANAGED_STATIC", 7):
            lines.append(f"(int)CUPTI_ACTIVITY_MEMORY_KIND_{kind} == {number}")
        for kind, number in ("EVENT_SYNCHRONIZE", 1), ("STREAM_WAIT_EVENT", 2), ("STREAM_SYNCHRONIZE", 3), \
                ("CONTEXT_SYNCHRONIZE", 4):
            lines.append(f"(int)CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_{kind} == {number}")
        lines += ["(int)CUPTI_ACTIVITY_OBJECT_THREAD == (int)MR_CUPTI_OBJECT_THREAD",
                  "(int)CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION == (int)MR_CUPTI_MEMORY_ALLOCATION",
                  "(int)CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE == (int)MR_CUPTI_MEMORY_RELEASE",
                  "(uint32_t)CUPTI_SYNCHRONIZATION_INVALID_VALUE == MR_CUPTI_NONE",
                  "(int)CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == (int)MR_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS",
                  "(int)CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING == (int)MR_CUPTI_STREAM_DESTROY_STARTING",
                  "(int)CUPTI_ERROR_MAX_LIMIT_REACHED == (int)MR_CUPTI_ERROR_MAX_LIMIT_REACHED",
                  "(int)CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == (int)MR_CUPTI_FLUSH_FORCED"]
        return lines

    def check_versions(self, check):
        for version in versions():
            with self.subTest(version):
                if not headers(version):
                    self.skipTest(f"the headers of CUDA {version} cannot be downloaded")
                check(headers(version))

    def check_records(self, folder):
        lines = self.records_of(folder)
        self.assertGreater(len(lines), 40)
        self.assertEqual(self.compile(folder, ["cuda.h", "cupti.h"], lines), [])

    def test_records(self):
        self.check_versions(self.check_records)

    def test_wrong(self):
        """A place that is wrong is found."""
        folder = headers(versions()[0])
        struct = record_struct(folder, "MEMCPY")
        self.assertNotEqual(self.compile(folder, ["cuda.h", "cupti.h"], [f"offsetof({struct}, start) == 17"]), [])

    def arguments_of(self, name, role, places, structs):
        """What must hold of a function, in all versions of it."""
        for struct, members in structs:
            if re.fullmatch(r"cu[A-Z]\w*_params", struct) and "_v2" not in struct and \
                    any(each.startswith(name + "_v2") for each, _ in structs):
                continue  # with other types, from the time before the second version
            if role == "KERNEL_BY_CONFIGURATION" and name.startswith("cuda"):
                struct, members = "cudaLaunchConfig_t", ("gridDim", "blockDim", "stream")
            elif role == "KERNEL_BY_CONFIGURATION":
                struct, members = "CUlaunchConfig", ("gridDimX", "blockDimX", "hStream")
            for argument, place in places.items():
                called = [each for each in ARGUMENTS[argument] if each in members]
                self.assertTrue(called, (struct, argument, members))
                yield f"offsetof({struct}, {called[0]}) == {place}"

    def check_arguments(self, folder):
        structs = parameter_structs(folder)
        lines = [line for name, role, places in functions()
                 for line in self.arguments_of(name, role, places, structs.get(name, []))]
        self.assertGreater(len(lines), 100)
        self.assertEqual(self.compile(folder, ["cuda.h", "cuda_runtime_api.h", "cudaTypedefs.h", "generated_cuda_meta.h",
                                               "generated_cuda_runtime_api_meta.h"], lines,
                                      "-D__CUDA_API_VERSION_INTERNAL"), [])

    def test_arguments(self):
        self.check_versions(self.check_arguments)

    def test_functions(self):
        """Every function that is described exists, so that none is misspelt."""
        structs = parameter_structs(headers(versions()[0]))
        plain = {"cudaDeviceSynchronize", "cuCtxSynchronize", "cudaDeviceReset"}  # without parameters
        self.assertEqual([name for name, _, _ in functions() if name not in structs and name not in plain], [])


if __name__ == "__main__":
    cuda.main()
