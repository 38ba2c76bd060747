/* SPDX-License-Identifier: Apache-2.0
 *
 * Links the rows of one thread: all are sorted by time, so one pass walks each pair of tables side by side.
 */
#include "model/kernel_link.h"

#include "base/vector.h"
#include "model/nesting.h"

struct rows {
	uint32_t first;
	uint32_t end;
};

static struct rows rows_of(const struct mr_table *table, uint32_t track)
{
	return (struct rows){table->first_of_track[track], table->first_of_track[track + 1]};
}

static int64_t overlap_ns(int64_t a_begin, int64_t a_end, int64_t b_begin, int64_t b_end)
{
	int64_t overlap = mr_min(a_end, b_end) - mr_max(a_begin, b_begin);

	return mr_max(overlap, INT64_C(0));
}

/* How long a thread was blocked and runnable before its states began. */
struct waited {
	int64_t blocked_ns;
	int64_t runnable_ns;
};

typedef mr_vec(struct waited) waited_list;

static struct waited add_wait(struct waited waited, uint8_t state, int64_t ns)
{
	if (state == MR_STATE_BLOCKED)
		waited.blocked_ns += ns;
	if (state == MR_STATE_RUNNABLE)
		waited.runnable_ns += ns;
	return waited;
}

static int sum_waits(const struct mr_states *states, struct rows rows, waited_list *before)
{
	struct waited waited = {0};

	if (mr_vec_reserve(before, rows.end - rows.first) < 0)
		return -ENOMEM;
	for (uint32_t row = rows.first; row < rows.end; row++) {
		before->items[row - rows.first] = waited;
		waited = add_wait(waited, states->state[row], states->duration_ns[row]);
	}
	return 0;
}

/* The last state that has begun by then, or `row`: it is looked for from there on, where it mostly is near. */
static uint32_t find_state(const struct mr_states *states, uint32_t row, uint32_t end, int64_t ns)
{
	uint32_t step = 1;

	for (; end - row > step && states->start_ns[row + step] <= ns; step *= 2)
		row += step;
	for (uint32_t high = row + mr_min(step, end - row); high - row > 1;) {
		uint32_t middle = row + (high - row) / 2;

		if (states->start_ns[middle] <= ns)
			row = middle;
		else
			high = middle;
	}
	return row;
}

/* Until `ns`, which lies in that state or outside of all. */
static struct waited wait_until(const struct mr_states *states, uint32_t row, struct waited before,
				int64_t ns)
{
	int64_t part_ns = mr_min(ns - states->start_ns[row], states->duration_ns[row]);

	return add_wait(before, states->state[row], mr_max(part_ns, INT64_C(0)));
}

/* Calls of a thread should follow one another; where they overlap each has all of its own time. */
static int sum_calls(struct mr_model *model, uint32_t track, waited_list *before)
{
	const struct mr_states *states = &model->states;
	struct mr_system_calls *calls = &model->system_calls;
	struct rows of_states = rows_of(&states->table, track);
	struct rows of_calls = rows_of(&calls->table, track);
	uint32_t first = of_states.first;

	if (first == of_states.end || of_calls.first == of_calls.end)
		return 0;
	if (sum_waits(states, of_states, before) < 0)
		return -ENOMEM;
	for (uint32_t call = of_calls.first; call < of_calls.end; call++) {
		int64_t start_ns = calls->start_ns[call];
		int64_t end_ns = start_ns + calls->duration_ns[call];

		first = find_state(states, first, of_states.end, start_ns);
		uint32_t last = find_state(states, first, of_states.end, end_ns);
		struct waited at_start =
			wait_until(states, first, before->items[first - of_states.first], start_ns);
		struct waited at_end =
			wait_until(states, last, before->items[last - of_states.first], end_ns);

		calls->blocked_ns[call] += at_end.blocked_ns - at_start.blocked_ns;
		calls->runnable_ns[call] += at_end.runnable_ns - at_start.runnable_ns;
	}
	return 0;
}

typedef mr_vec(uint32_t) call_stack;

static int64_t end_of_call(const struct mr_system_calls *calls, uint32_t call)
{
	return calls->start_ns[call] + calls->duration_ns[call];
}

static void drop_ended(const struct mr_system_calls *calls, call_stack *open, int64_t before_ns)
{
	while (open->count && end_of_call(calls, open->items[open->count - 1]) < before_ns)
		open->count--;
}

/* Which call a thread blocked in: of those that enclose the state the one that began last. Of the calls that
 * have begun, `open` keeps those that one begun later does not outlast, so their ends fall from first to last;
 * what ends before the state does encloses neither it nor a later one. */
