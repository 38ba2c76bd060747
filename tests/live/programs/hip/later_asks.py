# SPDX-License-Identifier: Apache-2.0
"""Has a later version of HIP (first argument) look up functions."""

import ctypes
import sys

hip = ctypes.CDLL(sys.argv[1])
function, status = ctypes.c_void_p(), ctypes.c_int(9)
for name in (b"hipFree", b"hipNoSuchFunction"):
    print(hip.hipGetProcAddress(name, ctypes.byref(function), 60100, ctypes.c_uint64(7), ctypes.byref(status)),
          status.value, bool(function.value))
    if function.value:
        print(ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(function.value)(ctypes.c_void_p(1)))
