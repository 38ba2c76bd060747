/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/diff/side.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/cause/critical_path.h"
#include "analysis/cause/critical_path_tables.h"
#include "analysis/device_time.h"
#include "analysis/finding/breakdown.h"
#include "analysis/finding/tally.h"
#include "analysis/steps.h"
#include "base/error.h"
#include "base/sort.h"

/* ---- amounts -------------------------------------------------------------------------------------- */

static int amounts_number(struct mr_amounts *amounts, const char *name, uint32_t *ret_number)
{
	size_t known = mr_strings_count(&amounts->names);

	if (known == MR_SIDE_NAMES_MAX &&
	    !mr_strings_find(&amounts->names, name, strlen(name), ret_number))
		name = "(rare ones)";
	if (mr_strings_intern(&amounts->names, name, strlen(name), ret_number) < 0)
		return -ENOMEM;
	if (*ret_number < known)
		return 0;
	size_t wanted = (known + 1) * amounts->step_count;
	if (mr_vec_reserve(&amounts->ns, wanted) < 0 ||
	    mr_vec_reserve(&amounts->counts, wanted) < 0)
		return -ENOMEM;
	for (; amounts->ns.count < wanted; amounts->ns.count++, amounts->counts.count++)
		amounts->ns.items[amounts->ns.count] = amounts->counts.items[amounts->ns.count] = 0;
	return 0;
}

static void amounts_add(struct mr_amounts *amounts, uint32_t number, uint32_t step, int64_t ns)
{
	size_t at = (size_t)number * amounts->step_count + step;

	mr_ns_add(&amounts->ns.items[at], ns);
	amounts->counts.items[at]++;
}

static void amounts_free(struct mr_amounts *amounts)
{
	mr_strings_free(&amounts->names);
	mr_vec_free(&amounts->ns);
	mr_vec_free(&amounts->counts);
}

const int64_t *mr_amounts_find(const struct mr_amounts *amounts, const char *name,
			       uint32_t *ret_number)
{
	if (!mr_strings_find(&amounts->names, name, strlen(name), ret_number))
		return NULL;
	return &amounts->ns.items[(size_t)*ret_number * amounts->step_count];
}

/* ---- names ---------------------------------------------------------------------------------------- */

#define DECIMAL     "0123456789"
#define HEXADECIMAL "0123456789abcdefABCDEF"

/* The numbers of threads and processes, and addresses, differ from run to run. */
static char *drop_numbers(struct mr_region *region, const char *text)
{
	static const char *const words[] = {"thread ", "process ", "pid ", "tid ", "0x"};
	char *name = mr_region_print(region, "%s", text), *to = name;

	for (const char *at = text; name && *at;) {
		size_t length = 0;

		for (size_t i = 0; i < mr_countof(words) && !length; i++)
			if (strncmp(at, words[i], strlen(words[i])) == 0)
				length = strlen(words[i]);
		memcpy(to, at, length);
		to += length;
		at += length;
		size_t digits =
			length ? strspn(at, *at && at[-1] == 'x' ? HEXADECIMAL : DECIMAL) : 0;
		at += digits;
		if (digits)
			*to++ = '*';
		else if (length == 0)
			*to++ = *at++;
	}
	if (name)
		*to = '\0';
	return name;
}

/* Numbers of names by what they are made of, so that each is made once. */
struct memo {
	struct mr_strings keys;
	mr_vec(uint32_t) numbers;
};

static void mr_cleanup_memo(struct memo *memo)
{
	mr_strings_free(&memo->keys);
	mr_vec_free(&memo->numbers);
}

/* ---- steps ---------------------------------------------------------------------------------------- */

/* The thread with most of them. */
static uint32_t find_track(const struct mr_step_list *list)
{
	const struct mr_step *steps = list->steps.items;
	uint32_t best = MR_NO_TRACK;
	size_t most = 0;

	for (size_t i = 0, next; i < list->steps.count; i = next) {
		for (next = i + 1; next < list->steps.count && steps[next].track == steps[i].track;
		     next++)
			;
		if (next - i > most) {
			most = next - i;
			best = steps[i].track;
		}
	}
	return best;
}

static int bound(struct mr_side *side, const struct mr_step_list *list, struct mr_window window,
		 uint64_t first, uint64_t last)
{
	uint32_t track = find_track(list);
	int64_t end_ns = INT64_MIN;
	int result = 0;

	for (size_t i = 0; result == 0 && i < list->steps.count; i++) {
		const struct mr_step *step = &list->steps.items[i];

		if (step->track != track || step->number < first || step->number > last ||
		    step->start_ns < window.first_ns || step->start_ns >= window.last_ns)
			continue;
		result = mr_vec_push(&side->bounds_ns, mr_max(step->start_ns, end_ns));
		end_ns = mr_max(end_ns, step->start_ns + step->duration_ns);
		end_ns = mr_max(end_ns, step->device_end_ns);
	}
	return result < 0 || side->bounds_ns.count == 0 ? result
							: mr_vec_push(&side->bounds_ns, end_ns);
}

