/* SPDX-License-Identifier: Apache-2.0 */
#include "model/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/sort.h"
#include "model/detail.h"

#define COLUMN_DESC(type, name, ...) \
	{#name, sizeof(MR_TYPE_##type), MR_MEANING_##type, "" __VA_ARGS__, 0},
#define TABLE_DESC(table_name)                                           \
	static const struct mr_column_desc columns_of_##table_name[] = { \
		MR_COLUMNS_##table_name(COLUMN_DESC)};                   \
	const struct mr_table_desc mr_##table_name##_desc = {            \
		.name = #table_name,                                     \
		.doc = MR_ABOUT_##table_name,                            \
		.columns = columns_of_##table_name,                      \
		.column_count = mr_countof(columns_of_##table_name),     \
	};
MR_TABLES(TABLE_DESC)

bool mr_table_is_interval(const struct mr_table *table)
{
	return strcmp(table->desc->columns[2].name, "duration_ns") == 0;
}

int mr_table_reserve(struct mr_table *table, uint64_t wanted)
{
	if (wanted <= table->capacity)
		return 0;
	if (wanted >= MR_NO_ROW)
		return -EOVERFLOW;
	uint64_t larger = mr_max(wanted, (uint64_t)table->capacity + table->capacity / 2);
	larger = mr_min(mr_max(larger, UINT64_C(64)), (uint64_t)MR_NO_ROW - 1);
	for (uint32_t i = 0; i < table->desc->column_count; i++) {
		void **column = &mr_table_columns(table)[i];
		size_t bytes = larger * table->desc->columns[i].bytes;
		void *moved = *column ? realloc(*column, bytes) : mr_allocate_large(bytes);

		if (!moved)
			return -ENOMEM;
		*column = moved;
	}
	table->capacity = (uint32_t)larger;
	return 0;
}

void mr_table_free(struct mr_table *table)
{
	mr_detail_free(table->detail);
	if (!table->desc || table->is_mapped)
		return;
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		free(mr_table_columns(table)[i]);
	free(table->first_of_track);
	free(table->whole_rows);
}

/* ---- order -------------------------------------------------------------------------------------- */

static uint32_t *count_tracks(const struct mr_table *table, const uint32_t *track,
			      uint32_t track_count)
{
	uint32_t *first = calloc((size_t)track_count + 1, sizeof *first);

	for (uint32_t row = 0; first && row < table->count; row++)
		first[track[row] + 1]++;
	for (uint32_t i = 0; first && i < track_count; i++)
		first[i + 1] += first[i];
	return first;
}

static void place_by_track(const struct mr_table *table, const uint32_t *track, uint32_t *next,
			   struct mr_sort_item *items)
{
	for (uint32_t row = 0; row < table->count; row++)
		items[next[track[row]]++].index = row;
}

static void reverse(struct mr_sort_item *items, uint32_t count)
{
	for (uint32_t i = 0; i < count / 2; i++) {
		struct mr_sort_item item = items[i];

		items[i] = items[count - 1 - i];
		items[count - 1 - i] = item;
	}
}

/* By start, or by end where durations are given. */
static void sort_by(const int64_t *start, const int64_t *duration, struct mr_sort_item *items,
		    struct mr_sort_item *scratch, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = items[i].index;

		items[i].key = mr_sort_key(start[row] + (duration ? duration[row] : 0));
	}
	mr_sort(items, scratch, count);
}

/* By start. Intervals are recorded at their end, the enclosing after the enclosed: in that order, the
 * last of those that start together is the outermost, and must come first. */
static void sort_track(const int64_t *start, const int64_t *duration, struct mr_sort_item *items,
		       struct mr_sort_item *scratch, uint32_t count)
{
	if (duration)
		sort_by(start, duration, items, scratch, count);
	sort_by(start, NULL, items, scratch, count);
	for (uint32_t i = 0, next; duration && i < count; i = next) {
		for (next = i + 1; next < count && items[next].key == items[i].key; next++)
			;
		reverse(items + i, next - i);
	}
}

