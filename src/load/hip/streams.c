/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of a stream and its operations have one order; it is cut into stretches where a call has waited for all, and
 * stretch.h decides each. If calls of a stretch overlap, which are then of different threads, it is undecided; likewise a
 * stream with several workers.
 */
#include <string.h>

#include "load/hip/order.h"

/* Up to here the stream had done all of this many calls, and nothing else. */
struct boundary {
	uint32_t calls;
	int64_t ns;
};

/* The calls of a stream, in order of time. */
struct calls {
	const struct mr_hip_order *items;
	uint32_t count;
};

struct streams {
	const struct mr_model *model;
	struct mr_hip_orders orders;
	/* Of one stream. */
	mr_vec(int64_t) latest_ends; /* of a call and all before it */
	mr_vec(struct boundary) boundaries;
	/* Of one stretch. */
	mr_vec(struct mr_hip_stretch_call) calls;
	mr_vec(struct mr_hip_stretch_operation) operations;
};

static void free_streams(struct streams *streams)
{
	mr_vec_free(&streams->latest_ends);
	mr_vec_free(&streams->boundaries);
	mr_vec_free(&streams->calls);
	mr_vec_free(&streams->operations);
}

/* ---- order ------------------------------------------------------------------------------------------ */

static int orders_by_time(const void *a, const void *b)
{
	const struct mr_hip_order *one = a, *other = b;

	if (one->process != other->process)
		return one->process < other->process ? -1 : 1;
	if (one->stream != other->stream)
		return one->stream < other->stream ? -1 : 1;
	return one->start_ns < other->start_ns ? -1 : one->start_ns > other->start_ns;
}

static int submissions_by_time(const void *a, const void *b)
{
	const struct mr_hip_submission *one = a, *other = b;

	if (one->process != other->process)
		return one->process < other->process ? -1 : 1;
	if (one->stream != other->stream)
		return one->stream < other->stream ? -1 : 1;
	if (one->ns != other->ns)
		return one->ns < other->ns ? -1 : 1;
	return one->correlation < other->correlation ? -1 : one->correlation > other->correlation;
}

static int boundaries_by_time(const void *a, const void *b)
{
	const struct boundary *one = a, *other = b;

	return one->ns < other->ns ? -1 : one->ns > other->ns;
}

/* ---- kinds of work ---------------------------------------------------------------------------------- */

static enum mr_hip_work work_of_call(const struct streams *streams, uint32_t row)
{
	const char *function =
		mr_survey_text(streams->model->survey, streams->model->calls.function[row]);

	if (strncmp(function, "hipGraph", 8) == 0)
		return MR_HIP_WORK_GRAPH;
	if (strstr(function, "Memcpy"))
		return MR_HIP_WORK_COPY;
	if (strstr(function, "Memset"))
		return MR_HIP_WORK_FILL;
	return strstr(function, "Launch") ? MR_HIP_WORK_KERNEL : MR_HIP_WORK_OTHER;
}

static enum mr_hip_work work_of_operation(const struct streams *streams, uint32_t row)
{
	switch (streams->model->device_operations.kind[row]) {
	case MR_operation_kind_kernel:
		return MR_HIP_WORK_KERNEL;
	case MR_operation_kind_fill:
		return MR_HIP_WORK_FILL;
	case MR_operation_kind_copy_to_device:
	case MR_operation_kind_copy_from_device:
	case MR_operation_kind_copy_on_device:
	case MR_operation_kind_copy_between_devices:
		return MR_HIP_WORK_COPY;
	default:
		return MR_HIP_WORK_OTHER;
	}
}

/* ---- stretches -------------------------------------------------------------------------------------- */

static int find_latest_ends(struct streams *streams, const struct calls *calls)
{
	int64_t latest_ns = INT64_MIN;
	int result = 0;

	streams->latest_ends.count = 0;
	for (uint32_t i = 0; result == 0 && i < calls->count; i++) {
		latest_ns = mr_max(latest_ns, calls->items[i].end_ns);
		result = mr_vec_push(&streams->latest_ends, latest_ns);
	}
	return result;
}

/* A call has waited: if no other call overlapped it, what was before is over then. */
static int add_boundary(struct streams *streams, const struct calls *calls,
			const struct mr_hip_order *wait)
{
	uint32_t before = 0, end = calls->count;

	while (before < end) {
		uint32_t middle = before + (end - before) / 2;

		if (calls->items[middle].start_ns <= wait->start_ns)
			before = middle + 1;
		else
			end = middle;
	}
	uint32_t others = before > 0 && &calls->items[before - 1] == wait ? before - 1 : before;
	bool is_alone = (others == 0 || streams->latest_ends.items[others - 1] <= wait->start_ns) &&
			(before == calls->count || calls->items[before].start_ns >= wait->end_ns);
	return is_alone ? mr_vec_push(&streams->boundaries,
				      ((struct boundary){before, wait->end_ns}))
			: 0;
}

/* Waits for all streams of a device have the stream 0, so they are the first of a process. */
static int add_boundaries_of_device(struct streams *streams, const struct calls *calls)
{
	const struct mr_hip_order *first = calls->items;
	int result = 0;

	for (size_t i = 0; result == 0 && i < streams->orders.count; i++) {
		const struct mr_hip_order *wait = &streams->orders.items[i];

		if (wait->process > first->process ||
		    (wait->process == first->process && wait->stream > 0))
			break;
		if (wait->process == first->process && wait->device == first->device &&
		    wait->call != MR_NO_ROW)
			result = add_boundary(streams, calls, wait);
	}
	return result;
}

