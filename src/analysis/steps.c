/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps.h"

#include "base/sort.h"

static int list_steps(const struct mr_model *model, const bool *processes,
		      struct mr_step_list *list)
{
	const struct mr_steps *steps = &model->steps;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < steps->table.count; row++) {
		const struct mr_step step = {steps->step[row], steps->track[row],
					     steps->start_ns[row], steps->duration_ns[row],
					     steps->function[row]};

		if (!processes || processes[model->survey->tracks.items[step.track].process])
			result = mr_vec_push(&list->steps, step);
	}
	return result;
}

int mr_step_list_make(const struct mr_model *model, const bool *processes,
		      struct mr_step_list *list)
{
	const struct mr_inferences *inferences = &mr_model_whole(model)->inferences;
	int result = list_steps(model, processes, list);

	for (size_t i = 0; result == 0 && i < inferences->list.count; i++)
		if (!processes || processes[inferences->list.items[i].process])
			result = mr_vec_push(&list->inferences, inferences->list.items[i]);
	return result;
}

void mr_step_list_free(struct mr_step_list *list)
{
	mr_vec_free(&list->steps);
	mr_vec_free(&list->inferences);
}

int mr_step_list_median(const struct mr_step_list *list, uint32_t *ret_step)
{
	size_t count = list->steps.count;

	if (count == 0)
		return -ENOENT;
	mr_auto(free) struct mr_sort_item *items = malloc(2 * count * sizeof *items);
	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){mr_sort_key(list->steps.items[i].duration_ns), i};
	mr_sort(items, items + count, count);
	*ret_step = items[(count - 1) / 2].index;
	return 0;
}
