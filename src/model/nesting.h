/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds which interval of a thread encloses which, and the self time of each.
 *
 *     A ├──────────────────────┤       parent(B) = parent(C) = A, parent(D) = C
 *     B    ├────┤                      self(A) = A - B - C
 *     C             ├──────┤           self(C) = C - D
 *     D               ├──┤
 *
 * The parent is one of the intervals that are still open: those that do not enclose the new one are closed. If one is
 * closed before its end, it overlaps the new one without nesting, which is impossible for a thread that does one
 * thing at a time: the new interval is flagged and counted. If children of one parent overlap, the time that they
 * share is subtracted from the parent once.
 *
 * Analyses walk from an interval to its outermost one, so chains of parents are at most MR_NESTING_MAX long: what lies
 * deeper than that gets the innermost parent that is not, and is counted. Its self time is exact nevertheless.
 */
#ifndef MR_MODEL_NESTING_H
#define MR_MODEL_NESTING_H

#include <stdint.h>

/* Columns of a table, sorted as mr_table_sort() does; fills in parent, self_ns and the flag. */
struct mr_nesting {
	const int64_t *start_ns;
	const int64_t *duration_ns;
	int64_t *self_ns;
	uint32_t *parent;
	uint8_t *flags;
};

enum {
	MR_NESTING_MAX = 1024
};

struct mr_nesting_faults {
	uint64_t overlaps;
	uint64_t too_deep;
};

/* Rows [first, end) of one track. Adds to *faults; 0 or -ENOMEM. */
int mr_nest(const struct mr_nesting *rows, uint32_t first, uint32_t end,
	    struct mr_nesting_faults *faults);

/* For each of the rows [inner_first, inner_end) the innermost of the rows [first, end) of the same track that
 * encloses it, or MR_NO_ROW: into ret_around, by inner row. Of what overlaps without nesting only the later
 * counts. O(n log n); 0 or -ENOMEM. */
int mr_nest_in(const struct mr_nesting *rows, uint32_t first, uint32_t end,
	       const struct mr_nesting *inner, uint32_t inner_first, uint32_t inner_end,
	       uint32_t *ret_around);

#endif
