/* SPDX-License-Identifier: Apache-2.0 */
#include "model/nesting.h"

#include "base/macros.h"
#include "base/vector.h"
#include "model/table.h"

struct open_interval {
	uint32_t row;
	int64_t end_ns;
	int64_t covered_until_ns; /* by children seen so far, which come in order of start */
};

typedef mr_vec(struct open_interval) open_stack;

/* Takes the child's time from its parent's own, but not what an earlier child has taken. */
static void cover(const struct mr_nesting *rows, struct open_interval *parent, int64_t start_ns,
		  int64_t end_ns)
{
	int64_t from_ns = mr_max(start_ns, parent->covered_until_ns);

	if (from_ns < end_ns) {
		rows->self_ns[parent->row] -= end_ns - from_ns;
		parent->covered_until_ns = end_ns;
	}
}

int mr_nest(const struct mr_nesting *rows, uint32_t first, uint32_t end,
	    struct mr_nesting_faults *faults)
{
	open_stack open = {0};
	int result = 0;

	for (uint32_t row = first; row < end && result == 0; row++) {
		int64_t start_ns = rows->start_ns[row];
		int64_t end_ns = start_ns + rows->duration_ns[row];

		rows->self_ns[row] = rows->duration_ns[row];
		rows->parent[row] = MR_NO_ROW;
		while (open.count && open.items[open.count - 1].end_ns < end_ns) {
			struct open_interval *closed = &open.items[--open.count];

			if (closed->end_ns > start_ns && !(rows->flags[row] & MR_ROW_OVERLAPS)) {
				rows->flags[row] |= MR_ROW_OVERLAPS;
				faults->overlaps++;
			}
		}
		/* What ends where this one starts encloses it only if this one is empty. */
		while (open.count && open.items[open.count - 1].end_ns <= start_ns)
			open.count--;
		if (open.count) {
			rows->parent[row] =
				open.items[mr_min(open.count, (size_t)MR_NESTING_MAX) - 1].row;
			faults->too_deep += open.count > MR_NESTING_MAX;
			cover(rows, &open.items[open.count - 1], start_ns, end_ns);
		}
		result = mr_vec_push(&open, ((struct open_interval){row, end_ns, start_ns}));
	}
	mr_vec_free(&open);
	return result;
}

static int64_t end_of(const struct mr_nesting *rows, uint32_t row)
{
	return rows->start_ns[row] + rows->duration_ns[row];
}

/* The ends of open intervals never grow from the outermost to the innermost. */
static uint32_t find_around(const struct mr_nesting *rows, const uint32_t *open, size_t count,
			    int64_t end_ns)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;

		if (end_of(rows, open[middle]) >= end_ns)
			low = middle + 1;
		else
			count = middle;
	}
	return low ? open[low - 1] : MR_NO_ROW;
}

int mr_nest_in(const struct mr_nesting *rows, uint32_t first, uint32_t end,
	       const struct mr_nesting *inner, uint32_t inner_first, uint32_t inner_end,
	       uint32_t *ret_around)
{
	mr_vec(uint32_t) open = {0};
	int result = 0;

	for (uint32_t row = inner_first; row < inner_end && result == 0; row++) {
		int64_t start_ns = inner->start_ns[row];

		for (; result == 0 && first < end && rows->start_ns[first] <= start_ns; first++) {
			while (open.count &&
			       end_of(rows, open.items[open.count - 1]) < end_of(rows, first))
				open.count--;
			result = mr_vec_push(&open, first);
		}
		while (open.count && end_of(rows, open.items[open.count - 1]) <= start_ns)
			open.count--;
		ret_around[row] = find_around(rows, open.items, open.count, end_of(inner, row));
	}
	mr_vec_free(&open);
	return result;
}
