/* SPDX-License-Identifier: Apache-2.0 */
#include "query/order.h"

#include <string.h>

enum {
	BYTE_VALUES = 256
};

/* One column's values while rows are sorted by it. Values that cannot be are counted as the last one. */
struct sorter {
	const struct mr_relation_column *column;
	uint32_t value_count; /* and one more */
	uint32_t *counts;     /* rows, by value */
	uint32_t *used;       /* values that have rows */
	uint32_t *groups;     /* by value: which group its rows are of */
	uint32_t *places;     /* by group: where its next row goes */
	uint32_t used_count;
};

static uint32_t count_values(const struct mr_relation_column *column)
{
	if (column->field.bytes == 1)
		return BYTE_VALUES;
	return column->end ? column->end : column->dictionary ? column->dictionary->count : 0;
}

bool mr_order_is_possible(const struct mr_relation_column *column)
{
	return column->field.bytes == 1 || column->end || column->dictionary;
}

static uint32_t value_of(const struct sorter *sorter, uint32_t row)
{
	uint64_t value = mr_field_read(&sorter->column->field, row);

	return value < sorter->value_count ? (uint32_t)value : sorter->value_count;
}

static int compare_texts(const struct mr_relation_column *column, uint32_t first, uint32_t second)
{
	const struct mr_dictionary *dictionary = column->dictionary;
	uint32_t a = mr_relation_code(column, first), b = mr_relation_code(column, second);

	if (a == b)
		return 0;
	uint32_t a_length = dictionary->lengths[a], b_length = dictionary->lengths[b];
	int difference =
		memcmp(dictionary->texts[a], dictionary->texts[b], mr_min(a_length, b_length));
	return difference ? difference : (a_length > b_length) - (a_length < b_length);
}

static int compare_numbers(const struct mr_relation_column *column, uint32_t first, uint32_t second)
{
	bool has_first = mr_relation_has_number(column, first);
	bool has_second = mr_relation_has_number(column, second);

	if (!has_first || !has_second)
		return has_first - has_second;
	return (first > second) - (first < second);
}

static int compare_values(const void *first, const void *second, void *data)
{
	const struct mr_relation_column *column = data;
	uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;

	return column->dictionary ? compare_texts(column, a, b) : compare_numbers(column, a, b);
}

/* `from` NULL: the rows from `first` on, as they are. */
static void count_rows(struct sorter *sorter, const uint32_t *from, uint32_t first, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		sorter->counts[value_of(sorter, from ? from[i] : first + i)]++;
	for (uint32_t value = 0; value <= sorter->value_count; value++)
		if (sorter->counts[value])
			sorter->used[sorter->used_count++] = value;
}

/* Values that SQL cannot distinguish are one group. */
static void make_groups(struct sorter *sorter, bool descending)
{
	uint32_t place = 0, group = 0, last = 0;
	void *column = (void *)sorter->column;

	qsort_r(sorter->used, sorter->used_count, sizeof *sorter->used, compare_values, column);
	for (uint32_t i = 0; i < sorter->used_count; i++) {
		uint32_t *value = &sorter->used[descending ? sorter->used_count - 1 - i : i];

		if (i == 0 || compare_values(value, &last, column) != 0)
			sorter->places[group++] = place;
		sorter->groups[*value] = group - 1;
		place += sorter->counts[*value];
		last = *value;
	}
}

static int sort_by(const struct mr_order_term *term, const uint32_t *from, uint32_t first,
		   uint32_t count, uint32_t *to)
{
	struct sorter sorter = {.column = term->column, .value_count = count_values(term->column)};
	size_t room = (size_t)sorter.value_count + 1;
	mr_auto(free) uint32_t *memory = calloc(4 * room, sizeof *memory);

	if (!memory)
		return -ENOMEM;
	sorter.counts = memory;
	sorter.used = memory + room;
	sorter.groups = memory + 2 * room;
	sorter.places = memory + 3 * room;
	count_rows(&sorter, from, first, count);
	make_groups(&sorter, term->descending);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = from ? from[i] : first + i;

		to[sorter.places[sorter.groups[value_of(&sorter, row)]]++] = row;
	}
	return 0;
}

int mr_order_rows(const struct mr_order_term *terms, uint32_t term_count, uint32_t first,
		  uint32_t end, uint32_t **ret_rows)
{
	uint32_t count = end - first;
	size_t bytes = mr_max(count, 1u) * sizeof(uint32_t);
	mr_auto(free) uint32_t *sorted = malloc(bytes);
	mr_auto(free) uint32_t *other = term_count > 1 ? malloc(bytes) : NULL;
	int result = sorted && (term_count == 1 || other) ? 0 : -ENOMEM;

	/* The least important first: each pass keeps the order of the one before among equals. */
	for (uint32_t i = term_count; result == 0 && i-- > 0;) {
		bool is_sorted = i + 1 < term_count;

		if (is_sorted) {
			uint32_t *swap = sorted;
			sorted = other;
			other = swap;
		}
		result = sort_by(&terms[i], is_sorted ? other : NULL, first, count, sorted);
	}
	if (result == 0)
		*ret_rows = mr_take(sorted);
	return result;
}
