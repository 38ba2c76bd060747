/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory_growth.h"

#include <stdlib.h>

#include "base/pages.h"
#include "base/sort.h"
#include "model/memory_accounts.h"

enum {
	SAMPLES = 160,     /* steps that are compared, at most */
	LEAST_STEPS = 5,   /* fewer show nothing */
	LEAST_RISING = 80, /* per cent of all pairs of steps in which the later one has more */
	LEAST_PART = 20,   /* growth of all steps must be at least one in so many of what is live */
	LEAST_BYTES = 1 << 20 /* and so much */
};

/* The end of a step that is looked at. */
struct sample {
	int64_t ns;
	uint32_t number; /* among the steps of its process */
};

/* ---- what is live where steps end ---------------------------------------------------------------------- */

struct series {
	uint64_t bytes[SAMPLES];
	bool is_known[SAMPLES];
};

/* Ends of the steps of a process, evenly chosen, in order of time. */
static int choose_steps(const struct mr_model *model, uint32_t process, struct sample *samples,
			uint32_t *ret_count, uint32_t *ret_step_count)
{
	const struct mr_steps *steps = &model->steps;
	size_t room = steps->table.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	uint32_t count = 0;

	if (!items)
		return -ENOMEM;
	for (uint32_t row = 0; row < room; row++)
		if (model->survey->tracks.items[steps->track[row]].process == process)
			items[count++] = (struct mr_sort_item){
				mr_sort_key(steps->start_ns[row] + steps->duration_ns[row]), row};
	mr_sort(items, items + room, count);
	*ret_step_count = count;
	*ret_count = mr_min(count, (uint32_t)SAMPLES);
	for (uint32_t i = 0; i < *ret_count; i++) {
		uint32_t number = *ret_count > 1
					  ? (uint32_t)((uint64_t)i * (count - 1) / (*ret_count - 1))
					  : 0;
		uint32_t row = items[number].index;

		samples[i] =
			(struct sample){steps->start_ns[row] + steps->duration_ns[row], number};
	}
	return 0;
}

/* Rows of the account, as they follow each other; NULL without memory. */
static struct mr_sort_item *sort_memory(const struct mr_model *whole)
{
	const struct mr_memory *memory = &whole->memory;
	size_t count = memory->table.count;
	struct mr_sort_item *items = mr_allocate_large((2 * count + 1) * sizeof *items);

	for (uint32_t row = 0; items && row < count; row++)
		items[row] = (struct mr_sort_item){mr_sort_key(memory->start_ns[row]), row};
	if (items)
		mr_sort(items, items + count, count);
	return items;
}

static void read_series(const struct mr_model *whole, const struct mr_sort_item *order,
			uint32_t account, const struct sample *samples, uint32_t count,
			struct series *series)
{
	const struct mr_memory *memory = &whole->memory;
	uint64_t bytes = 0;
	bool is_known = false;
	uint32_t at = 0;

	for (uint32_t i = 0; i < count; i++) {
		for (;
		     at < memory->table.count && memory->start_ns[order[at].index] <= samples[i].ns;
		     at++)
			if (mr_memory_account_of(whole, order[at].index) == account) {
				bytes = memory->live_bytes[order[at].index];
				is_known = true;
			}
		series->bytes[i] = bytes;
		series->is_known[i] = is_known;
	}
}

/* ---- slopes ------------------------------------------------------------------------------------------- */

static int compare_slopes(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static int measure(const struct sample *samples, uint32_t count, const struct series *series,
		   struct mr_memory_growth *growth)
{
	mr_auto(free) int64_t *slopes = malloc(((size_t)count * count / 2 + 1) * sizeof *slopes);
	uint32_t pair_count = 0, rising = 0, first = 0;

	if (!slopes)
		return -ENOMEM;
	while (first < count && !series->is_known[first])
		first++;
	for (uint32_t i = first; i < count; i++)
		for (uint32_t j = i + 1; j < count; j++) {
			int64_t bytes = (int64_t)(series->bytes[j] - series->bytes[i]);

			slopes[pair_count++] = bytes / (samples[j].number - samples[i].number);
			rising += bytes > 0;
		}
	if (count - first < LEAST_STEPS)
		return 0;
	qsort(slopes, pair_count, sizeof *slopes, compare_slopes);
	growth->first_ns = samples[first].ns;
	growth->last_ns = samples[count - 1].ns;
	growth->first_bytes = series->bytes[first];
	growth->last_bytes = series->bytes[count - 1];
	growth->bytes_per_step = slopes[pair_count / 2];
	__int128 all = (__int128)growth->bytes_per_step * growth->step_count;
	growth->is_growing = rising >= (uint64_t)pair_count * LEAST_RISING / 100 &&
			     all >= LEAST_BYTES && all >= growth->last_bytes / LEAST_PART;
	return 0;
}

int mr_memory_growth_make(const struct mr_model *model, struct mr_memory_growth *growths)
{
	const struct mr_model *whole = mr_model_whole(model);
	mr_auto(free) struct mr_sort_item *order = sort_memory(whole);
	mr_auto(free) struct series *series = malloc(sizeof *series);
	mr_auto(free) bool *is_used = calloc(mr_memory_account_count(whole) + 1, sizeof *is_used);
	struct sample samples[SAMPLES];
	int result = order && series && is_used ? 0 : -ENOMEM;

	for (uint32_t row = 0; result == 0 && row < whole->memory.table.count; row++)
		is_used[mr_memory_account_of(whole, row)] = true;
	for (uint32_t i = 0; result == 0 && i < mr_memory_account_count(whole); i++) {
		uint32_t count;

		growths[i] = (struct mr_memory_growth){0};
		if (!is_used[i])
			continue;
		result = choose_steps(model, mr_memory_account(whole, i).process, samples, &count,
				      &growths[i].step_count);
		if (result < 0 || count < LEAST_STEPS)
			continue;
		read_series(whole, order, i, samples, count, series);
		result = measure(samples, count, series, &growths[i]);
	}
	return result;
}
