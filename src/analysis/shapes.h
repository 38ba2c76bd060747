/* SPDX-License-Identifier: Apache-2.0
 *
 * How large tensors are, by the text that a framework gives of the inputs of an operation:
 *
 *     (float[32,10];;int64[2];=1)     tensor 0: 32 * 10 * 4 bytes; tensor 1: not known; tensor 2: 16 bytes;
 *                                     input 3 is no tensor, and has the value 1
 *
 * Pure.
 */
#ifndef MR_ANALYSIS_SHAPES_H
#define MR_ANALYSIS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MR_BYTES_UNKNOWN UINT64_MAX

/* The bytes of one of the tensors; MR_BYTES_UNKNOWN if it is not listed, or has no fixed size. */
uint64_t mr_shapes_bytes(const char *shapes, uint32_t number);

enum {
	MR_RANK_MAX = 8,
};

struct mr_tensor {
	const char *type; /* not ended by zero */
	size_t type_length;
	uint32_t element_bytes;
	uint32_t rank;
	uint64_t dims[MR_RANK_MAX];
	uint64_t count; /* of elements */
};

/* One of the tensors; false if it is not listed, or has no fixed size. */
bool mr_shapes_tensor(const char *shapes, uint32_t number, struct mr_tensor *ret_tensor);

/* The value of an input that is no tensor, behind its "="; NULL if there is none. It ends at ; or ). */
const char *mr_shapes_value(const char *shapes, uint32_t number);

#endif
