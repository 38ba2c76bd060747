/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/slices.h"

static int add_detail(struct mr_slices *slices)
{
	const struct mr_detail_rows rows = {slices->start_ns, slices->duration_ns,
					    slices->first_of_group, slices->group_count};

	int result = mr_detail_build(&rows, &slices->own_detail);

	slices->detail = slices->own_detail;
	return result;
}

/* ---- tables of the model -------------------------------------------------------------------------- */

/* NULL if the table has no such column. */
static const void *column(const struct mr_table *table, const char *name)
{
	const struct mr_column_desc *desc;

	return mr_sliced_column(table, name, &desc);
}

int mr_slices_of_model(const struct mr_model *model, enum mr_sliced table,
		       struct mr_slices *ret_slices)
{
	const struct mr_table *of = mr_sliced_table(model, table);
	struct mr_slices slices = {
		.track = column(of, "track"),
		.start_ns = column(of, "start_ns"),
		.duration_ns = column(of, "duration_ns"),
		.self_ns = column(of, "self_ns"),
		.flags = column(of, "flags"),
		.first_of_group = of->first_of_track,
		.group_count = (uint32_t)model->survey->tracks.count,
		.count = of->count,
		.detail = of->detail,
	};

	if (slices.self_ns)
		slices.parent = column(of, "parent");
	if (mr_sliced[table].label)
		slices.label = mr_sliced_column(of, mr_sliced[table].label, &slices.label_desc);
	if (!slices.detail && add_detail(&slices) < 0)
		return -ENOMEM;
	*ret_slices = slices;
	return 0;
}

/* ---- derived tables ------------------------------------------------------------------------------- */

/* Columns that are filled in by whoever derives the table. */
struct columns {
	int64_t *start_ns;
	int64_t *duration_ns;
	uint32_t *first_of_group;
	uint32_t *track;
};

/* In one piece of memory; first_of_group is zeroed. */
static int start_columns(size_t count, uint32_t group_count, struct columns *columns,
			 struct mr_slices *slices)
{
	size_t times = count * sizeof *columns->start_ns;
	size_t groups = ((size_t)group_count + 1) * sizeof *columns->first_of_group;
	uint8_t *memory = calloc(1, 2 * times + count * sizeof *columns->track + groups);

	if (!memory)
		return -ENOMEM;
	*columns = (struct columns){(void *)memory, (void *)(memory + times),
				    (void *)(memory + 2 * times),
				    (void *)(memory + 2 * times + groups)};
	*slices = (struct mr_slices){
		.start_ns = columns->start_ns,
		.duration_ns = columns->duration_ns,
		.first_of_group = columns->first_of_group,
		.group_count = group_count,
		.count = (uint32_t)count,
		.own_columns = memory,
	};
	return 0;
}

/* first_of_group[g + 1] holds how many rows the group g has. */
static int finish(struct mr_slices *slices, uint32_t *first_of_group, struct mr_slices *ret_slices)
{
	for (uint32_t group = 0; group < slices->group_count; group++)
		first_of_group[group + 1] += first_of_group[group];
	if (add_detail(slices) < 0) {
		free(slices->own_columns);
		return -ENOMEM;
	}
	*ret_slices = *slices;
	return 0;
}

/* Pieces stand by device, though the list of devices does not. */
int mr_slices_of_idle(const struct mr_model *model, const struct mr_idle *idle,
		      struct mr_slices *ret_slices)
{
	struct columns columns;
	struct mr_slices slices;
	uint32_t device_count = (uint32_t)model->survey->definitions.devices.count;

	if (start_columns(idle->pieces.count, device_count, &columns, &slices) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < idle->pieces.count; i++) {
		columns.start_ns[i] = idle->pieces.items[i].start_ns;
		columns.duration_ns[i] = idle->pieces.items[i].duration_ns;
	}
	for (size_t i = 0; i < idle->devices.count; i++)
		columns.first_of_group[idle->devices.items[i].device + 1] =
			idle->devices.items[i].piece_count;
	return finish(&slices, columns.first_of_group, ret_slices);
}

int mr_slices_of_path(const struct mr_critical_path *path, struct mr_slices *ret_slices)
{
	struct columns columns;
	struct mr_slices slices;

	if (start_columns(path->segments.count, 1, &columns, &slices) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < path->segments.count; i++) {
		columns.start_ns[i] = path->segments.items[i].start_ns;
		columns.duration_ns[i] = path->segments.items[i].duration_ns;
	}
	columns.first_of_group[1] = slices.count;
	return finish(&slices, columns.first_of_group, ret_slices);
}

int mr_slices_of_steps(const struct mr_model *model, const struct mr_step_list *list,
		       struct mr_slices *ret_slices)
{
	struct columns columns;
	struct mr_slices slices;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;

	if (start_columns(list->steps.count, track_count, &columns, &slices) < 0)
		return -ENOMEM;
	slices.track = columns.track;
	for (size_t i = 0; i < list->steps.count; i++) {
		const struct mr_step *step = &list->steps.items[i];

		columns.start_ns[i] = step->start_ns;
		columns.duration_ns[i] = step->duration_ns;
		columns.track[i] = step->track;
		columns.first_of_group[step->track + 1]++;
	}
	return finish(&slices, columns.first_of_group, ret_slices);
}

void mr_slices_free(struct mr_slices *slices)
{
	mr_detail_free(slices->own_detail);
	free(slices->own_columns);
	*slices = (struct mr_slices){0};
}
