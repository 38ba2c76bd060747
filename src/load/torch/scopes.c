/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations, of the program (record_function) and of PyTorch itself. Their beginnings and ends are events of their own, which
 * the address of their object joins. By name some say more:
 *
 *     ProfilerStep#3                                   the program marks a step (torch.profiler)
 *     Optimizer.step#SGD.step                          a step ends with it
 *     enumerate(DataLoader)#...__next__                the program takes an element of its input
 *     gloo:all_reduce, nccl:broadcast ...              a collective (collectives.c)
 *
 * If a process has an optimizer, its steps are those of the optimizer that it calls most often (called_steps.h). If it has
 * none, a step begins with each element that it takes: an evaluation, or inference.
 */
#include <stdlib.h>
#include <string.h>

#include "load/called_steps.h"
#include "load/torch/torch.h"
#include "model/nesting.h"

static const char *after(const char *text, const char *beginning)
{
	size_t length = strlen(beginning);

	return strncmp(text, beginning, length) == 0 ? text + length : NULL;
}

static bool is_step_of_optimizer(const char *name)
{
	return after(name, "Optimizer.step#") != NULL;
}

static bool is_take(const char *name)
{
	return after(name, "enumerate(DataLoader)#") != NULL;
}

enum mr_torch_phase mr_torch_phase_of_scope(const char *name)
{
	if (after(name, "Optimizer."))
		return MR_TORCH_OPTIMIZER;
	return is_take(name) ? MR_TORCH_INPUT : MR_TORCH_EAGER;
}

/* ---- joining halves --------------------------------------------------------------------------------- */

struct sorted_half {
	uint32_t process;
	struct mr_torch_half half;
};

/* An object ends before another has its address. */
static int compare_halves(const void *left, const void *right)
{
	const struct sorted_half *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->half.object != b->half.object)
		return a->half.object < b->half.object ? -1 : 1;
	if (a->half.ns != b->half.ns)
		return a->half.ns < b->half.ns ? -1 : 1;
	return (int)a->half.is_begin - (int)b->half.is_begin;
}

static int compare_scopes(const void *left, const void *right)
{
	const struct mr_torch_annotation *a = left, *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* One without an end lasts as long as its thread. */
static struct mr_torch_annotation scope_of(const struct mr_torch *torch,
					   const struct mr_torch_half *begin,
					   const struct mr_torch_half *end)
{
	int64_t last_ns = torch->model->survey->tracks.items[begin->track].last_ns;
	int64_t end_ns = end ? end->ns : mr_max(last_ns, begin->ns);

	return (struct mr_torch_annotation){.start_ns = begin->ns,
					    .duration_ns = end_ns - begin->ns,
					    .track = begin->track,
					    .end_track = end ? end->track : begin->track,
					    .name = begin->name,
					    .object = begin->object,
					    .flags = end ? 0 : MR_ROW_UNFINISHED};
}

static int pair_halves(struct mr_torch *torch, const struct sorted_half *halves, size_t count)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < count; i++) {
		const struct sorted_half *begin = &halves[i];
		bool has_end = i + 1 < count && begin[1].process == begin->process &&
			       begin[1].half.object == begin->half.object &&
			       !begin[1].half.is_begin;

		if (!begin->half.is_begin)
			continue;
		torch->model->anomalies.unfinished += !has_end;
		result = mr_vec_push(&torch->scopes, scope_of(torch, &begin->half,
							      has_end ? &begin[1].half : NULL));
	}
	return result;
}

