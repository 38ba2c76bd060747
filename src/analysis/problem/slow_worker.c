/* SPDX-License-Identifier: Apache-2.0
 *
 * Slow worker or rank: several processes or threads do the same work side by side, and all wait for one that takes longer.
 * They meet in collectives (analysis/arrivals.h); or the subject sets them to work, and waits for all of them; or they
 * wait for each other, as at a barrier, and the subject for their end.
 *
 *     subject    sets to work ┤ waits ───────────────────────┤ sets to work ...
 *     worker 1                ├ works ──┤ waits              ┊
 *     worker 2                ├ works ───────────────────────┤
 *     cost                              ├────────────────────┤
 */
#include <ctype.h>
#include <string.h>

#include "analysis/arrivals.h"
#include "analysis/finding/tally.h"
#include "analysis/problem/problem.h"
#include "base/sort.h"

enum {
	FEWEST_TIMES = 3, /* once is chance */
	LATE_PERCENT =
		67, /* of the time that is waited for anybody: the late one is nearly always the same */
	SLOW_PERCENT = 150, /* of the work of the next slowest */
};

/* ---- collectives ------------------------------------------------------------------------------------- */

static int64_t all_late_ns(const struct mr_arrivals *arrivals)
{
	int64_t sum_ns = 0;

	for (size_t i = 0; i < arrivals->list.count; i++)
		sum_ns += arrivals->list.items[i].last_ns - arrivals->list.items[i].others_ns;
	return sum_ns;
}

static const char *name_deed(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_link link = mr_last_station(&of->subject, moment)->link;
	const char *stage = mr_moment_stage(of, moment);

	if (link.kind == MR_CAUSE_PREEMPTED && link.culprit == MR_CULPRIT_TASK && link.in)
		return mr_region_print(&of->findings->region, "waits for a CPU that '%s' has",
				       mr_model_text(of->model, link.in));
	if (stage)
		return mr_region_print(&of->findings->region, "waits for input (stage %s)", stage);
	return mr_moment_is_input(of, moment) ? "waits for input" : mr_moment_deed(of, moment);
}

/* Who waits for input, or for a CPU, is helped like anybody else who does. */
static const char *find_remedy(const struct mr_case *of, const char *deed)
{
	if (strncmp(deed, "waits for input", strlen("waits for input")) == 0)
		return mr_remedy_of("input_bound", of->framework);
	return strncmp(deed, "waits for a CPU", strlen("waits for a CPU")) == 0
		       ? mr_remedy_of("other_process", of->framework)
		       : NULL;
}

