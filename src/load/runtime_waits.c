/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what calls and device operations waited for: calls.awaited and device_operations.after, as doc/causes.md
 * defines them. This takes O(n log n) for any trace.
 *
 *     thread    ├ launch 1 ┤ ├ launch 2 ┤ ├───── synchronise ─────┤     awaited: of the operations that were
 *     device          ├─── 1 ───┤├──────── 2 ────────┤                  launched before the call began and
 *                                                                       ended in it, the one that ended last
 */
#include "load/runtime_waits.h"
#include "base/sort.h"
#include "load/runtime.h"
#include "model/nesting.h"

/* Of two operations the one that ends last, of equal ones that of the smaller correlation; MR_NO_ROW is
 * no operation. */
static uint32_t later(const struct mr_model *model, uint32_t a, uint32_t b)
{
	const uint64_t *correlation = model->device_operations.correlation;

	if (a == MR_NO_ROW || b == MR_NO_ROW)
		return a == MR_NO_ROW ? b : a;
	int64_t a_ns = mr_operation_end_ns(model, a), b_ns = mr_operation_end_ns(model, b);
	if (a_ns != b_ns)
		return a_ns > b_ns ? a : b;
	if (correlation[a] != correlation[b])
		return correlation[a] < correlation[b] ? a : b;
	return mr_min(a, b);
}

/* Each MR_NO_ROW. NULL without memory. */
static uint32_t *make_rows(uint32_t count)
{
	uint32_t *rows = malloc(((size_t)count + 1) * sizeof *rows);

	for (uint32_t i = 0; rows && i < count; i++)
		rows[i] = MR_NO_ROW;
	return rows;
}

/* ---- wait lists ----------------------------------------------------------------------------------- */

uint64_t mr_wait_bound_ns(const struct mr_waits *waits, uint32_t row)
{
	const struct mr_queue *queue = &waits->model->survey->definitions.queues
						.items[mr_wait_queue_of(waits->model, row)];
	uint64_t bound_ns = waits->bounds_ns[queue->device];

	return bound_ns == MR_CLOCK_BOUND_UNKNOWN ? 0 : mr_min(bound_ns, (uint64_t)MR_CLOCK_MAX_NS);
}

bool mr_wait_is_possible(const struct mr_calls *calls, uint32_t call, int64_t end_ns,
			 uint64_t bound_ns)
{
	return end_ns + (int64_t)bound_ns > calls->start_ns[call] &&
	       end_ns - (int64_t)bound_ns <= calls->start_ns[call] + calls->duration_ns[call];
}

/* Operations with times and correlations, by process and then by correlation; those that share both are a
 * group. Wait lists are found through these and not through calls, whose records may be lost. */
struct correlated {
	struct mr_sort_item *items; /* index is the row */
	uint32_t *last;   /* by place of the first of a group: the one of it that ends last */
	uint32_t *listed; /* likewise: of its wait list the one that ends last */
	uint32_t count;
};

static void free_correlated(struct correlated *correlated)
{
	free(correlated->items);
	free(correlated->last);
	free(correlated->listed);
}

static bool is_same_group(const struct mr_model *model, uint32_t a, uint32_t b)
{
	const struct mr_device_operations *operations = &model->device_operations;

	return operations->process[a] == operations->process[b] &&
	       operations->correlation[a] == operations->correlation[b];
}

/* The place of the first of the group of the operation at this place, if that of the one before is `first`. */
static uint32_t first_of_group(const struct mr_model *model, const struct correlated *correlated,
			       uint32_t place, uint32_t first)
{
	return place > 0 && is_same_group(model, correlated->items[place - 1].index,
					  correlated->items[place].index)
		       ? first
		       : place;
}

static int correlated_make(const struct mr_model *model, struct correlated *correlated)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t room = operations->table.count, first = 0;
	mr_auto(free) struct mr_sort_item *scratch = malloc(((size_t)room + 1) * sizeof *scratch);

	correlated->items = malloc(((size_t)room + 1) * sizeof *correlated->items);
	correlated->last = make_rows(room);
	correlated->listed = make_rows(room);
	if (!scratch || !correlated->items || !correlated->last || !correlated->listed)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++)
		if (operations->correlation[row] && mr_wait_is_timed(model, row))
			correlated->items[correlated->count++] =
				(struct mr_sort_item){operations->correlation[row], row};
	mr_sort(correlated->items, scratch, correlated->count);
	for (uint32_t i = 0; i < correlated->count; i++)
		correlated->items[i].key = operations->process[correlated->items[i].index];
	mr_sort(correlated->items, scratch, correlated->count);
	for (uint32_t i = 0; i < correlated->count; i++) {
		first = first_of_group(model, correlated, i, first);
		correlated->last[first] =
			later(model, correlated->last[first], correlated->items[i].index);
	}
	return 0;
}

static bool is_before(const struct mr_device_operations *operations, uint32_t row, uint32_t process,
		      uint64_t correlation)
{
	return operations->process[row] != process ? operations->process[row] < process
						   : operations->correlation[row] < correlation;
}

/* The place of the first operation of the group, or MR_NO_ROW. */
static uint32_t find_group(const struct mr_model *model, const struct correlated *correlated,
			   uint32_t process, uint64_t correlation)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t low = 0, high = correlated->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(operations, correlated->items[middle].index, process, correlation))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == correlated->count)
		return MR_NO_ROW;
	uint32_t row = correlated->items[low].index;
	return operations->process[row] == process && operations->correlation[row] == correlation
		       ? low
		       : MR_NO_ROW;
}