static int join_halves(struct mr_torch *torch)
{
	size_t count = torch->halves.count;
	mr_auto(free) struct sorted_half *halves = malloc((count + 1) * sizeof *halves);

	if (!halves)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		halves[i] =
			(struct sorted_half){mr_torch_process(torch, torch->halves.items[i].track),
					     torch->halves.items[i]};
	qsort(halves, count, sizeof *halves, compare_halves);
	int result = pair_halves(torch, halves, count);
	if (result == 0 && torch->scopes.count)
		qsort(torch->scopes.items, torch->scopes.count, sizeof *torch->scopes.items,
		      compare_scopes);
	return result;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static int intern(struct mr_torch *torch, const char *text, uint32_t *ret_string)
{
	return mr_strings_intern(&torch->model->survey->definitions.strings, text, strlen(text),
				 ret_string);
}

/* "_MultiProcessingDataLoaderIter.__next__": the element was made ahead, by worker processes. */
static bool is_made_ahead(const struct mr_torch *torch, uint32_t name)
{
	return strstr(mr_torch_text(torch, name), "_MultiProcessing") != NULL;
}

/* A scope in which an element is taken is named like a stage of a pipeline; its own name is the detail. */
static int name_scope(struct mr_torch *torch, uint32_t name, struct mr_scopes_row *row)
{
	row->name = name;
	if (!is_take(mr_torch_text(torch, name)))
		return 0;
	row->detail = name;
	return intern(torch, is_made_ahead(torch, name) ? MR_TORCH_TAKE_AHEAD : MR_TORCH_TAKE,
		      &row->name);
}

static int add_scope(struct mr_torch *torch, const struct mr_torch_annotation *scope)
{
	bool is_elsewhere = scope->end_track != scope->track;
	struct mr_scopes_row row = {
		.track = scope->track,
		.start_ns = scope->start_ns,
		.duration_ns = scope->duration_ns,
		.parent = MR_NO_ROW,
		.flags = (uint8_t)(scope->flags | (is_elsewhere ? MR_ROW_ASYNCHRONOUS : 0))};
	int result = name_scope(torch, scope->name, &row);

	return result < 0 ? result : mr_scopes_append(&torch->model->scopes, row);
}

static int add_call(struct mr_torch *torch, const struct mr_torch_annotation *scope)
{
	return mr_function_calls_append(
		&torch->model->function_calls,
		(struct mr_function_calls_row){.track = scope->track,
					       .start_ns = scope->start_ns,
					       .duration_ns = scope->duration_ns,
					       .function = scope->name,
					       .graph = scope->name,
					       .executed_ns = scope->start_ns,
					       .flags = scope->flags});
}

static int add_take(struct mr_torch *torch, const struct mr_torch_annotation *scope)
{
	uint32_t path;
	int result = intern(torch,
			    is_made_ahead(torch, scope->name) ? "DataLoader::ParallelPrefetch"
							      : "DataLoader",
			    &path);

	if (result < 0)
		return result;
	return mr_input_work_append(&torch->model->input_work,
				    (struct mr_input_work_row){.track = scope->track,
							       .start_ns = scope->start_ns,
							       .duration_ns = scope->duration_ns,
							       .parent = MR_NO_ROW,
							       .kind = MR_INPUT_REQUEST,
							       .path = path,
							       .iterator = scope->name,
							       .parallelism = MR_NO_ORDINAL,
							       .buffer_limit = MR_NO_ORDINAL,
							       .buffered = MR_NO_ORDINAL,
							       .is_autotuned = MR_NO_TRUTH,
							       .flags = scope->flags});
}

static int add_marked_step(struct mr_torch *torch, const struct mr_torch_annotation *scope,
			   const char *number)
{
	char *end;
	unsigned long long step = strtoull(number, &end, 10);

	if (end == number || *end)
		return 0;
	return mr_steps_append(&torch->model->steps,
			       (struct mr_steps_row){.track = scope->track,
						     .start_ns = scope->start_ns,
						     .duration_ns = scope->duration_ns,
						     .step = step,
						     .device_start_ns = MR_NO_TIME,
						     .device_end_ns = MR_NO_TIME,
						     .flags = scope->flags});
}

static int add_rows_of(struct mr_torch *torch, const struct mr_torch_annotation *scope)
{
	const char *name = mr_torch_text(torch, scope->name);
	const char *number = after(name, "ProfilerStep#");

	if (mr_torch_is_collective(name))
		return 0;
	int result = add_scope(torch, scope);
	if (result == 0 && is_step_of_optimizer(name))
		result = add_call(torch, scope);
	if (result == 0 && is_take(name))
		result = add_take(torch, scope);
	if (result == 0 && number)
		result = add_marked_step(torch, scope, number);
	return result;
}

/* ---- steps without an optimizer --------------------------------------------------------------------- */

static int find_optimizers(const struct mr_torch *torch, bool *has_optimizer)
{
	for (size_t i = 0; i < torch->scopes.count; i++) {
		const struct mr_torch_annotation *scope = &torch->scopes.items[i];

		if (is_step_of_optimizer(mr_torch_text(torch, scope->name)))
			has_optimizer[mr_torch_process(torch, scope->track)] = true;
	}
	return 0;
}

/* From one element to the next of the same thread; the last finds that there are no more. */
static int add_taken_steps(struct mr_torch *torch)
{
	mr_auto(free) bool *has_optimizer =
		calloc(torch->model->survey->processes.count + 1, sizeof *has_optimizer);
	const struct mr_torch_annotation *last = NULL;
	uint64_t number = 0;
	int result = has_optimizer ? find_optimizers(torch, has_optimizer) : -ENOMEM;

	for (size_t i = 0; result == 0 && i < torch->scopes.count; i++) {
		const struct mr_torch_annotation *scope = &torch->scopes.items[i];

		if (!is_take(mr_torch_text(torch, scope->name)) ||
		    has_optimizer[mr_torch_process(torch, scope->track)])
			continue;
		if (last && last->track != scope->track)
			number = 0;
		if (last && last->track == scope->track)
			result = mr_steps_append(
				&torch->model->steps,
				(struct mr_steps_row){.track = scope->track,
						      .start_ns = last->start_ns,
						      .duration_ns =
							      scope->start_ns - last->start_ns,
						      .step = number++,
						      .function = scope->name,
						      .origin = MR_STEP_CALLED,
						      .device_start_ns = MR_NO_TIME,
						      .device_end_ns = MR_NO_TIME});
		last = scope;
	}
	return result;
}

/* ---- all -------------------------------------------------------------------------------------------- */

static int nest(const struct mr_model *model, const struct mr_table *table,
		const struct mr_nesting *columns)
{
	struct mr_nesting_faults faults = {0}; /* asynchronous ones overlap: no anomaly */
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++)
		result = mr_nest(columns, table->first_of_track[i], table->first_of_track[i + 1],
				 &faults);
	return result;
}

