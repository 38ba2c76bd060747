/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/delay.h"

#include "analysis/device_time.h"
#include "base/sort.h"

/* From when on the operation's launch is no reason for it to wait. A blocking one ends too late to tell. */
static int64_t given_ns(const struct mr_model *model, uint32_t operation)
{
	uint32_t call = model->device_operations.call[operation];

	if (call != MR_NO_ROW && model->calls.is_blocking[call])
		return model->calls.start_ns[call];
	return mr_operation_launched_ns(model, operation);
}

/* ---- queues ------------------------------------------------------------------------------------- */

static void follow(struct mr_delays *delays, uint32_t row, uint32_t previous)
{
	bool goes_on =
		previous != MR_NO_ROW && delays->model->device_operations.after[row] == previous;

	delays->predecessor[row] = previous;
	delays->run_first[row] = goes_on ? delays->run_first[previous] : row;
	delays->launched_ns[row] = given_ns(delays->model, row);
	if (goes_on)
		delays->launched_ns[row] =
			mr_max(delays->launched_ns[row], delays->launched_ns[previous]);
}

static int make_queues(struct mr_delays *delays)
{
	const struct mr_survey *survey = delays->model->survey;
	const struct mr_device_operations *operations = &delays->model->device_operations;
	size_t room = (size_t)operations->table.count + 1;

	delays->predecessor = malloc(room * sizeof *delays->predecessor);
	delays->run_first = malloc(room * sizeof *delays->run_first);
	delays->launched_ns = malloc(room * sizeof *delays->launched_ns);
	if (!delays->predecessor || !delays->run_first || !delays->launched_ns)
		return -ENOMEM;
	for (uint32_t queue = 1; queue < survey->definitions.queues.count; queue++) {
		const uint32_t *first = mr_queue_rows(delays->model, queue);
		uint8_t order = survey->definitions.queues.items[queue].order;
		uint32_t previous = MR_NO_ROW;

		for (uint32_t row = first[0]; row < first[1]; row++) {
			if (!mr_operation_is_timed(delays->model, row))
				continue;
			follow(delays, row, previous);
			if (order == MR_queue_order_in_order)
				previous = row;
		}
	}
	return 0;
}

int mr_delays_make(const struct mr_model *model, struct mr_delays *ret_delays)
{
	struct mr_delays delays = {.model = model};
	int result = mr_device_works_make(model, &delays.devices);

	delays.places = calloc(model->survey->tracks.count + 1, sizeof *delays.places);
	if (result == 0)
		result = delays.places ? make_queues(&delays) : -ENOMEM;
	if (result == 0)
		*ret_delays = delays;
	else
		mr_delays_free(&delays);
	return result;
}

void mr_delays_free(struct mr_delays *delays)
{
	mr_device_works_free(delays->model, delays->devices);
	free(delays->places);
	free(delays->predecessor);
	free(delays->run_first);
	free(delays->launched_ns);
}

/* ---- links -------------------------------------------------------------------------------------- */

static struct mr_delay nothing(void)
{
	return (struct mr_delay){.doer = MR_NO_TRACK,
				 .operation = MR_NO_ROW,
				 .thread = MR_NO_TRACK,
				 .to_ns = INT64_MAX};
}

static void set_link(struct mr_delay *delay, struct mr_link link)
{
	delay->link = link;
	delay->has_link = true;
}

static void cut(struct mr_delay *delay, int64_t ns, uint64_t bound_ns)
{
	if (ns < delay->to_ns || (ns == delay->to_ns && bound_ns > delay->bound_ns)) {
		delay->to_ns = ns;
		delay->bound_ns = bound_ns;
	}
}

static uint64_t bound_ns(const struct mr_model *model, uint32_t row)
{
	return model->device_clocks[mr_operation_own_device(model, row)].bound_ns;
}

