/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/diff/changes.h"
#include "base/error.h"
#include "base/format.h"

enum {
	FEWEST_STEPS = 4,     /* of each side: of fewer no difference can be told from noise */
	RENAMED_PERCENT = 25, /* what has another name now takes about as long as before */
	TOLD = 3,             /* changes that the sentence lists */
};

struct study {
	const struct mr_side *before;
	const struct mr_side *after;
	struct mr_findings *findings;
	struct mr_finding *finding;
	struct mr_noise noise;
	int64_t after_ns; /* of all steps after */
};

/* ---- tables ----------------------------------------------------------------------------------------- */

/* clang-format off */
#define CHANGE_COLUMNS(flags)                                 \
	{"before_ns", "before", MR_UNIT_NS, flags},           \
	{"after_ns", "after", MR_UNIT_NS, flags},             \
	{"change_ns", "change", MR_UNIT_NS, MR_COLUMN_SUM},   \
	{"low_ns", "at least", MR_UNIT_NS, 0},                \
	{"high_ns", "at most", MR_UNIT_NS, 0}
/* clang-format on */

/* Means of steps, rounded so that they sum up: each is the difference of two rounded sums. */
struct means {
	int64_t before_sum_ns;
	int64_t after_sum_ns;
	int64_t before_ns; /* of all so far */
	int64_t after_ns;
};

static int64_t mean(int64_t sum_ns, uint32_t count)
{
	return (sum_ns + (sum_ns < 0 ? -(int64_t)count : (int64_t)count) / 2) / (int64_t)count;
}

static void fill(struct means *means, const struct study *study, const struct mr_difference *change,
		 union mr_value *cells)
{
	int64_t before_ns = means->before_ns, after_ns = means->after_ns;

	means->before_sum_ns += change->before_sum_ns;
	means->after_sum_ns += change->after_sum_ns;
	means->before_ns = mean(means->before_sum_ns, mr_side_step_count(study->before));
	means->after_ns = mean(means->after_sum_ns, mr_side_step_count(study->after));
	cells[0].number = means->before_ns - before_ns;
	cells[1].number = means->after_ns - after_ns;
	cells[2].number = cells[1].number - cells[0].number;
	cells[3].number = cells[4].number = MR_NO_VALUE;
	if (study->noise.is_tested && change->is_told) {
		cells[3].number = change->shift.low_ns;
		cells[4].number = change->shift.high_ns;
	}
}

static uint32_t count_told(const struct mr_changes *changes)
{
	uint32_t count = 0;

	while (count < changes->list.count && changes->list.items[count].is_told)
		count++;
	return count;
}

/* All that is not told is one row. */
static int add_causes(const struct study *study, const struct mr_changes *changes)
{
	static const struct mr_finding_column columns[] = {
		{"what", "what happened", MR_UNIT_TEXT, MR_COLUMN_TELLING | MR_COLUMN_PATH},
		CHANGE_COLUMNS(MR_COLUMN_BREAKDOWN),
	};
	uint32_t told = count_told(changes);
	struct mr_finding_table *table = mr_finding_add_table(
		study->findings, study->finding, "causes", "What a step takes its time for",
		columns, mr_countof(columns), told + 1);
	struct mr_difference rest = {.name = study->noise.is_tested ? "(within the noise)"
								    : "(all others)"};
	struct means means = {0};

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < told; i++) {
		mr_finding_value(table, i, 0)->text = changes->list.items[i].name;
		fill(&means, study, &changes->list.items[i], mr_finding_value(table, i, 1));
	}
	for (size_t i = told; i < changes->list.count; i++) {
		rest.before_sum_ns += changes->list.items[i].before_sum_ns;
		rest.after_sum_ns += changes->list.items[i].after_sum_ns;
	}
	mr_finding_value(table, told, 0)->text = rest.name;
	fill(&means, study, &rest, mr_finding_value(table, told, 1));
	table->wholes[1] = mean(study->noise.before_ns, mr_side_step_count(study->before));
	table->wholes[2] = mean(study->after_ns, mr_side_step_count(study->after));
	mr_finding_check(table);
	return 0;
}

/* ---- operations -------------------------------------------------------------------------------------- */

/* Thousandths of how often in a step. */
static int64_t rate(uint64_t count, uint32_t steps)
{
	return (int64_t)(count * 1000 / steps);
}

static bool is_gone(const struct mr_difference *change)
{
	return change->is_told && change->after_count == 0;
}

static bool is_new(const struct mr_difference *change)
{
	return change->is_told && change->before_count == 0;
}

