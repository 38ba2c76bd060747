/* SPDX-License-Identifier: Apache-2.0 */
#include "load/step_range.h"

#include "base/sort.h"
#include "schema/step_range.h"

static uint32_t process_of(const struct mr_model *model, uint32_t scope)
{
	return model->survey->tracks.items[model->scopes.track[scope]].process;
}

/* What is counted: the steps of a process, or of a thread. */
struct counter {
	int64_t until_ns; /* when the last one ended */
	uint64_t count;
	bool overlaps;
};

/* Rows of scopes of the name, in order of time. */
static uint32_t list_scopes(const struct mr_model *model, struct mr_sort_item *items)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint32_t count = 0;

	for (uint32_t row = 0; row < scopes->table.count; row++)
		if (mr_step_range_has(model->manifest->step_range,
				      mr_model_text(model, scopes->name[row])))
			items[count++] =
				(struct mr_sort_item){mr_sort_key(scopes->start_ns[row]), row};
	mr_sort(items, items + scopes->table.count, count);
	return count;
}

static void find_overlaps(const struct mr_model *model, const struct mr_sort_item *items,
			  uint32_t count, struct counter *of_process)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = items[i].index;
		struct counter *counter = &of_process[process_of(model, row)];

		counter->overlaps |=
			counter->until_ns && model->scopes.start_ns[row] < counter->until_ns;
		counter->until_ns =
			mr_max(counter->until_ns,
			       model->scopes.start_ns[row] + model->scopes.duration_ns[row]);
	}
}

static int add_steps(struct mr_model *model, const struct mr_sort_item *items, uint32_t count,
		     struct counter *of_process, struct counter *of_track)
{
	const struct mr_scopes *scopes = &model->scopes;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < count; i++) {
		uint32_t row = items[i].index;
		struct counter *counter = &of_process[process_of(model, row)];

		if (counter->overlaps)
			counter = &of_track[scopes->track[row]];
		result = mr_steps_append(
			&model->steps,
			(struct mr_steps_row){.track = scopes->track[row],
					      .start_ns = scopes->start_ns[row],
					      .duration_ns = scopes->duration_ns[row],
					      .step = model->manifest->first_step +
						      counter->count++,
					      .device_start_ns = MR_NO_TIME,
					      .device_end_ns = MR_NO_TIME,
					      .site = scopes->site[row],
					      .flags = scopes->flags[row] & MR_ROW_UNFINISHED});
	}
	return result;
}

int mr_steps_choose_range(struct mr_model *model)
{
	size_t room = model->scopes.table.count;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;

	if (!model->manifest->step_range)
		return 0;
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	mr_auto(free) struct counter *of_process =
		calloc(model->survey->processes.count + 1, sizeof *of_process);
	mr_auto(free) struct counter *of_track = calloc(track_count + 1, sizeof *of_track);
	if (!items || !of_process || !of_track)
		return -ENOMEM;
	uint32_t count = list_scopes(model, items);
	find_overlaps(model, items, count, of_process);
	model->steps.table.count = 0;
	model->calls_marked.count = model->calls_marked.outside = 0;
	int result = add_steps(model, items, count, of_process, of_track);
	return result < 0 ? result : mr_table_sort(&model->steps.table, track_count);
}
