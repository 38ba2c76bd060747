/* SPDX-License-Identifier: Apache-2.0
 *
 * What a runtime's own tracer reports besides operations: synchronisations, overheads, numbers of other tools, and more of
 * memory. Each names its call by correlation. Memory that calls tell of already is not added again:
 *
 *     thread      ├──── cudaMalloc, correlation 5 ────┤
 *     call says                  └ 4096 bytes at A                      row of memory
 *     tracer says    5, A: device memory, of pool P                     the same row: kind, pool
 */
#ifndef MR_LOAD_RUNTIME_REPORTS_H
#define MR_LOAD_RUNTIME_REPORTS_H

#include "base/sort.h"
#include "load/runtime.h"

/* Rows of calls by process, then by correlation. */
struct mr_call_index {
	struct mr_sort_item *items;
	uint32_t *first_of_process; /* and one more: the end */
};

/* The call of that correlation, the first if there are several; MR_NO_ROW if there is none. *hint
 * remembers a place: correlations are asked for nearly in their order. (runtime_join.c) */
uint32_t mr_call_find(const struct mr_call_index *index, uint32_t process, uint64_t correlation,
		      uint32_t *hint);

/* When calls are sorted: links reports with their calls. -ENOMEM. */
int mr_runtime_join_reports(struct mr_loader *loader, const struct mr_call_index *index);

#endif
