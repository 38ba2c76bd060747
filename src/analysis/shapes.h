/* SPDX-License-Identifier: Apache-2.0
 *
 * How large tensors are, by the text that a framework gives of the inputs of an operation:
 *
 *     (float[32,10];;int64[2])        tensor 0: 32 * 10 * 4 bytes; tensor 1: not known; tensor 2: 16 bytes
 *
 * Pure.
 */
#ifndef MR_ANALYSIS_SHAPES_H
#define MR_ANALYSIS_SHAPES_H

#include <stdint.h>

#define MR_BYTES_UNKNOWN UINT64_MAX

/* The bytes of one of the tensors; MR_BYTES_UNKNOWN if it is not listed, or has no fixed size. */
uint64_t mr_shapes_bytes(const char *shapes, uint32_t number);

#endif
