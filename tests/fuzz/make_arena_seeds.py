#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_arena into tests/corpus/fuzz_arena: packets and processes as record expects them, each a
little different."""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "corpus/fuzz_arena"
CONTROL, COUNTERS, ENTRY, STATE, SLOT, EMIT, LIST, PASS = range(8)
FILLING, FULL, LIVE, UNTRACED = 1, 2, 2, 3
SLOT_BYTES = 512
MAGIC = 0xC1FC1FC1


def store(what, which=0, offset=0, value=0):
    return struct.pack("<BBHQ", what, which, offset, value & (1 << 64) - 1)


def packet(slot, state, process_slot, content=96 + 20, opened=0):
    return b"".join([
        store(SLOT, slot, 0, opened << 32 | content),  # progress
        store(SLOT, slot, SLOT_BYTES, MAGIC),
        store(SLOT, slot, SLOT_BYTES + 32, 1000),  # begin_ticks
        store(STATE, slot, 0, state << 56 | process_slot << 32 | 7)])


def process(slot, state, number):
    return b"".join([
        store(COUNTERS, 0, 8, number + 1),
        store(ENTRY, slot, 8, 1 << 32 | number),
        store(ENTRY, slot, 0, number << 32 | state)])


SEEDS = {
    "emit": store(EMIT, 1) + store(PASS) + store(EMIT, 2, 0, 1) + store(LIST),
    "full": packet(3, FULL, 1) + store(PASS),
    "dead": process(1, LIVE, 2) + packet(3, FILLING, 1, opened=5) + store(PASS) + store(PASS),
    "untraced": process(2, UNTRACED, 9) + store(PASS),
    "large": packet(18, FULL, 2, content=64 << 10) + packet(17, FULL, 3, content=65000, opened=99) + store(PASS),
    "counts": store(CONTROL, 0, 68, -1) + store(EMIT, 1) + store(COUNTERS, 0, 4, -1) + store(PASS),
}

if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (FOLDER / name).write_bytes(content)
