/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/input_pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/finding/tally.h"
#include "analysis/windows.h"

struct stage_key {
	uint32_t process;
	uint32_t path;
};

struct iterator_key {
	uint64_t iterator;
	uint64_t stage;
};

struct maker {
	const struct mr_model *model;
	struct mr_strings keys;      /* struct stage_key */
	struct mr_strings iterators; /* struct iterator_key */
	uint32_t *stage_of;          /* by row of input_work */
	struct mr_input_pipeline pipeline;
};

static uint32_t process_of(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].process;
}

/* ---- stages ------------------------------------------------------------------------------------------- */

static int find_stage(struct maker *maker, struct stage_key key, uint32_t *ret_stage)
{
	const struct mr_input_stage fresh = {.process = key.process,
					     .path = key.path,
					     .parent = MR_NO_ROW,
					     .parallelism = MR_NO_ORDINAL,
					     .buffer_limit = MR_NO_ORDINAL};
	int result = mr_strings_intern(&maker->keys, &key, sizeof key, ret_stage);

	if (result == 0 && *ret_stage == maker->pipeline.stages.count)
		result = mr_vec_push(&maker->pipeline.stages, fresh);
	return result;
}

static uint32_t larger(uint32_t ordinal, uint32_t other)
{
	if (ordinal == MR_NO_ORDINAL || other == MR_NO_ORDINAL)
		return mr_min(ordinal, other);
	return mr_max(ordinal, other);
}

static int add_request(struct maker *maker, uint32_t row, uint32_t number)
{
	const struct mr_input_work *work = &maker->model->input_work;
	struct mr_input_stage *stage = &maker->pipeline.stages.items[number];
	const struct iterator_key key = {work->iterator[row], number};
	uint32_t known = mr_strings_count(&maker->iterators), iterator;
	int result = mr_strings_intern(&maker->iterators, &key, sizeof key, &iterator);

	stage->iterator_count += result == 0 && iterator == known;
	stage->request_count++;
	stage->parallelism = larger(stage->parallelism, work->parallelism[row]);
	stage->buffer_limit = larger(stage->buffer_limit, work->buffer_limit[row]);
	stage->is_autotuned |= work->is_autotuned[row] == 1 && work->consumer[row] != 0;
	if (work->buffered[row] != MR_NO_ORDINAL) {
		stage->buffered += work->buffered[row];
		stage->buffer_reports++;
	}
	return result;
}

static int find_stages(struct maker *maker)
{
	const struct mr_input_work *work = &maker->model->input_work;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < work->table.count; row++) {
		const struct stage_key key = {process_of(maker->model, work->track[row]),
					      work->path[row]};
		uint32_t stage;

		result = find_stage(maker, key, &stage);
		if (result < 0)
			break;
		maker->stage_of[row] = stage;
		if (work->kind[row] == MR_INPUT_PRODUCE)
			maker->pipeline.stages.items[stage].is_ahead = true;
		if (work->kind[row] == MR_INPUT_REQUEST)
			result = add_request(maker, row, stage);
	}
	return result;
}

/* ---- time of threads --------------------------------------------------------------------------------- */

/* A thread's work, innermost first, and its states. */
struct sweep {
	struct maker *maker;
	uint32_t state; /* row of states: the first that ends later than what was swept */
	uint32_t state_end;
	int64_t at_ns;
	mr_vec(struct open_work {
		uint32_t row;
		int64_t end_ns;
	}) open;
};

static enum mr_input_time time_of(const struct maker *maker, uint32_t row, uint32_t state)
{
	const struct mr_input_work *work = &maker->model->input_work;
	bool is_ahead = maker->pipeline.stages.items[maker->stage_of[row]].is_ahead;

	if (work->kind[row] == MR_INPUT_REQUEST && is_ahead)
		return MR_INPUT_WAITS;
	if (work->kind[row] == MR_INPUT_CALL && state != MR_STATE_RUN && state != MR_STATE_RUNNABLE)
		return MR_INPUT_CALLS;
	switch (state) {
	case MR_STATE_RUN:
		return MR_INPUT_RUNS;
	case MR_STATE_RUNNABLE:
		return MR_INPUT_RUNNABLE;
	case MR_STATE_BLOCKED:
		return MR_INPUT_BLOCKED;
	}
	return MR_INPUT_UNKNOWN;
}

