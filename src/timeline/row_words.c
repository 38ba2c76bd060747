/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes what a slice means, in sentences.
 */
#include "timeline/row.h"

#include <string.h>

#include "analysis/cause/activity.h"
#include "analysis/cause/idle_gaps.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "base/format.h"

struct words {
	const struct mr_row *row;
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
};

#define say(words, ...) \
	mr_finding_say((words)->findings, (words)->finding, MR_SEVERITY_FINE, __VA_ARGS__)

/* A duration as sentences show it; `to` has room for it. */
static const char *ns_text(char *to, int64_t ns)
{
	mr_format_ns(to, ns, true);
	return to;
}

enum {
	APART_BYTES = MR_FORMAT_BYTES + 8,
};

/* How far apart two times are: "3 µs after", or "3 µs before", because device clocks are not exact and operations may
 * overlap. `to` has room for APART_BYTES. */
static const char *apart_text(char *to, int64_t ns, const char *forward, const char *backward)
{
	char distance[MR_FORMAT_BYTES];

	snprintf(to, APART_BYTES, "%s %s", ns_text(distance, ns < 0 ? -ns : ns),
		 ns < 0 ? backward : forward);
	return to;
}

static const char *name_operation(const struct words *words, uint32_t operation)
{
	uint32_t name = words->model->device_operations.name[operation];

	return name ? mr_model_text(words->model, name)
		    : mr_enum_value_name("operation_kind",
					 words->model->device_operations.kind[operation]);
}

/* ---- causes ----------------------------------------------------------------------------------------- */

/* A piece is seldom the whole gap. Says how long the device was idle, and how much of that is due to this cause. */
static int say_gap(const struct words *words, const struct mr_idle *idle,
		   const struct mr_idle_piece *piece)
{
	const struct mr_gap_pieces gap = mr_gap_of(idle, words->row->row);
	uint32_t headline = mr_idle_headline(idle, piece->chain);
	const struct mr_gap_share share = mr_gap_share(idle, &gap, headline);
	const char *clause = mr_chain_clause(words->model, &words->findings->region, &idle->chains,
					     headline, share.thread);
	const char *device = mr_device_name(words->model, words->row->group);
	char whole[MR_FORMAT_BYTES], part[MR_FORMAT_BYTES];

	if (!clause)
		return -ENOMEM;
	ns_text(whole, gap.duration_ns);
	ns_text(part, share.duration_ns);
	return share.duration_ns == gap.duration_ns
		       ? say(words, "%s was idle for %s because %s.", device, whole, clause)
		       : say(words, "%s was idle for %s; %s of it because %s.", device, whole, part,
			     clause);
}

/* What ended a gap, and which operation of the graph launched it. */
static int say_gap_end(const struct words *words, uint32_t operation)
{
	uint32_t execution = words->model->device_operations.execution[operation];
	const char *name = name_operation(words, operation);

	if (execution == MR_NO_ROW)
		return say(words, "The gap ended when %s began.", name);
	uint32_t node = words->model->node_executions.node[execution];
	return say(words, "The gap ended when %s, launched by %s, began.", name,
		   mr_model_text(words->model,
				 words->model->survey->definitions.nodes.items[node].name));
}

static int say_idle(const struct words *words)
{
	const struct mr_idle *idle = mr_view_idle(words->row->view);
	char ns[MR_FORMAT_BYTES];

	if (!idle)
		return -ENOMEM;
	const struct mr_idle_piece *piece = &idle->pieces.items[words->row->row];
	int result = say_gap(words, idle, piece);
	if (result == 0 && piece->operation != MR_NO_ROW)
		result = say_gap_end(words, piece->operation);
	int64_t uncertain_ns = mr_bound_value(words->model, piece->uncertain_ns);
	if (result == 0 && uncertain_ns != MR_NO_VALUE && uncertain_ns > 0)
		result = say(words,
			     "This piece may be up to %s shorter or longer: the device's times are "
			     "no more exact than that.",
			     ns_text(ns, uncertain_ns));
	return result;
}