/* An operation that is gone has another name now if a new one is executed as often and takes about as long. */
static const struct mr_difference *find_renamed(const struct study *study,
						const struct mr_changes *changes,
						const struct mr_difference *gone)
{
	for (size_t i = 0; i < changes->list.count; i++) {
		const struct mr_difference *other = &changes->list.items[i];
		__int128 before = (__int128)gone->before_sum_ns * gone->after.count;
		__int128 after = (__int128)other->after_sum_ns * gone->before.count;
		__int128 apart = before > after ? before - after : after - before;

		if (is_new(other) &&
		    rate(gone->before_count, mr_side_step_count(study->before)) ==
			    rate(other->after_count, mr_side_step_count(study->after)) &&
		    apart * 100 <= before * RENAMED_PERCENT)
			return other;
	}
	return NULL;
}

static const char *describe(const struct study *study, const struct mr_changes *changes,
			    const struct mr_difference *change)
{
	if (is_gone(change) && find_renamed(study, changes, change))
		return "renamed";
	return is_gone(change) ? "gone" : is_new(change) ? "new" : "";
}

/* A new one that an old one was renamed to is said there. */
static bool is_said_before(const struct study *study, const struct mr_changes *changes,
			   const struct mr_difference *change)
{
	for (size_t i = 0; is_new(change) && i < changes->list.count; i++)
		if (is_gone(&changes->list.items[i]) &&
		    find_renamed(study, changes, &changes->list.items[i]) == change)
			return true;
	return false;
}

static int fill_operation(const struct study *study, const struct mr_changes *changes,
			  const struct mr_difference *change, union mr_value *cells)
{
	const struct mr_difference *now =
		is_gone(change) ? find_renamed(study, changes, change) : NULL;
	struct mr_difference both = *change;
	struct means means = {0};

	if (now) {
		both.after = now->after;
		both.after_sum_ns = now->after_sum_ns;
		both.after_count = now->after_count;
		if (mr_shift_measure(both.before, both.after, &both.shift) < 0)
			return -ENOMEM;
	}
	cells[0].text = change->name;
	cells[1].text = describe(study, changes, change);
	cells[2].text = now ? now->name : "";
	cells[3].number = rate(both.before_count, mr_side_step_count(study->before));
	cells[4].number = rate(both.after_count, mr_side_step_count(study->after));
	fill(&means, study, &both, cells + 5);
	return 0;
}

static int add_operations(const struct study *study, const struct mr_changes *changes)
{
	static const struct mr_finding_column columns[] = {
		{"operation", "operation", MR_UNIT_TEXT, MR_COLUMN_PATH},
		{"fate", "fate", MR_UNIT_TEXT, 0},
		{"name_after", "name after", MR_UNIT_TEXT, MR_COLUMN_SPARE},
		{"count_before", "count before", MR_UNIT_THOUSANDTHS, MR_COLUMN_SPARE},
		{"count_after", "count after", MR_UNIT_THOUSANDTHS, MR_COLUMN_SPARE},
		CHANGE_COLUMNS(0),
	};
	uint32_t told = count_told(changes), row = 0;
	struct mr_finding_table *table =
		mr_finding_add_table(study->findings, study->finding, "operations",
				     "Operations, in each step, summed over threads and devices",
				     columns, mr_countof(columns), told);
	int result = table ? 0 : -ENOMEM;

	for (uint32_t i = 0; result == 0 && i < told; i++)
		if (!is_said_before(study, changes, &changes->list.items[i]))
			result = fill_operation(study, changes, &changes->list.items[i],
						mr_finding_value(table, row++, 0));
	if (result == 0)
		table->row_count = row;
	return result;
}

/* ---- sentences --------------------------------------------------------------------------------------- */

static const char *signed_text(char *text, int64_t ns)
{
	*text = ns < 0 ? '-' : '+';
	mr_format_ns(text + 1, llabs(ns), true);
	return text;
}

/* "+7.80 ms disk: /data/val.bin, +1.60 ms preempted" */
static const char *list_causes(const struct study *study, const struct mr_finding_table *table)
{
	const char *text = "";
	char amount[MR_FORMAT_BYTES + 1];

	for (uint32_t i = 0; text && i + 1 < table->row_count && i < TOLD; i++)
		text = mr_region_print(&study->findings->region, "%s%s%s %s", text, i ? ", " : "",
				       signed_text(amount, mr_finding_value(table, i, 3)->number),
				       mr_finding_value(table, i, 0)->text);
	return text;
}

