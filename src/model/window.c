/* SPDX-License-Identifier: Apache-2.0 */
#include "model/window.h"

#include <string.h>

#include "model/kernel_link.h"
#include "model/model.h"
#include "model/nesting.h"

#define TABLE_NUMBER(name) TABLE_##name,
#define TABLE_OFFSET(name) offsetof(struct mr_model, name),
enum {
	MR_TABLES(TABLE_NUMBER) TABLES
};
static const size_t table_offsets[TABLES] = {MR_TABLES(TABLE_OFFSET)};

struct cutter {
	const struct mr_model *whole;
	struct mr_model *cut;
	uint32_t *new_rows[TABLES]; /* by row of the whole: where it went, or MR_NO_ROW */
};

static struct mr_table *table_of(const struct mr_model *model, uint32_t number)
{
	return (struct mr_table *)((char *)model + table_offsets[number]);
}

static void *find_column(struct mr_table *table, enum mr_meaning meaning)
{
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		if (table->desc->columns[i].meaning == meaning)
			return mr_table_columns(table)[i];
	return NULL;
}

static void *find_named(struct mr_table *table, const char *name)
{
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		if (strcmp(table->desc->columns[i].name, name) == 0)
			return mr_table_columns(table)[i];
	return NULL;
}

/* ---- which rows ----------------------------------------------------------------------------------- */

/* What is nothing but an instant belongs to the window that begins there; at the end of the trace none does. */
static bool touches(const struct mr_model *cut, int64_t start_ns, int64_t duration_ns)
{
	const struct mr_window *window = &cut->part.window;

	if (duration_ns > 0)
		return start_ns < window->last_ns && start_ns + duration_ns > window->first_ns;
	return start_ns >= window->first_ns &&
	       (start_ns < window->last_ns || window->last_ns == cut->survey->last_ns);
}

/* CPUs belong to nobody: who had one matters to whoever wanted it. */
static bool is_of_processes(const struct mr_model *model, uint32_t track, const uint32_t *process)
{
	const struct mr_track *at = &model->survey->tracks.items[track];

	if (!model->part.processes || at->kind == MR_TRACK_CPU)
		return true;
	return model->part.processes[process ? *process : at->process];
}

/* Tells each row of a table whether it stays, and how many do. */
static uint32_t select_rows(const struct mr_model *cut, struct mr_table *from, uint32_t *new_rows)
{
	const uint32_t *track = mr_table_columns(from)[0];
	const int64_t *start_ns = mr_table_columns(from)[1];
	const int64_t *duration_ns = mr_table_is_interval(from) ? mr_table_columns(from)[2] : NULL;
	const uint32_t *process = find_column(from, MR_MEANS_process);
	uint32_t count = 0;

	for (uint32_t row = 0; row < from->count; row++) {
		bool stays = touches(cut, start_ns[row], duration_ns ? duration_ns[row] : 0) &&
			     is_of_processes(cut, track[row], process ? &process[row] : NULL);

		new_rows[row] = stays ? count++ : MR_NO_ROW;
	}
	return count;
}

/* ---- copying them --------------------------------------------------------------------------------- */

/* Rows that follow each other, as most do, are copied together. */
static void copy_columns(struct mr_table *to, struct mr_table *from, uint32_t count)
{
	const uint32_t *rows = to->whole_rows;

	for (uint32_t first = 0, end; first < count; first = end) {
		for (end = first + 1; end < count && rows[end] == rows[end - 1] + 1; end++)
			;
		for (uint32_t i = 0; i < from->desc->column_count; i++) {
			size_t bytes = from->desc->columns[i].bytes;

			memcpy((char *)mr_table_columns(to)[i] + first * bytes,
			       (const char *)mr_table_columns(from)[i] + rows[first] * bytes,
			       (end - first) * bytes);
		}
	}
}

static int copy_rows(struct cutter *cutter, uint32_t number)
{
	struct mr_table *from = table_of(cutter->whole, number);
	struct mr_table *to = table_of(cutter->cut, number);
	uint32_t *new_rows = malloc(((size_t)from->count + 1) * sizeof *new_rows);

	to->desc = from->desc;
	cutter->new_rows[number] = new_rows;
	if (!new_rows)
		return -ENOMEM;
	uint32_t count = select_rows(cutter->cut, from, new_rows);
	to->whole_rows = malloc(((size_t)count + 1) * sizeof *to->whole_rows);
	if (!to->whole_rows || mr_table_reserve(to, count) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < from->count; row++)
		if (new_rows[row] != MR_NO_ROW)
			to->whole_rows[new_rows[row]] = row;
	copy_columns(to, from, count);
	to->count = count;
	return mr_table_find_tracks(to, (uint32_t)cutter->whole->survey->tracks.count);
}

/* ---- what their values mean now ------------------------------------------------------------------- */

static void clip_rows(const struct mr_window *window, struct mr_table *table)
{
	int64_t *start_ns = mr_table_columns(table)[1], *duration_ns = mr_table_columns(table)[2];
	uint8_t *flags = find_column(table, MR_MEANS_row_flags);

	for (uint32_t row = 0; row < table->count; row++) {
		int64_t end_ns = start_ns[row] + duration_ns[row];
		bool is_cut = start_ns[row] < window->first_ns || end_ns > window->last_ns;

		start_ns[row] = mr_max(start_ns[row], window->first_ns);
		duration_ns[row] = mr_min(end_ns, window->last_ns) - start_ns[row];
		if (flags && is_cut)
			flags[row] |= MR_ROW_CUT;
	}
}

static const uint32_t *find_new_rows(const struct cutter *cutter, const char *table)
{
	uint32_t number = 0;

	while (strcmp(table_of(cutter->whole, number)->desc->name, table) != 0)
		number++;
	return cutter->new_rows[number];
}