/* "thread 812 'loader' waited for the disk (/data/train.tfrecord)"; NULL without memory. */
static const char *clause_of(const struct words *words, struct mr_link link, uint32_t thread)
{
	struct mr_chains chains = {0};
	const char *clause = NULL;
	uint32_t chain;

	link.next = MR_NO_CHAIN;
	if (mr_chain_intern(&chains, link, &chain) == 0)
		clause = mr_chain_clause(words->model, &words->findings->region, &chains, chain,
					 thread);
	mr_chains_free(&chains);
	return clause;
}

static int say_path(const struct words *words)
{
	const struct mr_critical_path *path = mr_view_path(words->row->view);

	if (!path)
		return -ENOMEM;
	const struct mr_path_segment *segment = &path->segments.items[words->row->row];
	bool is_thread = segment->track != MR_NO_TRACK &&
			 words->model->survey->tracks.items[segment->track].kind == MR_TRACK_THREAD;
	const char *clause =
		clause_of(words, segment->link, is_thread ? segment->track : MR_NO_TRACK);
	if (!clause)
		return -ENOMEM;
	return say(words,
		   "The end of the trace waited for this: %s. Had this taken less time, the trace "
		   "would have ended sooner, unless something else had become critical.",
		   clause);
}

/* ---- devices ---------------------------------------------------------------------------------------- */

static int say_bound(const struct words *words)
{
	int64_t bound_ns = mr_bound_value(
		words->model, words->model->device_operations.bound_ns[words->row->row]);
	char ns[MR_FORMAT_BYTES];

	if (bound_ns == MR_NO_VALUE)
		return say(words, "It is not known how exact its times are.");
	return bound_ns == 0
		       ? 0
		       : say(words, "Its times come from the device's clock and are exact to %s.",
			     ns_text(ns, bound_ns));
}

/* Which tensor a copy moved, if the framework reported it. */
static int say_tensor(const struct words *words)
{
	const struct mr_tensor_copies *copies = &words->model->tensor_copies;

	for (uint32_t i = 0; i < copies->table.count; i++) {
		if (copies->operation[i] != words->row->row || copies->node[i] == 0)
			continue;
		const struct mr_node *node =
			&words->model->survey->definitions.nodes.items[copies->node[i]];
		return say(words, "It moved %s %u of %s.", copies->is_input[i] ? "input" : "output",
			   copies->number[i], mr_model_text(words->model, node->name));
	}
	return 0;
}

static int say_operation(const struct words *words)
{
	const struct mr_device_operations *operations = &words->model->device_operations;
	uint32_t row = words->row->row, call = operations->call[row],
		 after = operations->after[row];
	int64_t start_ns = operations->start_ns[row];
	char apart[APART_BYTES];
	int result = 0;

	if (call == MR_NO_ROW)
		result = say(words, "Its launch is not in the trace.");
	else if (mr_operation_is_timed(words->model, row))
		result = say(words, "It began %s %s launched it.",
			     apart_text(apart, start_ns - words->model->calls.start_ns[call],
					"after", "before"),
			     mr_model_text(words->model, words->model->calls.function[call]));
	if (result == 0 && after != MR_NO_ROW)
		result = say(words, "It had to wait for %s, which ended %s it began.",
			     name_operation(words, after),
			     apart_text(apart, start_ns - mr_operation_end_ns(words->model, after),
					"before", "after"));
	if (result == 0)
		result = say_tensor(words);
	return result < 0 ? result : say_bound(words);
}

static int say_launched(const struct words *words, struct mr_launched launched)
{
	char ns[MR_FORMAT_BYTES], count[MR_FORMAT_BYTES];

	if (launched.operations == 0)
		return 0;
	mr_format_count(count, launched.operations);
	return say(words, "It launched %s device operation%s, which took %s%s.", count,
		   launched.operations == 1 ? "" : "s", ns_text(ns, launched.device_ns),
		   launched.operations == 1 ? "" : " in all");
}

static int say_call(const struct words *words)
{
	uint32_t row = words->row->row, awaited = words->model->calls.awaited[row];
	char apart[APART_BYTES];
	int result = say_launched(words, mr_launched_by_call(words->model, row));

	if (result < 0 || awaited == MR_NO_ROW)
		return result;
	return say(words, "It waited for %s and returned %s that ended.",
		   name_operation(words, awaited),
		   apart_text(apart,
			      mr_call_end_ns(words->model, row) -
				      mr_operation_end_ns(words->model, awaited),
			      "after", "before"));
}

