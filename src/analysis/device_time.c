/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/device_time.h"

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

/* The next operation of a queue, which are in order. */
struct next {
	int64_t start_ns;
	uint32_t row;
	uint32_t end_row;
};

/* Goes on to the next of which the times are known; false if there is none. */
static bool find_timed(const struct mr_model *model, struct next *next)
{
	while (next->row < next->end_row && !mr_operation_is_timed(model, next->row))
		next->row++;
	if (next->row < next->end_row)
		next->start_ns = model->device_operations.start_ns[next->row];
	return next->row < next->end_row;
}

static bool is_before(struct next a, struct next b)
{
	return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.row < b.row;
}

/* Moves one down until neither of the two below it comes before it. */
static void sink(struct next *heap, uint32_t count, uint32_t at)
{
	struct next sinking = heap[at];
	uint32_t child;

	for (; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], sinking))
			break;
		heap[at] = heap[child];
	}
	heap[at] = sinking;
}

/* Queues that have any; returns how many. */
static uint32_t make_heap(const struct mr_model *model, const uint32_t *queues,
			  uint32_t queue_count, struct next *heap)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < queue_count; i++) {
		const uint32_t *rows = mr_queue_rows(model, queues[i]);

		heap[count] = (struct next){.row = rows[0], .end_row = rows[1]};
		count += find_timed(model, &heap[count]);
	}
	for (uint32_t i = count / 2; i-- > 0;)
		sink(heap, count, i);
	return count;
}

static void sweep(const struct mr_model *model, struct next *heap, uint32_t count,
		  struct mr_device_time *time)
{
	if (model->whole) {
		time->first_ns = model->part.window.first_ns;
		time->end_ns = model->part.window.last_ns;
	} else if (count) {
		time->first_ns = time->end_ns = heap[0].start_ns;
	}
	struct cover none = {time->first_ns, 0};
	struct covers covers = {none, none, none};
	for (; count; sink(heap, count, 0)) {
		add_operation(&model->device_operations, heap[0].row++, &covers, time);
		time->operation_count++;
		if (!find_timed(model, &heap[0]))
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
	mr_auto(free) struct next *heap = malloc((queue_count + UINT64_C(1)) * sizeof *heap);

	if (!heap)
		return -ENOMEM;
	sweep(model, heap, make_heap(model, queues, queue_count, heap), &time);
	*ret_time = time;
	return 0;
}