/* The collective at which it is late for most time: " (CollectiveReduceV2)", or "". */
static int name_collective(struct mr_case *of, const struct mr_arrivals *arrivals,
			   const char **ret_words)
{
	mr_auto(tally) struct mr_tally tally = {0};
	const char *most = "";
	int64_t most_ns = 0;

	for (size_t i = 0; i < arrivals->list.count; i++) {
		const struct mr_arrival *arrival = &arrivals->list.items[i];
		uint32_t node = of->cut->collectives.node[arrival->row];

		if (arrival->last_process == arrivals->late_process &&
		    mr_tally_add(&tally, &node, sizeof node, arrival->last_ns - arrival->others_ns,
				 0) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < tally.entries.count; i++) {
		uint32_t node;

		memcpy(&node, mr_tally_key(&tally, i), sizeof node);
		if (node && tally.entries.items[i].total_ns >= most_ns) {
			most_ns = tally.entries.items[i].total_ns;
			most = mr_model_text(of->model,
					     of->model->survey->definitions.nodes.items[node].type);
		}
	}
	*ret_words = *most ? mr_region_print(&of->findings->region, " (%s)", most) : "";
	return *ret_words ? 0 : -ENOMEM;
}

static int describe_late(struct mr_case *of, const struct mr_arrivals *arrivals,
			 struct mr_problem *problem)
{
	const struct mr_process *process =
		&of->model->survey->processes.items[arrivals->late_process];
	bool is_subject = arrivals->late_process == of->subject.process;
	struct mr_region *region = &of->findings->region;
	struct mr_share deed = {.name = ""};
	const char *name = mr_rank_name(of->model, region, arrivals->late_process), *collective;

	if ((is_subject && mr_case_most(of, name_deed, &deed) < 0) || !name ||
	    name_collective(of, arrivals, &collective) < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->remedy = find_remedy(of, deed.name);
	problem->where = process->rank == MR_NO_ORDINAL
				 ? name
				 : mr_region_print(region, "%s (process %u)", name, process->pid);
	problem->why = mr_region_print(
		region,
		"%c%s arrives late at %u of %zu collectives%s, by %s each time, and all others "
		"wait for it.%s%s%s",
		toupper(*name), name + 1, arrivals->late_count, arrivals->list.count, collective,
		mr_case_time(of, arrivals->late_ns / arrivals->late_count),
		*deed.name ? " Before that it mostly " : "", deed.name, *deed.name ? "." : "");
	return problem->where && problem->why ? 0 : -ENOMEM;
}

static int find_late_process(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_arrivals arrivals;
	int result = mr_arrivals_make(of->cut, &arrivals);

	if (result < 0)
		return result;
	if (arrivals.late_count >= FEWEST_TIMES &&
	    arrivals.late_ns * 100 >= all_late_ns(&arrivals) * LATE_PERCENT) {
		for (size_t i = 0; i < arrivals.list.count; i++)
			if (arrivals.list.items[i].last_process == arrivals.late_process)
				mr_claim_within(of, arrivals.list.items[i].others_ns,
						arrivals.list.items[i].last_ns);
		result = describe_late(of, &arrivals, problem);
	}
	mr_arrivals_free(&arrivals);
	return result;
}

/* ---- workers ------------------------------------------------------------------------------------------- */

/* A thread that the subject sets to work, and waits for. */
struct worker {
	uint32_t thread;
	int64_t busy_ns; /* it waits neither for the subject nor for another worker */
};

static bool is_main(const struct mr_survey *survey, uint32_t thread)
{
	const struct mr_track *track = &survey->tracks.items[thread];

	return track->tid == survey->processes.items[track->process].pid;
}

/* Python numbers threads that the program gave no name: "Thread-1 (work)". */
static bool is_same_name(const struct mr_track *left, const struct mr_track *right)
{
	return left->kernel_name && right->kernel_name ? left->kernel_name == right->kernel_name
						       : left->name == right->name;
}

/* Threads of one name in one process; or main threads of processes of one program. */
static bool is_alike(const struct mr_survey *survey, uint32_t a, uint32_t b)
{
	const struct mr_track *left = &survey->tracks.items[a], *right = &survey->tracks.items[b];

	if (left->process == right->process)
		return is_same_name(left, right);
	return is_main(survey, a) && is_main(survey, b) &&
	       survey->processes.items[left->process].program ==
		       survey->processes.items[right->process].program;
}

/* Does what ends a wait of the thread belong to the team? */
static bool is_of_team(const struct mr_case *of, uint32_t thread, uint32_t releaser)
{
	return releaser == of->subject.thread || (releaser < of->model->survey->first_queue_track &&
						  is_alike(of->model->survey, thread, releaser));
}

/* How much of [from_ns, to_ns) the thread has something to do: it waits neither for the subject or another worker nor for
 * a CPU that others have. */
static int64_t busy_ns(const struct mr_case *of, uint32_t thread, int64_t from_ns, int64_t to_ns)
{
	const struct mr_states *states = &of->model->states;
	const uint32_t *first = &states->table.first_of_track[thread];
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1], from_ns);
	int64_t sum_ns = 0;

	for (row = row > first[0] ? row - 1 : row; row < first[1] && states->start_ns[row] < to_ns;
	     row++) {
		int64_t end_ns = mr_min(states->start_ns[row] + states->duration_ns[row], to_ns);
		int64_t start_ns = mr_max(states->start_ns[row], from_ns);

		bool is_idle = states->state[row] == MR_STATE_RUNNABLE ||
			       (states->state[row] == MR_STATE_BLOCKED &&
				is_of_team(of, thread, states->released_by[row]));

		if (!is_idle && end_ns > start_ns)
			sum_ns += end_ns - start_ns;
	}
	return sum_ns;
}

struct team {
	struct worker slowest;
	struct worker next; /* the slowest of the others */
	uint32_t count;
};

/* Who is asked while it still works need not be woken: then it counts that the subject sends as often as it is given,
 * or wakes others of its kind. */
static bool is_worker(const struct mr_case *of, uint32_t thread)
{
	const struct mr_partner *partner = &of->partners[thread];

	return partner->takes >= FEWEST_TIMES ||
	       (partner->gives >= FEWEST_TIMES &&
		mr_max(of->sends[0], partner->asks) * 2 >= partner->gives);
}

/* How often the thread waited for others of its kind, in the time that is looked at. */
static uint32_t count_meetings(const struct mr_case *of, uint32_t thread)
{
	const struct mr_states *states = &of->model->states;
	const uint32_t *first = &states->table.first_of_track[thread];
	struct mr_window window = of->subject.window;
	uint32_t row = mr_find_larger(states->start_ns, first[0], first[1], window.first_ns - 1);
	uint32_t count = 0;

	for (; row < first[1] && states->start_ns[row] < window.last_ns; row++)
		count += states->state[row] == MR_STATE_BLOCKED &&
			 states->exchange[row] != MR_EXCHANGE_GIL &&
			 states->exchange[row] != MR_EXCHANGE_LOCK &&
			 states->released_by[row] != of->subject.thread &&
			 is_of_team(of, thread, states->released_by[row]);
	return count;
}

