/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's description of its types (BTF), where it lies, and an index by number. A type has a head of twelve bytes;
 * its kind says what follows:
 *
 *     ┌──────────────┬────────────────────────────────┬───────────────┐
 *     │ section head │ type 1 │ type 2 │ ...          │ names         │
 *     └──────────────┴────────────────────────────────┴───────────────┘
 */
#ifndef MR_KERNEL_RAW_TYPES_H
#define MR_KERNEL_RAW_TYPES_H

#include <bpf/btf.h>
#include <stddef.h>
#include <stdint.h>

struct mr_raw_types {
	uint8_t *bytes;
	size_t size;
	const char *names;
	uint32_t name_bytes;
	const struct btf_type **by_number; /* from 1 */
	uint32_t count;                    /* the highest number, plus 1 */
};

/* -ENOENT: there is no such file; -EINVAL: it is none. */
int mr_raw_types_open(const char *path, struct mr_raw_types *ret_types);

/* NULL: there is no such type. */
const struct btf_type *mr_raw_type(const struct mr_raw_types *types, uint32_t number);

/* "" where it has none. */
const char *mr_raw_type_name(const struct mr_raw_types *types, uint32_t offset);

void mr_raw_types_close(struct mr_raw_types *types);

#endif
