/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that threads of HIP's own have launched (AMD_DIRECT_DISPATCH=0). A call of HIP only puts work into a stream; the
 * stream's thread, its worker, gives it to the device later. Both are recorded (hip_order, hip_submission), and joined here
 * before anything else is:
 *
 *     program's thread   hipLaunchKernel 7      hipMemcpyAsync 8         hipStreamSynchronize ────────┤
 *     worker                       dispatch 9              async_copy 10                              ┊
 *                                                                              what came before is over
 *     after the join     operations 9, 10 have the correlations 7, 8; the worker's calls launch nothing
 *
 * What is decided (streams.c) is marked (MR_ROW_BY_ORDER); the rest stays with the worker's launch, and is counted.
 */
#include "load/hip/order.h"

struct hip {
	struct mr_loader *loader;
	struct mr_model *model;
	mr_vec(struct mr_hip_order) orders;
	mr_vec(struct mr_hip_submission) submissions;
};

static int start(struct mr_loader *loader, void **ret_state)
{
	struct hip *hip = calloc(1, sizeof *hip);

	if (!hip)
		return -ENOMEM;
	hip->loader = loader;
	hip->model = loader->model;
	*ret_state = hip;
	return 0;
}

static void end(void *state)
{
	struct hip *hip = state;

	mr_vec_free(&hip->orders);
	mr_vec_free(&hip->submissions);
	free(hip);
}

static int add(void *state, const struct mr_event *event)
{
	struct hip *hip = state;
	struct mr_loader *loader = hip->loader;

	if (event->desc->id == MR_EVENT_hip_order) {
		const struct mr_event_hip_order *order = event->payload;

		return mr_vec_push(
			&hip->orders,
			((struct mr_hip_order){
				.correlation = order->correlation,
				.process = loader->process,
				.stream = order->stream,
				.device = order->device,
				.name = mr_loader_find(loader, MR_ID_string, order->name),
				.call = MR_NO_ROW,
				.is_blocking = order->is_blocking != 0}));
	}
	const struct mr_event_hip_submission *submission = event->payload;
	return mr_vec_push(&hip->submissions,
			   ((struct mr_hip_submission){.correlation = submission->correlation,
						       .ns = mr_loader_to_ns(loader, event->ticks),
						       .process = loader->process,
						       .stream = submission->stream,
						       .track = loader->track,
						       .operation = MR_NO_ROW}));
}

/* ---- by correlation --------------------------------------------------------------------------------- */

static int compare_correlations(uint32_t process, uint64_t correlation, uint32_t other_process,
				uint64_t other)
{
	if (process != other_process)
		return process < other_process ? -1 : 1;
	return correlation < other ? -1 : correlation > other;
}

static int by_correlation(const void *a, const void *b)
{
	const struct mr_hip_submission *one = a, *other = b;

	return compare_correlations(one->process, one->correlation, other->process,
				    other->correlation);
}

static int orders_by_correlation(const void *a, const void *b)
{
	const struct mr_hip_order *one = a, *other = b;

	return compare_correlations(one->process, one->correlation, other->process,
				    other->correlation);
}

/* NULL: there is none. They are in order of correlation. */
static struct mr_hip_submission *find_submission(const struct hip *hip, uint32_t process,
						 uint64_t correlation)
{
	const struct mr_hip_submission key = {.process = process, .correlation = correlation};

	return hip->submissions.count ? bsearch(&key, hip->submissions.items,
						hip->submissions.count, sizeof key, by_correlation)
				      : NULL;
}

static struct mr_hip_order *find_order(const struct hip *hip, uint32_t process,
				       uint64_t correlation)
{
	const struct mr_hip_order key = {.process = process, .correlation = correlation};

	return hip->orders.count ? bsearch(&key, hip->orders.items, hip->orders.count, sizeof key,
					   orders_by_correlation)
				 : NULL;
}

static uint32_t process_of(const struct hip *hip, uint32_t track)
{
	return hip->model->survey->tracks.items[track].process;
}

