/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/row.h"

#include <inttypes.h>

#include "analysis/cause/idle_tables.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"
#include "base/error.h"
#include "base/sort.h"
#include "timeline/labels.h"
#include "timeline/words.h"

/* ---- what it is about ------------------------------------------------------------------------------- */

static uint32_t execution_of_operation(const struct mr_model *model, uint32_t operation)
{
	if (operation == MR_NO_ROW)
		return MR_NO_ROW;
	return model->device_operations.execution[operation];
}

/* Of a table that says itself to which execution its rows belong. */
static uint32_t execution_in_column(const struct mr_row *row)
{
	const struct mr_column_desc *desc;
	const uint32_t *executions = NULL;

	if (!mr_sliced[row->table].is_derived)
		executions = mr_sliced_column(mr_sliced_table(row->model, row->table), "execution",
					      &desc);
	return executions ? executions[row->row] : MR_NO_ROW;
}

/* Fills in operation, execution and, where the slices have none, the track. */
static int find_subject(struct mr_row *row)
{
	const struct mr_model *model = row->model;

	switch (row->table) {
	case MR_SLICED_node_executions:
		row->execution = row->row;
		return 0;
	case MR_SLICED_device_operations:
		row->operation = row->row;
		row->execution = execution_of_operation(model, row->row);
		return 0;
	case MR_SLICED_idle: {
		const struct mr_idle *idle = mr_view_idle(row->view);

		if (!idle)
			return -ENOMEM;
		row->operation = idle->pieces.items[row->row].operation;
		row->execution = execution_of_operation(model, row->operation);
		row->track = idle->pieces.items[row->row].thread;
		return 0;
	}
	case MR_SLICED_path: {
		const struct mr_critical_path *path = mr_view_path(row->view);

		if (!path)
			return -ENOMEM;
		row->operation = path->segments.items[row->row].operation;
		row->execution = path->segments.items[row->row].execution;
		row->track = path->segments.items[row->row].track;
		return 0;
	}
	default:
		row->execution = execution_in_column(row);
		return 0;
	}
}

