/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/start_up.h"

#include "base/format.h"

enum {
	SMALLEST_PART = 200, /* of the run: half a percent */
	CAUSE_PART = 4,      /* what takes a quarter of the end is its cause */
};

/* When the table's first row begins, if that is earlier. */
static void find_first(const struct mr_table *table, const int64_t *start_ns, int64_t *first_ns)
{
	for (uint32_t row = 0; row < table->count; row++)
		*first_ns = mr_min(*first_ns, start_ns[row]);
}

/* The first thing that a framework or runtime does. */
static int64_t find_first_work(const struct mr_model *model)
{
	int64_t first_ns = INT64_MAX;

	find_first(&model->node_executions.table, model->node_executions.start_ns, &first_ns);
	find_first(&model->scopes.table, model->scopes.start_ns, &first_ns);
	find_first(&model->calls.table, model->calls.start_ns, &first_ns);
	return first_ns;
}

static const char *add_part(struct mr_region *region, const char *text, const char *what,
			    int64_t from_ns, int64_t to_ns)
{
	char time[MR_FORMAT_BYTES];

	if (!text || to_ns <= from_ns)
		return text;
	mr_format_ns(time, to_ns - from_ns, true);
	return mr_region_print(region, "%s%s %s %s", text, *text ? "," : "", what, time);
}

/* What is shorter is not worth a line. */
static bool is_worth(const struct mr_model *whole, int64_t ns)
{
	int64_t run_ns = whole->survey->last_ns - whole->survey->first_ns;

	return ns > 0 && ns >= run_ns / SMALLEST_PART;
}

const char *mr_start_up_text(const struct mr_model *cut, struct mr_region *region)
{
	const struct mr_model *whole = mr_model_whole(cut);
	int64_t begin_ns = whole->survey->first_ns, end_ns = mr_model_window(cut).first_ns;
	int64_t step_ns = INT64_MAX, work_ns = mr_min(find_first_work(whole), end_ns);
	char all[MR_FORMAT_BYTES];
	const char *text = "";

	if (!is_worth(whole, end_ns - begin_ns))
		return "";
	find_first(&whole->steps.table, whole->steps.start_ns, &step_ns);
	step_ns = mr_max(mr_min(step_ns, end_ns), work_ns);
	text = add_part(region, text, "imports, set-up", begin_ns, work_ns);
	text = add_part(region, text, "building", work_ns, step_ns);
	text = add_part(region, text, "warm-up", step_ns, end_ns);
	mr_format_ns(all, end_ns - begin_ns, true);
	return text ? mr_region_print(region, "%s:%s", all, text) : NULL;
}

/* ---- the end -------------------------------------------------------------------------------------- */

/* The interval that has most of the time from `from_ns` on. */
struct longest {
	int64_t from_ns;
	int64_t time_ns;
	const char *name;
};

static bool is_longer(struct longest *longest, int64_t start_ns, int64_t duration_ns)
{
	int64_t time_ns = start_ns + duration_ns - mr_max(start_ns, longest->from_ns);

	if (time_ns <= longest->time_ns)
		return false;
	longest->time_ns = time_ns;
	return true;
}

static void find_longest(const struct mr_model *model, struct longest *longest)
{
	const struct mr_node *nodes = model->survey->definitions.nodes.items;

	for (uint32_t row = 0; row < model->calls.table.count; row++)
		if (is_longer(longest, model->calls.start_ns[row], model->calls.duration_ns[row]))
			longest->name = mr_model_text(model, model->calls.function[row]);
	for (uint32_t row = 0; row < model->node_executions.table.count; row++)
		if (is_longer(longest, model->node_executions.start_ns[row],
			      model->node_executions.duration_ns[row]))
			longest->name =
				mr_model_text(model, nodes[model->node_executions.node[row]].name);
	for (uint32_t row = 0; row < model->scopes.table.count; row++)
		if (is_longer(longest, model->scopes.start_ns[row], model->scopes.duration_ns[row]))
			longest->name = mr_model_text(model, model->scopes.name[row]);
}

const char *mr_end_text(const struct mr_model *cut, struct mr_region *region)
{
	const struct mr_model *whole = mr_model_whole(cut);
	struct longest longest = {.from_ns = mr_model_window(cut).last_ns};
	int64_t left_ns = whole->survey->last_ns - longest.from_ns;
	char all[MR_FORMAT_BYTES], most[MR_FORMAT_BYTES];

	if (!is_worth(whole, left_ns))
		return "";
	find_longest(whole, &longest);
	mr_format_ns(all, left_ns, true);
	mr_format_ns(most, longest.time_ns, true);
	if (longest.time_ns < left_ns / CAUSE_PART || longest.time_ns > left_ns)
		return mr_region_print(region, "%s", all);
	return mr_region_print(region, "%s: %s %s", all, longest.name, most);
}
