/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/series.h"

#include <string.h>

#include "base/pages.h"
#include "base/sort.h"
#include "model/memory_accounts.h"

/* What a series is of. Without padding. */
struct key {
	uint32_t is_memory;
	uint32_t process;
	uint32_t device; /* of memory */
	uint32_t teller;
	uint32_t name; /* of the counter or the allocator */
	uint32_t is_of_allocator;
};

/* Series are asked for row by row, mostly for the same one again. */
struct finder {
	struct mr_series_list *list;
	struct key last;
	uint32_t found; /* of `last`; MR_NO_ROW: nothing was looked for yet */
};

static const struct finder no_finder = {.found = MR_NO_ROW};

static struct key counter_key(const struct mr_model *model, uint32_t row)
{
	const struct mr_counters *counters = &model->counters;
	const struct mr_track *track = &model->survey->tracks.items[counters->track[row]];

	return (struct key){.process = track->process, .name = counters->name[row]};
}

static struct key memory_key(const struct mr_model *model, uint32_t row, bool is_of_allocator)
{
	const struct mr_memory *memory = &model->memory;

	return (struct key){.is_memory = true,
			    .process = model->survey->tracks.items[memory->track[row]].process,
			    .device = memory->device[row],
			    .teller = memory->teller[row],
			    .name = is_of_allocator ? memory->allocator[row] : 0,
			    .is_of_allocator = is_of_allocator};
}

/* The number of the series, which is new if the key is. */
static int find(struct finder *finder, const struct key *key, uint32_t *ret_series)
{
	struct mr_series_list *list = finder->list;

	if (finder->found == MR_NO_ROW || memcmp(key, &finder->last, sizeof *key) != 0) {
		if (mr_strings_intern(&list->keys, key, sizeof *key, &finder->found) < 0)
			return -ENOMEM;
		finder->last = *key;
	}
	*ret_series = finder->found;
	if (finder->found < list->items.count)
		return 0;
	return mr_vec_push(&list->items,
			   ((struct mr_series){.is_memory = key->is_memory,
					       .process = key->process,
					       .name = key->name,
					       .memory = {key->process, key->device, key->teller,
							  key->name, key->is_of_allocator},
					       .first_ns = INT64_MAX,
					       .last_ns = INT64_MIN}));
}

/* ---- the list ------------------------------------------------------------------------------------- */

static int note(struct finder *finder, const struct key *key, int64_t ns)
{
	uint32_t number;

	if (find(finder, key, &number) < 0)
		return -ENOMEM;
	struct mr_series *series = &finder->list->items.items[number];
	series->count++;
	series->first_ns = mr_min(series->first_ns, ns);
	series->last_ns = mr_max(series->last_ns, ns);
	return 0;
}

/* An account with a single allocator needs no series per allocator. */
static void mark_same(struct mr_series_list *list)
{
	for (size_t i = 0; i < list->items.count; i++) {
		struct mr_series *series = &list->items.items[i];
		struct key key = {.is_memory = true,
				  .process = series->process,
				  .device = series->memory.device,
				  .teller = series->memory.teller};
		uint32_t all;

		series->is_same = series->is_memory && series->memory.is_of_allocator &&
				  mr_strings_find(&list->keys, &key, sizeof key, &all) &&
				  list->items.items[all].count == series->count;
	}
}

int mr_series_list_make(const struct mr_model *model, struct mr_series_list *ret_list)
{
	struct mr_series_list list = {0};
	struct finder finder = no_finder, by_allocator = no_finder;
	int result = 0;

	finder.list = by_allocator.list = &list;
	for (uint32_t row = 0; result == 0 && row < model->counters.table.count; row++) {
		const struct key key = counter_key(model, row);

		result = note(&finder, &key, model->counters.start_ns[row]);
	}
	for (uint32_t row = 0; result == 0 && row < model->memory.table.count; row++) {
		const struct key all = memory_key(model, row, false);
		const struct key one = memory_key(model, row, true);

		result = note(&finder, &all, model->memory.start_ns[row]);
		if (result == 0)
			result = note(&by_allocator, &one, model->memory.start_ns[row]);
	}
	if (result < 0) {
		mr_series_list_free(&list);
		return result;
	}
	mark_same(&list);
	*ret_list = list;
	return 0;
}

static void free_values(struct mr_series *series)
{
	free(series->time_ns);
	free(series->value);
	free(series->low);
	series->time_ns = NULL;
	series->value = series->low = series->high = NULL;
}

