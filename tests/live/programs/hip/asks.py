# SPDX-License-Identifier: Apache-2.0
"""Takes functions by their names, with asks.so (first argument), and those of HIP with ctypes."""

import ctypes
import sys

asks = ctypes.CDLL(sys.argv[1])
asks.error.restype = ctypes.c_char_p
print("itself", asks.finds_itself(), "next", asks.finds_next())
print("without HIP:", asks.has_hip(), asks.finds_hip(), asks.error().decode().split(": ", 1)[-1])
try:
    print("the program has", ctypes.CDLL(None).hipInit)
except AttributeError as error:
    print(error)

hip = ctypes.CDLL("libamdhip64.so.5")
print("HIP, loaded privately:", asks.finds_hip())
count, memory = ctypes.c_int(), ctypes.c_void_p()
print("devices", hip.hipGetDeviceCount(ctypes.byref(count)), count.value)
there, back = ctypes.create_string_buffer(b"there and back"), ctypes.create_string_buffer(15)
print("copies", hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(15)),
      hip.hipMemcpy(memory, there, ctypes.c_size_t(15), 1), hip.hipMemcpy(back, memory, ctypes.c_size_t(15), 2),
      back.value, hip.hipDeviceSynchronize(), hip.hipFree(memory))
hip.hipGetErrorName.restype = ctypes.c_char_p
print(hip.hipGetErrorName(2))

everybody = ctypes.CDLL("libamdhip64.so.5", ctypes.RTLD_GLOBAL)
print("HIP, for everybody:", asks.finds_hip(), ctypes.CDLL(None).hipDeviceSynchronize())
try:
    print(hip.hipNoSuchFunction)
except AttributeError as error:
    print(str(error).rsplit(": ", 1)[-1])
