/* SPDX-License-Identifier: Apache-2.0 */
#include "model/step_times.h"

#include "base/sort.h"

static void fill(struct mr_step_times *times, const struct mr_sort_item *items, uint32_t count)
{
	const struct mr_steps *steps = &times->model->steps;
	uint32_t *first = times->first_of_process;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = items[i].index;
		int64_t end_ns = steps->start_ns[row] + steps->duration_ns[row];
		bool is_first = i == 0 || items[i].key != items[i - 1].key;

		first[items[i].key + 1]++;
		times->order[i] = row;
		times->until_ns[i] = is_first ? end_ns : mr_max(end_ns, times->until_ns[i - 1]);
	}
	for (size_t i = 0; i < times->model->survey->processes.count; i++)
		first[i + 1] += first[i];
}

int mr_step_times_make(const struct mr_model *model, struct mr_step_times *ret_times)
{
	const struct mr_steps *steps = &model->steps;
	uint32_t count = steps->table.count;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * (size_t)count + 1) * sizeof *items);

	*ret_times = (struct mr_step_times){
		.model = model,
		.order = malloc(((size_t)count + 1) * sizeof(uint32_t)),
		.until_ns = malloc(((size_t)count + 1) * sizeof(int64_t)),
		.first_of_process = calloc(model->survey->processes.count + 1, sizeof(uint32_t))};
	if (!items || !ret_times->order || !ret_times->until_ns || !ret_times->first_of_process)
		return -ENOMEM;
	for (uint32_t row = 0; row < count; row++)
		items[row] = (struct mr_sort_item){mr_sort_key(steps->start_ns[row]), row};
	mr_sort(items, items + count, count);
	for (uint32_t i = 0; i < count; i++)
		items[i].key = model->survey->tracks.items[steps->track[items[i].index]].process;
	mr_sort(items, items + count, count);
	fill(ret_times, items, count);
	return 0;
}

void mr_step_times_free(struct mr_step_times *times)
{
	free(times->order);
	free(times->until_ns);
	free(times->first_of_process);
}

uint32_t mr_step_times_find(const struct mr_step_times *times, uint32_t process, int64_t ns)
{
	const uint32_t *first = &times->first_of_process[process];
	uint32_t place = mr_find_larger(times->until_ns, first[0], first[1], ns);

	if (place == first[1] || times->model->steps.start_ns[times->order[place]] > ns)
		return MR_NO_ROW;
	return times->order[place];
}
