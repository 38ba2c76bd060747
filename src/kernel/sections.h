/* SPDX-License-Identifier: Apache-2.0
 *
 * How libbpf is to load programs of sections "tp_btf/TRACEPOINT" and "iter/KIND": as it does itself, but with the numbers
 * of the kernel's types that types.h has found, so that it need not look for them in all of the kernel's types.
 */
#ifndef MR_KERNEL_SECTIONS_H
#define MR_KERNEL_SECTIONS_H

#include "kernel/types.h"

struct mr_sections {
	int handlers[2];
};

/* For objects that are opened from now on; the types are needed when these are loaded. By one thread at a time. */
int mr_sections_begin(const struct mr_kernel_types *types, struct mr_sections *ret_sections);
void mr_sections_end(struct mr_sections *sections);

#endif
