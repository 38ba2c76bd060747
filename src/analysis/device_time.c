/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_time.h"

#include "base/heap.h"

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

/* ---- devices that processes share ----------------------------------------------------------------- */

static bool has_queue(const struct mr_definitions *definitions, uint32_t device)
{
	for (size_t queue = 1; queue < definitions->queues.count; queue++)
		if (definitions->queues.items[queue].device == device)
			return true;
	return false;
}

/* The next device after `other` that is the same one of another process, which uses it; 0: there is none. */
static uint32_t next_other(const struct mr_model *model, uint32_t device, uint32_t other)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_device *devices = definitions->devices.items;

	while (++other < definitions->devices.count)
		if (devices[other].same == device &&
		    devices[other].process != devices[device].process &&
		    has_queue(definitions, other))
			return other;
	return 0;
}

bool mr_device_is_shared(const struct mr_model *model, uint32_t device)
{
	return next_other(model, device, device) != 0;
}

const char *mr_device_pids(const struct mr_model *model, struct mr_region *region, uint32_t device)
{
	const char *text = mr_region_print(region, "%u", mr_device_pid(model, device));
	uint32_t other = device;

	while (text && (other = next_other(model, device, other)))
		text = mr_region_print(region, "%s, %u", text, mr_device_pid(model, other));
	return text;
}

uint64_t mr_device_bound_ns(const struct mr_model *model, uint32_t device)
{
	uint64_t bound_ns = model->device_clocks[device].bound_ns;
	uint32_t other = device;

	while ((other = next_other(model, device, other)))
		bound_ns = mr_max(bound_ns, model->device_clocks[other].bound_ns);
	return bound_ns;
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

/* From this row of a queue on, the first of which the times are known; false if there is none. */
static bool find_timed(const struct mr_model *model, uint32_t row, uint32_t end_row,
		       struct mr_heap_item *ret_next)
{
	while (row < end_row && !mr_operation_is_timed(model, row))
		row++;
	if (row == end_row)
		return false;
	*ret_next = (struct mr_heap_item){model->device_operations.start_ns[row], row};
	return true;
}

/* The first operation of each queue that has any; returns how many. */
static uint32_t make_heap(const struct mr_model *model, const uint32_t *queues,
			  uint32_t queue_count, struct mr_heap_item *heap)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < queue_count; i++) {
		const uint32_t *rows = mr_queue_rows(model, queues[i]);

		count += find_timed(model, rows[0], rows[1], &heap[count]);
	}
	mr_heap_make(heap, count);
	return count;
}

/* The operation that follows in the queue; false if none does. */
static bool find_following(const struct mr_model *model, struct mr_heap_item *item)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t track = operations->track[item->index];

	return find_timed(model, item->index + 1, operations->table.first_of_track[track + 1],
			  item);
}

static void sweep(const struct mr_model *model, struct mr_heap_item *heap, uint32_t count,
		  struct mr_device_time *time)
{
	if (model->whole) {
		time->first_ns = model->part.window.first_ns;
		time->end_ns = model->part.window.last_ns;
	} else if (count) {
		time->first_ns = time->end_ns = heap[0].key;
	}
	struct cover none = {time->first_ns, 0};
	struct covers covers = {none, none, none};
	for (; count; mr_heap_sink(heap, count, 0)) {
		add_operation(&model->device_operations, heap[0].index, &covers, time);
		time->operation_count++;
		if (!find_following(model, &heap[0]))
			heap[0] = heap[--count];
	}
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
	mr_auto(free) struct mr_heap_item *heap =
		malloc((queue_count + UINT64_C(1)) * sizeof *heap);

	if (!heap)
		return -ENOMEM;
	sweep(model, heap, make_heap(model, queues, queue_count, heap), &time);
	*ret_time = time;
	return 0;
}
