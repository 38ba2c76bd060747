/* SPDX-License-Identifier: Apache-2.0 */
#include "query/lookup.h"

#include "base/sort.h"

int mr_lookup_make(const struct mr_relation *relation, const struct mr_field *field,
		   uint32_t **ret_rows)
{
	uint32_t count = relation->end_row - relation->first_row;
	size_t room = mr_max(count, 1u);
	mr_auto(free) struct mr_sort_item *items = malloc(room * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);
	uint32_t *rows = malloc(room * sizeof *rows);

	if (!items || !scratch || !rows) {
		free(rows);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = relation->first_row + i;

		items[i] = (struct mr_sort_item){mr_field_read(field, row), row};
	}
	mr_sort(items, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = items[i].index;
	*ret_rows = rows;
	return 0;
}

/* The first place whose value is not below (or, with `beyond`, is above) the one wanted. */
static uint32_t bisect(const struct mr_field *field, const uint32_t *rows, uint32_t count,
		       uint64_t wanted, bool beyond)
{
	uint32_t first = 0;

	while (first < count) {
		uint32_t middle = first + (count - first) / 2;
		uint64_t value = mr_field_read(field, rows[middle]);

		if (value < wanted || (beyond && value == wanted))
			first = middle + 1;
		else
			count = middle;
	}
	return first;
}

void mr_lookup_find(const struct mr_relation *relation, const struct mr_field *field,
		    const uint32_t *rows, uint64_t value, uint32_t *ret_first, uint32_t *ret_end)
{
	uint32_t count = relation->end_row - relation->first_row;

	*ret_first = bisect(field, rows, count, value, false);
	*ret_end = bisect(field, rows, count, value, true);
}
