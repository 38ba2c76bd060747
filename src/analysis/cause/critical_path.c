/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/critical_path.h"

#include <assert.h>

#include "analysis/cause/activity.h"
#include "analysis/cause/critical_path_begin.h"
#include "analysis/cause/critical_path_threads.h"
#include "analysis/cause/critical_path_waits.h"
#include "analysis/cause/delay.h"
#include "analysis/device_time.h"

struct walk {
	const struct mr_model *model;
	struct mr_window window;
	struct mr_delays delays;
	uint64_t *bounds_ns; /* by device */
	uint32_t *makers;    /* by track: of the thread that made it, or MR_NO_TRACK */
	uint32_t *
		clients; /* by track: of the thread that waits for it (thread_waits), or MR_NO_TRACK */
	struct mr_critical_path *path;

	/* Where the path stands: explained is all from ns on. */
	int64_t ns;
	uint32_t thread;    /* track, or MR_NO_TRACK if it stands on an operation */
	uint32_t operation; /* row */

	struct mr_path_waits waits; /* that the path has left, and may return to */

	/* The call in which the thread was when the path came to it from elsewhere, if it waits for the
	 * device: what it waited for has nothing to do with why the path came. */
	uint32_t ordinary_call;
	bool has_jumped; /* and not moved since */

	/* Places seen since the path moved last: by track, and by row. */
	uint32_t *thread_seen;
	uint32_t *operation_seen;
	uint32_t moves;
	uint64_t steps_left; /* more than a trace can need that does not contradict itself */
};

/* ---- segments ----------------------------------------------------------------------------------- */

static uint32_t execution_of_operation(const struct mr_model *model, uint32_t row)
{
	return model->device_operations.execution[row];
}

static bool is_same(const struct mr_path_segment *a, const struct mr_path_segment *b)
{
	return a->link.kind == b->link.kind && a->link.culprit == b->link.culprit &&
	       a->link.what == b->link.what && a->link.in == b->link.in && a->track == b->track &&
	       a->operation == b->operation && a->execution == b->execution;
}

/* How far back the path may go where it stands. */
static int64_t limit_ns(const struct walk *walk)
{
	return mr_max(walk->window.first_ns, mr_path_waits_limit_ns(&walk->waits));
}

/* Explains the time from `from_ns` on, as far as the path may go back, and moves there. */
static int emit(struct walk *walk, int64_t from_ns, struct mr_path_segment segment)
{
	struct mr_critical_path *path = walk->path;
	struct mr_path_segment *last =
		path->segments.count ? &path->segments.items[path->segments.count - 1] : NULL;

	from_ns = mr_max(from_ns, limit_ns(walk));
	if (from_ns >= walk->ns)
		return 0;
	segment.start_ns = from_ns;
	segment.duration_ns = walk->ns - from_ns;
	walk->ns = from_ns;
	walk->moves++;
	walk->has_jumped = false;
	if (!last || !is_same(last, &segment))
		return mr_vec_push(&path->segments, segment);
	last->start_ns = from_ns;
	last->duration_ns += segment.duration_ns;
	return 0;
}

static int emit_bare(struct walk *walk, int64_t from_ns, enum mr_cause_kind kind)
{
	return emit(walk, from_ns,
		    (struct mr_path_segment){.link = mr_link_bare(kind),
					     .track = walk->thread,
					     .operation = MR_NO_ROW,
					     .execution = MR_NO_ROW});
}

static int emit_on_operation(struct walk *walk, int64_t from_ns, struct mr_link link)
{
	uint32_t row = walk->operation;

	return emit(
		walk, from_ns,
		(struct mr_path_segment){.link = link,
					 .track = walk->model->device_operations.track[row],
					 .operation = row,
					 .execution = execution_of_operation(walk->model, row)});
}

/* ---- going elsewhere ---------------------------------------------------------------------------- */

/* False if the path has been there already since it moved last: it goes round in circles. */
static bool enter(struct walk *walk, uint32_t *seen)
{
	bool is_new = *seen != walk->moves;

	*seen = walk->moves;
	return is_new;
}

static void go_to_thread(struct walk *walk, uint32_t thread, int64_t ns)
{
	walk->thread = thread;
	walk->operation = MR_NO_ROW;
	walk->ns = mr_min(walk->ns, ns);
	walk->ordinary_call = MR_NO_ROW;
	walk->has_jumped = true;
}

