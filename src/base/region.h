/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that is freed all at once. What belongs together, such as all findings of a report or all
 * texts of a model, comes from one region and lives as long as it does.
 *
 *     struct mr_region region = {0};
 *     const char *text = mr_region_print(&region, "%u threads", count);
 *     mr_region_free(&region);
 *
 * A zeroed region is empty and valid. Allocations never move. One thread at a time.
 */
#ifndef MR_BASE_REGION_H
#define MR_BASE_REGION_H

#include <stddef.h>

#include "base/macros.h"

struct mr_region {
	struct mr_region_block *newest;
};

/* Zeroed memory, aligned for any type; NULL if there is none. */
void *mr_region_allocate(struct mr_region *region, size_t bytes);

/* A copy with a terminating zero added; NULL if there is no memory. */
char *mr_region_copy(struct mr_region *region, const void *bytes, size_t count);

/* A formatted text; NULL if there is no memory. */
char *mr_region_print(struct mr_region *region, const char *format, ...) mr_printf_format(2, 3);

void mr_region_free(struct mr_region *region);

#endif