/* Steps that begin before what the one before launched has ended begin then. Those that have no time left are part of
 * the next. */
static void settle(struct mr_side *side)
{
	int64_t *bounds_ns = side->bounds_ns.items;
	size_t kept = 0, count = side->bounds_ns.count;

	for (size_t i = 0; i < count; i++)
		if (i == 0 || bounds_ns[i] > bounds_ns[kept - 1])
			bounds_ns[kept++] = bounds_ns[i];
	size_t more = kept > MR_SIDE_STEPS_MAX + 1 ? kept - MR_SIDE_STEPS_MAX - 1 : 0;
	memmove(bounds_ns, bounds_ns + more, (kept - more) * sizeof *bounds_ns);
	side->bounds_ns.count = kept - more;
}

/* Both halves have the bound between them. */
static void halve(struct mr_side *side, enum mr_side_part part)
{
	size_t middle = side->bounds_ns.count / 2;

	if (part == MR_SIDE_FIRST_HALF && middle > 0)
		side->bounds_ns.count = middle + 1;
	if (part != MR_SIDE_SECOND_HALF || middle + 1 >= side->bounds_ns.count)
		return;
	side->bounds_ns.count -= middle;
	memmove(side->bounds_ns.items, side->bounds_ns.items + middle,
		side->bounds_ns.count * sizeof *side->bounds_ns.items);
}

static int find_steps(struct mr_side *side, const struct mr_side_steps *steps)
{
	const struct mr_model *model = side->model;
	uint64_t first = steps->first, last = steps->last;
	bool is_all = first == 0 && last == UINT64_MAX;
	struct mr_step_list list = {0};
	struct mr_steady steady = {.window = {INT64_MIN, INT64_MAX}};
	int result = mr_step_list_make(model, NULL, &list);

	if (result == 0 && is_all)
		result = mr_min(mr_steps_steady(model, &list, &steady), 0);
	if (result == 0)
		result = bound(side, &list, steady.window, first, last);
	mr_step_list_free(&list);
	if (result < 0)
		return result;
	side->has_steps = side->bounds_ns.count > 0;
	if (!side->has_steps && !is_all)
		return mr_fail(ENOENT, "no steps %" PRIu64 " to %" PRIu64 " in %s", first, last,
			       model->trace->path);
	if (!side->has_steps) {
		const struct mr_window whole = mr_model_window(model);

		if (mr_vec_push(&side->bounds_ns, whole.first_ns) < 0 ||
		    mr_vec_push(&side->bounds_ns, whole.last_ns) < 0)
			return -ENOMEM;
	}
	settle(side);
	halve(side, steps->part);
	return side->bounds_ns.count > 1
		       ? 0
		       : mr_fail(EINVAL, "the steps of %s take no time", model->trace->path);
}

/* ---- what they spend their time on ------------------------------------------------------------------ */

/* The step at a time; MR_NO_ROW: none. */
static uint32_t step_at(const struct mr_side *side, int64_t ns)
{
	uint32_t count = (uint32_t)side->bounds_ns.count;
	uint32_t next = mr_find_larger(side->bounds_ns.items, 0, count, ns);

	return next == 0 || next == count ? MR_NO_ROW : next - 1;
}

/* The same on another device, or on one of another kind, is the same. */
static const char *name_link(const struct mr_model *model, struct mr_findings *findings,
			     struct mr_link link)
{
	const char *cause = mr_cause_name((enum mr_cause_kind)link.kind);

	if (link.culprit == MR_CULPRIT_OPERATION)
		return mr_region_print(&findings->region, "%s: %s", cause,
				       mr_model_text(model, link.what));
	if (link.culprit == MR_CULPRIT_UNNAMED)
		return mr_region_print(&findings->region, "%s: %s", cause,
				       mr_enum_value_name("operation_kind", link.what));
	const char *text = mr_path_link_text(model, findings, link);
	return text ? drop_numbers(&findings->region, text) : NULL;
}

static int number_link(struct mr_side *side, struct mr_findings *findings, struct memo *memo,
		       struct mr_link link, uint32_t *ret_number)
{
	uint32_t known;

	if (mr_strings_intern(&memo->keys, &link, sizeof link, &known) < 0)
		return -ENOMEM;
	if (known < memo->numbers.count) {
		*ret_number = memo->numbers.items[known];
		return 0;
	}
	const char *name = name_link(side->model, findings, link);
	if (!name || amounts_number(&side->path, name, ret_number) < 0)
		return -ENOMEM;
	return mr_vec_push(&memo->numbers, *ret_number);
}