static void gather(void *to, const void *from, const struct mr_sort_item *items, uint32_t count,
		   uint32_t bytes)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = items[i].index;

		switch (bytes) {
		case 1:
			((uint8_t *)to)[i] = ((const uint8_t *)from)[row];
			break;
		case 4:
			((uint32_t *)to)[i] = ((const uint32_t *)from)[row];
			break;
		default:
			((uint64_t *)to)[i] = ((const uint64_t *)from)[row];
		}
	}
}

/* A column moves to the memory that the last one of its width has left: new memory costs page faults. */
static int rearrange(struct mr_table *table, const struct mr_sort_item *items)
{
	void *spares[sizeof(uint64_t) + 1] = {0}; /* by width */
	int result = 0;

	for (uint32_t i = 0; i < table->desc->column_count; i++) {
		uint32_t bytes = table->desc->columns[i].bytes;
		void **column = &mr_table_columns(table)[i], *left = *column;

		if (!spares[bytes])
			spares[bytes] = mr_allocate_large((size_t)table->capacity * bytes);
		if (!spares[bytes]) {
			result = -ENOMEM;
			break;
		}
		gather(spares[bytes], left, items, table->count, bytes);
		*column = spares[bytes];
		spares[bytes] = left;
	}
	for (size_t bytes = 0; bytes < mr_countof(spares); bytes++)
		free(spares[bytes]);
	return result;
}

static int rearrange_beside(uint32_t *beside, const struct mr_sort_item *items, uint32_t count)
{
	mr_auto(free) uint32_t *left = malloc(count * sizeof *left);

	if (!left)
		return -ENOMEM;
	memcpy(left, beside, count * sizeof *left);
	gather(beside, left, items, count, sizeof *left);
	return 0;
}

static int sort_rows(struct mr_table *table, uint32_t track_count, struct mr_sort_item *items,
		     uint32_t *beside)
{
	const uint32_t *track = mr_table_columns(table)[0];
	const int64_t *start = mr_table_columns(table)[1];
	const int64_t *duration = mr_table_is_interval(table) ? mr_table_columns(table)[2] : NULL;
	mr_auto(free) struct mr_sort_item *scratch =
		mr_allocate_large(table->count * sizeof *scratch);
	mr_auto(free) uint32_t *first = count_tracks(table, track, track_count);
	mr_auto(free) uint32_t *next = malloc(((size_t)track_count + 1) * sizeof *next);

	if (!scratch || !first || !next)
		return -ENOMEM;
	memcpy(next, first, ((size_t)track_count + 1) * sizeof *next);
	place_by_track(table, track, next, items);
	for (uint32_t i = 0; i < track_count; i++)
		sort_track(start, duration, items + first[i], scratch, first[i + 1] - first[i]);
	int result = beside ? rearrange_beside(beside, items, table->count) : 0;
	if (result == 0)
		result = rearrange(table, items);
	if (result == 0) {
		free(table->first_of_track);
		table->first_of_track = mr_take(first);
	}
	return result;
}

int mr_table_find_tracks(struct mr_table *table, uint32_t track_count)
{
	free(table->first_of_track);
	table->first_of_track = count_tracks(table, mr_table_columns(table)[0], track_count);
	return table->first_of_track ? 0 : -ENOMEM;
}

int mr_table_drop(struct mr_table *table, const bool *is_dropped, uint32_t track_count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < table->desc->column_count; i++) {
		uint32_t bytes = table->desc->columns[i].bytes;
		char *column = mr_table_columns(table)[i];

		kept = 0;
		for (uint32_t row = 0; row < table->count; row++)
			if (!is_dropped[row])
				memmove(column + (size_t)kept++ * bytes,
					column + (size_t)row * bytes, bytes);
	}
	table->count = kept;
	return mr_table_find_tracks(table, track_count);
}

int mr_table_sort_with(struct mr_table *table, uint32_t track_count, uint32_t *beside)
{
	if (table->count == 0) {
		free(table->first_of_track);
		table->first_of_track = calloc((size_t)track_count + 1, sizeof(uint32_t));
		return table->first_of_track ? 0 : -ENOMEM;
	}
	mr_auto(free) struct mr_sort_item *items = mr_allocate_large(table->count * sizeof *items);
	return items ? sort_rows(table, track_count, items, beside) : -ENOMEM;
}

int mr_table_sort(struct mr_table *table, uint32_t track_count)
{
	return mr_table_sort_with(table, track_count, NULL);
}
