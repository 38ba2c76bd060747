/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/arrows.h"

#include "analysis/finding/tally.h"
#include "base/sort.h"

int mr_arrows_add(struct mr_arrows *arrows, const char *kind, struct mr_arrow_end from,
		  struct mr_arrow_end to)
{
	if (arrows->list.count >= MR_ARROWS_MAX) {
		arrows->left_out++;
		return 0;
	}
	return mr_vec_push(&arrows->list, ((struct mr_arrow){kind, from, to}));
}

void mr_arrows_free(struct mr_arrows *arrows)
{
	mr_vec_free(&arrows->list);
}

/* ---- ends ------------------------------------------------------------------------------------------- */

static struct mr_arrow_end execution_at(uint32_t row, int64_t ns)
{
	return (struct mr_arrow_end){MR_SLICED_node_executions, row, ns};
}

static struct mr_arrow_end state_at(uint32_t row, int64_t ns)
{
	return (struct mr_arrow_end){MR_SLICED_states, row, ns};
}

static struct mr_arrow_end call_start(const struct mr_model *model, uint32_t row)
{
	return (struct mr_arrow_end){MR_SLICED_calls, row, model->calls.start_ns[row]};
}

static struct mr_arrow_end call_end(const struct mr_model *model, uint32_t row)
{
	return (struct mr_arrow_end){MR_SLICED_calls, row, mr_call_end_ns(model, row)};
}

static struct mr_arrow_end operation_start(const struct mr_model *model, uint32_t row)
{
	return (struct mr_arrow_end){MR_SLICED_device_operations, row,
				     model->device_operations.start_ns[row]};
}

static struct mr_arrow_end operation_end(const struct mr_model *model, uint32_t row)
{
	return (struct mr_arrow_end){MR_SLICED_device_operations, row,
				     mr_operation_end_ns(model, row)};
}

/* ---- operation → call → device operation ------------------------------------------------------------ */

/* Rows that may be meant. */
struct rows {
	uint32_t first;
	uint32_t end;
};

/* Of the calls made while the execution went on. */
static struct rows calls_during(const struct mr_model *model, uint32_t execution)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const uint32_t *of_track = &model->calls.table.first_of_track[executions->track[execution]];
	int64_t start_ns = executions->start_ns[execution];
	int64_t end_ns = start_ns + executions->duration_ns[execution];
	uint32_t first =
		mr_find_larger(model->calls.start_ns, of_track[0], of_track[1], start_ns - 1);

	return (struct rows){first,
			     mr_find_larger(model->calls.start_ns, first, of_track[1], end_ns)};
}

/* Was the call made in the execution, or in one nested in it? These come after it in the table. */
static bool is_made_in(const struct mr_model *model, uint32_t call, uint32_t execution)
{
	uint32_t row = model->calls.execution[call];

	while (row != MR_NO_ROW && row > execution)
		row = model->node_executions.parent[row];
	return row == execution;
}

/* Those of the rows that the execution made; of no execution: all of them. */
static bool is_meant(const struct mr_model *model, struct rows calls, uint32_t execution,
		     uint32_t call)
{
	return call >= calls.first && call < calls.end &&
	       (execution == MR_NO_ROW || is_made_in(model, call, execution));
}

static struct mr_launched count_launched(const struct mr_model *model, struct rows calls,
					 uint32_t execution)
{
	struct mr_launched launched = {0};

	for (uint32_t call = calls.first; call < calls.end; call++)
		launched.calls += is_meant(model, calls, execution, call);
	for (uint32_t row = 0; launched.calls && row < model->device_operations.table.count; row++)
		if (is_meant(model, calls, execution, model->device_operations.call[row])) {
			launched.operations++;
			mr_ns_add(&launched.device_ns, model->device_operations.duration_ns[row]);
		}
	return launched;
}

struct mr_launched mr_launched_by_execution(const struct mr_model *model, uint32_t execution)
{
	return count_launched(model, calls_during(model, execution), execution);
}

struct mr_launched mr_launched_by_call(const struct mr_model *model, uint32_t call)
{
	return count_launched(model, (struct rows){call, call + 1}, MR_NO_ROW);
}

/* The call and the execution it was made in. */
static int add_maker(const struct mr_model *model, uint32_t call, struct mr_arrows *arrows)
{
	uint32_t execution = model->calls.execution[call];

	if (execution == MR_NO_ROW)
		return 0;
	return mr_arrows_add(arrows, "runs", execution_at(execution, model->calls.start_ns[call]),
			     call_start(model, call));
}