static void add_time(struct sweep *sweep, uint32_t row, uint32_t state, int64_t ns)
{
	struct maker *maker = sweep->maker;
	struct mr_input_stage *stage = &maker->pipeline.stages.items[maker->stage_of[row]];

	mr_ns_add(&stage->ns[time_of(maker, row, state)], ns);
}

/* The innermost work until `to_ns`, divided by what the thread did. */
static void sweep_to(struct sweep *sweep, uint32_t row, int64_t to_ns)
{
	const struct mr_states *states = &sweep->maker->model->states;

	while (sweep->at_ns < to_ns) {
		uint32_t state = MR_STATE_UNKNOWN;
		int64_t until_ns = to_ns;

		while (sweep->state < sweep->state_end &&
		       states->start_ns[sweep->state] + states->duration_ns[sweep->state] <=
			       sweep->at_ns)
			sweep->state++;
		if (sweep->state < sweep->state_end) {
			int64_t start_ns = states->start_ns[sweep->state];
			bool is_in = start_ns <= sweep->at_ns;

			if (is_in)
				state = states->state[sweep->state];
			until_ns = mr_min(until_ns,
					  is_in ? start_ns + states->duration_ns[sweep->state]
						: start_ns);
		}
		add_time(sweep, row, state, until_ns - sweep->at_ns);
		sweep->at_ns = until_ns;
	}
}

static void close_until(struct sweep *sweep, int64_t ns)
{
	while (sweep->open.count && sweep->open.items[sweep->open.count - 1].end_ns <= ns) {
		struct open_work top = sweep->open.items[--sweep->open.count];

		sweep_to(sweep, top.row, top.end_ns);
	}
}

static int sweep_track(struct sweep *sweep, uint32_t first, uint32_t end)
{
	const struct mr_input_work *work = &sweep->maker->model->input_work;
	int result = 0;

	for (uint32_t row = first; result == 0 && row < end; row++) {
		int64_t start_ns = work->start_ns[row], end_ns = start_ns + work->duration_ns[row];

		close_until(sweep, start_ns);
		if (sweep->open.count) {
			struct open_work top = sweep->open.items[sweep->open.count - 1];

			sweep_to(sweep, top.row, start_ns);
			end_ns = mr_min(end_ns, top.end_ns);
		}
		sweep->at_ns = mr_max(sweep->at_ns, start_ns);
		result = mr_vec_push(&sweep->open, ((struct open_work){row, end_ns}));
	}
	close_until(sweep, INT64_MAX);
	return result;
}

static int add_times(struct maker *maker)
{
	const struct mr_model *model = maker->model;
	struct sweep sweep = {.maker = maker};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *rows = &model->input_work.table.first_of_track[i];

		if (rows[0] == rows[1])
			continue;
		sweep.state = model->states.table.first_of_track[i];
		sweep.state_end = model->states.table.first_of_track[i + 1];
		sweep.at_ns = INT64_MIN;
		result = sweep_track(&sweep, rows[0], rows[1]);
	}
	mr_vec_free(&sweep.open);
	return result;
}

/* ---- what the program takes ----------------------------------------------------------------------------- */

static bool is_take(const struct mr_input_work *work, uint32_t row)
{
	return work->kind[row] == MR_INPUT_REQUEST && work->consumer[row] == 0 &&
	       work->parent[row] == MR_NO_ROW;
}

static int list_takes(const struct mr_model *model, uint32_t process, struct mr_windows *takes)
{
	const struct mr_input_work *work = &model->input_work;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < work->table.count; row++)
		if (is_take(work, row) && process_of(model, work->track[row]) == process)
			result = mr_windows_add(takes, work->start_ns[row], work->duration_ns[row]);
	return result;
}

static int add_taken(struct maker *maker, uint32_t process)
{
	struct mr_input_taken taken = {.process = process};
	mr_auto(windows) struct mr_windows takes = {0}, steps = {0};
	int result = list_takes(maker->model, process, &takes);

	taken.take_count = takes.list.count;
	if (result == 0)
		result = mr_windows_add_steps(&steps, maker->model, process);
	if (result < 0 || takes.list.count == 0)
		return result;
	mr_windows_unite(&takes);
	mr_windows_unite(&steps);
	taken.wait_ns = mr_windows_length(&takes);
	taken.step_ns = mr_windows_length(&steps);
	taken.wait_step_ns = mr_windows_common(&takes, &steps);
	return mr_vec_push(&maker->pipeline.taken, taken);
}

