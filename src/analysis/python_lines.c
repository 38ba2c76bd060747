/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU time of threads that run Python, by line. Where the kernel level knows when a thread ran, each moment has the line
 * of the nearest sample (model/lines.h); elsewhere each sample stands for the CPU time since the one before it.
 *
 *     self     the line itself was executed, or something that it called and that is not Python
 *     total    the line was executed, or something that it called
 */
#include "analysis/analysis.h"

#include <inttypes.h>

#include "analysis/cause/cause.h"
#include "base/error.h"
#include "base/sort.h"
#include "model/lines.h"

enum {
	BRIEF_ROWS = 10,
	MANY_PART = 100, /* of the samples: if more are torn, it matters */
};

struct lines {
	const struct mr_model *model;
	const struct mr_sites *sites;
	int64_t *site_ns;  /* by site; of 0: no line is known */
	int64_t *self_ns;  /* by the first site of a line */
	int64_t *total_ns; /* likewise */
	int64_t whole_ns;
};

/* ---- adding up ---------------------------------------------------------------------------------- */

/* Does it run Python at all? */
static bool has_lines(const struct mr_model *model, uint32_t track)
{
	const struct mr_samples *samples = &model->samples;

	for (uint32_t row = samples->table.first_of_track[track];
	     row < samples->table.first_of_track[track + 1]; row++)
		if (samples->site[row])
			return true;
	return false;
}

static void add_state(struct lines *lines, uint32_t track, int64_t from_ns, int64_t to_ns)
{
	while (from_ns < to_ns) {
		struct mr_line_stretch stretch;
		uint32_t site = mr_line_at(lines->model, track, from_ns, &stretch);
		int64_t end_ns = mr_min(stretch.to_ns, to_ns);

		lines->site_ns[site] += end_ns - from_ns;
		from_ns = end_ns;
	}
}

static void add_samples(struct lines *lines, uint32_t track)
{
	const struct mr_samples *samples = &lines->model->samples;

	for (uint32_t row = samples->table.first_of_track[track];
	     row < samples->table.first_of_track[track + 1]; row++)
		lines->site_ns[samples->site[row]] += mr_max(samples->cpu_ns[row], INT64_C(0));
}

static void add_thread(struct lines *lines, uint32_t track)
{
	const struct mr_states *states = &lines->model->states;
	uint32_t first = states->table.first_of_track[track];
	uint32_t end = states->table.first_of_track[track + 1];

	if (first == end)
		add_samples(lines, track);
	for (uint32_t row = first; row < end; row++)
		if (states->state[row] == MR_STATE_RUN)
			add_state(lines, track, states->start_ns[row],
				  states->start_ns[row] + states->duration_ns[row]);
}

/* A line that a stack has several times counts once. */
static int fold(struct lines *lines)
{
	const struct mr_site *sites = lines->sites->items;
	mr_auto(free) uint32_t *counted_for = calloc(lines->sites->count, sizeof *counted_for);

	if (!counted_for)
		return -ENOMEM;
	lines->self_ns[0] = lines->total_ns[0] = lines->site_ns[0];
	lines->whole_ns = lines->site_ns[0];
	for (uint32_t site = 1; site < lines->sites->count; site++) {
		int64_t ns = lines->site_ns[site];

		if (ns == 0)
			continue;
		lines->whole_ns += ns;
		lines->self_ns[sites[site].same] += ns;
		for (uint32_t at = site; at; at = sites[at].parent) {
			uint32_t line = sites[at].same;

			if (counted_for[line] != site)
				lines->total_ns[line] += ns;
			counted_for[line] = site;
		}
	}
	return 0;
}

/* ---- tables ------------------------------------------------------------------------------------- */

