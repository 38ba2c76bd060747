#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of fuzz_reader (a stream file) and fuzz_metadata (metadata, a zero byte, a stream file) into
tests/corpus."""

import pathlib
import struct

CORPUS = pathlib.Path(__file__).resolve().parents[1] / "corpus"
UUID = bytes(16)

# Another version's metadata: fewer events, fields that are more, fewer and in another order.
TYPES = {
    "u8": "integer { size = 8; align = 8; signed = false; }",
    "u16": "integer { size = 16; align = 8; signed = false; }",
    "u32": "integer { size = 32; align = 8; signed = false; }",
    "u48": "integer { size = 48; align = 8; signed = false; }",
    "u64": "integer { size = 64; align = 8; signed = false; }",
    "i32": "integer { size = 32; align = 8; signed = true; }",
    "i64": "integer { size = 64; align = 8; signed = true; }",
    "f64": "floating_point { exp_dig = 11; mant_dig = 53; align = 8; }",
    "str": "string { encoding = UTF8; }",
}
TRACE = """trace { major = 1; minor = 8; uuid = "00000000-0000-0000-0000-000000000000"; byte_order = le;
packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };
env { tracer_name = "millrace"; hostname = "h"; user_clock = 1; };
"""
CLOCK = """clock { name = "%s"; description = "d"; freq = 1000; precision = 1; offset_s = -1;
offset = 5; absolute = TRUE; };
"""
STREAM = """typealias integer { size = 32; align = 8; map = clock.%(clock)s.value; } := %(clock)s_time32;
typealias integer { size = 64; align = 8; map = clock.%(clock)s.value; } := %(clock)s_time64;
stream { id = %(id)d; event.header := struct {
enum : u8 { compact = 0 ... 254, extended = 255 } id;
variant <id> { struct { %(clock)s_time32 timestamp; } compact;
struct { u8 id; %(clock)s_time64 timestamp; } extended; } v; };
packet.context := struct { %(clock)s_time64 timestamp_begin; %(clock)s_time64 timestamp_end;
u64 content_size; u64 packet_size; u64 packet_seq_num; u64 events_discarded;
u32 process; u32 pid; u32 tid; u8 kind; u8 depth; u16 reserved; }; };
event { name = "node_interval"; id = 48; stream_id = %(id)d; fields := struct {
u32 _duration_ticks; f64 _heat; u16 _node; }; };
event { name = "def_edge"; id = 19; stream_id = %(id)d; fields := struct {
enum : u8 { data = 0, control = 1, other = 7 } _kind; u32 _source; }; };
event { name = "thread_name"; id = 6; stream_id = %(id)d; fields := struct {
i32 _age; str _name; }; };
event { name = "novelty"; id = 200; stream_id = %(id)d; fields := struct { i64 _x; str _y; }; };
"""


def other_metadata():
    text = "/* CTF 1.8 */\n"
    text += "".join(f"typealias {body} := {name};\n" for name, body in TYPES.items())
    text += TRACE + CLOCK % "user" + CLOCK % "monotonic"
    for number, clock in enumerate(["user", "monotonic"]):
        text += STREAM % {"id": number, "clock": clock}
    return text.encode()


def event(number, ticks, payload):
    return struct.pack("<BI", number, ticks & 0xFFFFFFFF) + payload


def extended(number, ticks, payload):
    return struct.pack("<BBQ", 255, number, ticks) + payload


def packet(begin, end, events, stream_class=0, stream=0, sequence=0, kind=0):
    content = 96 + sum(map(len, events))
    size = (content + 7) // 8 * 8
    header = struct.pack("<I16sIQ", 0xC1FC1FC1, UUID, stream_class, stream)
    context = struct.pack("<6Q3I2BH", begin, end, content * 8, size * 8, sequence, 0, 1, 2, 3, kind, 0, 0)
    return (header + context + b"".join(events)).ljust(size, b"\0")


def seeds():
    interval = event(48, 5, bytes(range(14)))
    name = event(6, 6, b"worker\0")
    own = packet(1, 9, [interval, name]) + packet(9, 1 << 33, [extended(50, 1 << 33, bytes(8))], sequence=1)
    yield "fuzz_reader/own", own
    yield "fuzz_reader/streams", b"".join(packet(1, 9, [event(50, 3, bytes(8))], i % 2, i, 0, i % 3 == 0) for i in range(4))
    yield "fuzz_reader/cut", own[:-5]
    yield "fuzz_reader/hole", own[:-8] + bytes(24) + own
    other = [event(48, 5, bytes(14)), event(19, 6, b"\x07\1\0\0\0"), event(6, 7, b"\1\0\0\0abc\0"),
             event(200, 8, bytes(8) + b"new\0")]
    yield "fuzz_metadata/other", other_metadata() + b"\0" + packet(1, 9, other)


def main():
    for name, seed in seeds():
        (CORPUS / name).parent.mkdir(parents=True, exist_ok=True)
        (CORPUS / name).write_bytes(seed)


if __name__ == "__main__":
    main()
