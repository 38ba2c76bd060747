/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory for large arrays. The first touch of each page costs a fault; huge pages make them five hundred
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

/* As malloc() does, but in huge pages as far as whole ones fit, if the kernel has them. realloc() has to copy
 * such memory to make it larger. */
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
