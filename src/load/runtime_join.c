/* SPDX-License-Identifier: Apache-2.0 */
#include "load/runtime.h"

#include "base/pages.h"
#include "base/sort.h"

#include "load/runtime_reports.h"

/* ---- (process, correlation) → call ---------------------------------------------------------------- */

static void free_index(struct mr_call_index *index)
{
	free(index->items);
	free(index->first_of_process);
}

static uint32_t process_of_call(const struct mr_model *model, uint32_t row)
{
	return model->survey->tracks.items[model->calls.track[row]].process;
}

static uint32_t list_calls(const struct mr_calls *calls, struct mr_sort_item *items)
{
	uint32_t count = 0;

	for (uint32_t row = 0; row < calls->table.count; row++)
		if (calls->correlation[row])
			items[count++] = (struct mr_sort_item){calls->correlation[row], row};
	return count;
}

/* Moves the items, which are in order of correlation, to their processes. */
static void divide_by_process(const struct mr_model *model, const struct mr_sort_item *from,
			      uint32_t count, struct mr_call_index *index)
{
	uint32_t *next = index->first_of_process + 1; /* becomes the ends, which are the starts */

	for (uint32_t i = 0; i < count; i++)
		next[process_of_call(model, from[i].index) + 1]++;
	for (size_t i = 0; i < model->survey->processes.count; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < count; i++)
		index->items[next[process_of_call(model, from[i].index)]++] = from[i];
}

static uint64_t count_ambiguous(const struct mr_model *model, const struct mr_call_index *index)
{
	uint64_t ambiguous = 0;

	for (size_t process = 0; process < model->survey->processes.count; process++)
		for (uint32_t i = index->first_of_process[process] + 1;
		     i < index->first_of_process[process + 1]; i++)
			ambiguous += index->items[i].key == index->items[i - 1].key;
	return ambiguous;
}

static int make_index(struct mr_model *model, struct mr_call_index *index)
{
	size_t room = (size_t)model->calls.table.count + 1;
	size_t process_count = model->survey->processes.count;
	mr_auto(free) struct mr_sort_item *sorted = mr_allocate_large(room * sizeof *sorted);

	index->items = mr_allocate_large(room * sizeof *index->items);
	index->first_of_process = calloc(process_count + 2, sizeof *index->first_of_process);
	if (!sorted || !index->items || !index->first_of_process)
		return -ENOMEM;
	uint32_t count = list_calls(&model->calls, sorted);
	mr_sort(sorted, index->items, count);
	divide_by_process(model, sorted, count, index);
	model->anomalies.ambiguous = count_ambiguous(model, index);
	return 0;
}

uint32_t mr_call_find(const struct mr_call_index *index, uint32_t process, uint64_t correlation,
		      uint32_t *hint)
{
	uint32_t low = index->first_of_process[process];
	uint32_t end = index->first_of_process[process + 1], high = end;

	if (*hint >= low && *hint < end && index->items[*hint].key == correlation &&
	    (*hint == low || index->items[*hint - 1].key != correlation))
		return index->items[(*hint)++].index;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (index->items[middle].key < correlation)
			low = middle + 1;
		else
			high = middle;
	}
	*hint = low + 1;
	return low < end && index->items[low].key == correlation ? index->items[low].index
								 : MR_NO_ROW;
}

/* ---- operations ----------------------------------------------------------------------------------- */

static void link_operation(struct mr_model *model, uint32_t row, uint32_t call)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_calls *calls = &model->calls;
	struct mr_anomalies *anomalies = &model->anomalies;

	anomalies->uncorrelated += call == MR_NO_ROW;
	anomalies->unfinished_operations += (operations->flags[row] & MR_ROW_UNFINISHED) != 0;
	anomalies->untimed_operations += (operations->flags[row] & MR_ROW_UNTIMED) != 0;
	operations->call[row] = call;
	if (call == MR_NO_ROW)
		return;
	calls->operation[call] = row;
	if (calls->role[call] != MR_CALL_LAUNCH)
		calls->kind[call] = operations->kind[row];
	calls->role[call] = MR_CALL_LAUNCH;
	if (operations->flags[row] & (MR_ROW_UNFINISHED | MR_ROW_UNTIMED))
		operations->start_ns[row] = calls->start_ns[call];
}

static void link_operations(struct mr_model *model, const struct mr_call_index *index)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t hint = 0;

	for (uint32_t row = 0; row < operations->table.count; row++)
		link_operation(model, row,
			       mr_call_find(index, operations->process[row],
					    operations->correlation[row], &hint));
}