static int find_boundaries(struct streams *streams, const struct calls *calls)
{
	int result = find_latest_ends(streams, calls);

	streams->boundaries.count = 0;
	for (uint32_t i = 0; result == 0 && i < calls->count; i++)
		if (calls->items[i].is_blocking && calls->items[i].call != MR_NO_ROW)
			result = add_boundary(streams, calls, &calls->items[i]);
	if (result == 0 && calls->count)
		result = add_boundaries_of_device(streams, calls);
	if (result == 0 && streams->boundaries.count)
		qsort(streams->boundaries.items, streams->boundaries.count,
		      sizeof *streams->boundaries.items, boundaries_by_time);
	return result < 0 ? result
			  : mr_vec_push(&streams->boundaries,
					((struct boundary){calls->count, INT64_MAX}));
}

/* The calls that have put work into the stream. False if one was not recorded, or two were open at once: nobody knows which
 * was first. */
static bool list_calls(struct streams *streams, const struct calls *calls, int *ret_result)
{
	const struct mr_calls *rows = &streams->model->calls;
	int64_t latest_ns = INT64_MIN;

	streams->calls.count = 0;
	for (uint32_t i = 0; *ret_result == 0 && i < calls->count; i++) {
		const struct mr_hip_order *order = &calls->items[i];

		if (order->call == MR_NO_ROW)
			return false;
		enum mr_hip_work work = work_of_call(streams, order->call);
		if (work != MR_HIP_WORK_OTHER) {
			if (order->start_ns < latest_ns)
				return false;
			latest_ns = order->end_ns;
		}
		*ret_result = mr_vec_push(
			&streams->calls,
			((struct mr_hip_stretch_call){work, order->name, rows->object[order->call],
						      rows->bytes[order->call]}));
	}
	return *ret_result == 0;
}

/* False if one was not recorded. */
static bool list_operations(struct streams *streams, const struct mr_hip_submission *submissions,
			    uint32_t count, int *ret_result)
{
	const struct mr_device_operations *rows = &streams->model->device_operations;

	streams->operations.count = 0;
	for (uint32_t i = 0; *ret_result == 0 && i < count; i++) {
		uint32_t row = submissions[i].operation;

		if (row == MR_NO_ROW)
			return false;
		*ret_result = mr_vec_push(&streams->operations,
					  ((struct mr_hip_stretch_operation){
						  work_of_operation(streams, row), rows->name[row],
						  rows->bytes[row], MR_HIP_UNDECIDED}));
	}
	return *ret_result == 0;
}

static int decide_stretch(struct streams *streams, const struct calls *calls,
			  struct mr_hip_submission *submissions, uint32_t count)
{
	int result = 0;

	if (count == 0 || !list_calls(streams, calls, &result) ||
	    !list_operations(streams, submissions, count, &result))
		return result;
	mr_hip_stretch_decide(streams->calls.items, calls->count, streams->operations.items, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t call = streams->operations.items[i].call;

		if (call != MR_HIP_UNDECIDED && calls->items[call].start_ns <= submissions[i].ns)
			submissions[i].decided = calls->items[call].correlation;
	}
	return 0;
}

static bool is_one_worker(const struct mr_hip_submission *submissions, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++)
		if (submissions[i].track != submissions[0].track)
			return false;
	return true;
}

static int decide_stream(struct streams *streams, const struct calls *calls,
			 struct mr_hip_submission *submissions, uint32_t count)
{
	uint32_t call = 0, first = 0;

	if (!is_one_worker(submissions, count))
		return 0;
	int result = find_boundaries(streams, calls);
	for (size_t i = 0; result == 0 && i < streams->boundaries.count; i++) {
		const struct boundary boundary = streams->boundaries.items[i];
		const struct calls stretch = {calls->items + call, boundary.calls - call};
		uint32_t next = first;

		while (next < count && submissions[next].ns <= boundary.ns)
			next++;
		result = decide_stretch(streams, &stretch, submissions + first, next - first);
		call = boundary.calls;
		first = next;
	}
	return result;
}

/* ---- all streams ------------------------------------------------------------------------------------ */

static bool is_same_stream(const struct mr_hip_order *order, const struct mr_hip_submission *one)
{
	return order->process == one->process && order->stream == one->stream;
}

/* The calls of the stream of a submission; both are in order of process, stream and time. */
static struct calls find_calls(const struct streams *streams, const struct mr_hip_submission *one,
			       size_t *from)
{
	const struct mr_hip_order key = {
		.process = one->process, .stream = one->stream, .start_ns = INT64_MIN};
	const struct mr_hip_orders *orders = &streams->orders;

	while (*from < orders->count && orders_by_time(&orders->items[*from], &key) < 0)
		++*from;
	struct calls calls = {orders->items + *from, 0};
	while (*from < orders->count && is_same_stream(&orders->items[*from], one)) {
		calls.count++;
		++*from;
	}
	return calls;
}

int mr_hip_streams_decide(const struct mr_model *model, struct mr_hip_orders orders,
			  struct mr_hip_submissions submissions)
{
	struct streams streams = {.model = model, .orders = orders};
	size_t from = 0, next;
	int result = 0;

	if (orders.count == 0 || submissions.count == 0)
		return 0;
	qsort(orders.items, orders.count, sizeof *orders.items, orders_by_time);
	qsort(submissions.items, submissions.count, sizeof *submissions.items, submissions_by_time);
	for (size_t first = 0; result == 0 && first < submissions.count; first = next) {
		struct mr_hip_submission *one = &submissions.items[first];
		const struct calls calls = find_calls(&streams, one, &from);

		for (next = first; next < submissions.count &&
				   submissions.items[next].process == one->process &&
				   submissions.items[next].stream == one->stream;)
			next++;
		result = decide_stream(&streams, &calls, one, (uint32_t)(next - first));
	}
	free_streams(&streams);
	return result;
}
