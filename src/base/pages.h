/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for large arrays. The first access to each page costs a fault; huge pages make faults five hundred
 * times fewer.
 */
#ifndef MR_BASE_PAGES_H
#define MR_BASE_PAGES_H

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	MR_HUGE_PAGE = 2 << 20
};

/* Like malloc(), but uses huge pages for every whole huge page that fits, if the kernel has them. realloc() must
 * copy such memory to enlarge it. */
static inline void *mr_allocate_large(size_t bytes)
{
	if (bytes < MR_HUGE_PAGE)
		return malloc(bytes);
	void *memory; /* of any size, which aligned_alloc() does not promise */
	if (posix_memalign(&memory, MR_HUGE_PAGE, bytes) != 0)
		return NULL;
	madvise(memory, bytes - bytes % MR_HUGE_PAGE, MADV_HUGEPAGE);
	return memory;
}

#endif
