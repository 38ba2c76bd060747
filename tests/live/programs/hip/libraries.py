# SPDX-License-Identifier: Apache-2.0
"""Has AMD's libraries work on the device: rocRAND, or rocSPARSE, as the argument says. The software GPU does not compute what
their device kernels would, so only what the libraries answer is printed."""

import ctypes
import sys

hip = ctypes.CDLL("libamdhip64.so.5")
COUNT = 4096
DEFAULT_GENERATOR = 400


def allocate():
    address = ctypes.c_void_p()
    print("allocate", hip.hipMalloc(ctypes.byref(address), ctypes.c_size_t(4 * COUNT)))
    print("clear", hip.hipMemset(address, 0, ctypes.c_size_t(4 * COUNT)))
    return address


def use_rocrand():
    rocrand = ctypes.CDLL("librocrand.so.1")
    generator, numbers = ctypes.c_void_p(), allocate()
    print("create", rocrand.rocrand_create_generator(ctypes.byref(generator), DEFAULT_GENERATOR))
    for _ in range(3):
        print("generate", rocrand.rocrand_generate(generator, numbers, ctypes.c_size_t(COUNT)))
    print("wait", hip.hipDeviceSynchronize())
    print("destroy", rocrand.rocrand_destroy_generator(generator))


def use_rocsparse():
    rocsparse = ctypes.CDLL("librocsparse.so.0")
    handle, values, places, sums = ctypes.c_void_p(), allocate(), allocate(), allocate()
    factor = ctypes.c_float(2)
    print("create", rocsparse.rocsparse_create_handle(ctypes.byref(handle)))
    print("saxpyi", rocsparse.rocsparse_saxpyi(handle, COUNT, ctypes.byref(factor), values, places, sums, 0))
    print("wait", hip.hipDeviceSynchronize())
    print("destroy", rocsparse.rocsparse_destroy_handle(handle))


{"rocrand": use_rocrand, "rocsparse": use_rocsparse}[sys.argv[1]]()
