/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/totals.h"

#include "analysis/finding/tally.h"
#include "base/error.h"
#include "timeline/labels.h"

struct maker {
	struct mr_view *view;
	const struct mr_totals_scope *scope;
	const struct mr_slices *slices;
	struct mr_label_sums sums;
};

/* What the slices nested in this one leave of its part from start to end. No time is taken twice. */
static int64_t self_of_part(const struct maker *maker, uint32_t row, uint32_t end_row,
			    int64_t start_ns, int64_t end_ns)
{
	const struct mr_slices *slices = maker->slices;
	int64_t self_ns = end_ns - start_ns, covered_ns = start_ns;

	for (uint32_t i = row + 1; i < end_row && slices->start_ns[i] < end_ns; i++) {
		if (slices->parent[i] != row)
			continue;
		int64_t from_ns = mr_max(slices->start_ns[i], covered_ns);
		int64_t to_ns = mr_min(mr_slice_end_ns(slices, i), end_ns);

		if (from_ns < to_ns) {
			self_ns -= to_ns - from_ns;
			covered_ns = to_ns;
		}
	}
	return self_ns;
}

static int add_row(struct maker *maker, uint32_t row, uint32_t end_row)
{
	const struct mr_slices *slices = maker->slices;
	int64_t start_ns = slices->start_ns[row], end_ns = mr_slice_end_ns(slices, row);
	int64_t whole_ns = end_ns - start_ns;

	if (!mr_window_clip(&maker->scope->window, &start_ns, &end_ns))
		return 0;
	struct mr_label_sum *sum =
		mr_label_sums_get(&maker->sums, mr_label_of(maker->view, maker->scope->table, row));
	if (!sum)
		return -ENOMEM;
	mr_label_sum_add(sum, row, start_ns, end_ns - start_ns);
	if (slices->self_ns)
		mr_ns_add(&sum->self_ns,
			  end_ns - start_ns == whole_ns
				  ? slices->self_ns[row]
				  : self_of_part(maker, row, end_row, start_ns, end_ns));
	return 0;
}

static int add_group(struct maker *maker, uint32_t group)
{
	const struct mr_slices *slices = maker->slices;
	uint32_t end_row = slices->first_of_group[group + 1];
	int result = 0;

	for (uint32_t row = slices->first_of_group[group];
	     result == 0 && row < end_row && slices->start_ns[row] < maker->scope->window.last_ns;
	     row++)
		result = add_row(maker, row, end_row);
	return result;
}

int mr_totals_make(struct mr_view *view, const struct mr_totals_scope *scope,
		   struct mr_label_sums *ret_sums)
{
	struct maker maker = {
		.view = view,
		.scope = scope,
		.slices = mr_view_slices(view, scope->table),
	};
	int result = 0;

	if (!maker.slices)
		return -ENOMEM;
	for (uint32_t group = 0; result == 0 && group < maker.slices->group_count; group++)
		if (!scope->groups || scope->groups[group])
			result = add_group(&maker, group);
	if (result < 0) {
		mr_label_sums_free(&maker.sums);
		return mr_fail_errno(-result, "sum up %s", mr_sliced_name(scope->table));
	}
	mr_label_sums_sort(&maker.sums);
	*ret_sums = maker.sums;
	return 0;
}

void mr_totals_write(struct mr_view *view, enum mr_sliced table, const struct mr_label_sum *sum,
		     struct mr_json *json)
{
	char text[MR_LABEL_BYTES];

	mr_json_uint(json, "label", sum->label);
	mr_json_string(json, "text", mr_label_text(view, table, sum->label, text));
	mr_json_uint(json, "count", sum->count);
	mr_json_int(json, "total_ns", sum->total_ns);
	if (view->slices[table].self_ns)
		mr_json_int(json, "self_ns", sum->self_ns);
	else
		mr_json_null(json, "self_ns");
	mr_json_int(json, "min_ns", sum->min_ns);
	mr_json_int(json, "max_ns", sum->max_ns);
}
