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

int mr_nest(const struct mr_nesting *rows, uint32_t first, uint32_t end, uint64_t *overlaps)
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
				++*overlaps;
			}
		}
		/* What ends where this one starts encloses it only if this one is empty. */
		while (open.count && open.items[open.count - 1].end_ns <= start_ns)
			open.count--;
		if (open.count) {
			rows->parent[row] = open.items[open.count - 1].row;
			cover(rows, &open.items[open.count - 1], start_ns, end_ns);
		}
		result = mr_vec_push(&open, ((struct open_interval){row, end_ns, start_ns}));
	}
	mr_vec_free(&open);
	return result;
}
