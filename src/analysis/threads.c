/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"
#include "base/error.h"

enum {
	TOLD = 3,        /* threads that get a sentence: the busiest ... */
	LEAST_PART = 10, /* ... if they run at least that part of what the first does */
	BRIEF_ROWS = 10,
};

struct thread_time {
	uint32_t track;
	int64_t ns[MR_STATE_COUNT];
	int64_t interrupted_ns;
	uint64_t minor_faults;
};

struct threads {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct thread_time *times; /* the busiest first */
	uint32_t count;
};

static int64_t life_ns(const struct thread_time *time)
{
	return time->ns[MR_STATE_RUN] + time->ns[MR_STATE_RUNNABLE] + time->ns[MR_STATE_BLOCKED] +
	       time->ns[MR_STATE_UNKNOWN];
}

/* ---- by thread ---------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct thread_time *a = left, *b = right;

	if (a->ns[MR_STATE_RUN] != b->ns[MR_STATE_RUN])
		return a->ns[MR_STATE_RUN] < b->ns[MR_STATE_RUN] ? 1 : -1;
	return (a->track > b->track) - (a->track < b->track);
}

static int add_up(struct threads *threads)
{
	const struct mr_states *states = &threads->model->states;
	uint32_t track_count = (uint32_t)threads->model->survey->tracks.count;

	threads->times = calloc(track_count + 1, sizeof *threads->times);
	if (!threads->times)
		return -ENOMEM;
	for (uint32_t track = 0; track < track_count; track++) {
		struct thread_time *time = &threads->times[threads->count];
		uint32_t first = states->table.first_of_track[track];
		uint32_t end = states->table.first_of_track[track + 1];

		time->track = track;
		for (uint32_t row = first; row < end; row++) {
			mr_ns_add(&time->ns[states->state[row]], states->duration_ns[row]);
			mr_ns_add(&time->interrupted_ns, states->interrupted_ns[row]);
			time->minor_faults += states->minor_faults[row];
		}
		threads->count += first < end;
	}
	qsort(threads->times, threads->count, sizeof *threads->times, compare);
	return 0;
}

static int add_threads(const struct threads *threads)
{
	static const struct mr_finding_column columns[] = {
		{"thread", "thread", MR_UNIT_TEXT, 0},
		{"pid", "pid", MR_UNIT_NUMBER, 0},
		{"tid", "tid", MR_UNIT_NUMBER, 0},
		{"life_ns", "life", MR_UNIT_NS, MR_COLUMN_SUM},
		{"run_ns", "running", MR_UNIT_NS, MR_COLUMN_SUM},
		{"run_permille", "", MR_UNIT_PERMILLE, 0},
		{"runnable_ns", "runnable", MR_UNIT_NS, MR_COLUMN_SUM},
		{"blocked_ns", "blocked", MR_UNIT_NS, MR_COLUMN_SUM},
		{"unknown_ns", "unknown", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_RARE},
		{"interrupted_ns", "interrupts", MR_UNIT_NS,
		 MR_COLUMN_SUM | MR_COLUMN_SPARE | MR_COLUMN_RARE},
		{"minor_faults", "minor faults", MR_UNIT_COUNT,
		 MR_COLUMN_SUM | MR_COLUMN_SPARE | MR_COLUMN_RARE},
	};
	const struct mr_model *model = threads->model;
	struct mr_finding_table *table =
		mr_finding_add_table(threads->findings, threads->finding, "by_thread", "By thread",
				     columns, mr_countof(columns), threads->count);

	if (!table)
		return -ENOMEM;
	table->brief_rows = BRIEF_ROWS;
	for (uint32_t i = 0; i < threads->count; i++) {
		const struct thread_time *time = &threads->times[i];
		const struct mr_track *track = &model->survey->tracks.items[time->track];
		union mr_value *cells = mr_finding_value(table, i, 0);
		int64_t life = life_ns(time);

		cells[0].text = mr_track_text(model, time->track);
		cells[1].number = mr_track_pid(model, time->track);
		cells[2].number = track->tid;
		cells[3].number = life;
		cells[4].number = time->ns[MR_STATE_RUN];
		cells[5].number =
			life > 0 ? (int64_t)((__int128)time->ns[MR_STATE_RUN] * 1000 / life)
				 : MR_NO_VALUE;
		cells[6].number = time->ns[MR_STATE_RUNNABLE];
		cells[7].number = time->ns[MR_STATE_BLOCKED];
		cells[8].number = time->ns[MR_STATE_UNKNOWN];
		cells[9].number = time->interrupted_ns;
		cells[10].number = (int64_t)time->minor_faults;
	}
	return 0;
}

/* ---- by state ----------------------------------------------------------------------------------- */

struct state_key {
	uint8_t state;
	uint8_t reason;
};

