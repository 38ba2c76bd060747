/* SPDX-License-Identifier: Apache-2.0
 *
 * How large the buffers and tables of the kernel level are. They count in the memory control group of `record`, most often
 * the program's own: where a group leaves little, they are small. A table that is too small forgets what was not used for
 * long, and describes it again; a ring that is too small loses records, and counts them.
 */
#ifndef MR_KERNEL_SIZES_H
#define MR_KERNEL_SIZES_H

#include <stdint.h>

#include "base/memory_room.h"

struct mr_kernel_sizes {
	uint64_t event_ring_bytes; /* of one CPU, as the next */
	uint64_t definition_ring_bytes;
	uint32_t table_parts; /* tables have one entry in so many of those that they have at most */
};

struct mr_kernel_sizes mr_kernel_sizes(const struct mr_memory_room *room, uint32_t cpus);

#endif
