# SPDX-License-Identifier: Apache-2.0
"""Writes protobuf messages: fields are (number, value) pairs in the order of the file. A value is an integer, a float (a
double), a text, bytes, or another list of fields. Shares nothing with the reader that it tests."""

import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, list):
        value = message(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def message(fields):
    return b"".join(field(number, value) for number, value in fields)


def packed(values):
    return b"".join(varint(value) for value in values)
