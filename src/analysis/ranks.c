/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of a job: processes that do collectives together. What each does with the time that is looked at:
 *
 *     rank 0     ├ on its own ┤─ waits ──────┤ transfer ┤ on its own ...
 *     rank 1     ├ on its own ───────────────┤ transfer ┤ on its own ...      it arrives late
 *
 * A rank waits from its arrival at a collective until the last rank has arrived; the rest of the collective is transfer.
 * Where several are under way, transfer counts before waiting. The three sum to the time that is looked at.
 */
#include "analysis/analysis.h"

#include <stdlib.h>

#include "analysis/arrivals.h"
#include "analysis/steps.h"
#include "base/error.h"
#include "base/format.h"

enum {
	LATE_ROWS = 20,       /* single collectives that are listed */
	CHRONIC_PERCENT = 50, /* of all collectives: it is late again and again */
};

static const struct mr_finding_column rank_columns[] = {
	{"rank", "rank", MR_UNIT_TEXT, 0},
	{"rank_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"steps", "steps", MR_UNIT_COUNT, 0},
	{"step_ns", "median step", MR_UNIT_NS, 0},
	{"own_ns", "on its own", MR_UNIT_NS, 0},
	{"waiting_ns", "waits for others", MR_UNIT_NS, 0},
	{"transfer_ns", "transfer", MR_UNIT_NS, 0},
	{"collectives", "collectives", MR_UNIT_COUNT, 0},
	{"late_count", "late at", MR_UNIT_COUNT, 0},
	{"late_ns", "late by", MR_UNIT_NS, 0},
	{"latest_ns", "at most", MR_UNIT_NS, 0},
};
static const struct mr_finding_column late_columns[] = {
	{"name", "collective", MR_UNIT_TEXT, 0},
	{"instance", "instance", MR_UNIT_NUMBER, 0},
	{"rank", "late rank", MR_UNIT_TEXT, 0},
	{"late_ns", "late by", MR_UNIT_NS, 0},
	{"arrived_ns", "", MR_UNIT_NUMBER, MR_COLUMN_DATA},
};

struct rank {
	uint32_t process;
	uint32_t collectives;
	uint32_t steps;
	int64_t step_ns; /* MR_NO_VALUE: no steps */
	int64_t own_ns, waiting_ns, transfer_ns;
	struct mr_lateness lateness;
};

struct study {
	const struct mr_model *model;
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_arrivals arrivals;
	mr_vec(struct rank) ranks;
};

/* ---- what each rank does ---------------------------------------------------------------------------- */

/* A collective begins to be waited for, is transferred, ends. */
struct edge {
	int64_t ns;
	int waiting;
	int transfer;
};

typedef mr_vec(struct edge) edges;

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static int add_part(edges *list, int64_t from_ns, int64_t to_ns, int waiting, int transfer)
{
	int result = mr_vec_push(list, ((struct edge){from_ns, waiting, transfer}));

	return result < 0 ? result : mr_vec_push(list, ((struct edge){to_ns, -waiting, -transfer}));
}

static int collect_edges(const struct study *study, struct rank *rank, edges *list)
{
	const struct mr_collectives *collectives = &study->model->collectives;
	const struct mr_track *tracks = study->model->survey->tracks.items;
	const struct mr_window window = mr_model_window(study->model);
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < collectives->table.count; row++) {
		if (tracks[collectives->track[row]].process != rank->process)
			continue;
		int64_t start_ns = mr_max(collectives->start_ns[row], window.first_ns);
		int64_t end_ns = mr_min(collectives->start_ns[row] + collectives->duration_ns[row],
					window.last_ns);
		int64_t last_ns = mr_min(mr_max(study->arrivals.last_ns[row], start_ns), end_ns);

		rank->collectives++;
		if (start_ns < last_ns)
			result = add_part(list, start_ns, last_ns, 1, 0);
		if (result == 0 && last_ns < end_ns)
			result = add_part(list, last_ns, end_ns, 0, 1);
	}
	return result;
}