void mr_series_list_free(struct mr_series_list *list)
{
	for (size_t i = 0; i < list->items.count; i++)
		free_values(&list->items.items[i]);
	mr_vec_free(&list->items);
	mr_strings_free(&list->keys);
}

/* ---- values --------------------------------------------------------------------------------------- */

static uint32_t block_count(const struct mr_series *series)
{
	return (uint32_t)((series->count + UINT64_C(1) * MR_SERIES_BLOCK - 1) / MR_SERIES_BLOCK);
}

static int make_room(struct mr_series *series)
{
	series->time_ns = mr_allocate_large(series->count * sizeof *series->time_ns);
	series->value = mr_allocate_large(series->count * sizeof *series->value);
	series->low = malloc(2 * (size_t)block_count(series) * sizeof *series->low);
	series->high = series->low + block_count(series);
	return series->time_ns && series->value && series->low ? 0 : -ENOMEM;
}

/* Rows of a table in order of time; of those at the same time the first row first. NULL without memory. */
static struct mr_sort_item *order_rows(const int64_t *start_ns, uint32_t count)
{
	struct mr_sort_item *order = mr_allocate_large((2 * (size_t)count + 1) * sizeof *order);

	for (uint32_t row = 0; order && row < count; row++)
		order[row] = (struct mr_sort_item){mr_sort_key(start_ns[row]), row};
	if (order)
		mr_sort(order, order + count, count);
	return order;
}

struct filler {
	const struct mr_model *model;
	struct finder finder;
	struct finder by_allocator;
	uint32_t *filled;         /* by series: changes that are there */
	struct mr_strings pieces; /* struct mr_memory_key */
	mr_vec(uint32_t) holders; /* by piece: row of its allocation; MR_NO_ROW: it is not live */
	double *live_bytes;       /* by series */
};

static void append(struct filler *filler, uint32_t number, int64_t ns, double value)
{
	struct mr_series *series = &filler->finder.list->items.items[number];
	uint32_t at = filler->filled[number]++;

	series->time_ns[at] = ns;
	series->value[at] = value;
}

static int fill_counters(struct filler *filler)
{
	const struct mr_counters *counters = &filler->model->counters;
	mr_auto(free) struct mr_sort_item *order =
		order_rows(counters->start_ns, counters->table.count);
	int result = order ? 0 : -ENOMEM;
	uint32_t number;

	for (uint32_t i = 0; result == 0 && i < counters->table.count; i++) {
		uint32_t row = order[i].index;
		const struct key key = counter_key(filler->model, row);

		result = find(&filler->finder, &key, &number);
		if (result == 0)
			append(filler, number, counters->start_ns[row],
			       (double)counters->value[row]);
	}
	return result;
}

/* What a row adds to the live bytes of its allocator. Allocations inside another one add nothing. */
static void change(struct filler *filler, uint32_t series, uint32_t row, double sign)
{
	const struct mr_memory *memory = &filler->model->memory;

	if (memory->parent[row] == 0)
		filler->live_bytes[series] += sign * (double)memory->bytes[row];
}

/* If an address is allocated again, it was freed in between, whether the trace says so or not. */
static int fill_allocator(struct filler *filler, uint32_t row)
{
	const struct mr_memory *memory = &filler->model->memory;
	const struct key key = memory_key(filler->model, row, true);
	const struct mr_memory_key name = mr_memory_key(filler->model, row, memory->address[row]);
	uint32_t number, held, piece;

	if (find(&filler->by_allocator, &key, &number) < 0 ||
	    mr_strings_intern(&filler->pieces, &name, sizeof name, &piece) < 0 ||
	    (piece == filler->holders.count && mr_vec_push(&filler->holders, MR_NO_ROW) < 0))
		return -ENOMEM;
	uint32_t holder = filler->holders.items[piece];
	if (holder != MR_NO_ROW) {
		const struct key last = memory_key(filler->model, holder, true);

		if (find(&filler->by_allocator, &last, &held) < 0)
			return -ENOMEM;
		change(filler, held, holder, -1);
	}
	filler->holders.items[piece] = memory->is_free[row] ? MR_NO_ROW : row;
	if (!memory->is_free[row])
		change(filler, number, row, 1);
	if (!filler->finder.list->items.items[number].is_same)
		append(filler, number, memory->start_ns[row], filler->live_bytes[number]);
	return 0;
}

