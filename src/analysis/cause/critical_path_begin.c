/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/cause/critical_path_begin.h"

#include "analysis/device_time.h"
#include "base/sort.h"

enum rank {
	RANK_LAST, /* the operation with which the last step of the window ends */
	RANK_STEP, /* the thread of the step that the window is */
	RANK_MAIN, /* of the first process */
	RANK_THREAD,
	RANK_OPERATION,
	RANK_NOTHING,
};

/* Something that lasts until the end of the window, or nearly. */
struct candidate {
	int64_t end_ns; /* clipped to the window */
	enum rank rank;
	uint64_t order; /* in the rank: when it began, or its correlation */
	uint32_t thread;
	uint32_t operation;
};

static void prefer(struct candidate *best, struct candidate other)
{
	if (other.end_ns != best->end_ns ? other.end_ns > best->end_ns
	    : other.rank != best->rank   ? other.rank < best->rank
					 : other.order < best->order)
		*best = other;
}

/* Widens the span by what begins before the end of the window. */
static void span_intervals(const struct mr_table *table, const int64_t *start_ns,
			   const int64_t *duration_ns, uint32_t track, struct mr_window window,
			   struct mr_window *span)
{
	for (uint32_t row = table->first_of_track[track];
	     row < table->first_of_track[track + 1] && start_ns[row] < window.last_ns; row++) {
		span->first_ns = mr_min(span->first_ns, start_ns[row]);
		span->last_ns = mr_max(span->last_ns, start_ns[row] + duration_ns[row]);
	}
}

static void span_states(const struct mr_states *states, uint32_t track, struct mr_window window,
			struct mr_window *span)
{
	uint32_t first = states->table.first_of_track[track];

	span->first_ns = states->start_ns[first];
	for (uint32_t row = states->table.first_of_track[track + 1]; row-- > first;)
		if (states->start_ns[row] < window.last_ns &&
		    states->state[row] != MR_STATE_UNKNOWN) {
			span->last_ns = states->start_ns[row] + states->duration_ns[row];
			return;
		}
}

/* Steps that a thread makes: an inferred one says only what launches it. */
static bool has_own_steps(const struct mr_model *model)
{
	return !mr_model_infers_steps(model);
}

/* Executes nodes, launches or waits for devices. One that only asks now and then how far others have come
 * does not: the end waits for it hardly ever. */
static bool is_working(const struct mr_model *model, uint32_t track)
{
	const uint32_t *executions = &model->node_executions.table.first_of_track[track];
	const uint32_t *steps = &model->steps.table.first_of_track[track];
	const uint32_t *calls = &model->calls.table.first_of_track[track];

	for (uint32_t row = calls[0]; row < calls[1]; row++)
		if (model->calls.role[row] != MR_CALL_PLAIN)
			return true;
	return executions[0] < executions[1] || (has_own_steps(model) && steps[0] < steps[1]);
}

/* What is known of the thread before the end of the window: its states; where there are none its intervals,
 * if it does any work. Empty if nothing is. */
static struct mr_window span_of_thread(const struct mr_model *model, uint32_t track,
				       struct mr_window window)
{
	const uint32_t *first = &model->states.table.first_of_track[track];
	struct mr_window span = {INT64_MAX, INT64_MIN};

	if (first[0] < first[1]) {
		span_states(&model->states, track, window, &span);
		return span;
	}
	if (!is_working(model, track))
		return span;
#define SPAN(name)                                                                               \
	span_intervals(&model->name.table, model->name.start_ns, model->name.duration_ns, track, \
		       window, &span)
	SPAN(calls);
	SPAN(node_executions);
	if (has_own_steps(model))
		SPAN(steps);
#undef SPAN
	return span;
}

/* The thread of the step that is just as long as the window; MR_NO_TRACK if there is none. */
static uint32_t thread_of_step(const struct mr_model *model, struct mr_window window)
{
	const struct mr_steps *steps = &model->steps;

	for (uint32_t row = 0; has_own_steps(model) && row < steps->table.count; row++)
		if (steps->start_ns[row] == window.first_ns &&
		    steps->start_ns[row] + steps->duration_ns[row] == window.last_ns)
			return steps->track[row];
	return MR_NO_TRACK;
}