static int divide_time(const struct study *study, struct rank *rank)
{
	const struct mr_window window = mr_model_window(study->model);
	edges list = {0};
	int result = collect_edges(study, rank, &list), waiting = 0, transfer = 0;

	if (list.count)
		qsort(list.items, list.count, sizeof *list.items, compare_edges);
	for (size_t i = 0; result == 0 && i + 1 < list.count; i++) {
		int64_t ns = list.items[i + 1].ns - list.items[i].ns;

		waiting += list.items[i].waiting;
		transfer += list.items[i].transfer;
		if (transfer)
			rank->transfer_ns += ns;
		else if (waiting)
			rank->waiting_ns += ns;
	}
	rank->own_ns = window.last_ns - window.first_ns - rank->waiting_ns - rank->transfer_ns;
	mr_vec_free(&list);
	return result;
}

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

static int count_steps(const struct study *study, const struct mr_step_list *list,
		       struct rank *rank)
{
	const struct mr_track *tracks = study->model->survey->tracks.items;
	mr_vec(int64_t) times = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->steps.count; i++)
		if (tracks[list->steps.items[i].track].process == rank->process)
			result = mr_vec_push(&times, list->steps.items[i].duration_ns);
	rank->steps = (uint32_t)times.count;
	rank->step_ns = MR_NO_VALUE;
	if (times.count) {
		qsort(times.items, times.count, sizeof *times.items, compare_times);
		rank->step_ns = times.items[(times.count - 1) / 2];
	}
	mr_vec_free(&times);
	return result;
}

/* By rank; those without after those with one. */
static int compare_ranks(const void *left, const void *right, void *data)
{
	const struct mr_process *processes = data;
	const struct rank *a = left, *b = right;

	if (processes[a->process].rank != processes[b->process].rank)
		return processes[a->process].rank < processes[b->process].rank ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int find_ranks(struct study *study)
{
	const struct mr_survey *survey = study->model->survey;
	const struct mr_collectives *collectives = &study->model->collectives;
	mr_auto(free) bool *is_there = calloc(survey->processes.count + 1, sizeof *is_there);
	int result = is_there ? 0 : -ENOMEM;

	for (uint32_t row = 0; is_there && row < collectives->table.count; row++)
		is_there[survey->tracks.items[collectives->track[row]].process] = true;
	for (uint32_t i = 0; result == 0 && i < survey->processes.count; i++)
		if (is_there[i])
			result = mr_vec_push(&study->ranks, (struct rank){.process = i});
	if (study->ranks.count)
		qsort_r(study->ranks.items, study->ranks.count, sizeof *study->ranks.items,
			compare_ranks, survey->processes.items);
	return result;
}

static int study_ranks(struct study *study)
{
	const struct mr_model *model = study->model;
	struct mr_step_list list = {0};
	int result = mr_step_list_make(model, model->whole ? model->part.processes : NULL, &list);

	for (size_t i = 0; result == 0 && i < study->ranks.count; i++) {
		struct rank *rank = &study->ranks.items[i];

		rank->lateness = mr_arrivals_lateness(&study->arrivals, rank->process);
		result = divide_time(study, rank);
		if (result == 0)
			result = count_steps(study, &list, rank);
	}
	mr_step_list_free(&list);
	return result;
}

/* ---- in words and tables ---------------------------------------------------------------------------- */

static const char *often(const struct study *study, const struct mr_lateness *lateness)
{
	if (lateness->count == 1)
		return "once";
	return lateness->count * 100 >= study->arrivals.list.count * CHRONIC_PERCENT
		       ? "again and again"
		       : "at times";
}

/* Of whom the others wait for most. */
static int say_late(const struct study *study)
{
	struct mr_region *region = &study->findings->region;
	uint32_t process = study->arrivals.late_process;

	if (process == UINT32_MAX)
		return mr_finding_say(study->findings, study->finding, MR_SEVERITY_NOTE,
				      "No rank is later than the others at any collective.");
	const struct mr_lateness lateness = mr_arrivals_lateness(&study->arrivals, process);
	const char *name = mr_rank_name(study->model, region, process);
	char sum[MR_FORMAT_BYTES], most[MR_FORMAT_BYTES];

	mr_format_ns(sum, lateness.sum_ns, false);
	mr_format_ns(most, lateness.most_ns, false);
	return !name ? -ENOMEM
		     : mr_finding_say(study->findings, study->finding, MR_SEVERITY_NOTE,
				      "The others wait most for %s: it is late %s, at %u of %zu "
				      "collectives, by %s in all and %s at most.",
				      name, often(study, &lateness), lateness.count,
				      study->arrivals.list.count, sum, most);
}

static int add_ranks(const struct study *study)
{
	const struct mr_process *processes = study->model->survey->processes.items;
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "ranks", "By rank", rank_columns,
		mr_countof(rank_columns), (uint32_t)study->ranks.count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < study->ranks.count; i++) {
		const struct rank *rank = &study->ranks.items[i];
		const struct mr_process *process = &processes[rank->process];
		union mr_value *cells = mr_finding_value(table, i, 0);

		cells[0].text = mr_rank_name(study->model, &study->findings->region, rank->process);
		if (!cells[0].text)
			return -ENOMEM;
		cells[1].number = process->rank == MR_NO_ORDINAL ? MR_NO_VALUE : process->rank;
		cells[2].number = process->pid;
		cells[3].number = rank->steps;
		cells[4].number = rank->step_ns;
		cells[5].number = rank->own_ns;
		cells[6].number = rank->waiting_ns;
		cells[7].number = rank->transfer_ns;
		cells[8].number = rank->collectives;
		cells[9].number = rank->lateness.count;
		cells[10].number = rank->lateness.sum_ns;
		cells[11].number = rank->lateness.most_ns;
	}
	return 0;
}