/* clang-format off */
static const struct mr_finding_column columns[] = {
	{"line", "line", MR_UNIT_TEXT, MR_COLUMN_PATH},
	{"file", "file", MR_UNIT_TEXT, MR_COLUMN_DATA},
	{"line_number", "line number", MR_UNIT_NUMBER, MR_COLUMN_DATA},
	{"function", "function", MR_UNIT_TEXT, MR_COLUMN_DATA},
	{"self_ns", "self", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
	{"self_permille", "", MR_UNIT_PERMILLE, MR_COLUMN_DATA},
	{"total_ns", "total", MR_UNIT_NS, 0},
	{"total_permille", "", MR_UNIT_PERMILLE, 0},
};
/* clang-format on */

/* The largest self time first, then the largest total. */
static uint32_t sort_lines(const struct lines *lines, struct mr_sort_item *items,
			   struct mr_sort_item *scratch)
{
	uint32_t count = 0;

	for (uint32_t line = 0; line < lines->sites->count; line++)
		if (lines->total_ns[line] > 0)
			items[count++] =
				(struct mr_sort_item){~(uint64_t)lines->total_ns[line], line};
	mr_sort(items, scratch, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = ~(uint64_t)lines->self_ns[items[i].index];
	mr_sort(items, scratch, count);
	return count;
}

static int fill(const struct lines *lines, struct mr_findings *findings, uint32_t line,
		union mr_value *cells)
{
	const struct mr_model *model = lines->model;
	const struct mr_site *site = &lines->sites->items[line];
	const struct mr_code *code = &lines->sites->codes.items[site->code];

	cells[0].text = line ? mr_line_text(model, &findings->region, line) : "(no line known)";
	cells[1].text = mr_model_text(model, code->file);
	cells[2].number = line ? (int64_t)site->line : MR_NO_VALUE;
	cells[3].text = mr_model_text(model, code->name);
	cells[4].number = lines->self_ns[line];
	cells[5].number = mr_permille(lines->self_ns[line], lines->whole_ns);
	cells[6].number = lines->total_ns[line];
	cells[7].number = mr_permille(lines->total_ns[line], lines->whole_ns);
	return cells[0].text ? 0 : -ENOMEM;
}

static int add_table(const struct lines *lines, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	size_t room = lines->sites->count;
	mr_auto(free) struct mr_sort_item *items = malloc(room * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);

	if (!items || !scratch)
		return -ENOMEM;
	uint32_t count = sort_lines(lines, items, scratch);
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, "by_line", "By line", columns, mr_countof(columns), count);
	int result = table ? 0 : -ENOMEM;
	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = fill(lines, findings, items[i].index, mr_finding_value(table, i, 0));
	if (result < 0)
		return result;
	table->brief_rows = BRIEF_ROWS;
	table->wholes[4] = lines->whole_ns;
	mr_finding_check(table);
	return 0;
}

static int tell_samples(const struct mr_model *model, struct mr_findings *findings,
			struct mr_finding *finding)
{
	const struct mr_python_sampling *sampling = &model->survey->sampling;
	bool are_many_torn = sampling->torn > sampling->samples / MANY_PART;

	if (sampling->samples == 0)
		return 0;
	return mr_finding_say(findings, finding,
			      are_many_torn ? MR_SEVERITY_NOTE : MR_SEVERITY_FINE,
			      "The recorder took %" PRIu64 " samples of the lines, up to %" PRIu64
			      " a second of each thread, and dropped %" PRIu64
			      " more, because the thread moved while it looked.",
			      sampling->samples, sampling->rate, sampling->torn);
}

static int analyse(struct lines *lines, struct mr_findings *findings)
{
	const struct mr_model *model = lines->model;

	for (uint32_t track = 0; track < model->survey->tracks.count; track++)
		if (has_lines(model, track))
			add_thread(lines, track);
	int result = fold(lines);
	if (result < 0 || lines->whole_ns == 0)
		return result;
	struct mr_finding *finding = mr_finding_begin(findings, "lines");
	if (!finding || tell_samples(model, findings, finding) < 0)
		return -ENOMEM;
	return add_table(lines, findings, finding);
}

int mr_analyse_lines(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_sites *sites = &model->survey->definitions.sites;
	mr_auto(free) int64_t *sums = calloc(3 * sites->count, sizeof *sums);

	if (model->samples.table.count == 0)
		return 0;
	int result = -ENOMEM;
	if (sums)
		result = analyse(&(struct lines){model, sites, sums, sums + sites->count,
						 sums + 2 * sites->count, 0},
				 findings);
	return result < 0 ? mr_fail_errno(-result, "analyse the lines of Python") : 0;
}