static int add_all_taken(struct maker *maker)
{
	const struct mr_input_pipeline *pipeline = &maker->pipeline;
	int result = 0;

	for (size_t i = 0; result == 0 && i < pipeline->stages.count; i++)
		if (i == 0 ||
		    pipeline->stages.items[i].process != pipeline->stages.items[i - 1].process)
			result = add_taken(maker, pipeline->stages.items[i].process);
	return result;
}

/* ---- the tree ------------------------------------------------------------------------------------------ */

static int compare_stages(const void *left, const void *right, void *context)
{
	const struct mr_input_stage *a = left, *b = right;
	const struct mr_model *model = context;

	if (a->process != b->process)
		return a->process > b->process ? 1 : -1;
	return strcmp(mr_model_text(model, a->path), mr_model_text(model, b->path));
}

static bool feeds(const struct mr_model *model, const struct mr_input_stage *stage,
		  const struct mr_input_stage *other)
{
	const char *path = mr_model_text(model, stage->path);
	const char *before = mr_model_text(model, other->path);
	size_t length = strlen(before);

	return stage->process == other->process && length > 0 &&
	       strncmp(path, before, length) == 0 && strncmp(path + length, "::", 2) == 0;
}

/* A stage feeds the last one before it whose path its own continues. */
static void find_parents(struct maker *maker)
{
	struct mr_input_stage *stages = maker->pipeline.stages.items;
	size_t count = maker->pipeline.stages.count;

	if (count)
		qsort_r(stages, count, sizeof *stages, compare_stages, (void *)maker->model);
	for (size_t i = 1; i < count; i++)
		for (size_t other = i; other-- > 0;)
			if (feeds(maker->model, &stages[i], &stages[other])) {
				stages[i].parent = (uint32_t)other;
				stages[i].depth = stages[other].depth + 1;
				break;
			}
}

int mr_input_pipeline_make(const struct mr_model *model, struct mr_input_pipeline *ret_pipeline)
{
	struct maker maker = {.model = model};
	size_t row_count = model->input_work.table.count;
	int result = 0;

	maker.stage_of = malloc((row_count + 1) * sizeof *maker.stage_of);
	if (!maker.stage_of)
		return -ENOMEM;
	if (row_count)
		result = find_stages(&maker);
	if (result == 0 && row_count)
		result = add_times(&maker);
	if (result == 0)
		find_parents(&maker);
	if (result == 0)
		result = add_all_taken(&maker);
	mr_strings_free(&maker.keys);
	mr_strings_free(&maker.iterators);
	free(maker.stage_of);
	if (result < 0)
		mr_input_pipeline_free(&maker.pipeline);
	else
		*ret_pipeline = maker.pipeline;
	return result;
}

void mr_input_pipeline_free(struct mr_input_pipeline *pipeline)
{
	mr_vec_free(&pipeline->stages);
	mr_vec_free(&pipeline->taken);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

int64_t mr_input_stage_work_ns(const struct mr_input_stage *stage)
{
	return stage->ns[MR_INPUT_RUNS] + stage->ns[MR_INPUT_RUNNABLE] +
	       stage->ns[MR_INPUT_BLOCKED] + stage->ns[MR_INPUT_UNKNOWN];
}

const struct mr_input_taken *mr_input_taken_by(const struct mr_input_pipeline *pipeline,
					       uint32_t process)
{
	for (size_t i = 0; i < pipeline->taken.count; i++)
		if (pipeline->taken.items[i].process == process)
			return &pipeline->taken.items[i];
	return NULL;
}

int64_t mr_input_stage_pace_ns(const struct mr_input_pipeline *pipeline,
			       const struct mr_input_stage *stage)
{
	const struct mr_input_taken *taken = mr_input_taken_by(pipeline, stage->process);
	int64_t at_a_time = stage->parallelism == MR_NO_ORDINAL || stage->parallelism == 0
				    ? 1
				    : stage->parallelism;

	return taken ? mr_input_stage_work_ns(stage) / (int64_t)taken->take_count / at_a_time : 0;
}

uint32_t mr_input_slowest_stage(const struct mr_input_pipeline *pipeline, uint32_t process)
{
	uint32_t slowest = MR_NO_ROW;
	int64_t most_ns = 0;

	for (uint32_t i = 0; i < pipeline->stages.count; i++) {
		const struct mr_input_stage *stage = &pipeline->stages.items[i];
		int64_t pace_ns = mr_input_stage_pace_ns(pipeline, stage);

		if (stage->process == process && pace_ns > most_ns) {
			most_ns = pace_ns;
			slowest = i;
		}
	}
	return slowest;
}