static void go_to_operation(struct walk *walk, uint32_t row, int64_t ns)
{
	walk->thread = MR_NO_TRACK;
	walk->operation = row;
	walk->ns = mr_min(walk->ns, ns);
}

/* ---- on an operation ------------------------------------------------------------------------------ */

/* From `from_ns` to where the path stands: the operation could have started, and did not. */
static int explain_slack(struct walk *walk, int64_t from_ns)
{
	int64_t to_ns = walk->ns;
	mr_vec(struct mr_delay) pieces = {0};
	int result = 0;

	for (int64_t ns = mr_max(from_ns, limit_ns(walk)); result == 0 && ns < to_ns;) {
		struct mr_delay delay;

		mr_delay_on_device(&walk->delays, walk->operation, ns, &delay);
		int64_t next_ns = mr_min(delay.to_ns, to_ns);
		delay.to_ns = ns; /* becomes where it begins */
		result = mr_vec_push(&pieces, delay);
		ns = next_ns;
	}
	for (size_t i = pieces.count; result == 0 && i-- > 0;)
		result = emit_on_operation(walk, pieces.items[i].to_ns, pieces.items[i].link);
	mr_vec_free(&pieces);
	return result;
}

/* Did what the operation waited for enable it, and not its launch? */
static bool is_enabled_by(struct walk *walk, uint32_t awaited, uint32_t call)
{
	const struct mr_model *model = walk->model;

	if (awaited == MR_NO_ROW || call == MR_NO_ROW)
		return awaited != MR_NO_ROW;
	/* A blocking launch ends when the operation has: it gave it to the device at some time before. */
	int64_t launched_ns = model->calls.is_blocking[call] ? model->calls.start_ns[call]
							     : mr_call_end_ns(model, call);
	int64_t end_ns = mr_operation_end_ns(model, awaited);
	uint64_t bound_ns = walk->bounds_ns[mr_operation_own_device(model, awaited)];
	walk->path->decisions++;
	walk->path->uncertain +=
		mr_time_before(end_ns, bound_ns, launched_ns, 0) == MR_ORDER_UNKNOWN;
	return mr_min(end_ns, walk->ns) >= mr_min(launched_ns, walk->ns);
}

static int step_on_operation(struct walk *walk)
{
	const struct mr_model *model = walk->model;
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t row = walk->operation, call = operations->call[row],
		 awaited = operations->after[row];

	if (!enter(walk, &walk->operation_seen[row]))
		return emit_bare(walk, walk->window.first_ns, MR_CAUSE_UNKNOWN);
	int result = emit_on_operation(walk, operations->start_ns[row],
				       mr_link_of_operation(model, MR_CAUSE_DEVICE, row));
	if (result < 0 || walk->ns <= limit_ns(walk))
		return result;
	if (call == MR_NO_ROW && awaited == MR_NO_ROW)
		return emit_on_operation(walk, walk->window.first_ns,
					 mr_link_of_operation(model, MR_CAUSE_UNLAUNCHED, row));
	bool is_awaited = is_enabled_by(walk, awaited, call);
	int64_t ns = mr_min(walk->ns, is_awaited ? mr_operation_end_ns(model, awaited)
						 : mr_call_end_ns(model, call));
	result = explain_slack(walk, ns);
	if (walk->ns > ns)
		return result; /* it may not go further back */
	if (is_awaited)
		go_to_operation(walk, awaited, ns);
	else
		go_to_thread(walk, model->calls.track[call], ns);
	return result;
}

/* ---- on a thread ---------------------------------------------------------------------------------- */

static bool is_before_birth(const struct walk *walk)
{
	const struct mr_states *states = &walk->model->states;
	const uint32_t *first = &states->table.first_of_track[walk->thread];

	return first[0] < first[1] && walk->ns <= states->start_ns[first[0]];
}

static int leave_unborn(struct walk *walk)
{
	uint32_t maker = walk->makers[walk->thread];

	if (maker == MR_NO_TRACK)
		return emit_bare(walk, walk->window.first_ns, MR_CAUSE_UNTRACED);
	go_to_thread(walk, maker, walk->ns);
	return 0;
}

/* What the thread did in the instant before. */
static void look(struct walk *walk, struct mr_activity *activity)
{
	mr_activity_find(walk->model, walk->delays.places, walk->thread, walk->ns - 1, activity);
	if (activity->link.kind == MR_CAUSE_DEPENDENCY && walk->has_jumped)
		walk->ordinary_call = activity->waiting_call;
	if (activity->waiting_call != MR_NO_ROW && activity->waiting_call == walk->ordinary_call)
		mr_activity_find_ordinary(walk->model, walk->delays.places, walk->thread,
					  walk->ns - 1, activity);
	mr_path_find_worker(walk->model, walk->thread, walk->ns, activity);
}