static bool is_looked_at(const struct mr_part *part, uint32_t process)
{
	return !part->processes || part->processes[process];
}

/* The main thread of the process with the lowest number. */
static uint32_t find_main(const struct mr_survey *survey, const struct mr_part *part)
{
	uint32_t found = MR_NO_TRACK, lowest = UINT32_MAX;

	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		const struct mr_track *track = &survey->tracks.items[i];
		const struct mr_process *process = &survey->processes.items[track->process];

		if (track->kind == MR_TRACK_THREAD && track->tid == process->pid &&
		    is_looked_at(part, track->process) &&
		    (found == MR_NO_TRACK || process->number - 1 < lowest)) {
			found = i;
			lowest = process->number - 1; /* 0, known to the kernel level alone: last */
		}
	}
	return found;
}

static void consider_threads(const struct mr_model *model, const struct mr_part *part,
			     struct candidate *best)
{
	uint32_t of_step = thread_of_step(model, part->window);
	uint32_t main_thread = find_main(model->survey, part);

	for (uint32_t i = 0; i < model->survey->tracks.count; i++) {
		const struct mr_track *track = &model->survey->tracks.items[i];

		if (track->kind != MR_TRACK_THREAD || !is_looked_at(part, track->process))
			continue;
		struct mr_window span = span_of_thread(model, i, part->window);
		prefer(best,
		       (struct candidate){.end_ns = mr_min(span.last_ns, part->window.last_ns),
					  .rank = i == of_step       ? RANK_STEP
						  : i == main_thread ? RANK_MAIN
								     : RANK_THREAD,
					  .order = mr_sort_key(span.first_ns),
					  .thread = i,
					  .operation = MR_NO_ROW});
	}
}

/* A step ends with the last operation that it launched, if its thread ran ahead of the device: what the thread does then
 * belongs to later steps. */
static bool ends_step(const struct mr_model *model, uint32_t row)
{
	const struct mr_steps *steps = &model->steps;
	uint32_t step = model->device_operations.step_row[row];

	return step != MR_NO_ROW && steps->device_end_ns[step] == mr_operation_end_ns(model, row) &&
	       steps->start_ns[step] + steps->duration_ns[step] < steps->device_end_ns[step];
}

static void consider_operations(const struct mr_model *model, const struct mr_part *part,
				struct candidate *best)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		int64_t end_ns = mr_operation_end_ns(model, row);

		if (!mr_operation_is_timed(model, row) ||
		    operations->start_ns[row] >= part->window.last_ns ||
		    !is_looked_at(part, operations->process[row]))
			continue;
		bool is_last = end_ns == part->window.last_ns && ends_step(model, row);
		prefer(best, (struct candidate){mr_min(end_ns, part->window.last_ns),
						is_last ? RANK_LAST : RANK_OPERATION,
						operations->correlation[row], MR_NO_TRACK, row});
	}
}

struct mr_path_begin mr_path_begin_find(const struct mr_model *model, const struct mr_part *part)
{
	struct candidate best = {part->window.first_ns, RANK_NOTHING, 0, MR_NO_TRACK, MR_NO_ROW};

	consider_threads(model, part, &best);
	consider_operations(model, part, &best);
	return (struct mr_path_begin){best.end_ns, best.thread, best.operation};
}

/* ---- where threads begin ------------------------------------------------------------------------ */

uint32_t *mr_path_makers_make(const struct mr_model *model)
{
	const struct mr_tasks *tasks = &model->survey->tasks;
	size_t count = model->survey->tracks.count;
	uint32_t *makers = malloc((count + 1) * sizeof *makers);

	for (size_t i = 0; makers && i < count; i++)
		makers[i] = MR_NO_TRACK;
	/* Of several tasks of a track the first counts: later ones do not begin it. */
	for (size_t i = tasks->list.count; makers && i-- > 0;) {
		const struct mr_task *task = &tasks->list.items[i];
		uint32_t maker = task->previous != MR_NO_TASK ? task->previous : task->parent;

		if (task->track != MR_NO_TRACK)
			makers[task->track] =
				maker == MR_NO_TASK ? MR_NO_TRACK : tasks->list.items[maker].track;
	}
	return makers;
}