static int name_state(const struct mr_model *model, struct mr_findings *findings, const void *key,
		      uint32_t row, union mr_value *cells)
{
	const struct state_key *state = key;

	(void)model, (void)findings, (void)row;
	cells[0].text = mr_thread_state_name(state->state);
	cells[1].text = mr_state_reason_name(state->reason);
	return 0;
}

static int add_states(const struct threads *threads)
{
	static const struct mr_finding_column columns[] = {
		{"state", "state", MR_UNIT_TEXT, 0},
		{"why", "why", MR_UNIT_TEXT, 0},
		MR_TALLY_COLUMNS,
	};
	static const struct mr_tally_look look = {"by_state", "All threads, by state", columns,
						  mr_countof(columns), name_state};
	const struct mr_states *states = &threads->model->states;
	mr_auto(tally) struct mr_tally tally = {0};
	int64_t whole_ns = 0;

	for (uint32_t row = 0; row < states->table.count; row++) {
		const struct state_key key = {states->state[row], states->reason[row]};

		if (mr_tally_add(&tally, &key, sizeof key, states->duration_ns[row], row) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < threads->count; i++)
		mr_ns_add(&whole_ns, life_ns(&threads->times[i]));
	return mr_tally_show(&tally, threads->model, threads->findings, threads->finding, &look,
			     whole_ns);
}

/* ---- in words ----------------------------------------------------------------------------------- */

struct call_key {
	uint32_t number;
	uint32_t file;
};

/* "most of it in pread64 of /data/train", from the findings' region; "" if the calls are not known. */
static const char *main_wait(const struct threads *threads, uint32_t track)
{
	const struct mr_model *model = threads->model;
	const struct mr_states *states = &model->states;
	mr_auto(tally) struct mr_tally tally = {0};
	mr_auto(free) struct mr_sort_item *order = NULL;

	for (uint32_t row = states->table.first_of_track[track];
	     row < states->table.first_of_track[track + 1]; row++) {
		uint32_t call = states->system_call[row];

		if (states->state[row] != MR_STATE_BLOCKED || call == MR_NO_ROW)
			continue;
		const struct call_key key = {model->system_calls.number[call],
					     model->system_calls.file[call]};
		if (mr_tally_add(&tally, &key, sizeof key, states->duration_ns[row], row) < 0)
			return NULL;
	}
	if (tally.entries.count == 0)
		return "";
	if (mr_tally_sort(&tally, &order) < 0)
		return NULL;
	const struct call_key *key = mr_tally_key(&tally, order[0].index);
	const char *call = mr_system_call_text(model, threads->findings, key->number);
	const char *file = mr_file_path(model, key->file);
	return mr_region_print(&threads->findings->region, ", longest in %s%s%s", call ? call : "",
			       *file ? " of " : "", file);
}

static int tell(const struct threads *threads, const struct thread_time *time)
{
	int64_t life = life_ns(time), known = life - time->ns[MR_STATE_UNKNOWN];
	const char *wait = main_wait(threads, time->track);

	if (!wait)
		return -ENOMEM;
	if (known <= 0)
		return 0;
#define PERCENT(state) (int)((__int128)time->ns[state] * 100 / known)
	return mr_finding_say(
		threads->findings, threads->finding, MR_SEVERITY_NOTE,
		"Thread %s (%u) was running for %d%% of %s, runnable for %d%% and "
		"blocked for %d%%%s.",
		mr_track_text(threads->model, time->track),
		threads->model->survey->tracks.items[time->track].tid, PERCENT(MR_STATE_RUN),
		time->ns[MR_STATE_UNKNOWN] < life / 100 ? "its life" : "the known part of its life",
		PERCENT(MR_STATE_RUNNABLE), PERCENT(MR_STATE_BLOCKED), wait);
#undef PERCENT
}

static int analyse(struct threads *threads)
{
	int result = add_up(threads);

	for (uint32_t i = 0; result == 0 && i < threads->count && i < TOLD; i++)
		if (threads->times[i].ns[MR_STATE_RUN] >=
		    threads->times[0].ns[MR_STATE_RUN] / LEAST_PART)
			result = tell(threads, &threads->times[i]);
	if (result == 0)
		result = add_threads(threads);
	if (result == 0)
		result = add_states(threads);
	return result;
}

int mr_analyse_threads(const struct mr_model *model, struct mr_findings *findings)
{
	struct threads threads = {.model = model, .findings = findings};

	if (model->states.table.count == 0)
		return 0;
	threads.finding = mr_finding_begin(findings, "threads");
	int result = threads.finding ? analyse(&threads) : -ENOMEM;
	free(threads.times);
	return result < 0 ? mr_fail_errno(-result, "analyse the threads") : 0;
}
