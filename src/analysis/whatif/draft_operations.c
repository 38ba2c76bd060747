/* SPDX-License-Identifier: Apache-2.0
 *
 * The pieces of devices: one for each operation that has times. An operation follows its launch, what comes before it in an
 * in-order queue, what it has in its wait list, and, if the device was still busy when all these were over, what it was busy
 * with. From the last of them to its start it takes the device some time to begin: its delay.
 */
#include "analysis/device_time.h"
#include "analysis/device_work.h"
#include "analysis/whatif/draft.h"
#include "base/sort.h"

enum {
	NAMES_MAX = 64,
};

struct device {
	const struct mr_device_work *work;
	bool is_parallel;
};

/* In a blocking launch the thread gives the operation away before it begins to wait for it. */
static int64_t blocked_ns(const struct mr_model *model, uint32_t call, int64_t until_ns)
{
	const struct mr_states *states = &model->states;
	uint32_t track = model->calls.track[call], end = states->table.first_of_track[track + 1];
	int64_t begin_ns = model->calls.start_ns[call];
	uint32_t row = mr_find_larger(states->start_ns, states->table.first_of_track[track], end,
				      begin_ns);

	for (; row < end && states->start_ns[row] < until_ns; row++)
		if (states->state[row] == MR_STATE_BLOCKED)
			return states->start_ns[row];
	return until_ns;
}

int64_t mr_operation_given_ns(const struct mr_model *model, uint32_t row)
{
	uint32_t call = model->device_operations.call[row];
	int64_t ns = mr_min(mr_call_end_ns(model, call), model->device_operations.start_ns[row]);

	return model->calls.is_blocking[call] ? blocked_ns(model, call, ns) : ns;
}

int mr_draft_cut_launches(struct mr_draft *draft)
{
	const struct mr_model *model = draft->model;
	const struct mr_device_operations *operations = &model->device_operations;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++)
		if (operations->call[row] != MR_NO_ROW && mr_operation_is_timed(model, row))
			result = mr_vec_push(
				&draft->cuts,
				((struct mr_cut){model->calls.track[operations->call[row]],
						 mr_operation_given_ns(model, row)}));
	return result;
}

/* ---- what an operation follows ------------------------------------------------------------------- */

struct names {
	const struct mr_model *model;
	struct mr_name items[NAMES_MAX];
	size_t count;
	int64_t end_ns; /* latest end of them */
};

static void follow(struct names *names, struct mr_name name, int64_t end_ns)
{
	if (names->count == NAMES_MAX)
		return; /* `after` is among the first, and ends last */
	names->items[names->count++] = name;
	names->end_ns = mr_max(names->end_ns, end_ns);
}

static void follow_operation(struct names *names, uint32_t row, enum mr_follow_kind kind)
{
	follow(names, (struct mr_name){row, MR_NAME_OPERATION, (uint8_t)kind, 0},
	       mr_operation_end_ns(names->model, row));
}

static void follow_launch(struct names *names, uint32_t row)
{
	const struct mr_model *model = names->model;
	uint32_t call = model->device_operations.call[row];

	if (call == MR_NO_ROW)
		return;
	int64_t ns = mr_operation_given_ns(model, row);
	follow(names,
	       (struct mr_name){model->calls.track[call], MR_NAME_THREAD, MR_FOLLOW_LAUNCH, ns},
	       ns);
}

static void follow_list(const struct mr_draft *draft, struct names *names, uint32_t row)
{
	const struct mr_device_operations *operations = &draft->model->device_operations;
	uint32_t call = operations->call[row];

	if (operations->after[row] != MR_NO_ROW)
		follow_operation(names, operations->after[row], MR_FOLLOW_LIST);
	if (call == MR_NO_ROW)
		return;
	for (uint32_t i = draft->list_first[call]; i < draft->list_first[call + 1]; i++)
		if (draft->listed[i] != row)
			follow_operation(names, draft->listed[i], MR_FOLLOW_LIST);
}

/* Has the device ever done two things at once? */
static bool is_parallel(const struct mr_device_work *work)
{
	for (uint32_t i = 1; i < work->count; i++)
		if (work->start_ns[i] < work->until_ns[i - 1])
			return true;
	return false;
}

/* What the device was busy with last, if that was over later than all the rest. One that can do several things at once may
 * have had room for the operation all the time, unless that took longer to begin than usual. */
static void follow_room(struct names *names, const struct device *device, uint32_t row)
{
	const struct mr_device_work *work = device->work;
	int64_t start_ns = names->model->device_operations.start_ns[row];
	uint32_t place = mr_find_larger(work->until_ns, 0, work->count, start_ns);
	uint32_t other = place > 0 ? work->rows[place - 1] : MR_NO_ROW;

	if (other == MR_NO_ROW || other == row ||
	    mr_operation_end_ns(names->model, other) <= names->end_ns)
		return;
	if (!device->is_parallel || names->end_ns == INT64_MIN ||
	    start_ns - names->end_ns > work->dispatch_ns)
		follow_operation(names, other, MR_FOLLOW_ROOM);
}

static int add_operation(struct mr_draft *draft, const struct device *devices, uint32_t row,
			 uint32_t previous)
{
	const struct mr_model *model = draft->model;
	const struct mr_device_operations *operations = &model->device_operations;
	struct names names = {.model = model, .end_ns = INT64_MIN};
	struct mr_piece piece = {.start_ns = operations->start_ns[row],
				 .duration_ns = operations->duration_ns[row],
				 .link = mr_link_of_operation(model, MR_CAUSE_DEVICE, row),
				 .track = operations->track[row],
				 .operation = row,
				 .execution = operations->execution[row]};

	follow_launch(&names, row);
	if (previous != MR_NO_ROW)
		follow_operation(&names, previous, MR_FOLLOW_QUEUE);
	follow_list(draft, &names, row);
	follow_room(&names, &devices[mr_operation_device(model, row)], row);
	draft->of_operation[row] = (uint32_t)draft->pieces.count;
	return mr_draft_add(draft, piece, names.items, names.count);
}

static int add_queue(struct mr_draft *draft, const struct device *devices, uint32_t queue)
{
	const struct mr_model *model = draft->model;
	const uint32_t *first = mr_queue_rows(model, queue);
	bool is_in_order =
		model->survey->definitions.queues.items[queue].order == MR_queue_order_in_order;
	uint32_t previous = MR_NO_ROW;
	int result = 0;

	for (uint32_t row = first[0]; result == 0 && row < first[1]; row++) {
		if (!mr_operation_is_timed(model, row))
			continue;
		result = add_operation(draft, devices, row, previous);
		if (is_in_order)
			previous = row;
	}
	return result;
}

int mr_draft_add_operations(struct mr_draft *draft)
{
	const struct mr_model *model = draft->model;
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(free) struct device *devices =
		calloc(definitions->devices.count + 1, sizeof *devices);
	struct mr_device_work *works;
	int result = devices ? mr_device_works_make(model, &works) : -ENOMEM;

	if (result < 0)
		return result;
	for (size_t i = 0; i < definitions->devices.count; i++)
		devices[i] = (struct device){&works[i], is_parallel(&works[i])};
	for (uint32_t queue = 1; result == 0 && queue < definitions->queues.count; queue++)
		result = add_queue(draft, devices, queue);
	mr_device_works_free(model, works);
	return result;
}