static void link_kernel_launches(struct mr_model *model, const struct mr_call_index *index)
{
	const struct mr_kernel_launches *launches = &model->kernel_launches;
	uint32_t hint = 0;

	for (uint32_t row = 0; row < launches->table.count; row++) {
		uint32_t process = model->survey->tracks.items[launches->track[row]].process;

		launches->call[row] =
			mr_call_find(index, process, launches->correlation[row], &hint);
	}
}

/* An operation known only from its launch: it had not ended, or its end was not recorded. */
static int add_operation_of(struct mr_model *model, uint32_t call, uint32_t name)
{
	const struct mr_calls *calls = &model->calls;
	const struct mr_queue *queue = &model->survey->definitions.queues.items[calls->queue[call]];
	int result = mr_device_operations_append(
		&model->device_operations,
		(struct mr_device_operations_row){
			.track = mr_survey_track_of_queue(model->survey, calls->queue[call]),
			.queued_ns = MR_NO_TIME,
			.submitted_ns = MR_NO_TIME,
			.bound_ns = MR_CLOCK_BOUND_UNKNOWN,
			.after = MR_NO_ROW,
			.process = process_of_call(model, call),
			.name = name,
			.correlation = calls->correlation[call],
			.bytes = calls->bytes[call],
			.kind = calls->kind[call],
			.flags = queue->is_untimed ? MR_ROW_UNTIMED : MR_ROW_UNFINISHED});

	if (result == 0)
		link_operation(model, model->device_operations.table.count - 1, call);
	return result;
}

static bool lacks_operation(const struct mr_calls *calls, uint32_t call)
{
	return calls->role[call] == MR_CALL_LAUNCH && calls->result[call] == 0 &&
	       calls->queue[call] && calls->operation[call] == MR_NO_ROW;
}

/* Kernels first, whose names only their launches know. */
static int add_missing_operations(struct mr_model *model)
{
	const struct mr_kernel_launches *launches = &model->kernel_launches;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < launches->table.count; row++) {
		uint32_t call = launches->call[row];

		if (call != MR_NO_ROW && lacks_operation(&model->calls, call))
			result = add_operation_of(model, call, launches->name[row]);
	}
	for (uint32_t call = 0; result == 0 && call < model->calls.table.count; call++)
		if (lacks_operation(&model->calls, call))
			result = add_operation_of(model, call, 0);
	return result;
}

/* Rows have moved. */
static void link_calls_again(struct mr_model *model)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = operations->table.count; row-- > 0;)
		if (operations->call[row] != MR_NO_ROW)
			model->calls.operation[operations->call[row]] = row;
}

/* ---- waits ---------------------------------------------------------------------------------------- */

static void link_dependencies(struct mr_model *model, const struct mr_call_index *index)
{
	const struct mr_dependencies *dependencies = &model->dependencies;
	const struct mr_calls *calls = &model->calls;
	uint32_t hint = 0, awaited_hint = 0;

	for (uint32_t row = 0; row < dependencies->table.count; row++) {
		uint32_t process = model->survey->tracks.items[dependencies->track[row]].process;
		uint32_t call = mr_call_find(index, process, dependencies->correlation[row], &hint);

		dependencies->call[row] = call;
		dependencies->awaited_call[row] =
			mr_call_find(index, process, dependencies->awaited[row], &awaited_hint);
		if (call != MR_NO_ROW && calls->role[call] == MR_CALL_PLAIN)
			calls->role[call] = MR_CALL_WAIT;
	}
}

/* ---- all together --------------------------------------------------------------------------------- */

static void bound_device_clocks(struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	for (size_t i = 0; i < definitions->devices.count; i++) {
		struct mr_device_clock *used = &model->device_clocks[i];
		const struct mr_clock_map *clock =
			mr_clocks_find(model->survey->clocks, definitions->devices.items[i].clock);

		used->bound_ns = MR_CLOCK_BOUND_UNKNOWN;
		if (clock && used->first_ticks <= used->last_ticks)
			used->bound_ns =
				mr_clock_max_bound_ns(clock, used->first_ticks, used->last_ticks);
	}
}

static int join(struct mr_loader *loader, uint32_t track_count, struct mr_call_index *index)
{
	struct mr_model *model = loader->model;
	int result = mr_table_sort(&model->calls.table, track_count);

	if (result == 0)
		result = make_index(model, index);
	if (result < 0)
		return result;
	link_operations(model, index);
	link_kernel_launches(model, index);
	result = add_missing_operations(model);
	if (result == 0)
		result = mr_table_sort(&model->device_operations.table, track_count);
	if (result < 0)
		return result;
	link_calls_again(model);
	link_dependencies(model, index);
	bound_device_clocks(model);
	return mr_runtime_join_reports(loader, index);
}

int mr_runtime_join(struct mr_loader *loader)
{
	struct mr_call_index index = {0};
	int result = join(loader, (uint32_t)loader->model->survey->tracks.count, &index);

	free_index(&index);
	return result;
}