/* Does the operation wait for nothing but its predecessor, which has not ended? */
static bool waits_in_queue(const struct mr_delays *delays, uint32_t row, int64_t ns)
{
	const struct mr_model *model = delays->model;

	return row != delays->run_first[row] && ns < model->device_operations.start_ns[row] &&
	       given_ns(model, row) <= ns &&
	       ns < mr_operation_end_ns(model, delays->predecessor[row]);
}

/* Which operation keeps a queue from coming to this one: rows of a run wait for one another, and most often all
 * have been launched. */
static uint32_t find_head(const struct mr_delays *delays, uint32_t row, int64_t ns)
{
	const int64_t *start_ns = delays->model->device_operations.start_ns;

	if (delays->launched_ns[row] > ns || start_ns[row] <= ns) {
		while (waits_in_queue(delays, row, ns))
			row = delays->predecessor[row];
		return row;
	}
	uint32_t next = mr_find_larger(start_ns, delays->run_first[row], row, ns);
	while (!mr_operation_is_timed(delays->model, next))
		next++;
	return waits_in_queue(delays, next, ns) ? delays->predecessor[next] : next;
}

/* The operation has not ended, and something waits for it. */
static void wait_for(const struct mr_delays *delays, uint32_t operation, int64_t ns,
		     struct mr_delay *delay)
{
	const struct mr_model *model = delays->model;
	uint32_t head = find_head(delays, operation, ns);
	int64_t start_ns = model->device_operations.start_ns[head];

	set_link(delay, mr_link_of_operation(model, MR_CAUSE_DEPENDENCY, head));
	if (ns < start_ns) {
		delay->operation = head;
		cut(delay, start_ns, bound_ns(model, head));
	} else {
		cut(delay, mr_operation_end_ns(model, head), bound_ns(model, head));
	}
}

/* Until when the device did other work before a time; INT64_MIN if it did none. */
static int64_t find_busy_end(const struct mr_device_work *work, int64_t ns)
{
	uint32_t place = mr_find_larger(work->start_ns, 0, work->count, ns - 1);

	return place ? mr_min(work->until_ns[place - 1], ns) : INT64_MIN;
}

/* Nothing that is known keeps the operation from starting. */
static void dispatch(const struct mr_delays *delays, uint32_t operation, int64_t ns,
		     struct mr_delay *delay)
{
	const struct mr_model *model = delays->model;
	const struct mr_device_work *work = &delays->devices[mr_operation_device(model, operation)];
	int64_t start_ns = model->device_operations.start_ns[operation];
	int64_t ready_ns = mr_max(given_ns(model, operation), find_busy_end(work, start_ns));
	uint32_t after = model->device_operations.after[operation];

	if (after != MR_NO_ROW)
		ready_ns = mr_max(ready_ns, mr_operation_end_ns(model, after));
	bool is_ready = ready_ns <= ns;
	bool is_usual = is_ready && ns - ready_ns < work->dispatch_ns;
	set_link(delay, mr_link_bare(is_usual ? MR_CAUSE_DISPATCH : MR_CAUSE_DEVICE_UNKNOWN));
	if (!is_ready)
		cut(delay, ready_ns, bound_ns(model, operation));
	else if (is_usual)
		cut(delay, ready_ns + work->dispatch_ns, bound_ns(model, operation));
}

void mr_delay_on_device(const struct mr_delays *delays, uint32_t operation, int64_t ns,
			struct mr_delay *ret_delay)
{
	const struct mr_model *model = delays->model;
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_device_work *work = &delays->devices[mr_operation_device(model, operation)];
	uint32_t after = operations->after[operation];
	struct mr_delay delay = nothing();

