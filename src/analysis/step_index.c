/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/step_index.h"

#include "base/sort.h"

static uint32_t process_of(const struct mr_model *model, const struct mr_step *step)
{
	return model->survey->tracks.items[step->track].process;
}

static void fill(const struct mr_model *model, struct mr_step_index *index,
		 const struct mr_sort_item *items, uint32_t count)
{
	uint32_t *first = index->first_of_process;

	for (uint32_t i = 0; i < count; i++) {
		const struct mr_step *step = &index->list.steps.items[items[i].index];
		int64_t end_ns = step->start_ns + step->duration_ns;
		bool is_first = i == 0 || items[i].key != items[i - 1].key;

		first[items[i].key + 1]++;
		index->order[i] = items[i].index;
		index->until_ns[i] = is_first ? end_ns : mr_max(end_ns, index->until_ns[i - 1]);
	}
	for (size_t i = 0; i < model->survey->processes.count; i++)
		first[i + 1] += first[i];
}

static int make(const struct mr_model *model, struct mr_step_index *index)
{
	if (mr_step_list_make(model, NULL, &index->list) < 0)
		return -ENOMEM;
	uint32_t count = (uint32_t)index->list.steps.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * (size_t)count + 1) * sizeof *items);
	index->order = malloc((count + 1) * sizeof *index->order);
	index->until_ns = malloc((count + 1) * sizeof *index->until_ns);
	index->first_of_process =
		calloc(model->survey->processes.count + 1, sizeof *index->first_of_process);
	if (!items || !index->order || !index->until_ns || !index->first_of_process)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		items[i] =
			(struct mr_sort_item){mr_sort_key(index->list.steps.items[i].start_ns), i};
	mr_sort(items, items + count, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = process_of(model, &index->list.steps.items[items[i].index]);
	mr_sort(items, items + count, count);
	fill(model, index, items, count);
	return 0;
}

int mr_step_index_make(const struct mr_model *model, struct mr_step_index *ret_index)
{
	struct mr_step_index index = {0};
	int result = make(model, &index);

	if (result == 0)
		*ret_index = index;
	else
		mr_step_index_free(&index);
	return result;
}

void mr_step_index_free(struct mr_step_index *index)
{
	mr_step_list_free(&index->list);
	free(index->order);
	free(index->until_ns);
	free(index->first_of_process);
}

uint32_t mr_step_index_find(const struct mr_step_index *index, uint32_t process, int64_t ns)
{
	const uint32_t *first = &index->first_of_process[process];
	uint32_t place = mr_find_larger(index->until_ns, first[0], first[1], ns);

	if (place == first[1] || index->list.steps.items[index->order[place]].start_ns > ns)
		return MR_NO_ROW;
	return index->order[place];
}
