/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/bands.h"

#include "analysis/device_time.h"
#include "timeline/view.h"

/* How active a thread or process is. */
struct activity {
	uint32_t of;        /* track or process */
	int64_t program_ns; /* in what its own threads recorded: operations, scopes, calls */
	int64_t cpu_ns;     /* on a CPU */
	uint32_t first;     /* of a process: where its threads begin, and how many they are */
	uint32_t threads;
};

struct maker {
	const struct mr_view *view;
	struct mr_bands bands;
	struct activity *threads; /* in the order of their groups, process by process */
	struct activity *processes;
	uint32_t thread_count;
	uint32_t process_count;
};

/* ---- bands ---------------------------------------------------------------------------------------- */

static int add_group(struct maker *maker, enum mr_group_kind kind, uint32_t of, uint32_t parent)
{
	return mr_vec_push(&maker->bands.groups,
			   ((struct mr_band_group){
				   .kind = kind,
				   .of = of,
				   .parent = parent,
				   .first_band = (uint32_t)maker->bands.list.count,
			   }));
}

static struct mr_band_group *last_group(struct maker *maker)
{
	return &maker->bands.groups.items[maker->bands.groups.count - 1];
}

/* To the last group. */
static int add_band(struct maker *maker, struct mr_band band)
{
	if (!band.is_series)
		maker->bands.of_slices[band.table][band.group] = (uint32_t)maker->bands.list.count;
	last_group(maker)->band_count++;
	return mr_vec_push(&maker->bands.list, band);
}

/* All slices of a lane as one. */
static bool sum_up(const struct mr_slices *slices, uint32_t group, uint32_t lane,
		   struct mr_detail_pixel *ret_sum)
{
	const struct mr_detail_view all = {group, lane, INT64_MIN, INT64_MAX, 1};

	return mr_detail_query(slices->detail, &all, ret_sum) == 1;
}

/* Nothing, if there are no slices. */
static int add_slices(struct maker *maker, enum mr_sliced table, uint32_t group)
{
	const struct mr_slices *slices = &maker->view->slices[table];
	uint32_t first = slices->first_of_group[group], count = mr_slices_in(slices, group);
	struct mr_detail_pixel sum;

	if (count == 0)
		return 0;
	struct mr_band band = {
		.table = table,
		.group = group,
		.lanes = mr_detail_lanes(slices->detail, group),
		.count = count,
		.first_ns = slices->start_ns[first],
		.last_ns = slices->start_ns[first],
	};
	for (uint32_t lane = 0; lane < band.lanes; lane++)
		if (sum_up(slices, group, lane, &sum))
			band.last_ns = mr_max(band.last_ns, sum.end_ns);
	return add_band(maker, band);
}

/* All tables of the model that such a group shows. */
static int add_tables(struct maker *maker, enum mr_group_kind kind, uint32_t track)
{
	int result = 0;

	for (uint32_t table = 0; result == 0 && table < MR_SLICED_COUNT; table++)
		if (mr_sliced[table].group == kind && !mr_sliced[table].is_derived)
			result = add_slices(maker, table, track);
	return result;
}

/* What it holds is not known yet. */
static int add_unknown(struct maker *maker, enum mr_sliced table, uint32_t group, int64_t first_ns,
		       int64_t last_ns)
{
	return add_band(maker, (struct mr_band){.table = table,
						.group = group,
						.lanes = 1,
						.count = MR_NO_ROW,
						.first_ns = first_ns,
						.last_ns = last_ns});
}

static int add_series(struct maker *maker, uint32_t number)
{
	const struct mr_series *series = &maker->view->series.items.items[number];

	return add_band(maker, (struct mr_band){.is_series = true,
						.group = number,
						.lanes = 1,
						.count = series->count,
						.first_ns = series->first_ns,
						.last_ns = series->last_ns});
}

/* ---- groups of the whole trace -------------------------------------------------------------------- */

static int add_steps(struct maker *maker)
{
	const struct mr_slices *slices = &maker->view->slices[MR_SLICED_steps];
	int result = slices->count ? add_group(maker, MR_GROUP_STEPS, 0, MR_NO_BAND) : 0;

	for (uint32_t group = 0; result == 0 && group < slices->group_count; group++)
		result = add_slices(maker, MR_SLICED_steps, group);
	return result;
}

/* Of a trace with no time in it there is none. */
static int add_path(struct maker *maker)
{
	const struct mr_survey *survey = maker->view->model->survey;

	if (survey->first_ns >= survey->last_ns)
		return 0;
	int result = add_group(maker, MR_GROUP_PATH, 0, MR_NO_BAND);
	return result < 0
		       ? result
		       : add_unknown(maker, MR_SLICED_path, 0, survey->first_ns, survey->last_ns);
}