/* Sorting moves the columns. */
static int nest_rows(struct mr_model *model)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	const struct mr_scopes *scopes = &model->scopes;
	const struct mr_input_work *work = &model->input_work;
	int result = mr_table_sort(&model->scopes.table, track_count);

	if (result == 0)
		result = mr_table_sort(&model->input_work.table, track_count);
	if (result == 0)
		result = nest(model, &scopes->table,
			      &(struct mr_nesting){scopes->start_ns, scopes->duration_ns,
						   scopes->self_ns, scopes->parent, scopes->flags});
	if (result == 0)
		result = nest(model, &work->table,
			      &(struct mr_nesting){work->start_ns, work->duration_ns, work->self_ns,
						   work->parent, work->flags});
	return result;
}

/* The first call of a function alone does not show what led to it (called_steps.h). Here it does: the last element that the
 * program took before, or else the last time that it cleared the gradients. */
static int64_t find_first_begin(const struct mr_torch *torch, uint32_t track, int64_t ns)
{
	int64_t begin_ns = ns;
	bool has_take = false;

	for (size_t i = 0; i < torch->scopes.count; i++) {
		const struct mr_torch_annotation *scope = &torch->scopes.items[i];
		const char *name = mr_torch_text(torch, scope->name);

		if (scope->track != track || scope->start_ns >= ns)
			continue;
		has_take |= is_take(name);
		if (is_take(name) || (!has_take && after(name, "Optimizer.zero_grad#")))
			begin_ns = scope->start_ns;
	}
	return begin_ns;
}

static void extend_first_steps(const struct mr_torch *torch)
{
	const struct mr_steps *steps = &torch->model->steps;

	for (uint32_t row = 0; row < steps->table.count; row++) {
		bool is_first = row == 0 || steps->track[row - 1] != steps->track[row];

		if (!is_first || !is_step_of_optimizer(mr_torch_text(torch, steps->function[row])))
			continue;
		int64_t begin_ns = find_first_begin(torch, steps->track[row], steps->start_ns[row]);
		steps->duration_ns[row] += steps->start_ns[row] - begin_ns;
		steps->start_ns[row] = begin_ns;
	}
}

static int find_steps(struct mr_torch *torch)
{
	struct mr_model *model = torch->model;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	int result = model->steps.table.count ? 0 : add_taken_steps(torch);

	if (result == 0)
		result = mr_table_sort(&model->function_calls.table, track_count);
	if (result == 0)
		result = mr_called_steps_add(model);
	if (result == 0)
		result = mr_table_sort(&model->steps.table, track_count);
	if (result == 0)
		extend_first_steps(torch);
	return result;
}

int mr_torch_add_scopes(struct mr_torch *torch)
{
	int result = join_halves(torch);

	for (size_t i = 0; result == 0 && i < torch->scopes.count; i++)
		result = add_rows_of(torch, &torch->scopes.items[i]);
	if (result == 0)
		result = mr_torch_add_collectives(torch);
	if (result == 0)
		result = nest_rows(torch->model);
	return result < 0 ? result : find_steps(torch);
}
