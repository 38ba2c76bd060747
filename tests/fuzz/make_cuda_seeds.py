#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_cuda: one record of each kind, sound, truncated and in a row.

    tests/fuzz/make_cuda_seeds.py tests/corpus/fuzz_cuda
"""

import pathlib
import struct
import sys

KINDS = {"copy": (1, 88, 44), "fill": (2, 88, 44), "kernel": (10, 208, 92), "peer": (22, 96, 60), "call": (5, 40, 32)}


def record(name, start, end):
    kind, length, correlation = KINDS[name]
    body = bytearray(length)
    struct.pack_into("<QQ", body, 16, start, end)
    struct.pack_into("<I", body, correlation, 77)
    return bytes([kind, length // 8]) + bytes(body)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name in KINDS:
        (folder / name).write_bytes(b"\0" + record(name, 1000, 2000))
        (folder / f"{name}_truncated").write_bytes(b"\x30" + 2 * record(name, 1000, 2000))
        (folder / f"{name}_backwards").write_bytes(b"\0" + record(name, 2000, 1000) + record(name, 0, 0))
    (folder / "all").write_bytes(b"\0" + 3 * b"".join(record(name, 5, 9) for name in KINDS))
    (folder / "stuck").write_bytes(b"\0" + record("kernel", 1, 2) + b"\x63\0")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
