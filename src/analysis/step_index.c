/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/step_index.h"

int mr_step_index_make(const struct mr_model *model, struct mr_step_index *ret_index)
{
	struct mr_step_index index = {0};
	int result = mr_step_list_make(model, NULL, &index.list);

	if (result == 0)
		result = mr_step_times_make(model, &index.times);
	if (result == 0)
		*ret_index = index;
	else
		mr_step_index_free(&index);
	return result;
}

void mr_step_index_free(struct mr_step_index *index)
{
	mr_step_list_free(&index->list);
	mr_step_times_free(&index->times);
}
