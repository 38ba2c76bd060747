/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_time.h"

#include "base/sort.h"

bool mr_operation_is_transfer(uint8_t kind)
{
	switch (kind) {
	case MR_operation_kind_copy_to_device:
	case MR_operation_kind_copy_from_device:
	case MR_operation_kind_copy_on_device:
	case MR_operation_kind_copy_between_devices:
	case MR_operation_kind_fill:
	case MR_operation_kind_map:
	case MR_operation_kind_unmap:
	case MR_operation_kind_migrate:
		return true;
	}
	return false;
}

bool mr_operation_is_work(uint8_t kind)
{
	return kind != MR_operation_kind_marker && kind != MR_operation_kind_barrier;
}

/* ---- the union of intervals that come in order of their starts ----------------------------------- */

struct cover {
	int64_t until_ns;
	int64_t total_ns;
};

static void add_interval(struct cover *cover, int64_t start_ns, int64_t end_ns)
{
	int64_t from_ns = mr_max(start_ns, cover->until_ns);

	if (from_ns < end_ns) {
		cover->total_ns += end_ns - from_ns;
		cover->until_ns = end_ns;
	}
}

struct covers {
	struct cover work, compute, transfer;
};

static void note_idle(struct mr_device_time *time, int64_t from_ns, int64_t until_ns, uint32_t row)
{
	if (until_ns - from_ns <= time->longest_idle_ns)
		return;
	time->longest_idle_ns = until_ns - from_ns;
	time->longest_idle_start_ns = from_ns;
	time->longest_idle_row = row;
}

static void add_operation(const struct mr_device_operations *operations, uint32_t row,
			  struct covers *covers, struct mr_device_time *time)
{
	int64_t start_ns = operations->start_ns[row];
	int64_t end_ns = start_ns + operations->duration_ns[row];

	time->end_ns = mr_max(time->end_ns, end_ns);
	if (!mr_operation_is_work(operations->kind[row]))
		return;
	note_idle(time, covers->work.until_ns, start_ns, row);
	add_interval(&covers->work, start_ns, end_ns);
	add_interval(mr_operation_is_transfer(operations->kind[row]) ? &covers->transfer
								     : &covers->compute,
		     start_ns, end_ns);
}

/* ---- the operations of a device ------------------------------------------------------------------ */

static void list_queue(const struct mr_model *model, uint32_t queue, struct mr_sort_item *items,
		       uint32_t *count)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const uint32_t *first = mr_queue_rows(model, queue);

	for (uint32_t row = first[0]; row < first[1]; row++)
		if (mr_operation_is_timed(model, row))
			items[(*count)++] =
				(struct mr_sort_item){mr_sort_key(operations->start_ns[row]), row};
}

static void sweep(const struct mr_model *model, const struct mr_sort_item *items, uint32_t count,
		  struct mr_device_time *time)
{
	if (model->whole) {
		time->first_ns = model->part.window.first_ns;
		time->end_ns = model->part.window.last_ns;
	} else if (count) {
		time->first_ns = time->end_ns = model->device_operations.start_ns[items[0].index];
	}
	struct cover none = {time->first_ns, 0};
	struct covers covers = {none, none, none};
	for (uint32_t i = 0; i < count; i++)
		add_operation(&model->device_operations, items[i].index, &covers, time);
	if (model->whole)
		note_idle(time, covers.work.until_ns, time->end_ns, MR_NO_ROW);
	time->busy_ns = covers.work.total_ns;
	time->compute_ns = covers.compute.total_ns;
	time->transfer_ns = covers.transfer.total_ns;
}

int mr_device_time_make(const struct mr_model *model, const uint32_t *queues, uint32_t queue_count,
			struct mr_device_time *ret_time)
{
	struct mr_device_time time = {.longest_idle_row = MR_NO_ROW};
	size_t room = 0;

	for (uint32_t i = 0; i < queue_count; i++) {
		const uint32_t *first = mr_queue_rows(model, queues[i]);

		room += first[1] - first[0];
	}
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < queue_count; i++)
		list_queue(model, queues[i], items, &time.operation_count);
	mr_sort(items, items + room, time.operation_count);
	sweep(model, items, time.operation_count, &time);
	*ret_time = time;
	return 0;
}