static int add_device(struct maker *maker, uint32_t device, const uint32_t *queues,
		      uint32_t queue_count)
{
	const struct mr_model *model = maker->view->model;
	struct mr_device_time time;
	int result = mr_device_time_make(model, queues, queue_count, &time);

	if (result == 0)
		result = add_group(maker, MR_GROUP_DEVICE, device, MR_NO_BAND);
	if (result == 0)
		last_group(maker)->busy_ns = time.busy_ns;
	if (result == 0 && time.operation_count)
		result = add_unknown(maker, MR_SLICED_idle, device, time.first_ns, time.end_ns);
	for (uint32_t i = 0; result == 0 && i < queue_count; i++)
		result = add_tables(maker, MR_GROUP_DEVICE,
				    mr_survey_track_of_queue(model->survey, queues[i]));
	return result;
}

static int add_devices(struct maker *maker)
{
	const struct mr_model *model = maker->view->model;
	const struct mr_definitions *definitions = &model->survey->definitions;
	mr_auto(free) uint32_t *queues = calloc(definitions->queues.count + 1, sizeof *queues);
	int result = queues ? 0 : -ENOMEM;

	for (uint32_t device = 0; result == 0 && device < definitions->devices.count; device++) {
		uint32_t count = 0;

		for (uint32_t queue = 1; queue < definitions->queues.count; queue++) {
			const uint32_t *rows = mr_queue_rows(model, queue);
			uint32_t own = definitions->queues.items[queue].device;

			if (mr_device_canonical(model, own) == device && rows[0] < rows[1])
				queues[count++] = queue;
		}
		if (count)
			result = add_device(maker, device, queues, count);
	}
	return result;
}

static int add_memory(struct maker *maker)
{
	const struct mr_series_list *list = &maker->view->series;
	bool has_group = false;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < list->items.count; i++) {
		if (!list->items.items[i].is_memory || list->items.items[i].is_same)
			continue;
		if (!has_group)
			result = add_group(maker, MR_GROUP_MEMORY, 0, MR_NO_BAND);
		has_group = true;
		if (result == 0)
			result = add_series(maker, i);
	}
	return result;
}

static int add_cpus(struct maker *maker)
{
	const struct mr_survey *survey = maker->view->model->survey;
	bool has_slices = false;
	int result = 0;

	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		has_slices |=
			mr_sliced[table].group == MR_GROUP_CPUS && maker->view->slices[table].count;
	if (has_slices)
		result = add_group(maker, MR_GROUP_CPUS, 0, MR_NO_BAND);
	for (uint32_t track = survey->first_cpu_track;
	     result == 0 && has_slices && track < survey->tracks.count; track++)
		result = add_tables(maker, MR_GROUP_CPUS, track);
	return result;
}

/* ---- processes and their threads ------------------------------------------------------------------ */

static int64_t cpu_ns_of(const struct mr_states *states, uint32_t track)
{
	int64_t sum_ns = 0;

	for (uint32_t row = states->table.first_of_track[track];
	     row < states->table.first_of_track[track + 1]; row++)
		if (states->state[row] == MR_STATE_RUN)
			sum_ns += states->duration_ns[row];
	return sum_ns;
}

/* Without what is nested. */
static int64_t time_in_program(const struct maker *maker, uint32_t track)
{
	struct mr_detail_pixel sum;
	int64_t sum_ns = 0;

	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		if (mr_sliced[table].is_of_program &&
		    sum_up(&maker->view->slices[table], track, 0, &sum))
			sum_ns += sum.busy_ns;
	return sum_ns;
}

static bool has_slices(const struct maker *maker, uint32_t track)
{
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		if (mr_sliced[table].group == MR_GROUP_THREAD &&
		    mr_slices_in(&maker->view->slices[table], track))
			return true;
	return false;
}

static int compare(const void *left, const void *right)
{
	const struct activity *a = left, *b = right;

	if (a->program_ns != b->program_ns)
		return a->program_ns < b->program_ns ? 1 : -1;
	if (a->cpu_ns != b->cpu_ns)
		return a->cpu_ns < b->cpu_ns ? 1 : -1;
	return (a->of > b->of) - (a->of < b->of);
}

/* Threads that have slices, in order. */
static void list_threads(struct maker *maker)
{
	const struct mr_model *model = maker->view->model;

	for (uint32_t track = 0; track < model->survey->first_queue_track; track++) {
		struct activity *thread = &maker->threads[maker->thread_count];

		if (!has_slices(maker, track))
			continue;
		*thread = (struct activity){
			.of = track,
			.program_ns = time_in_program(maker, track),
			.cpu_ns = cpu_ns_of(&model->states, track),
		};
		maker->thread_count++;
	}
	qsort(maker->threads, maker->thread_count, sizeof *maker->threads, compare);
}