/* A synchronising call waits, perhaps, for an operation or none. */
static void list_for_call(struct mr_waits *waits, uint32_t call, uint32_t row)
{
	const struct mr_calls *calls = &waits->model->calls;
	uint32_t launch = row == MR_NO_ROW ? MR_NO_ROW : waits->model->device_operations.call[row];
	uint32_t *listed = &waits->listed[call];
	bool is_launched = row != MR_NO_ROW &&
			   (launch == MR_NO_ROW || calls->start_ns[launch] < calls->start_ns[call]);

	if (is_launched && mr_wait_is_possible(calls, call, mr_operation_end_ns(waits->model, row),
					       mr_wait_bound_ns(waits, row)))
		*listed = *listed == MR_EMPTY_LIST ? row : later(waits->model, *listed, row);
	else if (*listed == MR_NO_ROW)
		*listed = MR_EMPTY_LIST;
}

static void read_lists(struct mr_waits *waits, struct correlated *correlated)
{
	const struct mr_model *model = waits->model;
	const struct mr_dependencies *dependencies = &model->dependencies;

	for (uint32_t i = 0; i < dependencies->table.count; i++) {
		uint32_t process = model->survey->tracks.items[dependencies->track[i]].process;
		uint32_t call = dependencies->call[i];
		uint32_t awaited = find_group(model, correlated, process, dependencies->awaited[i]);
		uint32_t row = awaited == MR_NO_ROW ? MR_NO_ROW : correlated->last[awaited];

		if (call != MR_NO_ROW && model->calls.role[call] == MR_CALL_WAIT) {
			if (dependencies->awaited[i]) /* else it waits for a queue */
				list_for_call(waits, call, row);
			continue;
		}
		uint32_t waiting =
			find_group(model, correlated, process, dependencies->correlation[i]);
		if (waiting != MR_NO_ROW && waiting != awaited)
			correlated->listed[waiting] =
				later(model, correlated->listed[waiting], row);
	}
}

/* From groups to each of their operations. */
static void spread_lists(struct mr_waits *waits, const struct correlated *correlated)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < correlated->count; i++) {
		first = first_of_group(waits->model, correlated, i, first);
		waits->listed_for[correlated->items[i].index] = correlated->listed[first];
	}
}

static void note_launches(struct mr_waits *waits)
{
	const struct mr_model *model = waits->model;

	for (uint32_t row = 0; row < model->device_operations.table.count; row++) {
		uint32_t call = model->device_operations.call[row];

		if (call != MR_NO_ROW && mr_wait_is_timed(model, row))
			waits->last_of_call[call] = later(model, waits->last_of_call[call], row);
	}
}

/* ---- operations that wait for others ---------------------------------------------------------------- */

static void follow_queue(struct mr_waits *waits, uint32_t track)
{
	const struct mr_model *model = waits->model;
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_queue *queue =
		&model->survey->definitions.queues.items[model->survey->tracks.items[track].queue];
	const uint32_t *first = &operations->table.first_of_track[track];
	uint32_t previous = MR_NO_ROW;

	for (uint32_t row = first[0]; row < first[1]; row++) {
		if (!mr_wait_is_timed(model, row))
			continue;
		operations->after[row] = later(model, previous, waits->listed_for[row]);
		if (queue->order == MR_queue_order_in_order)
			previous = row;
	}
}

/* ---- all together ----------------------------------------------------------------------------------- */

static void await_own(struct mr_waits *waits)
{
	const struct mr_calls *calls = &waits->model->calls;

	for (uint32_t call = 0; call < calls->table.count; call++) {
		if (calls->role[call] == MR_CALL_LAUNCH && calls->is_blocking[call])
			calls->awaited[call] = waits->last_of_call[call];
		else if (calls->role[call] == MR_CALL_WAIT && waits->listed[call] != MR_EMPTY_LIST)
			calls->awaited[call] = waits->listed[call];
	}
}

static int link_waits(struct mr_waits *waits)
{
	const struct mr_survey *survey = waits->model->survey;
	struct correlated correlated = {0};
	int result = correlated_make(waits->model, &correlated);

	if (result == 0) {
		read_lists(waits, &correlated);
		spread_lists(waits, &correlated);
	}
	free_correlated(&correlated);
	if (result < 0)
		return result;
	note_launches(waits);
	for (uint32_t track = 0; track < survey->tracks.count; track++)
		if (survey->tracks.items[track].kind == MR_TRACK_QUEUE)
			follow_queue(waits, track);
	await_own(waits);
	result = mr_await_scopes(waits, true);
	return result < 0 ? result : mr_await_scopes(waits, false);
}

int mr_runtime_link_executions(struct mr_model *model)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_calls *calls = &model->calls;
	const struct mr_nesting around = {.start_ns = executions->start_ns,
					  .duration_ns = executions->duration_ns};
	const struct mr_nesting inner = {.start_ns = calls->start_ns,
					 .duration_ns = calls->duration_ns};
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < model->survey->tracks.count; i++) {
		const uint32_t *first = &executions->table.first_of_track[i];
		const uint32_t *first_call = &calls->table.first_of_track[i];

		result = mr_nest_in(&around, first[0], first[1], &inner, first_call[0],
				    first_call[1], calls->execution);
	}
	return result;
}

int mr_runtime_link_waits(struct mr_model *model)
{
	mr_auto(free) uint64_t *bounds_ns = mr_order_bounds_make(model);
	mr_auto(free) uint32_t *last_of_call = make_rows(model->calls.table.count);
	mr_auto(free) uint32_t *listed = make_rows(model->calls.table.count);
	mr_auto(free) uint32_t *listed_for = make_rows(model->device_operations.table.count);
	struct mr_waits waits = {model, bounds_ns, last_of_call, listed, listed_for};

	if (!bounds_ns || !last_of_call || !listed || !listed_for)
		return -ENOMEM;
	return link_waits(&waits);
}