static int say_execution(const struct words *words)
{
	const struct mr_node_executions *executions = &words->model->node_executions;
	uint32_t row = words->row->row;
	int64_t end_ns = executions->start_ns[row] + executions->duration_ns[row];
	char apart[APART_BYTES];
	int result = say_launched(words, mr_launched_by_execution(words->model, row));

	if (result < 0 || !(executions->flags[row] & MR_ROW_ASYNCHRONOUS))
		return result;
	if (executions->done_ns[row] == MR_NO_TIME)
		return say(words, "It is asynchronous: it is not known when it completed.");
	if (executions->asked_ns[row] != MR_NO_TIME)
		return say(words, "It is asynchronous: another thread requested it %s it began.",
			   apart_text(apart, executions->start_ns[row] - executions->asked_ns[row],
				      "before", "after"));
	return say(words, "It is asynchronous: it completed %s it returned.",
		   apart_text(apart, executions->done_ns[row] - end_ns, "after", "before"));
}

/* ---- threads ---------------------------------------------------------------------------------------- */

/* "thread 812 'loader'", "a timer (hrtimer_wakeup)"; NULL without memory. */
static const char *name_waker(const struct words *words, uint32_t wakeup)
{
	const struct mr_wakeups *wakeups = &words->model->wakeups;
	struct mr_region *region = &words->findings->region;
	uint32_t host = mr_track_host(words->model, wakeups->track[wakeup]);
	uint32_t tid = wakeups->waker_tid[wakeup];
	const char *source = mr_model_text(words->model, wakeups->source[wakeup]);

	if (wakeups->context[wakeup] != MR_wake_context_task)
		return mr_region_print(region, *source ? "%s (%s)" : "%s",
				       mr_enum_value_name("wake_context", wakeups->context[wakeup]),
				       source);
	if (wakeups->waker[wakeup] != MR_NO_TRACK)
		return mr_thread_text(words->model, region, wakeups->waker[wakeup]);
	return mr_link_culprit(words->model, region,
			       mr_link_make(MR_CAUSE_OTHER, MR_CULPRIT_TASK, tid,
					    mr_task_name_at(&words->model->survey->tasks, host, tid,
							    wakeups->start_ns[wakeup])));
}

/* Who ended a wait, and how long the thread then took to get a CPU. */
static int say_waking(const struct words *words, uint32_t blocked)
{
	const struct mr_states *states = &words->model->states;
	uint32_t wakeup = states->wakeup[blocked], next = blocked + 1;
	char ns[MR_FORMAT_BYTES];

	if (wakeup == MR_NO_ROW)
		return 0;
	const char *waker = name_waker(words, wakeup);
	if (!waker)
		return -ENOMEM;
	if (next < states->table.first_of_track[states->track[blocked] + 1] &&
	    states->state[next] == MR_STATE_RUNNABLE)
		return say(words, "It was woken by %s and ran %s later.", waker,
			   ns_text(ns, states->duration_ns[next]));
	return say(words, "It was woken by %s.", waker);
}

static int say_state(const struct words *words)
{
	const struct mr_states *states = &words->model->states;
	uint32_t row = words->row->row, blocked = mr_state_blocked_before(words->model, row);
	char ns[MR_FORMAT_BYTES];
	struct mr_activity activity;
	int result = 0;

	if (states->state[row] == MR_STATE_BLOCKED || states->state[row] == MR_STATE_RUNNABLE) {
		mr_activity_find_ordinary(words->model, NULL, states->track[row],
					  states->start_ns[row], &activity);
		const char *clause = clause_of(words, activity.link, states->track[row]);

		result =
			clause ? say(words, "%c%s.", clause[0] == 't' ? 'T' : clause[0], clause + 1)
			       : -ENOMEM;
	}
	if (result == 0 && blocked != MR_NO_ROW)
		result = say_waking(words, blocked);
	if (result == 0 && states->interrupted_ns[row] > 0)
		result = say(words, "Interrupts took %s of this time.",
			     ns_text(ns, states->interrupted_ns[row]));
	return result;
}

