/* SPDX-License-Identifier: Apache-2.0
 *
 * Device kernels with which the runtimes copy and fill. HIP's have names; ROCr's stand in no code object and are told
 * apart by how long their code is. Their arguments are as the runtimes lay them out.
 */
#include <string.h>

#include "device.h"

enum {
	CODE_OFFSET = 256, /* behind the descriptor */
	CODE_WORDS = (4096 - CODE_OFFSET) / 4,
};

/* The buffer is given as one of four types, and sizes count in elements of it. */
static void hip_fill(const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		void *buffers[4]; /* of 1, 2, 4 and 8 bytes; all but one are NULL */
		const void *pattern;
		uint32_t pattern_elements;
		uint64_t offset;
		uint64_t count; /* of patterns */
	} *arguments = packet->kernarg_address;
	int type = 3;
	while (type > 0 && !arguments->buffers[type])
		type--;
	size_t element = (size_t)1 << type, bytes = arguments->pattern_elements * element;
	char *to = (char *)arguments->buffers[type] + arguments->offset * element;
	for (uint64_t i = 0; i < arguments->count; i++)
		memcpy(to + i * bytes, arguments->pattern, bytes);
}

/* The size is in words, and one more; the last one's bytes are given. */
static void hip_copy(const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		const char *from;
		char *to;
		uint64_t from_offset;
		uint64_t to_offset;
		uint64_t count;
		uint32_t last_bytes;
	} *arguments = packet->kernarg_address;
	memmove(arguments->to + arguments->to_offset, arguments->from + arguments->from_offset,
		(arguments->count - 1) * 4 + arguments->last_bytes);
}

static void hip_copy_aligned(const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		const char *from;
		char *to;
		uint64_t from_offset; /* this and the next two in elements */
		uint64_t to_offset;
		uint64_t count;
		uint32_t element_bytes;
	} *arguments = packet->kernarg_address;
	uint64_t bytes = arguments->element_bytes;
	memmove(arguments->to + arguments->to_offset * bytes,
		arguments->from + arguments->from_offset * bytes, arguments->count * bytes);
}

/* Pairs of source and destination: where four phases begin, then where they end. */
static void rocr_copy(const hsa_kernel_dispatch_packet_t *packet)
{
	const uint64_t *arguments = packet->kernarg_address;
	memmove((void *)arguments[1], (const void *)arguments[0], arguments[9] - arguments[1]);
}

/* Likewise, of two phases. */
static void rocr_copy_misaligned(const hsa_kernel_dispatch_packet_t *packet)
{
	const uint64_t *arguments = packet->kernarg_address;
	memmove((void *)arguments[1], (const void *)arguments[0], arguments[5] - arguments[1]);
}

static void rocr_fill(const hsa_kernel_dispatch_packet_t *packet)
{
	const struct {
		uint32_t *start;
		uint32_t *second_start;
		uint32_t *end;
		uint32_t value;
	} *arguments = packet->kernarg_address;
	for (uint32_t *word = arguments->start; word < arguments->end; word++)
		*word = arguments->value;
}

static const struct {
	const char *name;
	int words; /* of code; 0: it is known by its name */
	void (*run_all)(const hsa_kernel_dispatch_packet_t *);
} own[] = {
	{"__amd_rocclr_fillBufferAligned", 0, hip_fill},
	{"__amd_rocclr_copyBuffer", 0, hip_copy},
	{"__amd_rocclr_copyBufferAligned", 0, hip_copy_aligned},
	{"(ROCr copy)", 124, rocr_copy},
	{"(ROCr copy, misaligned)", 103, rocr_copy_misaligned},
	{"(ROCr fill)", 47, rocr_fill},
};

const char *soft_own_kernel_name(uint64_t object)
{
	const uint32_t *code = (const uint32_t *)(object + CODE_OFFSET);
	int words = CODE_WORDS;
	while (words > 0 && code[words - 1] == 0)
		words--;
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (words > 0 && own[i].words == words)
			return own[i].name;
	return "(unknown)";
}

void (*soft_own_kernel_find(const char *name))(const hsa_kernel_dispatch_packet_t *)
{
	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (strcmp(name, own[i].name) == 0)
			return own[i].run_all;
	return NULL;
}
