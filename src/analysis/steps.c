/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/steps.h"

#include "base/sort.h"

static int list_steps(const struct mr_model *model, const bool *processes,
		      struct mr_step_list *list)
{
	const struct mr_steps *steps = &model->steps;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < steps->table.count; row++) {
		const struct mr_step step = {
			.number = steps->step[row],
			.track = steps->track[row],
			.start_ns = steps->start_ns[row],
			.duration_ns = steps->duration_ns[row],
			.function = steps->function[row],
			.origin = steps->origin[row],
			.device_start_ns = steps->device_start_ns[row],
			.device_end_ns = steps->device_end_ns[row],
		};

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

/* ---- as they go on -------------------------------------------------------------------------------- */

enum {
	FEWEST_STEPS = 4,
	WARM_UP_FACTOR = 3, /* a step that is so many times as long as the median */
	WARM_UP_SHARE = 4,  /* at most one of so many steps */
};

/* From one step to the next: what lies between two belongs to the first. */
static int64_t period_ns(const struct mr_step *steps, size_t count, size_t i)
{
	return i + 1 < count ? steps[i + 1].start_ns - steps[i].start_ns : steps[i].duration_ns;
}

static int median_period(const struct mr_step *steps, size_t count, int64_t *ret_ns)
{
	mr_auto(free) struct mr_sort_item *items = malloc(2 * count * sizeof *items);

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		items[i] = (struct mr_sort_item){mr_sort_key(period_ns(steps, count, i)), i};
	mr_sort(items, items + count, count);
	*ret_ns = period_ns(steps, count, items[(count - 1) / 2].index);
	return 0;
}

/* The steps of one thread. */
static int add_steady(const struct mr_step *steps, size_t count, struct mr_steady *steady)
{
	int64_t median_ns;
	size_t warm_up = 0;

	if (median_period(steps, count, &median_ns) < 0)
		return -ENOMEM;
	while (warm_up < count / WARM_UP_SHARE &&
	       period_ns(steps, count, warm_up) / WARM_UP_FACTOR > median_ns) {
		steady->warm_up_ns += period_ns(steps, count, warm_up) - median_ns;
		warm_up++;
	}
	const struct mr_step *last = &steps[count - 1];
	steady->count += (uint32_t)(count - warm_up);
	steady->warm_up_count += (uint32_t)warm_up;
	steady->window.first_ns = mr_min(steady->window.first_ns, steps[warm_up].start_ns);
	steady->window.last_ns = mr_max(steady->window.last_ns, last->start_ns + last->duration_ns);
	return 0;
}

/* When a device ended the last of what these steps launched. */
static int64_t find_device_end(const struct mr_model *model, struct mr_window window)
{
	const struct mr_device_operations *operations = &model->device_operations;
	int64_t end_ns = window.last_ns;

	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t step = operations->step_row[row];

		if (step != MR_NO_ROW && model->steps.start_ns[step] >= window.first_ns &&
		    model->steps.start_ns[step] < window.last_ns)
			end_ns = mr_max(end_ns, mr_operation_end_ns(model, row));
	}
	return end_ns;
}

int mr_steps_steady(const struct mr_model *model, const struct mr_step_list *list,
		    struct mr_steady *ret_steady)
{
	struct mr_steady steady = {.window = {INT64_MAX, INT64_MIN}};
	const struct mr_step *steps = list->steps.items;

	for (size_t i = 0, next; i < list->steps.count; i = next) {
		for (next = i + 1; next < list->steps.count && steps[next].track == steps[i].track;
		     next++)
			;
		if (next - i >= FEWEST_STEPS && add_steady(steps + i, next - i, &steady) < 0)
			return -ENOMEM;
	}
	if (steady.window.first_ns >= steady.window.last_ns)
		return 0;
	steady.window.last_ns = find_device_end(model, steady.window);
	*ret_steady = steady;
	return 1;
}