static int say_system_call(const struct words *words)
{
	const struct mr_system_calls *calls = &words->model->system_calls;
	uint32_t row = words->row->row;
	char blocked[MR_FORMAT_BYTES], runnable[MR_FORMAT_BYTES];
	int64_t result_value = calls->result[row];
	int result = 0;

	if (calls->blocked_ns[row] || calls->runnable_ns[row])
		result = say(words,
			     "During the call the thread was blocked for %s and waited for a CPU "
			     "for %s.",
			     ns_text(blocked, calls->blocked_ns[row]),
			     ns_text(runnable, calls->runnable_ns[row]));
	if (result == 0 && result_value < 0 && result_value >= -4095)
		result = say(words, "It failed: %s.", strerrordesc_np((int)-result_value) ?: "?");
	return result;
}

static int say_block_io(const struct words *words)
{
	const struct mr_block_io *io = &words->model->block_io;
	uint32_t row = words->row->row;
	char queued[MR_FORMAT_BYTES], served[MR_FORMAT_BYTES];

	return say(words, "The request waited %s in the queue; then the disk took %s.%s",
		   ns_text(queued, io->queue_ns[row]),
		   ns_text(served, io->duration_ns[row] - io->queue_ns[row]),
		   io->error[row] ? " It failed." : "");
}

/* ---- steps ------------------------------------------------------------------------------------------ */

static int say_step(const struct words *words)
{
	const struct mr_step_list *list = &words->row->view->steps.list;
	uint32_t function = list->steps.items[words->row->row].function;
	char own[MR_FORMAT_BYTES], usual[MR_FORMAT_BYTES];
	uint32_t median;
	int result = mr_step_list_median(list, &median);

	if (result == 0 && list->inferences.count)
		result = say(words,
			     "The program marks no steps. Millrace inferred this one from the "
			     "operations that the program launches or executes again and again.");
	if (result == 0 && function)
		result = say(words,
			     "The program marks no steps. This one is a call of %s, the function "
			     "that it calls most often, with everything since the call before.",
			     mr_model_text(words->model, function));
	return result < 0 ? result
			  : say(words, "It took %s; the median step took %s.",
				ns_text(own, words->row->duration_ns),
				ns_text(usual, list->steps.items[median].duration_ns));
}

/* ---- what is special about it ----------------------------------------------------------------------- */

static int say_flags(const struct words *words)
{
	static const struct {
		uint8_t flag;
		const char *text;
	} meanings[] = {
		{MR_ROW_UNFINISHED,
		 "It had not ended when the recording ended: it is not known when it "
		 "ended."},
		{MR_ROW_OVERLAPS,
		 "It overlaps an earlier interval on its track, although intervals there "
		 "should be nested."},
		{MR_ROW_UNTIMED, "It is not known when it ran: it is drawn where it was launched."},
		{MR_ROW_BLOCKED, "Only the part in which the thread was blocked was recorded."},
		{MR_ROW_VIOLATED, "Its times are impossible: they contradict other records."},
	};
	const uint8_t *column = words->row->view->slices[words->row->table].flags;
	uint8_t flags = column ? column[words->row->row] : 0;
	int result = 0;

	for (size_t i = 0; result == 0 && i < mr_countof(meanings); i++)
		if (flags & meanings[i].flag)
			result = mr_finding_say(words->findings, words->finding,
						MR_SEVERITY_WARNING, "%s", meanings[i].text);
	return result;
}

/* What is said about the slices of one table only. */
static int (*const own[MR_SLICED_COUNT])(const struct words *words) = {
	[MR_SLICED_idle] = say_idle,
	[MR_SLICED_path] = say_path,
	[MR_SLICED_device_operations] = say_operation,
	[MR_SLICED_calls] = say_call,
	[MR_SLICED_node_executions] = say_execution,
	[MR_SLICED_states] = say_state,
	[MR_SLICED_system_calls] = say_system_call,
	[MR_SLICED_block_io] = say_block_io,
	[MR_SLICED_steps] = say_step,
};

int mr_row_say(const struct mr_row *row, struct mr_findings *findings, struct mr_finding *finding)
{
	const struct words words = {row, row->model, findings, finding};
	int result = own[row->table] ? own[row->table](&words) : 0;

	return result < 0 ? result : say_flags(&words);
}