/* The thread that the subject waits for in the end, for most of the time, or MR_NO_TRACK. */
static uint32_t find_awaited(struct mr_case *of)
{
	mr_auto(free) int64_t *awaited_ns =
		calloc(of->model->survey->tracks.count + 1, sizeof *awaited_ns);
	uint32_t most = MR_NO_TRACK;
	bool by_itself;

	mr_each_moment(of, moment)
	{
		uint32_t thread =
			awaited_ns ? mr_moment_giver(of, moment, &by_itself) : MR_NO_TRACK;

		if (thread == MR_NO_TRACK)
			continue;
		awaited_ns[thread] += moment->left_ns;
		if (most == MR_NO_TRACK || awaited_ns[thread] > awaited_ns[most])
			most = thread;
	}
	return most;
}

/* The thread itself, or one like it that waits for such as it is. */
static bool is_peer(const struct mr_case *of, uint32_t first, uint32_t thread)
{
	return thread == first || (is_alike(of->model->survey, first, thread) &&
				   count_meetings(of, thread) >= FEWEST_TIMES);
}

/* The workers of the subject, of one kind; or `first` and its peers. */
static struct team find_team(const struct mr_case *of, uint32_t first)
{
	struct mr_window window = of->subject.window;
	struct team team = {0};

	for (uint32_t i = 0; i < of->model->survey->first_queue_track; i++) {
		struct worker worker = {.thread = i};

		if (i == of->subject.thread ||
		    (first == MR_NO_TRACK ? !is_worker(of, i) : !is_peer(of, first, i)) ||
		    (team.count && !is_alike(of->model->survey, team.slowest.thread, i)))
			continue;
		worker.busy_ns = busy_ns(of, worker.thread, window.first_ns, window.last_ns);
		team.count++;
		if (team.count == 1 || worker.busy_ns > team.slowest.busy_ns) {
			team.next = team.slowest;
			team.slowest = worker;
		} else if (worker.busy_ns > team.next.busy_ns) {
			team.next = worker;
		}
	}
	return team;
}

/* Of a moment at which the subject waits for the slowest worker, the part in which the next one has nothing to do. */
static void claim_slowest(struct mr_case *of, const struct team *team)
{
	mr_each_moment(of, moment)
	{
		bool by_itself;

		if (mr_moment_giver(of, moment, &by_itself) != team->slowest.thread ||
		    !mr_moment_deed(of, moment) || mr_moment_is_input(of, moment))
			continue; /* or it cannot do anything, as others have its CPU; or it is a loader */
		int64_t hidden_ns = busy_ns(of, team->next.thread, moment->start_ns,
					    moment->start_ns + moment->duration_ns);
		moment->claimed_ns = mr_max(moment->left_ns - hidden_ns, INT64_C(0));
	}
}

static bool is_uneven(const struct team *team)
{
	return team->count >= 2 && team->slowest.busy_ns * 100 >= team->next.busy_ns * SLOW_PERCENT;
}

static int find_slow_worker(struct mr_case *of, struct mr_problem *problem)
{
	struct team team = find_team(of, MR_NO_TRACK);
	struct mr_share deed;

	if (!is_uneven(&team)) {
		uint32_t awaited = find_awaited(of);

		if (awaited != MR_NO_TRACK)
			team = find_team(of, awaited);
	}
	if (!is_uneven(&team))
		return 0;
	claim_slowest(of, &team);
	if (mr_case_most(of, mr_moment_deed, &deed) < 0)
		return -ENOMEM;
	const char *slowest = mr_case_thread(of, team.slowest.thread);
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = slowest;
	problem->why = mr_region_print(
		&of->findings->region,
		"Of %u workers one is slow: %s is busy for %s, the next for %s. %s waits %s of the "
		"time for it alone%s%s.",
		team.count, slowest, mr_case_time(of, team.slowest.busy_ns),
		mr_case_time(of, team.next.busy_ns), mr_case_subject(of),
		mr_case_share(of, mr_claimed_ns(of)), *deed.name ? "; it mostly " : "", deed.name);
	return problem->why ? 0 : -ENOMEM;
}

int mr_find_slow_worker(struct mr_case *of, struct mr_problem *problem)
{
	int result = find_late_process(of, problem);

	return result < 0 || problem->why ? result : find_slow_worker(of, problem);
}
