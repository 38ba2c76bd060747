/* SPDX-License-Identifier: Apache-2.0 */
#include "load/runtime_reports.h"

/* ---- events to rows ------------------------------------------------------------------------------- */

static const struct mr_clock_map *clock_of(const struct mr_loader *loader, uint32_t id)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t clock = mr_definition_find_clock(&survey->definitions, loader->process, id);

	return mr_clocks_find(survey->clocks, clock);
}

/* False, and counted, if the times have no place on the trace's clock. */
static bool place(struct mr_loader *loader, uint32_t clock, uint64_t start, uint64_t end,
		  struct mr_span *ret_span)
{
	const struct mr_clock_map *map = clock_of(loader, clock);

	if (!map || !start || !end) {
		loader->model->anomalies.unplaced++;
		return false;
	}
	*ret_span = mr_loader_span(loader, mr_clock_to_ns(map, start), mr_clock_to_ns(map, end));
	return true;
}

static int add_synchronisation(struct mr_loader *loader,
			       const struct mr_event_runtime_synchronisation *done)
{
	struct mr_span span;

	if (!place(loader, done->clock, done->start, done->end, &span))
		return 0;
	return mr_synchronisations_append(
		&loader->model->synchronisations,
		(struct mr_synchronisations_row){
			.track = loader->track,
			.start_ns = span.start_ns,
			.duration_ns = span.duration_ns,
			.kind = done->kind,
			.queue = mr_loader_find(loader, MR_ID_queue, done->queue),
			.event = done->event,
			.correlation = done->correlation,
			.call = MR_NO_ROW});
}

static int add_overhead(struct mr_loader *loader, const struct mr_event_runtime_overhead *done)
{
	const struct mr_survey *survey = loader->model->survey;
	const struct mr_packet_context thread = {
		.process = survey->processes.items[loader->process].number, .tid = done->tid};
	uint32_t process, track = MR_NO_TRACK;
	struct mr_span span;

	if (!place(loader, done->clock, done->start, done->end, &span))
		return 0;
	if (done->tid)
		mr_survey_find(survey, &thread, &process, &track);
	return mr_overheads_append(
		&loader->model->overheads,
		(struct mr_overheads_row){.track = track == MR_NO_TRACK ? loader->track : track,
					  .start_ns = span.start_ns,
					  .duration_ns = span.duration_ns,
					  .name = mr_loader_find(loader, MR_ID_string, done->name),
					  .is_own = track != MR_NO_TRACK,
					  .correlation = done->correlation,
					  .call = MR_NO_ROW});
}

static int add_external(struct mr_loader *loader, const struct mr_event *event)
{
	const struct mr_event_runtime_external *given = event->payload;

	return mr_external_numbers_append(
		&loader->model->external_numbers,
		(struct mr_external_numbers_row){.track = loader->track,
						 .start_ns = mr_loader_to_ns(loader, event->ticks),
						 .number = given->number,
						 .kind = given->kind,
						 .correlation = given->correlation,
						 .call = MR_NO_ROW});
}

static int note_memory(struct mr_loader *loader, const struct mr_event_runtime_memory *memory)
{
	const struct mr_clock_map *clock = clock_of(loader, memory->clock);

	const struct mr_memory_report report = {
		.correlation = memory->correlation,
		.address = memory->object,
		.bytes = memory->bytes,
		.pool = memory->pool,
		.ns = clock && memory->time ? mr_clock_to_ns(clock, memory->time) : MR_NO_TIME,
		.process = loader->process,
		.track = loader->track,
		.device = mr_loader_find(loader, MR_ID_device, memory->device),
		.kind = memory->kind,
		.is_free = memory->is_free != 0};

	return mr_vec_push(&loader->memory_reports, report);
}

int mr_runtime_add_report(struct mr_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_runtime_synchronisation:
		return add_synchronisation(loader, event->payload);
	case MR_EVENT_runtime_overhead:
		return add_overhead(loader, event->payload);
	case MR_EVENT_runtime_external:
		return add_external(loader, event);
	case MR_EVENT_runtime_memory:
		return note_memory(loader, event->payload);
	}
	return 0;
}

/* ---- joining ---------------------------------------------------------------------------------------- */

static uint32_t process_of(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].process;
}

static void link_calls(struct mr_model *model, const struct mr_call_index *index)
{
	const struct mr_synchronisations *waits = &model->synchronisations;
	const struct mr_overheads *overheads = &model->overheads;
	const struct mr_external_numbers *numbers = &model->external_numbers;
	uint32_t hint = 0;

	for (uint32_t row = 0; row < waits->table.count; row++) {
		uint32_t call = mr_call_find(index, process_of(model, waits->track[row]),
					     waits->correlation[row], &hint);

		waits->call[row] = call;
		if (call != MR_NO_ROW)
			waits->track[row] = model->calls.track[call];
	}
	for (uint32_t row = 0; row < overheads->table.count; row++) {
		uint32_t call = mr_call_find(index, process_of(model, overheads->track[row]),
					     overheads->correlation[row], &hint);

		overheads->call[row] = call;
		if (call != MR_NO_ROW && !overheads->is_own[row]) {
			overheads->track[row] = model->calls.track[call];
			overheads->is_own[row] = 1;
		}
	}
	for (uint32_t row = 0; row < numbers->table.count; row++)
		numbers->call[row] = mr_call_find(index, process_of(model, numbers->track[row]),
						  numbers->correlation[row], &hint);
}

