/* SPDX-License-Identifier: Apache-2.0
 *
 * Flows: what led from one row to another, as links of the model say.
 *
 *     launched    a call                  ─► the device operation
 *     waits       a device operation      ─► the operation or call that waits for it
 *     sent        a message sent          ─► the same message received
 *     woke        the state of a thread   ─► the state of the thread that it wakes
 *
 * Perfetto itself leads a flow from the slice that begins first to the other one.
 */
#include "base/sort.h"
#include "export/perfetto/perfetto.h"

struct flows {
	struct mr_perfetto *to;
	uint32_t count;
};

static int add(struct flows *flows, enum mr_shown from, uint32_t from_row, enum mr_shown into,
	       uint32_t into_row)
{
	struct mr_perfetto *to = flows->to;
	const uint32_t flow = ++flows->count;
	const struct mr_flow_end first = {from, from_row, flow}, second = {into, into_row, flow};
	int result = mr_vec_push(&to->flows, first);

	return result < 0 ? result : mr_vec_push(&to->flows, second);
}

static int add_operations(struct flows *flows)
{
	const struct mr_device_operations *operations = &flows->to->model->device_operations;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++) {
		if (operations->call[row] != MR_NO_ROW)
			result = add(flows, MR_SHOWN_calls, operations->call[row],
				     MR_SHOWN_device_operations, row);
		if (result == 0 && operations->after[row] != MR_NO_ROW)
			result = add(flows, MR_SHOWN_device_operations, operations->after[row],
				     MR_SHOWN_device_operations, row);
	}
	return result;
}

static int add_waits(struct flows *flows)
{
	const struct mr_calls *calls = &flows->to->model->calls;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < calls->table.count; row++)
		if (calls->awaited[row] != MR_NO_ROW)
			result = add(flows, MR_SHOWN_device_operations, calls->awaited[row],
				     MR_SHOWN_calls, row);
	return result;
}

static int add_messages(struct flows *flows)
{
	const struct mr_messages *messages = &flows->to->model->messages;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < messages->table.count; row++)
		if (!messages->is_receive[row] && messages->peer[row] != MR_NO_ROW)
			result = add(flows, MR_SHOWN_messages, row, MR_SHOWN_messages,
				     messages->peer[row]);
	return result;
}

/* The state that a thread is in at a time; MR_NO_ROW if that is not known. */
static uint32_t state_at(const struct mr_states *states, uint32_t track, int64_t ns)
{
	const uint32_t *first = &states->table.first_of_track[track];
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1], ns);

	return row > first[0] && states->start_ns[row - 1] + states->duration_ns[row - 1] >= ns
		       ? row - 1
		       : MR_NO_ROW;
}

static int add_wakeups(struct flows *flows)
{
	const struct mr_states *states = &flows->to->model->states;
	const struct mr_wakeups *wakeups = &flows->to->model->wakeups;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row + 1 < states->table.count; row++) {
		uint32_t wakeup = states->wakeup[row];

		if (wakeup == MR_NO_ROW || wakeups->waker[wakeup] == MR_NO_TRACK ||
		    wakeups->context[wakeup] != MR_wake_context_task ||
		    states->track[row + 1] != states->track[row])
			continue;
		uint32_t from = state_at(states, wakeups->waker[wakeup], wakeups->start_ns[wakeup]);
		if (from != MR_NO_ROW)
			result = add(flows, MR_SHOWN_states, from, MR_SHOWN_states, row + 1);
	}
	return result;
}

static int compare(const void *left, const void *right)
{
	const struct mr_flow_end *a = left, *b = right;

	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return (a->flow > b->flow) - (a->flow < b->flow);
}

int mr_perfetto_flows(struct mr_perfetto *perfetto)
{
	static int (*const kinds[])(struct flows *) = {add_operations, add_waits, add_messages,
						       add_wakeups};
	struct flows flows = {.to = perfetto};
	int result = 0;

	for (size_t i = 0; result == 0 && i < mr_countof(kinds); i++)
		result = kinds[i](&flows);
	if (perfetto->flows.count)
		qsort(perfetto->flows.items, perfetto->flows.count, sizeof *perfetto->flows.items,
		      compare);
	return result;
}
