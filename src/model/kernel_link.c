/* SPDX-License-Identifier: Apache-2.0
 *
 * What belongs together among the rows of one thread: all are sorted by time, so each pair of tables is
 * gone through once, side by side.
 */
#include "model/kernel.h"

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

/* Calls of a thread follow one another. */
static void link_calls(struct mr_model *model, uint32_t track)
{
	struct mr_states *states = &model->states;
	struct mr_system_calls *calls = &model->system_calls;
	struct rows of_states = rows_of(&states->table, track);
	struct rows of_calls = rows_of(&calls->table, track);
	uint32_t call = of_calls.first;

	for (uint32_t row = of_states.first; row < of_states.end; row++) {
		int64_t begin_ns = states->start_ns[row];
		int64_t end_ns = begin_ns + states->duration_ns[row];

		while (call < of_calls.end &&
		       calls->start_ns[call] + calls->duration_ns[call] <= begin_ns)
			call++;
		for (uint32_t i = call; i < of_calls.end && calls->start_ns[i] < end_ns; i++) {
			int64_t call_end_ns = calls->start_ns[i] + calls->duration_ns[i];
			int64_t shared_ns =
				overlap_ns(begin_ns, end_ns, calls->start_ns[i], call_end_ns);

			if (states->state[row] == MR_STATE_RUNNABLE)
				calls->runnable_ns[i] += shared_ns;
			if (states->state[row] != MR_STATE_BLOCKED)
				continue;
			calls->blocked_ns[i] += shared_ns;
			if (calls->start_ns[i] <= begin_ns && end_ns <= call_end_ns)
				states->system_call[row] = i;
		}
	}
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

int mr_kernel_level_link(struct mr_model *model)
{
	const struct mr_interrupts *interrupts = &model->interrupts;
	const struct mr_nesting nesting = {interrupts->start_ns, interrupts->duration_ns,
					   interrupts->self_ns, interrupts->parent,
					   interrupts->flags};
	int result = 0;

	for (uint32_t track = 0; result == 0 && track < model->survey->tracks.count; track++) {
		struct rows rows = rows_of(&interrupts->table, track);

		link_calls(model, track);
		link_wakeups(model, track);
		link_interrupts(model, track);
		result = mr_nest(&nesting, rows.first, rows.end, &model->anomalies.overlapping);
	}
	return result;
}