static int fill_memory(struct filler *filler)
{
	const struct mr_memory *memory = &filler->model->memory;
	mr_auto(free) struct mr_sort_item *order =
		order_rows(memory->start_ns, memory->table.count);
	int result = order ? 0 : -ENOMEM;
	bool has_allocators = false;
	uint32_t number;

	for (size_t i = 0; i < filler->finder.list->items.count; i++) {
		const struct mr_series *series = &filler->finder.list->items.items[i];

		has_allocators |=
			series->is_memory && series->memory.is_of_allocator && !series->is_same;
	}
	for (uint32_t i = 0; result == 0 && i < memory->table.count; i++) {
		uint32_t row = order[i].index;
		const struct key key = memory_key(filler->model, row, false);

		result = find(&filler->finder, &key, &number);
		if (result < 0)
			break;
		append(filler, number, memory->start_ns[row], (double)memory->live_bytes[row]);
		if (has_allocators)
			result = fill_allocator(filler, row);
	}
	return result;
}

static void fill_blocks(struct mr_series *series)
{
	for (uint32_t i = 0; i < series->count; i++) {
		double *low = &series->low[i / MR_SERIES_BLOCK];
		double *high = &series->high[i / MR_SERIES_BLOCK];

		if (i % MR_SERIES_BLOCK == 0)
			*low = *high = series->value[i];
		*low = mr_min(*low, series->value[i]);
		*high = mr_max(*high, series->value[i]);
	}
}

static int fill(struct filler *filler, struct mr_series_list *list)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->items.count; i++)
		if (!list->items.items[i].is_same)
			result = make_room(&list->items.items[i]);
	if (result == 0)
		result = fill_counters(filler);
	if (result == 0)
		result = fill_memory(filler);
	for (size_t i = 0; result == 0 && i < list->items.count; i++)
		if (!list->items.items[i].is_same)
			fill_blocks(&list->items.items[i]);
	return result;
}

int mr_series_list_fill(const struct mr_model *model, struct mr_series_list *list)
{
	struct filler filler = {.model = model, .finder = no_finder, .by_allocator = no_finder};
	int result = -ENOMEM;

	filler.finder.list = filler.by_allocator.list = list;
	filler.filled = calloc(list->items.count + 1, sizeof *filler.filled);
	filler.live_bytes = calloc(list->items.count + 1, sizeof *filler.live_bytes);
	if (filler.filled && filler.live_bytes)
		result = fill(&filler, list);
	for (size_t i = 0; result < 0 && i < list->items.count; i++)
		free_values(&list->items.items[i]);
	free(filler.filled);
	free(filler.live_bytes);
	mr_strings_free(&filler.pieces);
	mr_vec_free(&filler.holders);
	return result;
}

/* ---- looking -------------------------------------------------------------------------------------- */

/* The lowest and highest of the changes [first, end). */
static void find_extremes(const struct mr_series *series, uint32_t first, uint32_t end,
			  struct mr_series_pixel *pixel)
{
	pixel->low = pixel->high = series->value[first];
	for (uint32_t i = first; i < end;) {
		bool is_block = i % MR_SERIES_BLOCK == 0 && end - i >= MR_SERIES_BLOCK;
		uint32_t block = i / MR_SERIES_BLOCK;

		pixel->low = mr_min(pixel->low, is_block ? series->low[block] : series->value[i]);
		pixel->high =
			mr_max(pixel->high, is_block ? series->high[block] : series->value[i]);
		i += is_block ? MR_SERIES_BLOCK : 1;
	}
}

static struct mr_series_pixel make_pixel(const struct mr_series *series, uint32_t first,
					 uint32_t end)
{
	struct mr_series_pixel pixel = {.time_ns = series->time_ns[first],
					.last = series->value[end - 1]};

	find_extremes(series, first, end, &pixel);
	return pixel;
}

uint32_t mr_series_query(const struct mr_series *series, const struct mr_pixels *pixels,
			 struct mr_series_pixel *ret_pixels)
{
	const int64_t *time_ns = series->time_ns;
	uint32_t at = mr_find_larger(time_ns, 0, series->count, pixels->begin_ns);
	uint32_t filled = 0;

	if (at > 0)
		ret_pixels[filled++] = make_pixel(series, at - 1, at);
	while (at < series->count && time_ns[at] < pixels->end_ns) {
		uint32_t pixel = mr_pixel_at(pixels, time_ns[at]);
		uint32_t end = mr_find_larger(time_ns, at, series->count,
					      mr_pixel_end_ns(pixels, pixel) - 1);

		ret_pixels[filled++] = make_pixel(series, at, end);
		at = end;
	}
	return filled;
}