static int find_calls(struct mr_model *model, uint32_t track, call_stack *open)
{
	struct mr_states *states = &model->states;
	const struct mr_system_calls *calls = &model->system_calls;
	struct rows of_states = rows_of(&states->table, track);
	struct rows of_calls = rows_of(&calls->table, track);
	uint32_t call = of_calls.first;

	open->count = 0;
	for (uint32_t row = of_states.first; row < of_states.end; row++) {
		int64_t end_ns = states->start_ns[row] + states->duration_ns[row];

		for (; call < of_calls.end && calls->start_ns[call] <= states->start_ns[row];
		     call++) {
			drop_ended(calls, open, end_of_call(calls, call) + 1);
			if (mr_vec_push(open, call) < 0)
				return -ENOMEM;
		}
		drop_ended(calls, open, end_ns);
		if (states->state[row] == MR_STATE_BLOCKED && open->count)
			states->system_call[row] = open->items[open->count - 1];
	}
	return 0;
}

static void link_wakeups(struct mr_model *model, uint32_t track)
{
	struct mr_states *states = &model->states;
	const struct mr_wakeups *wakeups = &model->wakeups;
	struct rows of_states = rows_of(&states->table, track);
	struct rows of_wakeups = rows_of(&wakeups->table, track);
	uint32_t wakeup = of_wakeups.first;

	for (uint32_t row = of_states.first; row < of_states.end; row++) {
		int64_t end_ns = states->start_ns[row] + states->duration_ns[row];

		while (wakeup < of_wakeups.end && wakeups->start_ns[wakeup] < end_ns)
			wakeup++;
		if (states->state[row] == MR_STATE_BLOCKED && wakeup < of_wakeups.end &&
		    wakeups->start_ns[wakeup] == end_ns)
			states->wakeup[row] = wakeup;
	}
}

/* Only the outermost interrupts count, and no time counts twice. */
static void link_interrupts(struct mr_model *model, uint32_t track)
{
	struct mr_states *states = &model->states;
	const struct mr_interrupts *interrupts = &model->interrupts;
	struct rows of_states = rows_of(&states->table, track);
	struct rows of_interrupts = rows_of(&interrupts->table, track);
	uint32_t row = of_states.first;
	int64_t covered_ns = INT64_MIN;

	for (uint32_t i = of_interrupts.first; i < of_interrupts.end; i++) {
		int64_t begin_ns = mr_max(interrupts->start_ns[i], covered_ns);
		int64_t end_ns = interrupts->start_ns[i] + interrupts->duration_ns[i];

		covered_ns = mr_max(covered_ns, end_ns);
		while (row < of_states.end &&
		       states->start_ns[row] + states->duration_ns[row] <= begin_ns)
			row++;
		for (uint32_t r = row; r < of_states.end && states->start_ns[r] < end_ns; r++)
			if (states->state[r] == MR_STATE_RUN)
				states->interrupted_ns[r] +=
					overlap_ns(begin_ns, end_ns, states->start_ns[r],
						   states->start_ns[r] + states->duration_ns[r]);
	}
}

/* Time of which nobody knows counts: the thread may have run. */
static void sum_runs(struct mr_model *model, uint32_t track)
{
	const struct mr_states *states = &model->states;
	struct rows rows = rows_of(&states->table, track);
	int64_t ran_ns = 0;

	for (uint32_t row = rows.first; row < rows.end; row++) {
		states->ran_ns[row] = ran_ns;
		if (states->state[row] == MR_STATE_RUN || states->state[row] == MR_STATE_UNKNOWN)
			ran_ns += states->duration_ns[row];
	}
}

int mr_kernel_level_link(struct mr_model *model)
{
	const struct mr_interrupts *interrupts = &model->interrupts;
	const struct mr_nesting nesting = {interrupts->start_ns, interrupts->duration_ns,
					   interrupts->self_ns, interrupts->parent,
					   interrupts->flags};
	waited_list before = {0};
	call_stack open = {0};
	struct mr_nesting_faults faults = {0};
	int result = 0;

	for (uint32_t track = 0; result == 0 && track < model->survey->tracks.count; track++) {
		struct rows rows = rows_of(&interrupts->table, track);

		sum_runs(model, track);
		link_wakeups(model, track);
		link_interrupts(model, track);
		result = mr_nest(&nesting, rows.first, rows.end, &faults);
		if (result == 0)
			result = sum_calls(model, track, &before);
		if (result == 0)
			result = find_calls(model, track, &open);
	}
	model->anomalies.overlapping += faults.overlaps;
	model->anomalies.too_deep += faults.too_deep;
	mr_vec_free(&before);
	mr_vec_free(&open);
	return result;
}

bool mr_is_same_futex(const struct mr_model *model, uint32_t a, uint32_t b)
{
	const struct mr_states *states = &model->states;
	const struct mr_track *tracks = model->survey->tracks.items;
	const uint64_t *addresses = model->system_calls.argument;

	if (tracks[states->track[a]].process != tracks[states->track[b]].process)
		return false;
	if (states->exchange[a] == MR_EXCHANGE_GIL && states->exchange[b] == MR_EXCHANGE_GIL)
		return true;
	return mr_futex_word(addresses[states->system_call[a]]) ==
	       mr_futex_word(addresses[states->system_call[b]]);
}