/* All processes, by activity; threads by process, in the order that they had. */
static int list_processes(struct maker *maker)
{
	const struct mr_track *tracks = maker->view->model->survey->tracks.items;
	mr_auto(free) struct activity *divided = calloc(maker->thread_count + 1, sizeof *divided);
	uint32_t first = 0;

	if (!divided)
		return -ENOMEM;
	for (uint32_t i = 0; i < maker->process_count; i++)
		maker->processes[i].of = i;
	for (uint32_t i = 0; i < maker->thread_count; i++) {
		const struct activity *thread = &maker->threads[i];
		struct activity *process = &maker->processes[tracks[thread->of].process];

		process->program_ns += thread->program_ns;
		process->cpu_ns += thread->cpu_ns;
		process->threads++;
	}
	for (uint32_t i = 0; i < maker->process_count; i++) {
		maker->processes[i].first = first;
		first += maker->processes[i].threads;
		maker->processes[i].threads = 0;
	}
	for (uint32_t i = 0; i < maker->thread_count; i++) {
		struct activity *process = &maker->processes[tracks[maker->threads[i].of].process];

		divided[process->first + process->threads++] = maker->threads[i];
	}
	free(maker->threads);
	maker->threads = mr_take(divided);
	qsort(maker->processes, maker->process_count, sizeof *maker->processes, compare);
	return 0;
}

static int add_thread(struct maker *maker, const struct activity *thread, uint32_t parent)
{
	bool has_states = mr_slices_in(&maker->view->slices[MR_SLICED_states], thread->of);
	int result = add_group(maker, MR_GROUP_THREAD, thread->of, parent);

	if (result < 0)
		return result;
	last_group(maker)->busy_ns = has_states ? thread->cpu_ns : thread->program_ns;
	maker->bands.groups.items[parent].busy_ns += last_group(maker)->busy_ns;
	return add_tables(maker, MR_GROUP_THREAD, thread->of);
}

static int add_counters(struct maker *maker, uint32_t process, uint32_t parent)
{
	const struct mr_series_list *list = &maker->view->series;
	bool has_group = false;
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < list->items.count; i++) {
		if (list->items.items[i].is_memory || list->items.items[i].process != process)
			continue;
		if (!has_group)
			result = add_group(maker, MR_GROUP_COUNTERS, process, parent);
		has_group = true;
		if (result == 0)
			result = add_series(maker, i);
	}
	return result;
}

static bool has_counters(const struct maker *maker, uint32_t process)
{
	const struct mr_series_list *list = &maker->view->series;

	for (size_t i = 0; i < list->items.count; i++)
		if (!list->items.items[i].is_memory && list->items.items[i].process == process)
			return true;
	return false;
}

static int add_process(struct maker *maker, const struct activity *process)
{
	uint32_t group = (uint32_t)maker->bands.groups.count;

	if (process->threads == 0 && !has_counters(maker, process->of))
		return 0;
	int result = add_group(maker, MR_GROUP_PROCESS, process->of, MR_NO_BAND);
	if (result == 0)
		result = add_counters(maker, process->of, group);
	for (uint32_t i = 0; result == 0 && i < process->threads; i++)
		result = add_thread(maker, &maker->threads[process->first + i], group);
	return result;
}

static int add_processes(struct maker *maker)
{
	const struct mr_survey *survey = maker->view->model->survey;
	int result;

	maker->process_count = (uint32_t)survey->processes.count;
	maker->threads = calloc((size_t)survey->first_queue_track + 1, sizeof *maker->threads);
	maker->processes = calloc((size_t)maker->process_count + 1, sizeof *maker->processes);
	if (!maker->threads || !maker->processes)
		return -ENOMEM;
	list_threads(maker);
	result = list_processes(maker);
	for (uint32_t i = 0; result == 0 && i < maker->process_count; i++)
		result = add_process(maker, &maker->processes[i]);
	return result;
}

/* ---- together ------------------------------------------------------------------------------------- */

/* Slices of the idle time and the critical path are not there yet. */
static uint32_t count_groups(const struct mr_view *view, enum mr_sliced table)
{
	switch (table) {
	case MR_SLICED_idle:
		return (uint32_t)view->model->survey->definitions.devices.count;
	case MR_SLICED_path:
		return 1;
	default:
		return view->slices[table].group_count;
	}
}

static int start_lookup(struct maker *maker)
{
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++) {
		uint32_t count = count_groups(maker->view, table);
		uint32_t *bands = malloc(((size_t)count + 1) * sizeof *bands);

		if (!bands)
			return -ENOMEM;
		for (uint32_t group = 0; group < count; group++)
			bands[group] = MR_NO_BAND;
		maker->bands.of_slices[table] = bands;
	}
	return 0;
}

int mr_bands_make(const struct mr_view *view, struct mr_bands *ret_bands)
{
	static int (*const parts[])(struct maker *) = {start_lookup, add_steps,     add_path,
						       add_devices,  add_processes, add_memory,
						       add_cpus};
	struct maker maker = {.view = view};
	int result = 0;

	for (size_t i = 0; result == 0 && i < mr_countof(parts); i++)
		result = parts[i](&maker);
	free(maker.threads);
	free(maker.processes);
	if (result == 0)
		*ret_bands = maker.bands;
	else
		mr_bands_free(&maker.bands);
	return result;
}

void mr_bands_free(struct mr_bands *bands)
{
	mr_vec_free(&bands->list);
	mr_vec_free(&bands->groups);
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		free(bands->of_slices[table]);
}