static int add_launched(const struct mr_model *model, struct rows calls, uint32_t execution,
			struct mr_arrows *arrows)
{
	const struct mr_device_operations *operations = &model->device_operations;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++)
		if (is_meant(model, calls, execution, operations->call[row]))
			result = mr_arrows_add(arrows, "launched",
					       call_start(model, operations->call[row]),
					       operation_start(model, row));
	return result;
}

/* ---- what was waited for ---------------------------------------------------------------------------- */

static int add_awaited(const struct mr_model *model, uint32_t awaited, struct mr_arrow_end waiter,
		       struct mr_arrows *arrows)
{
	if (awaited == MR_NO_ROW)
		return 0;
	return mr_arrows_add(arrows, "waits for", operation_end(model, awaited), waiter);
}

/* The wait list of a call, but for the operation that ends last, which is known already. */
static int add_listed(const struct mr_model *model, uint32_t call, uint32_t known,
		      struct mr_arrow_end waiter, struct mr_arrows *arrows)
{
	const struct mr_dependencies *dependencies = &model->dependencies;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < dependencies->table.count; row++) {
		uint32_t launch = dependencies->awaited_call[row];

		if (dependencies->call[row] != call || launch == MR_NO_ROW ||
		    model->calls.operation[launch] == known)
			continue;
		result = add_awaited(model, model->calls.operation[launch], waiter, arrows);
	}
	return result;
}

/* Calls and operations that could not go on before the end of this one. */
static int add_waiters(const struct mr_model *model, uint32_t operation, struct mr_arrows *arrows)
{
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < model->calls.table.count; row++)
		if (model->calls.awaited[row] == operation)
			result = add_awaited(model, operation, call_end(model, row), arrows);
	for (uint32_t row = 0; result == 0 && row < model->device_operations.table.count; row++)
		if (model->device_operations.after[row] == operation)
			result = add_awaited(model, operation, operation_start(model, row), arrows);
	return result;
}

static int find_of_operation(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	uint32_t call = model->device_operations.call[row],
		 after = model->device_operations.after[row];
	int result = 0;

	if (call != MR_NO_ROW) {
		result = add_maker(model, call, arrows);
		if (result == 0)
			result = mr_arrows_add(arrows, "launched", call_start(model, call),
					       operation_start(model, row));
	}
	if (result == 0)
		result = add_awaited(model, after, operation_start(model, row), arrows);
	if (result == 0 && call != MR_NO_ROW)
		result = add_listed(model, call, after, operation_start(model, row), arrows);
	return result < 0 ? result : add_waiters(model, row, arrows);
}

static int find_of_call(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	uint32_t awaited = model->calls.awaited[row];
	int result = add_maker(model, row, arrows);

	if (result == 0)
		result = add_launched(model, (struct rows){row, row + 1}, MR_NO_ROW, arrows);
	if (result == 0)
		result = add_awaited(model, awaited, call_end(model, row), arrows);
	if (result == 0 && model->calls.operation[row] == MR_NO_ROW)
		result = add_listed(model, row, awaited, call_end(model, row), arrows);
	return result;
}

/* ---- threads ---------------------------------------------------------------------------------------- */

uint32_t mr_state_at(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const uint32_t *of_track = &model->states.table.first_of_track[track];
	uint32_t after = mr_find_larger(model->states.start_ns, of_track[0], of_track[1], ns);

	return after == of_track[0] ? MR_NO_ROW : after - 1;
}

uint32_t mr_state_blocked_before(const struct mr_model *model, uint32_t row)
{
	const struct mr_states *states = &model->states;
	uint32_t first = states->table.first_of_track[states->track[row]];

	if (states->state[row] == MR_STATE_RUN && row > first)
		row--;
	if (states->state[row] == MR_STATE_RUNNABLE && states->reason[row] == MR_REASON_WOKEN &&
	    row > first)
		row--;
	return states->state[row] == MR_STATE_BLOCKED ? row : MR_NO_ROW;
}

/* The state in which a thread woke another: if it stopped at that very time, the one that was over then. */
static uint32_t find_waking_state(const struct mr_model *model, uint32_t track, int64_t ns)
{
	const struct mr_states *states = &model->states;
	uint32_t row = mr_state_at(model, track, ns);

	if (row != MR_NO_ROW && states->state[row] != MR_STATE_RUN && states->start_ns[row] == ns)
		row = mr_state_at(model, track, ns - 1);
	return row;
}

