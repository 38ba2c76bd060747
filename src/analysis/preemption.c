/* SPDX-License-Identifier: Apache-2.0
 *
 * Who had the CPU that a thread was waiting for. Each nanosecond in which a thread was runnable is given to
 * one thread that ran there, so the parts sum to the whole.
 *
 *     thread   ────RUN──┤ RUNNABLE on CPU 3                    ├──RUN──
 *     CPU 3             ├── other ──┤── idle ──┤── another ────┤
 */
#include "analysis/analysis.h"

#include "analysis/cause/crowd.h"
#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"
#include "base/error.h"

/* Who kept a thread from running, besides threads by their tid. */
enum {
	KEPT_BY_LIMIT = MR_NO_TID - 1, /* of its group */
};

struct occupant_key {
	uint32_t tid; /* 0: idle; MR_NO_TID: not known */
	uint32_t name;
	uint32_t is_ours;
	uint32_t crowd; /* of threads with that name; 0: none (crowd.h) */
};

struct preemption {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_tally by_occupant;
	int64_t runnable_ns;
};

static int give(struct preemption *preemption, struct occupant_key key, int64_t ns, uint32_t row)
{
	if (ns == 0)
		return 0;
	return mr_tally_add(&preemption->by_occupant, &key, sizeof key, ns, row);
}

/* The first run of the CPU that does not end before. */
static uint32_t find_run(const struct mr_cpu_runs *runs, uint32_t track, int64_t ns)
{
	uint32_t low = runs->table.first_of_track[track],
		 high = runs->table.first_of_track[track + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (runs->start_ns[middle] + runs->duration_ns[middle] <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int divide(struct preemption *preemption, uint32_t row)
{
	const struct mr_model *model = preemption->model;
	const struct mr_states *states = &model->states;
	const struct mr_cpu_runs *runs = &model->cpu_runs;
	uint32_t track = mr_survey_track_of_cpu(model->survey, MR_OWN_HOST, states->cpu[row]);
	int64_t at_ns = states->start_ns[row], end_ns = at_ns + states->duration_ns[row];
	int64_t left_ns = end_ns - at_ns;

	for (uint32_t run = track == MR_NO_TRACK ? 0 : find_run(runs, track, at_ns);
	     track != MR_NO_TRACK && run < runs->table.first_of_track[track + 1] &&
	     runs->start_ns[run] < end_ns;
	     run++) {
		int64_t from_ns = mr_max(at_ns, runs->start_ns[run]);
		int64_t to_ns = mr_min(end_ns, runs->start_ns[run] + runs->duration_ns[run]);
		struct occupant_key key = {.tid = runs->tid[run],
					   .name = mr_task_name_at(&model->survey->tasks,
								   mr_track_host(model, track),
								   runs->tid[run], from_ns),
					   .is_ours = runs->thread[run] != MR_NO_TRACK};

		if (give(preemption, key, to_ns - from_ns, row) < 0)
			return -ENOMEM;
		left_ns -= to_ns - from_ns;
		at_ns = to_ns;
	}
	return give(preemption, (struct occupant_key){.tid = MR_NO_TID}, left_ns, row);
}

static int add_up(struct preemption *preemption)
{
	const struct mr_states *states = &preemption->model->states;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < states->table.count; row++) {
		if (states->state[row] != MR_STATE_RUNNABLE)
			continue;
		mr_ns_add(&preemption->runnable_ns, states->duration_ns[row]);
		if (states->reason[row] == MR_REASON_THROTTLED)
			result = give(preemption, (struct occupant_key){.tid = KEPT_BY_LIMIT},
				      states->duration_ns[row], row);
		else
			result = divide(preemption, row);
	}
	return result;
}

static bool widen_occupant(const void *context, void *key, uint32_t members)
{
	struct occupant_key *occupant = key;

	(void)context;
	if (!occupant->name)
		return false;
	occupant->tid = MR_NO_TID;
	occupant->crowd = mr_crowd_of_tasks(members);
	return true;
}

static const char *name_side(const struct mr_model *model, const struct occupant_key *occupant)
{
	if (occupant->is_ours)
		return "the program";
	return mr_is_recorder(model, occupant->name) ? MR_RECORDER_TEXT : "other processes";
}

static int name_occupant(const struct mr_model *model, struct mr_findings *findings,
			 const void *key, uint32_t row, union mr_value *cells)
{
	const struct occupant_key *occupant = key;

	(void)row;
	cells[1].text = "";
	cells[2].number = MR_NO_VALUE;
	if (occupant->crowd) {
		cells[0].text =
			mr_crowd_text(model, &findings->region, occupant->name, occupant->crowd);
		cells[1].text = name_side(model, occupant);
		return cells[0].text ? 0 : -ENOMEM;
	}
	switch (occupant->tid) {
	case 0:
		cells[0].text = "(nobody: the CPU was waking up)";
		return 0;
	case MR_NO_TID:
		cells[0].text = "(not known)";
		return 0;
	case KEPT_BY_LIMIT:
		cells[0].text = "(limit of its group)";
		return 0;
	}
	cells[0].text = occupant->name ? mr_model_text(model, occupant->name) : "(no name)";
	cells[1].text = name_side(model, occupant);
	cells[2].number = occupant->tid;
	return 0;
}

static int say_worst(const struct preemption *preemption, struct mr_finding *finding)
{
	const struct mr_tally *tally = &preemption->by_occupant;
	mr_auto(free) struct mr_sort_item *order = NULL;

	if (mr_tally_sort(tally, &order) < 0)
		return -ENOMEM;
	const struct occupant_key *key = mr_tally_key(tally, order[0].index);
	int64_t ns = tally->entries.items[order[0].index].total_ns;
	union mr_value cells[3];

	if (name_occupant(preemption->model, preemption->findings, key, 0, cells) < 0)
		return -ENOMEM;
	if (cells[2].number == MR_NO_VALUE || preemption->runnable_ns == 0)
		return 0;
	return mr_finding_say(preemption->findings, finding, MR_SEVERITY_NOTE,
			      "Thread %u '%s' (%s) had the CPU for %d%% of the time in which "
			      "threads of the program waited for one.",
			      key->tid, cells[0].text, cells[1].text,
			      (int)((__int128)ns * 100 / preemption->runnable_ns));
}

static int analyse(struct preemption *preemption)
{
	static const struct mr_finding_column columns[] = {
		{"occupant", "who ran instead", MR_UNIT_TEXT, 0},
		{"of", "of", MR_UNIT_TEXT, 0},
		{"occupant_tid", "tid", MR_UNIT_NUMBER, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_occupant", "By who ran instead", columns,
						  mr_countof(columns), name_occupant};

	if (add_up(preemption) < 0 ||
	    mr_tally_merge(&preemption->by_occupant, sizeof(struct occupant_key), widen_occupant,
			   NULL) < 0)
		return -ENOMEM;
	/* perf events do not say who ran instead. */
	if (preemption->runnable_ns == 0 || preemption->model->wakeups.table.count == 0)
		return 0;
	struct mr_finding *finding = mr_finding_begin(preemption->findings, "preemption");
	if (!finding || say_worst(preemption, finding) < 0)
		return -ENOMEM;
	return mr_tally_show(&preemption->by_occupant, preemption->model, preemption->findings,
			     finding, &look, preemption->runnable_ns);
}

int mr_analyse_preemption(const struct mr_model *model, struct mr_findings *findings)
{
	struct preemption preemption = {.model = model, .findings = findings};
	int result = analyse(&preemption);

	mr_tally_free(&preemption.by_occupant);
	return result < 0 ? mr_fail_errno(-result, "analyse preemption") : 0;
}