static void find_rows(struct hip *hip)
{
	const struct mr_calls *calls = &hip->model->calls;
	const struct mr_device_operations *operations = &hip->model->device_operations;

	for (uint32_t row = 0; row < calls->table.count; row++) {
		struct mr_hip_order *order =
			calls->correlation[row]
				? find_order(hip, process_of(hip, calls->track[row]),
					     calls->correlation[row])
				: NULL;
		if (!order)
			continue;
		order->call = row;
		order->start_ns = calls->start_ns[row];
		order->end_ns = calls->start_ns[row] + calls->duration_ns[row];
	}
	for (uint32_t row = 0; row < operations->table.count; row++) {
		struct mr_hip_submission *submission = find_submission(
			hip, operations->process[row], operations->correlation[row]);
		if (submission)
			submission->operation = row;
	}
}

/* ---- the tables ------------------------------------------------------------------------------------- */

/* The worker's call has launched nothing of its own; the call that has gets the worker's queue. */
static void change_calls(struct hip *hip)
{
	const struct mr_calls *calls = &hip->model->calls;

	for (uint32_t row = 0; row < calls->table.count; row++) {
		uint32_t process = process_of(hip, calls->track[row]);
		const struct mr_hip_submission *submission =
			calls->correlation[row]
				? find_submission(hip, process, calls->correlation[row])
				: NULL;

		if (!submission || !submission->decided)
			continue;
		const struct mr_hip_order *order = find_order(hip, process, submission->decided);
		if (order && order->call != MR_NO_ROW) {
			calls->queue[order->call] = calls->queue[row];
			calls->is_blocking[order->call] = order->is_blocking;
		}
		calls->correlation[row] = 0;
		calls->role[row] = MR_CALL_PLAIN;
	}
}

static void change_others(struct hip *hip)
{
	const struct mr_kernel_launches *launches = &hip->model->kernel_launches;
	const struct mr_dependencies *dependencies = &hip->model->dependencies;
	const struct mr_device_operations *operations = &hip->model->device_operations;
	const struct mr_hip_submission *submission;

	for (uint32_t row = 0; row < launches->table.count; row++) {
		submission = find_submission(hip, process_of(hip, launches->track[row]),
					     launches->correlation[row]);
		if (submission && submission->decided)
			launches->correlation[row] = submission->decided;
	}
	for (uint32_t row = 0; row < dependencies->table.count; row++) {
		submission = find_submission(hip, process_of(hip, dependencies->track[row]),
					     dependencies->awaited[row]);
		if (submission && submission->decided)
			dependencies->awaited[row] = submission->decided;
	}
	for (size_t i = 0; i < hip->submissions.count; i++) {
		submission = &hip->submissions.items[i];
		hip->model->anomalies.by_order += submission->decided != 0;
		hip->model->anomalies.undecided_order += submission->decided == 0;
		if (submission->decided && submission->operation != MR_NO_ROW) {
			operations->correlation[submission->operation] = submission->decided;
			operations->flags[submission->operation] |= MR_ROW_BY_ORDER;
		}
	}
}

static void sort_by_correlation(struct hip *hip)
{
	if (hip->orders.count)
		qsort(hip->orders.items, hip->orders.count, sizeof *hip->orders.items,
		      orders_by_correlation);
	if (hip->submissions.count)
		qsort(hip->submissions.items, hip->submissions.count,
		      sizeof *hip->submissions.items, by_correlation);
}

static int join(void *state)
{
	struct hip *hip = state;

	sort_by_correlation(hip);
	find_rows(hip);
	int result = mr_hip_streams_decide(
		hip->model, (struct mr_hip_orders){hip->orders.items, hip->orders.count},
		(struct mr_hip_submissions){hip->submissions.items, hip->submissions.count});
	if (result < 0)
		return result;
	sort_by_correlation(hip);
	change_calls(hip);
	change_others(hip);
	return 0;
}

static const uint8_t events[] = {MR_EVENT_hip_order, MR_EVENT_hip_submission};

const struct mr_framework mr_framework_hip = {
	.name = "hip",
	.events = events,
	.event_count = mr_countof(events),
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join},
	.end = end,
};