static uint32_t find_group(const struct mr_slices *slices, uint32_t row)
{
	uint32_t low = 0, high = slices->group_count;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (slices->first_of_group[middle] <= row)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The step of the process that has the number, or MR_NO_ROW. */
static uint32_t find_numbered(const struct mr_row *row, uint32_t process, uint32_t number)
{
	const struct mr_step_list *list = &row->view->steps.list;

	for (uint32_t i = 0; i < list->steps.count; i++)
		if (list->steps.items[i].number == number &&
		    row->model->survey->tracks.items[list->steps.items[i].track].process == process)
			return i;
	return MR_NO_ROW;
}

/* An execution may say itself which step it is for; in a pipeline that is not the one that is going on. */
static uint32_t find_step(const struct mr_row *row)
{
	const struct mr_survey *survey = row->model->survey;
	bool is_known = row->execution != MR_NO_ROW && row->view->steps.list.inferences.count == 0;
	uint32_t given = is_known ? row->model->node_executions.step[row->execution] : MR_NO_STEP;

	if (row->table == MR_SLICED_steps)
		return row->row;
	if (given != MR_NO_STEP) {
		uint32_t track = row->model->node_executions.track[row->execution];
		uint32_t step = find_numbered(row, survey->tracks.items[track].process, given);

		if (step != MR_NO_ROW)
			return step;
	}
	if (row->operation != MR_NO_ROW)
		return row->model->device_operations.step_row[row->operation];
	if (row->track == MR_NO_TRACK || survey->tracks.items[row->track].kind != MR_TRACK_THREAD)
		return MR_NO_ROW;
	return mr_step_index_find(&row->view->steps, survey->tracks.items[row->track].process,
				  row->start_ns);
}

int mr_row_find(struct mr_view *view, enum mr_sliced table, uint32_t number, struct mr_row *ret_row)
{
	const struct mr_slices *slices = mr_view_slices(view, table);

	if (!slices)
		return -ENOMEM;
	if (number >= slices->count)
		return mr_fail(ENOENT, "row %u of %s: there are only %u", number,
			       mr_sliced_name(table), slices->count);
	struct mr_row row = {
		.view = view,
		.model = view->model,
		.table = table,
		.row = number,
		.start_ns = slices->start_ns[number],
		.duration_ns = slices->duration_ns[number],
		.group = find_group(slices, number),
		.track = slices->track ? slices->track[number] : MR_NO_TRACK,
		.operation = MR_NO_ROW,
		.execution = MR_NO_ROW,
	};
	int result = find_subject(&row);
	if (result < 0)
		return result;
	row.node =
		row.execution == MR_NO_ROW ? 0 : view->model->node_executions.node[row.execution];
	row.step = find_step(&row);
	*ret_row = row;
	return 0;
}

int mr_row_write_end(struct mr_view *view, struct mr_json *json, const char *key,
		     struct mr_arrow_end end)
{
	const struct mr_slices *slices = mr_view_slices(view, end.table);
	char title[MR_LABEL_BYTES];

	if (!slices)
		return -ENOMEM;
	uint32_t group = find_group(slices, end.row);
	mr_json_begin_object(json, key);
	mr_json_string(json, "table", mr_sliced_name(end.table));
	mr_json_uint(json, "row", end.row);
	mr_json_index(json, "band", mr_band_of(&view->bands, end.table, group), MR_NO_BAND);
	mr_json_uint(json, "lane", mr_detail_lane(slices->detail, group, end.row));
	mr_json_int(json, "time", mr_view_time(view, end.ns));
	mr_json_string(
		json, "title",
		mr_label_text(view, end.table, mr_label_of(view, end.table, end.row), title));
	mr_json_end_object(json);
	return 0;
}

void mr_row_write_step(const struct mr_row *row, struct mr_json *json)
{
	if (row->step == MR_NO_ROW)
		mr_json_null(json, "step");
	else
		mr_json_uint(json, "step", row->view->steps.list.steps.items[row->step].number);
}

/* ---- where it is ------------------------------------------------------------------------------------ */

static const char *device_place(const struct mr_row *row, struct mr_region *region, uint32_t device)
{
	const char *pids = mr_device_pids(row->model, region, device);

	return pids ? mr_region_print(region, "%s of process%s %s",
				      mr_device_name(row->model, device),
				      mr_device_is_shared(row->model, device) ? "es" : "", pids)
		    : NULL;
}

static const char *queue_place(const struct mr_row *row, struct mr_region *region)
{
	const char *queue = mr_track_title(row->model, row->track, region);

	return queue ? mr_region_print(region, "%s of %s of process %u", queue,
				       mr_device_name(row->model,
						      mr_operation_device(row->model, row->row)),
				       mr_operation_pid(row->model, row->row))
		     : NULL;
}

static const char *thread_place(const struct mr_row *row, struct mr_region *region)
{
	const struct mr_model *model = row->model;
	const char *thread = mr_thread_text(model, region, row->track);

	return thread ? mr_region_print(region, "%s of process %u", thread,
					mr_track_pid(model, row->track))
		      : NULL;
}

static const char *place_without_step(const struct mr_row *row, struct mr_region *region)
{
	const struct mr_track *tracks = row->model->survey->tracks.items;

	if (row->table == MR_SLICED_idle)
		return device_place(row, region, row->group);
	if (row->table == MR_SLICED_device_operations)
		return queue_place(row, region);
	if (row->track == MR_NO_TRACK)
		return row->operation == MR_NO_ROW
			       ? ""
			       : device_place(row, region,
					      mr_operation_device(row->model, row->operation));
	switch (tracks[row->track].kind) {
	case MR_TRACK_CPU:
		return mr_region_print(region, "CPU %u", tracks[row->track].cpu);
	case MR_TRACK_QUEUE:
		return device_place(row, region, mr_operation_device(row->model, row->operation));
	default:
		return thread_place(row, region);
	}
}

const char *mr_row_place(const struct mr_row *row, struct mr_region *region)
{
	const char *place = place_without_step(row, region);

	if (!place || row->step == MR_NO_ROW || row->table == MR_SLICED_steps)
		return place;
	return mr_region_print(region, "%s%sstep %" PRIu64, place, *place ? ", " : "",
			       row->view->steps.list.steps.items[row->step].number);
}