static int compare_arrivals(const void *left, const void *right)
{
	const struct mr_arrival *a = left, *b = right;
	int64_t x = a->last_ns - a->others_ns, y = b->last_ns - b->others_ns;

	if (x != y)
		return x > y ? -1 : 1;
	return (a->last_ns > b->last_ns) - (a->last_ns < b->last_ns);
}

static int add_late(struct study *study)
{
	const struct mr_collectives *collectives = &study->model->collectives;
	const struct mr_definitions *definitions = &study->model->survey->definitions;
	size_t count = study->arrivals.list.count;
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "late", "Collectives with the latest arrivals",
		late_columns, mr_countof(late_columns), (uint32_t)mr_min(count, (size_t)LATE_ROWS));

	if (!table)
		return -ENOMEM;
	qsort(study->arrivals.list.items, count, sizeof *study->arrivals.list.items,
	      compare_arrivals);
	for (uint32_t i = 0; i < table->row_count; i++) {
		const struct mr_arrival *arrival = &study->arrivals.list.items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);
		uint32_t node = collectives->node[arrival->row];

		cells[0].text = mr_model_text(study->model, definitions->nodes.items[node].type);
		cells[1].number = (int64_t)collectives->instance_key[arrival->row];
		cells[2].text =
			mr_rank_name(study->model, &study->findings->region, arrival->last_process);
		cells[3].number = arrival->last_ns - arrival->others_ns;
		cells[4].number = arrival->last_ns;
		if (!cells[2].text)
			return -ENOMEM;
	}
	return 0;
}

static int tell(struct study *study)
{
	study->finding = mr_finding_begin(study->findings, "ranks");
	int result = study->finding ? say_late(study) : -ENOMEM;

	if (result == 0)
		result = add_ranks(study);
	return result < 0 ? result : add_late(study);
}

int mr_analyse_ranks(const struct mr_model *model, struct mr_findings *findings)
{
	struct study study = {.model = model, .findings = findings};
	int result = mr_arrivals_make(model, &study.arrivals);

	if (result == 0 && study.arrivals.list.count) {
		result = find_ranks(&study);
		if (result == 0)
			result = study_ranks(&study);
		if (result == 0)
			result = tell(&study);
	}
	mr_arrivals_free(&study.arrivals);
	mr_vec_free(&study.ranks);
	return result < 0 ? mr_fail_errno(-result, "analyse the ranks") : 0;
}