static int add_waker(const struct mr_model *model, uint32_t blocked, struct mr_arrows *arrows)
{
	const struct mr_wakeups *wakeups = &model->wakeups;
	uint32_t wakeup = model->states.wakeup[blocked];

	if (wakeup == MR_NO_ROW || wakeups->waker[wakeup] == MR_NO_TRACK ||
	    wakeups->context[wakeup] != MR_wake_context_task)
		return 0;
	int64_t ns = wakeups->start_ns[wakeup];
	uint32_t waker = find_waking_state(model, wakeups->waker[wakeup], ns);
	return waker == MR_NO_ROW ? 0
				  : mr_arrows_add(arrows, "woken by", state_at(waker, ns),
						  state_at(blocked, ns));
}

/* Threads that this one woke while it ran. */
static int add_woken(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	const struct mr_states *states = &model->states;
	const struct mr_wakeups *wakeups = &model->wakeups;
	int64_t start_ns = states->start_ns[row], end_ns = start_ns + states->duration_ns[row];
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < wakeups->table.count; i++) {
		int64_t ns = wakeups->start_ns[i];

		if (wakeups->waker[i] != states->track[row] || ns < start_ns || ns > end_ns ||
		    wakeups->context[i] != MR_wake_context_task ||
		    find_waking_state(model, states->track[row], ns) != row)
			continue;
		uint32_t woken = mr_state_at(model, wakeups->track[i], ns - 1);
		if (woken != MR_NO_ROW && states->wakeup[woken] == i)
			result = mr_arrows_add(arrows, "woke", state_at(row, ns),
					       state_at(woken, ns));
	}
	return result;
}

static int find_of_state(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	uint32_t blocked = mr_state_blocked_before(model, row);
	int result = blocked == MR_NO_ROW ? 0 : add_waker(model, blocked, arrows);

	if (result == 0 && model->states.state[row] == MR_STATE_RUN)
		result = add_woken(model, row, arrows);
	return result;
}

/* Who ended the waits in a system call. */
static int find_of_system_call(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	const struct mr_system_calls *calls = &model->system_calls;
	int64_t end_ns = calls->start_ns[row] + calls->duration_ns[row];
	uint32_t end = model->states.table.first_of_track[calls->track[row] + 1];
	uint32_t state = mr_state_at(model, calls->track[row], calls->start_ns[row]);
	int result = 0;

	if (state == MR_NO_ROW)
		state = model->states.table.first_of_track[calls->track[row]];
	for (; result == 0 && state < end && model->states.start_ns[state] < end_ns; state++)
		if (model->states.system_call[state] == row)
			result = add_waker(model, state, arrows);
	return result;
}

static int find_of_cpu_run(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	int64_t ns = model->cpu_runs.start_ns[row];
	uint32_t thread = model->cpu_runs.thread[row];
	uint32_t state = thread == MR_NO_TRACK ? MR_NO_ROW : mr_state_at(model, thread, ns);

	return state == MR_NO_ROW
		       ? 0
		       : mr_arrows_add(arrows, "runs",
				       (struct mr_arrow_end){MR_SLICED_cpu_runs, row, ns},
				       state_at(state, ns));
}

/* ---- together --------------------------------------------------------------------------------------- */

/* Of the calls only those that have to do with the device. */
static int find_of_execution(const struct mr_model *model, uint32_t row, struct mr_arrows *arrows)
{
	const struct mr_calls *calls = &model->calls;
	struct rows during = calls_during(model, row);
	int result = 0;

	for (uint32_t call = during.first; result == 0 && call < during.end; call++)
		if ((calls->operation[call] != MR_NO_ROW || calls->awaited[call] != MR_NO_ROW) &&
		    is_made_in(model, call, row))
			result = add_maker(model, call, arrows);
	if (result == 0 && during.first < during.end)
		result = add_launched(model, during, row, arrows);
	return result < 0 ? result : mr_arrows_find_feeds(model, row, arrows);
}

static int (*const own[MR_SLICED_COUNT])(const struct mr_model *model, uint32_t row,
					 struct mr_arrows *arrows) = {
	[MR_SLICED_node_executions] = find_of_execution,   [MR_SLICED_calls] = find_of_call,
	[MR_SLICED_device_operations] = find_of_operation, [MR_SLICED_states] = find_of_state,
	[MR_SLICED_system_calls] = find_of_system_call,    [MR_SLICED_cpu_runs] = find_of_cpu_run,
};

int mr_arrows_find(const struct mr_model *model, enum mr_sliced table, uint32_t row,
		   struct mr_arrows *arrows)
{
	int result = own[table] ? own[table](model, row, arrows) : 0;

	return result < 0 ? result : mr_arrows_find_messages(model, table, row, arrows);
}
