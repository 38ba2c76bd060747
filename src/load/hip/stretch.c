/* SPDX-License-Identifier: Apache-2.0 */
#include "load/hip/stretch.h"

#include <stdbool.h>

/* The calls and operations between two launches of device kernels. */
struct cell {
	const struct mr_hip_stretch_call *calls;
	struct mr_hip_stretch_operation *operations;
	uint32_t call, call_end;
	uint32_t operation, operation_end;
};

/* ---- device kernels -------------------------------------------------------------------------------- */

static uint32_t next_call(const struct mr_hip_stretch_call *calls, uint32_t from, uint32_t count,
			  enum mr_hip_work work)
{
	while (from < count && calls[from].work != work)
		from++;
	return from;
}

static uint32_t next_operation(const struct mr_hip_stretch_operation *operations, uint32_t from,
			       uint32_t count, enum mr_hip_work work)
{
	while (from < count && operations[from].work != work)
		from++;
	return from;
}

static bool is_same(const struct mr_hip_stretch_call *call,
		    const struct mr_hip_stretch_operation *operation)
{
	return call->name == 0 || call->name == operation->name;
}

/* Gives each launch in [call, call_end) the next device kernel; false if they do not agree. */
static bool pin(const struct mr_hip_stretch_call *calls, uint32_t call, uint32_t call_end,
		struct mr_hip_stretch_operation *operations, uint32_t *operation, uint32_t count)
{
	while ((call = next_call(calls, call, call_end, MR_HIP_WORK_KERNEL)) < call_end) {
		*operation = next_operation(operations, *operation, count, MR_HIP_WORK_KERNEL);
		if (*operation == count || !is_same(&calls[call], &operations[*operation]))
			return false;
		operations[(*operation)++].call = call++;
	}
	return true;
}

static uint32_t count_kernels(const struct mr_hip_stretch_operation *operations, uint32_t from,
			      uint32_t count)
{
	uint32_t kernels = 0;

	for (; from < count; from++)
		kernels += operations[from].work == MR_HIP_WORK_KERNEL;
	return kernels;
}

static uint32_t count_launches(const struct mr_hip_stretch_call *calls, uint32_t from,
			       uint32_t count)
{
	uint32_t launches = 0;

	for (; from < count; from++)
		launches += calls[from].work == MR_HIP_WORK_KERNEL;
	return launches;
}

/* Launches before the first graph and after the last one have the first and the last device kernels. */
static bool pin_all(const struct mr_hip_stretch_call *calls, uint32_t call_count,
		    struct mr_hip_stretch_operation *operations, uint32_t count)
{
	uint32_t first_graph = next_call(calls, 0, call_count, MR_HIP_WORK_GRAPH);
	uint32_t last_graph = first_graph, place = 0;

	for (uint32_t i = first_graph; i < call_count; i++)
		if (calls[i].work == MR_HIP_WORK_GRAPH)
			last_graph = i;
	if (!pin(calls, 0, first_graph, operations, &place, count))
		return false;
	if (first_graph == call_count)
		return count_kernels(operations, place, count) == 0;
	uint32_t left = count_kernels(operations, place, count);
	uint32_t after = count_launches(calls, last_graph, call_count);
	if (count_launches(calls, first_graph, last_graph) > 0 || left < after)
		return false;
	for (uint32_t of_graphs = left - after; of_graphs > 0; of_graphs--)
		place = next_operation(operations, place, count, MR_HIP_WORK_KERNEL) + 1;
	return pin(calls, last_graph, call_count, operations, &place, count);
}

/* ---- the others ------------------------------------------------------------------------------------- */

static uint32_t count_calls(const struct cell *cell, enum mr_hip_work work)
{
	uint32_t count = 0;

	for (uint32_t i = cell->call; i < cell->call_end; i++)
		count += cell->calls[i].work == work;
	return count;
}

static uint32_t count_operations(const struct cell *cell, enum mr_hip_work work)
{
	uint32_t count = 0;

	for (uint32_t i = cell->operation; i < cell->operation_end; i++)
		count += cell->operations[i].work == work;
	return count;
}

/* Gives operations of a kind to the calls of a kind, `each` to one. */
static void share(const struct cell *cell, enum mr_hip_work of_calls, enum mr_hip_work work,
		  uint32_t each)
{
	uint32_t call = next_call(cell->calls, cell->call, cell->call_end, of_calls), given = 0;

	for (uint32_t i = cell->operation; i < cell->operation_end; i++) {
		if (cell->operations[i].work != work)
			continue;
		if (given == each) {
			call = next_call(cell->calls, call + 1, cell->call_end, of_calls);
			given = 0;
		}
		cell->operations[i].call = call;
		given++;
	}
}

static void take_back(const struct cell *cell, enum mr_hip_work work)
{
	for (uint32_t i = cell->operation; i < cell->operation_end; i++)
		if (cell->operations[i].work == work)
			cell->operations[i].call = MR_HIP_UNDECIDED;
}