/* Rows of memory that calls tell of, by process, address and time. */
struct told {
	struct mr_sort_item *items;
	uint32_t count;
};

static int told_make(const struct mr_model *model, struct told *told)
{
	const struct mr_memory *memory = &model->memory;
	size_t room = (size_t)memory->table.count + 1;
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);

	told->items = malloc(room * sizeof *told->items);
	if (!scratch || !told->items)
		return -ENOMEM;
	for (uint32_t row = 0; row < memory->table.count; row++)
		if (memory->teller[row] == MR_MEMORY_RUNTIME)
			told->items[told->count++] =
				(struct mr_sort_item){mr_sort_key(memory->start_ns[row]), row};
	mr_sort(told->items, scratch, told->count);
	for (uint32_t i = 0; i < told->count; i++)
		told->items[i].key = memory->address[told->items[i].index];
	mr_sort(told->items, scratch, told->count);
	for (uint32_t i = 0; i < told->count; i++)
		told->items[i].key = process_of(model, memory->track[told->items[i].index]);
	mr_sort(told->items, scratch, told->count);
	return 0;
}

/* Does the row come before that process, address and time? */
static bool is_before(const struct mr_model *model, uint32_t row,
		      const struct mr_memory_report *report, int64_t ns)
{
	const struct mr_memory *memory = &model->memory;
	uint32_t process = process_of(model, memory->track[row]);

	if (process != report->process)
		return process < report->process;
	if (memory->address[row] != report->address)
		return memory->address[row] < report->address;
	return memory->start_ns[row] < ns;
}

/* The row that the call made; if the call is not known, any of that address: then it is told already. MR_NO_ROW: none. */
static uint32_t find_told(const struct mr_model *model, const struct told *told,
			  const struct mr_memory_report *report, uint32_t call)
{
	const struct mr_memory *memory = &model->memory;
	const struct mr_calls *calls = &model->calls;
	bool is_known = call != MR_NO_ROW;
	int64_t from_ns = is_known ? calls->start_ns[call] : INT64_MIN;
	int64_t to_ns = is_known ? from_ns + calls->duration_ns[call] : INT64_MAX;
	uint32_t low = 0, high = told->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (is_before(model, told->items[middle].index, report, from_ns))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < told->count; low++) {
		uint32_t row = told->items[low].index;

		if (memory->address[row] != report->address ||
		    process_of(model, memory->track[row]) != report->process ||
		    memory->start_ns[row] > to_ns)
			break;
		if ((memory->is_free[row] != 0) == report->is_free &&
		    (!is_known || memory->track[row] == calls->track[call]))
			return row;
	}
	return MR_NO_ROW;
}

static int add_memory(struct mr_model *model, const struct mr_memory_report *report, uint32_t call)
{
	const struct mr_calls *calls = &model->calls;
	bool is_known = call != MR_NO_ROW;

	if (!is_known && report->ns == MR_NO_TIME) {
		model->anomalies.unplaced++;
		return 0;
	}
	return mr_memory_append(
		&model->memory,
		(struct mr_memory_row){.track = is_known ? calls->track[call] : report->track,
				       .start_ns = is_known ? calls->start_ns[call] : report->ns,
				       .device = report->device,
				       .allocator = is_known ? calls->function[call] : 0,
				       .address = report->address,
				       .bytes = report->is_free ? 0 : report->bytes,
				       .kind = report->kind,
				       .pool = report->pool,
				       .site = is_known ? calls->site[call] : 0,
				       .teller = MR_MEMORY_RUNTIME,
				       .is_free = report->is_free});
}

static int join_memory(struct mr_loader *loader, const struct mr_call_index *index,
		       const struct told *told)
{
	struct mr_model *model = loader->model;
	uint32_t hint = 0;
	int result = 0;

	for (size_t i = 0; result == 0 && i < loader->memory_reports.count; i++) {
		const struct mr_memory_report *report = &loader->memory_reports.items[i];
		uint32_t call = mr_call_find(index, report->process, report->correlation, &hint);
		uint32_t row = find_told(model, told, report, call);

		if (row == MR_NO_ROW) {
			result = add_memory(model, report, call);
		} else if (call != MR_NO_ROW) {
			model->memory.kind[row] = report->kind;
			model->memory.pool[row] = report->pool;
		}
	}
	return result;
}

int mr_runtime_join_reports(struct mr_loader *loader, const struct mr_call_index *index)
{
	struct told told = {0};
	int result = 0;

	link_calls(loader->model, index);
	if (loader->memory_reports.count > 0) {
		result = told_make(loader->model, &told);
		if (result == 0)
			result = join_memory(loader, index, &told);
	}
	free(told.items);
	return result;
}
