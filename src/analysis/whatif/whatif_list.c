/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be edited in a trace: the names that selectors know, with the time that they have, and how much of it is on the
 * way to the end of the run, which is what a change can gain at most.
 */
#include "analysis/finding/tally.h"
#include "analysis/whatif/whatif.h"

static const struct mr_finding_column columns[] = {
	{"selector", "selector", MR_UNIT_TEXT, MR_COLUMN_TELLING | MR_COLUMN_PATH},
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_TELLING},
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_TELLING},
	{"limit_ns", "the end waits for", MR_UNIT_NS, MR_COLUMN_TELLING},
};

enum {
	NAMES_MAX = 8, /* of each kind */
};

/* What is named, and whether on the way to the end. */
struct key {
	uint32_t kind; /* enum mr_selector_kind */
	uint32_t name; /* string, or enum mr_cause_kind */
};

static struct key key_of(const struct mr_model *model, const struct mr_piece *piece,
			 enum mr_selector_kind kind)
{
	if (kind == MR_SELECT_CAUSE)
		return (struct key){kind, piece->link.kind};
	return (struct key){kind, mr_piece_name(model, piece, kind)};
}

static const char *text_of(const struct mr_model *model, struct mr_findings *findings,
			   struct key key)
{
	const char *name = key.kind == MR_SELECT_CAUSE ? mr_cause_name((enum mr_cause_kind)key.name)
						       : mr_model_text(model, key.name);

	return mr_region_print(&findings->region, "%s:%s",
			       mr_selector_name((enum mr_selector_kind)key.kind), name);
}

static int count_pieces(const struct mr_course *course, enum mr_selector_kind kind,
			struct mr_tally *tally)
{
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < course->count; i++) {
		const struct mr_piece *piece = &course->pieces.items[i];
		struct key key = key_of(course->model, piece, kind);

		if (kind == MR_SELECT_CAUSE || key.name)
			result = mr_tally_add(tally, &key, sizeof key, piece->duration_ns, i);
	}
	return result;
}

/* By entry of the tally. NULL without memory. */
static int64_t *find_limits(const struct mr_goal *goal, const struct mr_replay *replay,
			    enum mr_selector_kind kind, const struct mr_tally *tally)
{
	const struct mr_course *course = replay->course;
	int64_t *limits = calloc(tally->entries.count + 1, sizeof *limits);

	for (uint32_t i = goal->piece; limits && i != MR_NO_PIECE;
	     i = mr_goal_before(goal, replay, i)) {
		const struct mr_piece *piece = &course->pieces.items[i];
		struct key key = key_of(course->model, piece, kind);
		uint32_t entry;

		if (mr_strings_find(&tally->keys, &key, sizeof key, &entry))
			limits[entry] += piece->duration_ns;
	}
	return limits;
}

static int tell_kind(const struct mr_goal *goal, const struct mr_replay *replay,
		     enum mr_selector_kind kind, struct mr_findings *findings,
		     struct mr_finding *finding)
{
	const struct mr_course *course = replay->course;
	mr_auto(tally) struct mr_tally tally = {0};
	mr_auto(free) struct mr_sort_item *order = NULL;
	mr_auto(free) int64_t *limits = NULL;
	int result = count_pieces(course, kind, &tally);

	if (result == 0)
		result = mr_tally_sort(&tally, &order);
	if (result == 0 && !(limits = find_limits(goal, replay, kind, &tally)))
		result = -ENOMEM;
	uint32_t count = (uint32_t)mr_min(tally.entries.count, (size_t)NAMES_MAX);
	if (result < 0 || count == 0)
		return result;
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, mr_selector_name(kind), mr_selector_name(kind), columns,
		sizeof columns / sizeof *columns, count);
	for (uint32_t row = 0; table && row < count; row++) {
		uint32_t entry = order[row].index;
		struct key key;

		memcpy(&key, mr_tally_key(&tally, entry), sizeof key);
		mr_finding_value(table, row, 0)->text = text_of(course->model, findings, key);
		mr_finding_value(table, row, 1)->number = (int64_t)tally.entries.items[entry].count;
		mr_finding_value(table, row, 2)->number = tally.entries.items[entry].total_ns;
		mr_finding_value(table, row, 3)->number = limits[entry];
		if (!mr_finding_value(table, row, 0)->text)
			return -ENOMEM;
	}
	return table ? 0 : -ENOMEM;
}

int mr_whatif_tell_list(const struct mr_model *model, struct mr_findings *findings)
{
	mr_auto(question) struct mr_question question = {0};
	mr_auto(change) struct mr_change change = {0};
	mr_auto(replay) struct mr_replay replay = {0};
	struct mr_finding *finding = mr_findings_add(findings, "editable", "What can be changed");
	int result = finding ? mr_question_make(model, NULL, &question) : -ENOMEM;

	if (result == 0)
		result = mr_change_make(&question.course, &change);
	if (result == 0)
		result = mr_replay_make(&question.course, &change, &replay);
	for (int kind = 0; result == 0 && kind < MR_SELECT_PROBLEM; kind++)
		result = tell_kind(&question.goal, &replay, (enum mr_selector_kind)kind, findings,
				   finding);
	return result;
}