/* Steps as a whole are tested like a name of their own. */
static int test_steps(const struct study *study, bool *ret_differ, struct mr_shift *ret_shift)
{
	const struct mr_side *sides[] = {study->before, study->after};
	mr_vec(int64_t) lengths_ns = {0};
	double chance = 1;
	int result = 0;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; result == 0 && i + 1 < sides[side]->bounds_ns.count; i++)
			result = mr_vec_push(&lengths_ns, sides[side]->bounds_ns.items[i + 1] -
								  sides[side]->bounds_ns.items[i]);
	if (result == 0) {
		struct mr_difference steps = {
			.before = {lengths_ns.items, mr_side_step_count(study->before)},
			.after = {lengths_ns.items + mr_side_step_count(study->before),
				  mr_side_step_count(study->after)}};

		if (study->noise.is_tested)
			result = mr_rank_test(&study->noise.ranks, steps.before, steps.after,
					      &chance);
		steps.is_told = chance < 0.05;
		if (result == 0)
			result = mr_difference_judge(&study->noise, &steps);
		*ret_differ = steps.is_told;
		*ret_shift = steps.shift;
	}
	mr_vec_free(&lengths_ns);
	return result;
}

static int say(const struct study *study, const struct mr_finding_table *causes)
{
	int64_t before_ns = causes->wholes[1], after_ns = causes->wholes[2];
	char before[MR_FORMAT_BYTES], after[MR_FORMAT_BYTES], by[MR_FORMAT_BYTES + 1];
	const char *what = study->before->has_steps ? "A step" : "The run";
	const char *listed = list_causes(study, causes);
	bool differ = false;
	struct mr_shift shift;
	int result = listed ? test_steps(study, &differ, &shift) : -ENOMEM;

	if (result < 0)
		return result;
	mr_format_ns(before, before_ns, true);
	mr_format_ns(after, after_ns, true);
	signed_text(by, after_ns - before_ns);
	if (!study->noise.is_tested)
		result = mr_finding_say(study->findings, study->finding, MR_SEVERITY_NOTE,
					"%s takes %s: %s before, %s after. There are too few steps "
					"(%u and %u) to tell a change from noise.",
					what, by, before, after, mr_side_step_count(study->before),
					mr_side_step_count(study->after));
	else
		result =
			mr_finding_say(study->findings, study->finding,
				       differ ? MR_SEVERITY_NOTE : MR_SEVERITY_FINE,
				       "%s takes %s: %s before, %s after, in the mean of %u and %u "
				       "steps%s.",
				       what, by, before, after, mr_side_step_count(study->before),
				       mr_side_step_count(study->after),
				       differ ? "" : "; the noise of the steps explains that");
	if (result == 0 && *listed)
		result = mr_finding_say(study->findings, study->finding, MR_SEVERITY_NOTE,
					"Of this: %s.", listed);
	return result;
}

/* ---- all together ------------------------------------------------------------------------------------- */

static int64_t length_of(const struct mr_side *side)
{
	return side->bounds_ns.items[side->bounds_ns.count - 1] - side->bounds_ns.items[0];
}

static int tell(struct study *study)
{
	mr_auto(changes) struct mr_changes causes = {0}, operations = {0};
	int result =
		mr_changes_find(&study->noise, &causes, &study->before->path, &study->after->path);

	if (result == 0)
		result = mr_changes_find(&study->noise, &operations, &study->before->operations,
					 &study->after->operations);
	if (result == 0)
		result = add_causes(study, &causes);
	if (result == 0)
		result = say(study, study->finding->tables.items[0]);
	return result < 0 ? result : add_operations(study, &operations);
}

int mr_diff_tell(const struct mr_side *before, const struct mr_side *after,
		 struct mr_findings *findings)
{
	struct study study = {.before = before,
			      .after = after,
			      .findings = findings,
			      .finding = mr_findings_add(findings, "diff", "What changed"),
			      .noise = {.is_tested = mr_side_step_count(before) >= FEWEST_STEPS &&
						     mr_side_step_count(after) >= FEWEST_STEPS,
					.before_ns = length_of(before),
					.before_count = mr_side_step_count(before)},
			      .after_ns = length_of(after)};
	int result = study.finding
			     ? mr_rank_table_make(mr_side_step_count(before),
						  mr_side_step_count(after), &study.noise.ranks)
			     : -ENOMEM;

	if (result == 0)
		result = tell(&study);
	mr_rank_table_free(&study.noise.ranks);
	return result < 0 ? mr_fail_errno(-result, "compare the traces") : 0;
}