	cut(&delay, operations->start_ns[operation], bound_ns(model, operation));
	if (after != MR_NO_ROW && ns < mr_operation_end_ns(model, after)) {
		wait_for(delays, after, ns, &delay);
		*ret_delay = delay;
		return;
	}
	uint32_t place = mr_find_larger(work->until_ns, 0, work->count, ns);
	uint32_t other = place < work->count ? work->rows[place] : MR_NO_ROW;
	if (other != MR_NO_ROW && operations->start_ns[other] <= ns) {
		set_link(&delay, mr_link_of_operation(model, MR_CAUSE_DEVICE_BUSY, other));
		cut(&delay, mr_operation_end_ns(model, other), bound_ns(model, other));
	} else {
		if (other != MR_NO_ROW)
			cut(&delay, operations->start_ns[other], bound_ns(model, other));
		dispatch(delays, operation, ns, &delay);
	}
	*ret_delay = delay;
}

static void cut_activity(const struct mr_model *model, const struct mr_activity *activity,
			 struct mr_delay *delay)
{
	uint32_t operation = activity->to_operation;

	cut(delay, activity->to_ns, operation == MR_NO_ROW ? 0 : bound_ns(model, operation));
}

void mr_delay_in_activity(const struct mr_delays *delays, uint32_t thread, int64_t ns,
			  const struct mr_activity *activity, struct mr_delay *ret_delay)
{
	struct mr_delay delay = nothing();

	delay.doer = thread;
	cut_activity(delays->model, activity, &delay);
	if (activity->delayed_operation != MR_NO_ROW) {
		wait_for(delays, activity->delayed_operation, ns, &delay);
	} else {
		set_link(&delay, activity->link);
		delay.thread = activity->waker;
	}
	*ret_delay = delay;
}

void mr_delay_on_thread(const struct mr_delays *delays, uint32_t thread, int64_t ns,
			struct mr_delay *ret_delay)
{
	struct mr_activity activity;

	mr_activity_find(delays->model, delays->places, thread, ns, &activity);
	mr_delay_in_activity(delays, thread, ns, &activity, ret_delay);
}

/* In the launching call: it works on the launch, or is kept from it. */
static void launch(const struct mr_delays *delays, uint32_t call, int64_t ns,
		   struct mr_delay *delay)
{
	const struct mr_model *model = delays->model;
	uint32_t thread = model->calls.track[call];
	struct mr_activity activity;

	mr_activity_find(model, delays->places, thread, ns, &activity);
	cut_activity(model, &activity, delay);
	delay->doer = thread;
	if (mr_activity_runs(model, &activity) || !mr_activity_has_state(model, &activity))
		set_link(delay, mr_link_make(MR_CAUSE_LAUNCH, MR_CULPRIT_FUNCTION,
					     model->calls.function[call], 0));
	else
		delay->thread = thread;
}

/* In a blocking launch: it waits for what is before the operation. */
static bool is_held_up(const struct mr_model *model, uint32_t operation, int64_t ns)
{
	uint32_t after = model->device_operations.after[operation];

	return after != MR_NO_ROW && given_ns(model, operation) <= ns &&
	       ns < mr_operation_end_ns(model, after);
}

void mr_delay_find(const struct mr_delays *delays, uint32_t operation, int64_t ns,
		   struct mr_delay *ret_delay)
{
	const struct mr_model *model = delays->model;
	uint32_t call = model->device_operations.call[operation];
	struct mr_delay delay = nothing();

	cut(&delay, model->device_operations.start_ns[operation], bound_ns(model, operation));
	if (call == MR_NO_ROW) {
		set_link(&delay, mr_link_of_operation(model, MR_CAUSE_UNLAUNCHED, operation));
	} else if (ns < model->calls.start_ns[call]) {
		cut(&delay, model->calls.start_ns[call], 0);
		delay.thread = model->calls.track[call];
	} else if (ns < mr_call_end_ns(model, call) && !is_held_up(model, operation, ns)) {
		cut(&delay, mr_call_end_ns(model, call), 0);
		launch(delays, call, ns, &delay);
	} else {
		mr_delay_on_device(delays, operation, ns, &delay);
	}
	*ret_delay = delay;
}
