# SPDX-License-Identifier: Apache-2.0
"""Records marks from many kinds of Python code, and writes where the interpreter itself says that each was:

    python_lines.py LIBRARY OUTPUT      LIBRARY: python_mark.c"""

import asyncio
import ctypes
import functools
import json
import os
import sys
import tempfile
import threading
import zipfile

LIBRARY = ctypes.CDLL(sys.argv[1])
HOLDING_LIBRARY = ctypes.PyDLL(sys.argv[1])  # keeps the GIL
SHOWN = 16  # lines of a stack that millrace writes
expected = {}


def stack_of(frame):
    """train.py:41 load_batch, from the innermost on."""
    lines = []
    while frame:
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        lines.append(f"{code.co_filename.rsplit('/')[-1]}:{frame.f_lineno} {name}")
        frame = frame.f_back
    return lines


def mark(case, library=LIBRARY):
    expected[case] = stack_of(sys._getframe())
    # The call itself stands four lines further down.
    expected[case][0] = expected[case][0].replace(f":{mark.__code__.co_firstlineno + 1} ",
                                                  f":{mark.__code__.co_firstlineno + 5} ")
    library.mark(case.encode())


def recursion(depth):
    if depth == 0:
        mark("recursion")
    else:
        recursion(depth - 1)


def deep(depth):
    return mark("deep") if depth == 0 else deep(depth - 1)


def generator():
    yield 1
    mark("generator")
    yield 2


def delegating():
    yield from generator()


async def awaited():
    await asyncio.sleep(0)
    mark("async")


async def awaiting():
    await awaited()


def decorator(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return function(*arguments)
    return wrapper


@decorator
@decorator
def decorated():
    mark("decorator")


class Class:
    class Inner:
        @staticmethod
        def method():
            mark("method")

    @property
    def value(self):
        mark("property")
        return 1

    def __enter__(self):
        return self

    def __exit__(self, *what):
        mark("exit")


def called_back(argument):
    mark("callback")
    return argument


def raising():
    try:
        raise ValueError
    except ValueError:
        mark("exception")
    finally:
        mark("finally")


def with_long_lines(
        first,
        second=0):
    mark(
        "long"
        " call"
    )

    # A gap of many lines, which tables of lines write as a number of several bytes.








































































































































    mark("far")


def executed():
    source = "\n\ndef function():\n    mark('exec')\nfunction()\n"
    exec(compile(source, "<string>", "exec"), {"mark": mark})
    cell = "x = 1\nmark('notebook')\n"
    exec(compile(cell, "<ipython-input-7-0123456789ab>", "exec"), {"mark": mark})
    exec(compile("mark('wide')", "/tmp/Übung/日本.py", "exec"), {"mark": mark})
    exec(compile("mark('again')", "<string>", "exec"), {"mark": mark})


def zipped():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "modules.zip")
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("zipped_module.py", "def function(mark):\n    mark('zip')\n")
        sys.path.insert(0, path)
        import zipped_module
        zipped_module.function(mark)


def in_thread():
    thread = threading.Thread(target=lambda: mark("thread"), name="named")
    thread.start()
    thread.join()


def in_daemon():
    """Its frames may be freed while it is in C without the GIL, so that there it has no line. With the GIL it has one."""
    thread = threading.Thread(target=lambda: mark("daemon"), daemon=True)
    thread.start()
    thread.join()
    expected["daemon"] = []
    thread = threading.Thread(target=lambda: mark("daemon with the GIL", HOLDING_LIBRARY), daemon=True)
    thread.start()
    thread.join()


def main():
    recursion(5)
    deep(40)
    for _ in delegating():
        pass
    asyncio.run(awaiting())
    decorated()
    Class.Inner.method()
    Class().value
    with Class():
        pass
    [mark("comprehension") for _ in range(1)]
    list(map(lambda _: mark("lambda"), [1]))
    sorted([1], key=lambda _: mark("sorted") or 0)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(called_back)
    LIBRARY.call_back(function, 1)
    raising()
    with_long_lines(1)
    executed()
    zipped()
    in_thread()
    in_daemon()
    for number in range(3):
        mark(f"loop {number}")
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"version": sys.version_info[:3], "expected": expected}, file)


main()