/* What a thread does that executes nothing itself counts for the execution that waits for it, from when that began. */
static int emit_on_thread(struct walk *walk, int64_t from_ns, struct mr_link link,
			  const struct mr_activity *activity)
{
	const struct mr_node_executions *executions = &walk->model->node_executions;
	uint32_t execution = activity->execution;

	if (execution == MR_NO_ROW)
		execution = mr_path_waits_execution(&walk->waits, walk->model, walk->ns);
	if (execution != activity->execution)
		from_ns = mr_max(from_ns, executions->start_ns[execution]);
	from_ns = mr_max(from_ns, mr_path_works_since_ns(walk->model, walk->clients[walk->thread],
							 walk->ns));
	return emit(walk, from_ns,
		    (struct mr_path_segment){.link = mr_path_waits_link(&walk->waits, walk->model,
									walk->thread, link),
					     .track = walk->thread,
					     .operation = MR_NO_ROW,
					     .execution = execution});
}

/* To a thread that the path had left: what it does there is why the path is there. */
static void go_back(struct walk *walk, const struct mr_path_wait *wait)
{
	go_to_thread(walk, wait->thread, walk->ns);
	walk->ordinary_call = wait->ordinary_call;
	walk->has_jumped = false;
}

/* No segment: the path goes on at what the thread waited for. */
static int follow_wait(struct walk *walk, const struct mr_activity *activity)
{
	bool is_device = activity->link.kind == MR_CAUSE_DEPENDENCY;
	const struct mr_path_wait *home =
		is_device ? NULL : mr_path_waits_return_home(&walk->waits, activity->waker);

	if (home) {
		go_back(walk, home);
		return 0;
	}
	struct mr_path_wait wait = {.thread = walk->thread,
				    .state = is_device ? MR_NO_ROW : activity->state,
				    .ordinary_call = walk->ordinary_call};

	if (is_device)
		wait.begin_ns = walk->model->calls.start_ns[activity->waiting_call];
	else if (activity->state == MR_NO_ROW)
		wait.begin_ns = activity->from_ns;
	int result = mr_path_waits_leave(&walk->waits, walk->model, wait, activity->execution);
	if (is_device)
		go_to_operation(walk, activity->awaited, walk->ns);
	else
		go_to_thread(walk, activity->waker, walk->ns);
	return result;
}

/* True if the path returns to where it came from: nobody waited for the sleep. */
static bool leave_sleep(struct walk *walk, const struct mr_activity *activity)
{
	const struct mr_states *states = &walk->model->states;
	uint32_t state = activity->state;

	if (activity->link.kind != MR_CAUSE_SLEEP)
		return false;
	const struct mr_path_wait *wait = mr_path_waits_return_from_sleep(
		&walk->waits, states->start_ns[state] + states->duration_ns[state]);
	if (!wait)
		return false;
	walk->moves++;
	go_back(walk, wait);
	return true;
}

static int step_on_thread(struct walk *walk)
{
	struct mr_activity activity;

	bool is_new = enter(walk, &walk->thread_seen[walk->thread]);
	if (is_new && is_before_birth(walk))
		return leave_unborn(walk);
	look(walk, &activity);
	if (!is_new) {
		const struct mr_states *states = &walk->model->states;

		return emit_on_thread(walk,
				      activity.state == MR_NO_ROW
					      ? activity.from_ns
					      : states->start_ns[activity.state],
				      mr_link_bare(MR_CAUSE_UNKNOWN), &activity);
	}
	if (activity.link.kind == MR_CAUSE_DEPENDENCY || activity.waker != MR_NO_TRACK)
		return follow_wait(walk, &activity);
	if (mr_path_is_idle_worker(walk->model, &activity, walk->clients[walk->thread], walk->ns)) {
		go_to_thread(walk, walk->clients[walk->thread], walk->ns);
		return 0;
	}
	if (leave_sleep(walk, &activity))
		return 0;
	if (mr_path_is_endless(walk->model, activity.state) && activity.link.kind != MR_CAUSE_SYNC)
		activity.link = mr_link_bare(MR_CAUSE_UNKNOWN);
	return emit_on_thread(walk, activity.from_ns, mr_path_link_of(walk->model, &activity),
			      &activity);
}