/* Whether all launch the same graph. */
static bool is_one_graph(const struct cell *cell)
{
	uint32_t first = next_call(cell->calls, cell->call, cell->call_end, MR_HIP_WORK_GRAPH);

	for (uint32_t i = first; i < cell->call_end; i++)
		if (cell->calls[i].work == MR_HIP_WORK_GRAPH &&
		    cell->calls[i].object != cell->calls[first].object)
			return false;
	return true;
}

/* Whether the names come again after so many operations of the kind. */
static bool is_repeating(const struct cell *cell, enum mr_hip_work work, uint32_t period)
{
	uint32_t ahead = cell->operation, skipped = 0;

	for (uint32_t i = cell->operation; i < cell->operation_end; i++) {
		if (cell->operations[i].work != work || skipped++ < period)
			continue;
		ahead = next_operation(cell->operations, ahead, i, work);
		if (cell->operations[ahead++].name != cell->operations[i].name)
			return false;
	}
	return true;
}

static void share_among_graphs(const struct cell *cell, enum mr_hip_work work, uint32_t graphs)
{
	uint32_t count = count_operations(cell, work);

	if (count % graphs == 0 && is_one_graph(cell) && is_repeating(cell, work, count / graphs))
		share(cell, MR_HIP_WORK_GRAPH, work, count / graphs);
}

/* Whether an operation could be all that its call does. */
static bool are_sizes_equal(const struct cell *cell, enum mr_hip_work work)
{
	for (uint32_t i = cell->operation; i < cell->operation_end; i++) {
		const struct mr_hip_stretch_operation *operation = &cell->operations[i];

		if (operation->work == work && operation->bytes &&
		    cell->calls[operation->call].bytes &&
		    operation->bytes != cell->calls[operation->call].bytes)
			return false;
	}
	return true;
}

/* Gives each call as many operations as move its bytes; takes all back if that does not come out even. */
static void share_by_size(const struct cell *cell, enum mr_hip_work work)
{
	uint32_t call = next_call(cell->calls, cell->call, cell->call_end, work);
	uint64_t moved = 0;

	for (uint32_t i = cell->operation; i < cell->operation_end; i++) {
		struct mr_hip_stretch_operation *operation = &cell->operations[i];

		if (operation->work != work)
			continue;
		if (call < cell->call_end && moved == cell->calls[call].bytes) {
			call = next_call(cell->calls, call + 1, cell->call_end, work);
			moved = 0;
		}
		if (call == cell->call_end || operation->bytes == 0 ||
		    operation->bytes > cell->calls[call].bytes - moved) {
			take_back(cell, work);
			return;
		}
		operation->call = call;
		moved += operation->bytes;
	}
	bool is_even = call < cell->call_end && moved == cell->calls[call].bytes &&
		       next_call(cell->calls, call + 1, cell->call_end, work) == cell->call_end;
	if (!is_even)
		take_back(cell, work);
}

static void decide_kind(const struct cell *cell, enum mr_hip_work work)
{
	uint32_t calls = count_calls(cell, work), count = count_operations(cell, work);

	if (calls == 0 || count == 0)
		return;
	if (calls == 1 || calls == count) {
		share(cell, work, work, count / calls);
		if (calls == 1 || are_sizes_equal(cell, work))
			return;
	}
	share_by_size(cell, work);
}

static void decide_cell(const struct cell *cell)
{
	uint32_t graphs = count_calls(cell, MR_HIP_WORK_GRAPH);

	if (graphs > 0)
		share_among_graphs(cell, MR_HIP_WORK_KERNEL, graphs);
	for (enum mr_hip_work work = MR_HIP_WORK_COPY; work <= MR_HIP_WORK_FILL; work++) {
		if (graphs == 0)
			decide_kind(cell, work);
		else if (count_calls(cell, work) == 0)
			share_among_graphs(cell, work, graphs);
	}
}

void mr_hip_stretch_decide(const struct mr_hip_stretch_call *calls, uint32_t call_count,
			   struct mr_hip_stretch_operation *operations, uint32_t operation_count)
{
	struct cell cell = {.calls = calls, .operations = operations};

	for (uint32_t i = 0; i < operation_count; i++)
		operations[i].call = MR_HIP_UNDECIDED;
	if (!pin_all(calls, call_count, operations, operation_count)) {
		for (uint32_t i = 0; i < operation_count; i++)
			operations[i].call = MR_HIP_UNDECIDED;
		return;
	}
	while (cell.call <= call_count && cell.operation <= operation_count) {
		cell.call_end = next_call(calls, cell.call, call_count, MR_HIP_WORK_KERNEL);
		cell.operation_end = cell.operation;
		while (cell.operation_end < operation_count &&
		       operations[cell.operation_end].call == MR_HIP_UNDECIDED)
			cell.operation_end++;
		decide_cell(&cell);
		cell.call = cell.call_end + 1;
		cell.operation = cell.operation_end + 1;
	}
}