/* Divides a segment among the steps that it lies in. */
static void divide(struct mr_side *side, const struct mr_path_segment *segment, uint32_t number)
{
	int64_t at_ns = segment->start_ns, end_ns = at_ns + segment->duration_ns;
	uint32_t step = step_at(side, at_ns);

	for (; at_ns < end_ns && step < mr_side_step_count(side); step++) {
		int64_t until_ns = mr_min(end_ns, side->bounds_ns.items[step + 1]);

		amounts_add(&side->path, number, step, until_ns - at_ns);
		at_ns = until_ns;
	}
}

static int follow_path(struct mr_side *side, struct mr_findings *findings)
{
	const struct mr_part part = {.window = {side->bounds_ns.items[0],
						side->bounds_ns.items[side->bounds_ns.count - 1]}};
	mr_auto(critical_path) struct mr_critical_path path = {0};
	mr_auto(model) struct mr_model *cut = NULL;
	mr_auto(memo) struct memo memo = {0};
	int result = mr_model_cut(side->model, &part, &cut);

	if (result == 0)
		result = mr_critical_path_make(cut, &path);
	for (size_t i = 0; result == 0 && i < path.segments.count; i++) {
		uint32_t number;

		result = number_link(side, findings, &memo,
				     mr_link_by_name(path.segments.items[i].link), &number);
		if (result == 0)
			divide(side, &path.segments.items[i], number);
	}
	return result;
}

/* What a device or a thread executed. */
struct operation {
	uint32_t name; /* string */
	uint32_t kind; /* of a device operation */
	uint32_t is_of_device;
};

static int number_operation(struct mr_side *side, struct mr_findings *findings, struct memo *memo,
			    struct operation operation, uint32_t *ret_number)
{
	const struct mr_model *model = side->model;
	uint32_t known;

	if (mr_strings_intern(&memo->keys, &operation, sizeof operation, &known) < 0)
		return -ENOMEM;
	if (known < memo->numbers.count) {
		*ret_number = memo->numbers.items[known];
		return 0;
	}
	const char *name = operation.name || !operation.is_of_device
				   ? mr_node_text(model, operation.name)
				   : mr_enum_value_name("operation_kind", operation.kind);
	char *text = mr_region_print(&findings->region, "%s%s",
				     operation.is_of_device ? "device: " : "", name);
	if (!text || amounts_number(&side->operations, text, ret_number) < 0)
		return -ENOMEM;
	return mr_vec_push(&memo->numbers, *ret_number);
}

static int add_operation(struct mr_side *side, struct mr_findings *findings, struct memo *memo,
			 struct operation operation, int64_t start_ns, int64_t ns)
{
	uint32_t step = step_at(side, start_ns), number;

	if (step == MR_NO_ROW)
		return 0;
	if (number_operation(side, findings, memo, operation, &number) < 0)
		return -ENOMEM;
	amounts_add(&side->operations, number, step, ns);
	return 0;
}

static int sum_operations(struct mr_side *side, struct mr_findings *findings)
{
	const struct mr_model *model = side->model;
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_node_executions *executions = &model->node_executions;
	mr_auto(memo) struct memo memo = {0};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < operations->table.count; row++)
		if (mr_operation_is_timed(model, row))
			result = add_operation(
				side, findings, &memo,
				(struct operation){operations->name[row], operations->kind[row], 1},
				operations->start_ns[row], operations->duration_ns[row]);
	for (uint32_t row = 0; result == 0 && row < executions->table.count; row++) {
		uint32_t name = model->survey->definitions.nodes.items[executions->node[row]].name;

		result = add_operation(side, findings, &memo, (struct operation){name, 0, 0},
				       executions->start_ns[row], executions->self_ns[row]);
	}
	return result;
}

int mr_side_make(const struct mr_model *model, const struct mr_side_steps *steps,
		 struct mr_findings *findings, struct mr_side *ret_side)
{
	struct mr_side side = {.model = model};
	int result = find_steps(&side, steps);

	if (result == 0) {
		side.path.step_count = side.operations.step_count =
			(uint32_t)side.bounds_ns.count - 1;
		result = follow_path(&side, findings);
	}
	if (result == 0)
		result = sum_operations(&side, findings);
	if (result == 0)
		*ret_side = side;
	else
		mr_side_free(&side);
	return result;
}

void mr_side_free(struct mr_side *side)
{
	mr_vec_free(&side->bounds_ns);
	amounts_free(&side->path);
	amounts_free(&side->operations);
}
