/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/names.h"

#include "base/error.h"
#include "timeline/totals.h"

static int make_tables(struct mr_view *view, struct mr_names *names)
{
	int result = 0;

	for (uint32_t table = 0; result == 0 && table < MR_SLICED_COUNT; table++) {
		const struct mr_totals_scope scope = {table, {INT64_MIN, INT64_MAX}, NULL};

		if (mr_sliced[table].names)
			result = mr_totals_make(view, &scope, &names->by_table[table]);
	}
	return result;
}

static int make_files(const struct mr_system_calls *calls, struct mr_label_sums *sums)
{
	for (uint32_t row = 0; row < calls->table.count; row++) {
		struct mr_label_sum *sum =
			calls->file[row] ? mr_label_sums_get(sums, calls->file[row]) : NULL;

		if (sum)
			mr_label_sum_add(sum, row, calls->start_ns[row], calls->duration_ns[row]);
		else if (calls->file[row])
			return mr_fail_errno(ENOMEM, "sum up files");
	}
	mr_label_sums_sort(sums);
	return 0;
}

int mr_names_make(struct mr_view *view, struct mr_names *ret_names)
{
	struct mr_names names = {0};
	int result = make_tables(view, &names);

	if (result == 0)
		result = make_files(&view->model->system_calls, &names.by_file);
	if (result < 0)
		mr_names_free(&names);
	else
		*ret_names = names;
	return result;
}

void mr_names_free(struct mr_names *names)
{
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		mr_label_sums_free(&names->by_table[table]);
	mr_label_sums_free(&names->by_file);
}
