/* SPDX-License-Identifier: Apache-2.0 */
#include "model/constraints.h"

#include "model/model.h"

static bool is_timed(const struct mr_model *model, uint32_t row)
{
	return row != MR_NO_ROW &&
	       !(model->device_operations.flags[row] & (MR_ROW_UNFINISHED | MR_ROW_UNTIMED));
}

static uint32_t device_of(const struct mr_model *model, uint32_t row)
{
	const struct mr_survey *survey = model->survey;
	uint32_t queue = survey->tracks.items[model->device_operations.track[row]].queue;

	return survey->definitions.queues.items[queue].device;
}

static uint64_t add_bounds(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? MR_CLOCK_BOUND_UNKNOWN : a + b;
}

/* What happened at `ns` had to be over by `limit_ns`, if the times of the operation are right; together they
 * may be off by `bound_ns`. */
static void check(struct mr_model *model, enum mr_constraint_kind kind, uint32_t row, int64_t ns,
		  int64_t limit_ns, uint64_t bound_ns)
{
	struct mr_constraint *constraint = &model->constraints[kind];
	int64_t slack_ns = limit_ns - ns;

	if (constraint->checked++ == 0 || slack_ns < constraint->least_slack_ns)
		constraint->least_slack_ns = slack_ns;
	if (slack_ns >= 0)
		return;
	if (mr_time_before(limit_ns, bound_ns, ns, 0) == MR_ORDER_UNKNOWN) {
		constraint->uncertain++;
		return;
	}
	constraint->broken++;
	model->device_operations.flags[row] |= MR_ROW_VIOLATED;
}

/* Times of one clock need no bound: its map never decreases. */
static void check_own_times(struct mr_model *model, uint32_t row)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const int64_t times[] = {operations->queued_ns[row], operations->submitted_ns[row],
				 operations->start_ns[row]};
	int64_t last_ns = MR_NO_TIME, slack_ns = INT64_MAX;

	for (size_t i = 0; i < mr_countof(times); i++) {
		if (times[i] == MR_NO_TIME)
			continue;
		if (last_ns != MR_NO_TIME)
			slack_ns = mr_min(slack_ns, times[i] - last_ns);
		last_ns = times[i];
	}
	if (slack_ns != INT64_MAX)
		check(model, MR_CONSTRAINT_OWN_TIMES, row, 0, slack_ns, 0);
}

static void check_against_launch(struct mr_model *model, uint32_t row, uint64_t bound_ns)
{
	uint32_t call = model->device_operations.call[row];

	if (call == MR_NO_ROW)
		return;
	check(model, MR_CONSTRAINT_LAUNCH, row, model->calls.start_ns[call],
	      model->device_operations.start_ns[row], bound_ns);
	if (model->calls.is_blocking[call])
		check(model, MR_CONSTRAINT_WAIT, row, mr_operation_end_ns(model, row),
		      mr_call_end_ns(model, call), bound_ns);
}

static void check_queue(struct mr_model *model, uint32_t track, const uint64_t *bounds_ns)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_queue *queue =
		&model->survey->definitions.queues.items[model->survey->tracks.items[track].queue];
	const uint32_t *first = &operations->table.first_of_track[track];
	int64_t until_ns = MR_NO_TIME;

	for (uint32_t row = first[0]; row < first[1]; row++) {
		if (!is_timed(model, row))
			continue;
		check_own_times(model, row);
		check_against_launch(model, row, bounds_ns[queue->device]);
		if (queue->order == MR_queue_order_in_order && until_ns != MR_NO_TIME)
			check(model, MR_CONSTRAINT_QUEUE_ORDER, row, until_ns,
			      operations->start_ns[row], 0);
		until_ns = mr_max(until_ns, mr_operation_end_ns(model, row));
	}
}

static void check_dependency(struct mr_model *model, uint32_t row, const uint64_t *bounds_ns)
{
	const struct mr_calls *calls = &model->calls;
	uint32_t call = model->dependencies.call[row];
	uint32_t awaited_call = model->dependencies.awaited_call[row];
	uint32_t awaited = awaited_call == MR_NO_ROW ? MR_NO_ROW : calls->operation[awaited_call];

	if (call == MR_NO_ROW || !is_timed(model, awaited))
		return;
	int64_t end_ns = mr_operation_end_ns(model, awaited);
	uint32_t device = device_of(model, awaited), waiting = calls->operation[call];
	if (calls->role[call] == MR_CALL_WAIT && calls->result[call] == 0 &&
	    !(calls->flags[call] & MR_ROW_UNFINISHED)) {
		check(model, MR_CONSTRAINT_WAIT, awaited, end_ns, mr_call_end_ns(model, call),
		      bounds_ns[device]);
	} else if (is_timed(model, waiting)) {
		uint32_t other = device_of(model, waiting);

		check(model, MR_CONSTRAINT_DEPENDENCY, waiting, end_ns,
		      model->device_operations.start_ns[waiting],
		      device == other ? 0 : add_bounds(bounds_ns[device], bounds_ns[other]));
	}
}

static void check_all(struct mr_model *model, const uint64_t *bounds_ns)
{
	for (uint32_t track = 0; track < model->survey->tracks.count; track++)
		if (model->survey->tracks.items[track].kind == MR_TRACK_QUEUE)
			check_queue(model, track, bounds_ns);
	for (uint32_t row = 0; row < model->dependencies.table.count; row++)
		check_dependency(model, row, bounds_ns);
}

uint64_t *mr_order_bounds_make(const struct mr_model *model)
{
	const struct mr_survey *survey = model->survey;
	size_t device_count = survey->definitions.devices.count;
	uint64_t host_ns = mr_clock_max_bound_ns(survey->clocks->user, survey->first_user_ticks,
						 survey->last_user_ticks);
	uint64_t *bounds_ns = calloc(device_count, sizeof *bounds_ns);

	for (size_t i = 0; bounds_ns && i < device_count; i++)
		bounds_ns[i] = add_bounds(model->device_clocks[i].bound_ns, host_ns);
	return bounds_ns;
}

int mr_constraints_check(struct mr_model *model)
{
	mr_auto(free) uint64_t *bounds_ns = mr_order_bounds_make(model);

	if (!bounds_ns)
		return -ENOMEM;
	check_all(model, bounds_ns);
	return 0;
}