static void follow_links(const struct cutter *cutter, struct mr_table *table)
{
	for (uint32_t i = 0; i < table->desc->column_count; i++) {
		const struct mr_column_desc *desc = &table->desc->columns[i];
		uint32_t *links = mr_table_columns(table)[i];

		if (desc->meaning != MR_MEANS_row)
			continue;
		const uint32_t *new_rows = find_new_rows(cutter, desc->of);
		for (uint32_t row = 0; row < table->count; row++)
			if (links[row] != MR_NO_ROW)
				links[row] = new_rows[links[row]];
	}
}

/* A disk had the request only after it was queued. */
static void clip_queueing(struct mr_model *cut)
{
	const struct mr_block_io *from = &cut->whole->block_io, *to = &cut->block_io;

	for (uint32_t row = 0; row < to->table.count; row++) {
		uint32_t whole_row = to->table.whole_rows[row];
		int64_t queued_until_ns = from->start_ns[whole_row] + from->queue_ns[whole_row];
		int64_t queue_ns = queued_until_ns - to->start_ns[row];

		queue_ns = mr_min(queue_ns, to->duration_ns[row]);
		to->queue_ns[row] = mr_max(queue_ns, INT64_C(0));
	}
}

/* Where rows nest, their self times are those of the window. */
static int nest_rows(const struct mr_model *cut, struct mr_table *table)
{
	const struct mr_nesting nesting = {mr_table_columns(table)[1], mr_table_columns(table)[2],
					   find_named(table, "self_ns"),
					   find_named(table, "parent"),
					   find_column(table, MR_MEANS_row_flags)};
	struct mr_nesting_faults faults = {0}; /* are counted in the whole */
	int result = 0;

	for (size_t i = 0; result == 0 && nesting.self_ns && i < cut->survey->tracks.count; i++)
		result = mr_nest(&nesting, table->first_of_track[i], table->first_of_track[i + 1],
				 &faults);
	return result;
}

/* Parts of rows that were summed up over their whole length are summed up again. */
static int derive(struct mr_model *cut)
{
	size_t calls = cut->system_calls.table.count, states = cut->states.table.count;

	clip_queueing(cut);
	if (calls) {
		memset(cut->system_calls.blocked_ns, 0, calls * sizeof(int64_t));
		memset(cut->system_calls.runnable_ns, 0, calls * sizeof(int64_t));
	}
	if (states)
		memset(cut->states.interrupted_ns, 0, states * sizeof(int64_t));
	return mr_kernel_level_link(cut);
}

/* ---- the model ------------------------------------------------------------------------------------ */

static int cut_tables(struct cutter *cutter)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < TABLES; i++)
		result = copy_rows(cutter, i);
	for (uint32_t i = 0; result == 0 && i < TABLES; i++) {
		struct mr_table *table = table_of(cutter->cut, i);

		follow_links(cutter, table);
		if (mr_table_is_interval(table))
			clip_rows(&cutter->cut->part.window, table);
		result = nest_rows(cutter->cut, table);
	}
	return result < 0 ? result : derive(cutter->cut);
}

/* The same survey, but for the spans of its tracks. */
static int cut_survey(struct mr_model *cut)
{
	const struct mr_window *window = &cut->part.window;
	size_t bytes = cut->whole->survey->tracks.count * sizeof(struct mr_track);
	struct mr_track *tracks = malloc(bytes + 1);

	cut->survey = malloc(sizeof *cut->survey);
	if (!cut->survey || !tracks) {
		free(tracks);
		return -ENOMEM;
	}
	*cut->survey = *cut->whole->survey;
	cut->survey->tracks.items = tracks;
	if (bytes)
		memcpy(tracks, cut->whole->survey->tracks.items, bytes);
	for (size_t i = 0; i < cut->survey->tracks.count; i++) {
		tracks[i].first_ns = mr_max(tracks[i].first_ns, window->first_ns);
		tracks[i].last_ns = mr_min(tracks[i].last_ns, window->last_ns);
	}
	return 0;
}

static int copy_processes(struct mr_model *cut, const bool *processes)
{
	size_t count = cut->whole->survey->processes.count;
	bool *copy = processes ? malloc(count * sizeof *copy + 1) : NULL;

	if (processes && !copy)
		return -ENOMEM;
	if (processes)
		memcpy(copy, processes, count * sizeof *copy);
	cut->part.processes = copy;
	return 0;
}

void mr_model_free_cut(struct mr_model *cut)
{
	if (cut->survey)
		free(cut->survey->tracks.items);
	free(cut->survey);
	free((void *)cut->part.processes);
}

int mr_model_cut(const struct mr_model *whole, const struct mr_part *part,
		 struct mr_model **ret_cut)
{
	mr_auto(model) struct mr_model *cut = calloc(1, sizeof *cut);
	struct cutter cutter = {.whole = whole, .cut = cut};

	if (!cut)
		return -ENOMEM;
	cut->whole = whole;
	cut->part.window = part->window;
	cut->trace = whole->trace;
	cut->manifest = whole->manifest;
	cut->anomalies = whole->anomalies;
	cut->device_clocks = whole->device_clocks;
	cut->calls_marked = whole->calls_marked;
	memcpy(cut->constraints, whole->constraints, sizeof cut->constraints);
	int result = copy_processes(cut, part->processes);
	if (result == 0)
		result = cut_survey(cut);
	if (result == 0)
		result = cut_tables(&cutter);
	for (uint32_t i = 0; i < TABLES; i++)
		free(cutter.new_rows[i]);
	if (result == 0)
		*ret_cut = mr_take(cut);
	return result;
}