/* ---- all together --------------------------------------------------------------------------------- */

/* Every step explains time or follows one relation, of which a row has few. */
static uint64_t count_steps(const struct mr_model *model)
{
	uint64_t rows = 0;

#define COUNT_ROWS(name) rows += model->name.table.count;
	MR_TABLES(COUNT_ROWS)
#undef COUNT_ROWS
	return 8 * rows + 1000;
}

static int start(struct walk *walk)
{
	const struct mr_model *model = walk->model;

	walk->makers = mr_path_makers_make(model);
	walk->clients = mr_path_clients_make(model);
	walk->bounds_ns = mr_order_bounds_make(model);
	walk->thread_seen = calloc(model->survey->tracks.count + 1, sizeof *walk->thread_seen);
	walk->operation_seen = calloc((size_t)model->device_operations.table.count + 1,
				      sizeof *walk->operation_seen);
	if (!walk->makers || !walk->clients || !walk->bounds_ns || !walk->thread_seen ||
	    !walk->operation_seen)
		return -ENOMEM;
	return mr_delays_make(model, &walk->delays);
}

static void finish(struct walk *walk)
{
	mr_delays_free(&walk->delays);
	mr_path_waits_free(&walk->waits);
	free(walk->makers);
	free(walk->clients);
	free(walk->bounds_ns);
	free(walk->thread_seen);
	free(walk->operation_seen);
}

static int begin(struct walk *walk, const struct mr_part *part)
{
	struct mr_path_begin place = mr_path_begin_find(walk->model, part);
	int result = emit_bare(walk, place.ns, MR_CAUSE_UNTRACED);

	walk->thread = place.thread;
	walk->operation = place.operation;
	return result;
}

/* The path has explained a wait for a lock. */
static void end_wait(struct walk *walk)
{
	const struct mr_path_wait *wait =
		mr_path_waits_return(&walk->waits, walk->model, walk->thread);

	if (!wait)
		return;
	walk->moves++;
	go_back(walk, wait);
}

static int give_up(struct walk *walk)
{
	walk->waits.list.count = 0;
	return emit_bare(walk, walk->window.first_ns, MR_CAUSE_UNKNOWN);
}

static int follow(struct walk *walk)
{
	int result = 0;

	while (result == 0 && walk->ns > walk->window.first_ns) {
		if (walk->steps_left-- == 0)
			result = give_up(walk);
		else if (walk->ns <= limit_ns(walk))
			end_wait(walk);
		else if (walk->operation != MR_NO_ROW)
			result = step_on_operation(walk);
		else
			result = step_on_thread(walk);
	}
	return result;
}

/* They were found from the last to the first. */
static void put_in_order(struct mr_critical_path *path)
{
	struct mr_path_segment *segments = path->segments.items;

	for (size_t i = 0, j = path->segments.count; i + 1 < j; i++) {
		struct mr_path_segment segment = segments[i];

		segments[i] = segments[--j];
		segments[j] = segment;
	}
}

static void check_tiling(const struct mr_critical_path *path, struct mr_window window)
{
	int64_t ns = window.first_ns;

	for (size_t i = 0; i < path->segments.count; i++) {
		assert(path->segments.items[i].start_ns == ns);
		assert(path->segments.items[i].duration_ns > 0);
		ns += path->segments.items[i].duration_ns;
	}
	assert(ns == mr_max(window.first_ns, window.last_ns));
	(void)ns;
}

int mr_critical_path_make(const struct mr_model *model, struct mr_critical_path *ret_path)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_part part = {mr_model_window(model), model->part.processes};
	mr_auto(critical_path) struct mr_critical_path path = {0};
	struct walk walk = {.model = whole,
			    .window = part.window,
			    .path = &path,
			    .ns = part.window.last_ns,
			    .thread = MR_NO_TRACK,
			    .operation = MR_NO_ROW,
			    .ordinary_call = MR_NO_ROW,
			    .moves = 1,
			    .steps_left = count_steps(whole)};
	int result = start(&walk);

	if (result == 0)
		result = begin(&walk, &part);
	if (result == 0)
		result = follow(&walk);
	finish(&walk);
	if (result < 0)
		return result;
	put_in_order(&path);
	check_tiling(&path, part.window);
	*ret_path = path;
	path = (struct mr_critical_path){0};
	return 0;
}

void mr_critical_path_free(struct mr_critical_path *path)
{
	mr_vec_free(&path->segments);
}
