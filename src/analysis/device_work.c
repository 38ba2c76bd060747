/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_work.h"

#include "analysis/device_time.h"
#include "base/sort.h"

enum {
	DISPATCH_NS = 20000, /* where too few gaps tell it */
	DISPATCH_GAPS = 20,  /* are enough */
};

/* ---- gaps --------------------------------------------------------------------------------------- */

/* Of two operations that end a gap the one that was launched first. */
static uint32_t launched_first(const struct mr_model *model, uint32_t a, uint32_t b)
{
	uint32_t a_call = model->device_operations.call[a],
		 b_call = model->device_operations.call[b];

	if (a_call == MR_NO_ROW || b_call == MR_NO_ROW)
		return a_call == MR_NO_ROW && b_call != MR_NO_ROW ? b : a;
	return model->calls.start_ns[b_call] < model->calls.start_ns[a_call] ? b : a;
}

/* Equal ones come in order of correlation. */
static uint32_t choose_end(const struct mr_model *model, const struct mr_device_work *work,
			   uint32_t place)
{
	uint32_t chosen = work->rows[place];

	for (uint32_t i = place + 1; i < work->count && work->start_ns[i] == work->start_ns[place];
	     i++)
		chosen = launched_first(model, chosen, work->rows[i]);
	return chosen;
}

bool mr_idle_gap_next(const struct mr_model *model, const struct mr_device_work *work,
		      struct mr_idle_gap *gap)
{
	uint32_t place = gap->place + 1; /* 0 after MR_NO_GAP */

	if (gap->place == work->count)
		return false;
	while (place > 0 && place < work->count &&
	       work->start_ns[place] <= work->until_ns[place - 1])
		place++;
	*gap = (struct mr_idle_gap){
		.begin_ns = place ? work->until_ns[place - 1] : INT64_MIN,
		.end_ns = INT64_MAX,
		.operation = MR_NO_ROW,
		.place = place,
	};
	if (place < work->count) {
		gap->end_ns = work->start_ns[place];
		gap->operation = choose_end(model, work, place);
	}
	return true;
}

/* ---- devices ------------------------------------------------------------------------------------ */

static bool is_work(const struct mr_model *model, uint32_t row)
{
	return model->device_operations.duration_ns[row] > 0 &&
	       mr_operation_is_work(model->device_operations.kind[row]);
}

/* Was the operation only waiting for the device when the gap began? */
static bool was_ready(const struct mr_model *model, const struct mr_idle_gap *gap)
{
	uint32_t row = gap->operation;
	uint32_t after = row == MR_NO_ROW ? MR_NO_ROW : model->device_operations.after[row];

	return row != MR_NO_ROW && mr_operation_launched_ns(model, row) <= gap->begin_ns &&
	       (after == MR_NO_ROW || mr_operation_end_ns(model, after) <= gap->begin_ns);
}

/* The 95th percentile of the gaps in which an operation was ready all the time. */
static void calibrate(const struct mr_model *model, struct mr_device_work *work,
		      struct mr_sort_item *items, struct mr_sort_item *scratch)
{
	struct mr_idle_gap gap = MR_NO_GAP;
	uint32_t count = 0;

	while (mr_idle_gap_next(model, work, &gap))
		if (was_ready(model, &gap))
			items[count++] =
				(struct mr_sort_item){(uint64_t)(gap.end_ns - gap.begin_ns), 0};
	work->dispatch_ns = DISPATCH_NS;
	if (count < DISPATCH_GAPS)
		return;
	mr_sort(items, scratch, count);
	work->dispatch_gaps = count;
	work->dispatch_ns = (int64_t)items[((uint64_t)count * 95 + 99) / 100 - 1].key;
}

static int fill_device(const struct mr_model *model, struct mr_device_work *work,
		       const struct mr_sort_item *items)
{
	int64_t until_ns = INT64_MIN;

	work->rows = malloc((work->count + 1) * sizeof *work->rows);
	work->start_ns = malloc((work->count + 1) * sizeof *work->start_ns);
	work->until_ns = malloc((work->count + 1) * sizeof *work->until_ns);
	if (!work->rows || !work->start_ns || !work->until_ns)
		return -ENOMEM;
	for (uint32_t i = 0; i < work->count; i++) {
		until_ns = mr_max(until_ns, mr_operation_end_ns(model, items[i].index));
		work->rows[i] = items[i].index;
		work->start_ns[i] = model->device_operations.start_ns[items[i].index];
		work->until_ns[i] = until_ns;
	}
	return 0;
}

static void span(const struct mr_model *model, struct mr_device_work *work, uint32_t row)
{
	int64_t start_ns = model->device_operations.start_ns[row];
	int64_t end_ns = mr_operation_end_ns(model, row);

	if (work->operations++ == 0) {
		work->first_ns = start_ns;
		work->end_ns = end_ns;
	}
	work->first_ns = mr_min(work->first_ns, start_ns);
	work->end_ns = mr_max(work->end_ns, end_ns);
	work->count += is_work(model, row);
}

/* All work of all devices, by device, then by start, then by correlation; rows are the last resort. */
static void sort_work(const struct mr_model *model, struct mr_device_work *devices,
		      struct mr_sort_item *items, struct mr_sort_item *scratch)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t count = 0;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		if (!mr_operation_is_timed(model, row))
			continue;
		span(model, &devices[mr_operation_device(model, row)], row);
		if (is_work(model, row))
			items[count++] = (struct mr_sort_item){operations->correlation[row], row};
	}
	mr_sort(items, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = mr_sort_key(operations->start_ns[items[i].index]);
	mr_sort(items, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = mr_operation_device(model, items[i].index);
	mr_sort(items, scratch, count);
}

static int make(const struct mr_model *model, struct mr_device_work *works)
{
	size_t room = (size_t)model->device_operations.table.count + 1;
	size_t device_count = model->survey->definitions.devices.count;
	mr_auto(free) struct mr_sort_item *items = malloc(2 * room * sizeof *items);
	uint32_t first = 0;
	int result = 0;

	if (!items)
		return -ENOMEM;
	sort_work(model, works, items, items + room);
	for (size_t i = 0; result == 0 && i < device_count; i++) {
		result = fill_device(model, &works[i], items + first);
		first += works[i].count;
	}
	for (size_t i = 0; result == 0 && i < device_count; i++)
		calibrate(model, &works[i], items, items + room);
	return result;
}

int mr_device_works_make(const struct mr_model *model, struct mr_device_work **ret_works)
{
	struct mr_device_work *works =
		calloc(model->survey->definitions.devices.count + 1, sizeof *works);
	int result = works ? make(model, works) : -ENOMEM;

	if (result == 0)
		*ret_works = works;
	else
		mr_device_works_free(model, works);
	return result;
}

void mr_device_works_free(const struct mr_model *model, struct mr_device_work *works)
{
	for (size_t i = 0; works && i < model->survey->definitions.devices.count; i++) {
		free(works[i].rows);
		free(works[i].start_ns);
		free(works[i].until_ns);
	}
	free(works);
}
