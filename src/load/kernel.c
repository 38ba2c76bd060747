/* SPDX-License-Identifier: Apache-2.0 */
#include "load/kernel.h"

#include "load/task_finder.h"

/* Who has a CPU. */
struct occupant {
	uint32_t tid; /* MR_NO_TID: not known */
	int64_t since_ns;
	int64_t known_ns; /* when it was last seen there */
};

struct kernel_loader {
	struct mr_model *model;
	struct mr_states_maker states;
	struct mr_task_finder finder;
	struct occupant *occupants; /* by CPU, in the order of their tracks */
	uint32_t process;           /* the recorder, which has defined files and texts */
	uint32_t cpu;
	uint32_t cpu_track;
	struct occupant *occupant; /* of the CPU */
	int64_t ns;
};

static uint32_t find(const struct kernel_loader *loader, enum mr_id_kind kind, uint32_t id)
{
	return mr_definition_find(&loader->model->survey->definitions, loader->process, kind, id);
}

/* ---- CPUs --------------------------------------------------------------------------------------- */

static struct mr_place here(const struct kernel_loader *loader)
{
	return (struct mr_place){loader->cpu, loader->ns, loader->occupant->known_ns};
}

/* Of threads that do not matter many may have come and gone unseen: then the one that came is not the one
 * that leaves. */
static int add_run(struct kernel_loader *loader)
{
	const struct occupant *occupant = loader->occupant;
	int64_t begin_ns = occupant->since_ns, end_ns = loader->ns;
	uint8_t why;

	if (occupant->tid == MR_NO_TID || begin_ns >= end_ns ||
	    mr_gaps_find(&loader->states.gaps, loader->cpu, &begin_ns, &end_ns, &why))
		return 0;
	return mr_cpu_runs_append(
		&loader->model->cpu_runs,
		(struct mr_cpu_runs_row){
			.track = loader->cpu_track,
			.start_ns = occupant->since_ns,
			.duration_ns = loader->ns - occupant->since_ns,
			.tid = occupant->tid,
			.thread = mr_task_track_now(&loader->finder, occupant->tid)});
}

/* Another thread is found on the CPU than the one that was thought to have it, unless it is the same
 * one that has got another tid. */
static int replace_occupant(struct kernel_loader *loader, uint32_t tid)
{
	uint32_t task = mr_task_now(&loader->finder, loader->occupant->tid);
	int result = 0;

	if (task != MR_NO_TASK && task != mr_task_now(&loader->finder, tid))
		result = mr_states_miss(&loader->states, task, here(loader));

	*loader->occupant = (struct occupant){tid, loader->ns, loader->ns};
	return result;
}

/* The thread has done something here, so it has the CPU. */
static int note_sign(struct kernel_loader *loader, uint32_t tid)
{
	uint32_t task = mr_task_now(&loader->finder, tid);
	struct mr_place place = here(loader);
	int result = 0;

	if (mr_unlikely(loader->occupant->tid != tid))
		result = replace_occupant(loader, tid);
	loader->occupant->known_ns = loader->ns;
	return result < 0 || task == MR_NO_TASK ? result
						: mr_states_see(&loader->states, task, place);
}

static int add_switch(struct kernel_loader *loader, const struct mr_event_kernel_switch *event)
{
	uint32_t previous = mr_task_now(&loader->finder, event->previous_tid);
	uint32_t next = mr_task_now(&loader->finder, event->next_tid);
	struct mr_place place = here(loader);
	/* Before the states: a thread that exits here has its track for the last time. */
	int result = loader->occupant->tid == event->previous_tid
			     ? add_run(loader)
			     : replace_occupant(loader, event->previous_tid);

	if (result == 0 && previous != MR_NO_TASK)
		result = mr_states_stop(&loader->states, previous, place, event);
	if (result == 0 && next != MR_NO_TASK)
		result = mr_states_run(&loader->states, next, place);
	*loader->occupant = (struct occupant){event->next_tid, loader->ns, loader->ns};
	return result;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static int add_waking(struct kernel_loader *loader, const struct mr_event_kernel_waking *event)
{
	uint32_t task = mr_task_now(&loader->finder, event->tid);

	if (task == MR_NO_TASK || mr_states_is_over(&loader->states, task))
		return 0;
	int result = mr_wakeups_append(
		&loader->model->wakeups,
		(struct mr_wakeups_row){
			.track = loader->model->survey->tasks.list.items[task].track,
			.start_ns = loader->ns,
			.waker_tid = event->waker_tid,
			.waker = mr_task_track_now(&loader->finder, event->waker_tid),
			.source = find(loader, MR_ID_string, event->source),
			.context = event->context});
	if (result == 0)
		result = note_sign(loader, event->waker_tid);
	return result < 0 ? result : mr_states_wake(&loader->states, task, loader->ns);
}

static int add_migration(struct kernel_loader *loader, const struct mr_event_kernel_migrate *event)
{
	uint32_t task = mr_task_now(&loader->finder, event->tid);

	if (task == MR_NO_TASK)
		return 0;
	int result = mr_migrations_append(
		&loader->model->migrations,
		(struct mr_migrations_row){
			.track = loader->model->survey->tasks.list.items[task].track,
			.start_ns = loader->ns,
			.from_cpu = event->from_cpu,
			.to_cpu = event->to_cpu});
	return result < 0 ? result
			  : mr_states_migrate(&loader->states, task, event->from_cpu, loader->ns);
}

static int add_signal(struct kernel_loader *loader, const struct mr_event_kernel_signal *event)
{
	uint32_t track = mr_task_track_now(&loader->finder, event->tid);

	if (track == MR_NO_TRACK)
		return 0;
	return mr_signals_append(
		&loader->model->signals,
		(struct mr_signals_row){
			.track = track,
			.start_ns = loader->ns,
			.sender_tid = event->sender_tid,
			.sender = mr_task_track_now(&loader->finder, event->sender_tid),
			.signal = event->signal,
			.stage = event->stage});
}

/* ---- intervals that end now --------------------------------------------------------------------- */

/* Sets track, start and duration of a row; false where the thread is not traced. */
static bool place(struct kernel_loader *loader, uint32_t tid, uint64_t duration_ns,
		  uint32_t *ret_track, int64_t *ret_start_ns, int64_t *ret_duration_ns)
{
	if (mr_unlikely(duration_ns > (uint64_t)loader->ns)) {
		loader->model->anomalies.backwards++;
		duration_ns = 0;
	}
	*ret_duration_ns = (int64_t)duration_ns;
	*ret_start_ns = loader->ns - (int64_t)duration_ns;
	*ret_track = mr_task_track_since(&loader->finder, tid, *ret_start_ns);
	return *ret_track != MR_NO_TRACK;
}

static int add_call(struct kernel_loader *loader, uint32_t tid, uint64_t duration_ns,
		    struct mr_system_calls_row row)
{
	row.file = find(loader, MR_ID_file, row.file);
	if (!(row.flags & MR_ROW_UNFINISHED) && note_sign(loader, tid) < 0)
		return -ENOMEM;
	if (!place(loader, tid, duration_ns, &row.track, &row.start_ns, &row.duration_ns))
		return 0;
	return mr_system_calls_append(&loader->model->system_calls, row);
}

static int add_system_call(struct kernel_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_kernel_syscall: {
		const struct mr_event_kernel_syscall *call = event->payload;

		return add_call(loader, call->tid, mr_u48_value(call->duration_ns),
				(struct mr_system_calls_row){.number = call->number,
							     .file = call->file,
							     .result = call->result});
	}
	case MR_EVENT_kernel_syscall_argument: {
		const struct mr_event_kernel_syscall_argument *call = event->payload;

		return add_call(loader, call->tid, mr_u48_value(call->duration_ns),
				(struct mr_system_calls_row){.number = call->number,
							     .argument = call->argument,
							     .operation = call->operation,
							     .result = call->result});
	}
	case MR_EVENT_kernel_syscall_wide: {
		const struct mr_event_kernel_syscall_wide *call = event->payload;

		return add_call(loader, call->tid, call->duration_ns,
				(struct mr_system_calls_row){.number = call->number,
							     .file = call->file,
							     .argument = call->argument,
							     .operation = call->operation,
							     .result = call->result});
	}
	default: {
		const struct mr_event_kernel_syscall_unfinished *call = event->payload;

		return add_call(loader, call->tid, call->duration_ns,
				(struct mr_system_calls_row){.number = call->number,
							     .file = call->file,
							     .argument = call->argument,
							     .operation = call->operation,
							     .flags = MR_ROW_UNFINISHED});
	}
	}
}

static void note_blocked_call(struct kernel_loader *loader,
			      const struct mr_event_kernel_blocked_call *call)
{
	uint32_t task = mr_task_now(&loader->finder, call->tid);

	if (task != MR_NO_TASK)
		mr_states_block_in(
			&loader->states, task,
			(struct mr_system_calls_row){.number = call->number,
						     .file = find(loader, MR_ID_file, call->file),
						     .argument = call->argument,
						     .operation = call->operation});
}

static int add_block_io(struct kernel_loader *loader, const struct mr_event_kernel_block_io *event)
{
	struct mr_block_io_row row = {.queue_ns = (int64_t)mr_u48_value(event->queue_ns),
				      .sector = event->sector,
				      .device = event->device,
				      .bytes = event->bytes,
				      .error = 0u - (uint32_t)event->error,
				      .operation = event->operation};
	uint64_t service_ns = mr_u48_value(event->service_ns);

	if (!place(loader, event->tid, (uint64_t)row.queue_ns + service_ns, &row.track,
		   &row.start_ns, &row.duration_ns))
		return 0;
	row.queue_ns = mr_min(row.queue_ns, row.duration_ns);
	return mr_block_io_append(&loader->model->block_io, row);
}

static int add_fault(struct kernel_loader *loader, const struct mr_event_kernel_major_fault *event)
{
	struct mr_major_faults_row row = {.address = event->address};

	if (!place(loader, event->tid, mr_u48_value(event->duration_ns), &row.track, &row.start_ns,
		   &row.duration_ns))
		return 0;
	return mr_major_faults_append(&loader->model->major_faults, row);
}

static int add_interrupt(struct kernel_loader *loader,
			 const struct mr_event_kernel_interrupt *event)
{
	struct mr_interrupts_row row = {.number = event->number, .kind = event->kind};

	if (note_sign(loader, event->tid) < 0)
		return -ENOMEM;
	if (!place(loader, event->tid, mr_u48_value(event->duration_ns), &row.track, &row.start_ns,
		   &row.duration_ns))
		return 0;
	return mr_interrupts_append(&loader->model->interrupts, row);
}

/* ---- instants ----------------------------------------------------------------------------------- */

static int add_socket(struct kernel_loader *loader, const struct mr_event_kernel_socket *event)
{
	uint32_t track = mr_task_track_now(&loader->finder, event->tid);

	if (track == MR_NO_TRACK)
		return 0;
	return mr_socket_bytes_append(
		&loader->model->socket_bytes,
		(struct mr_socket_bytes_row){.track = track,
					     .start_ns = loader->ns,
					     .file = find(loader, MR_ID_file, event->file),
					     .bytes = event->bytes,
					     .is_receive =
						     event->direction == MR_direction_receive});
}

static int add_submission(struct kernel_loader *loader,
			  const struct mr_event_kernel_uring_submit *event)
{
	uint32_t track = mr_task_track_now(&loader->finder, event->tid);

	if (track == MR_NO_TRACK)
		return 0;
	return mr_uring_requests_append(
		&loader->model->uring_requests,
		(struct mr_uring_requests_row){.track = track,
					       .start_ns = loader->ns,
					       .request = event->request,
					       .user_data = event->user_data,
					       .file = find(loader, MR_ID_file, event->file),
					       .opcode = event->opcode});
}

static int add_completion(struct kernel_loader *loader,
			  const struct mr_event_kernel_uring_complete *event)
{
	uint32_t track = mr_task_track_now(&loader->finder, event->tid);

	if (track == MR_NO_TRACK)
		return 0;
	return mr_uring_requests_append(
		&loader->model->uring_requests,
		(struct mr_uring_requests_row){.track = track,
					       .start_ns = loader->ns,
					       .request = event->request,
					       .user_data = event->user_data,
					       .result = event->result,
					       .is_complete = true});
}

/* ---- all events --------------------------------------------------------------------------------- */

static int add_row(struct kernel_loader *loader, const struct mr_event *event)
{
	switch (event->desc->id) {
	case MR_EVENT_kernel_switch:
		return add_switch(loader, event->payload);
	case MR_EVENT_kernel_waking:
		return add_waking(loader, event->payload);
	case MR_EVENT_kernel_syscall:
	case MR_EVENT_kernel_syscall_argument:
	case MR_EVENT_kernel_syscall_wide:
	case MR_EVENT_kernel_syscall_unfinished:
		return add_system_call(loader, event);
	case MR_EVENT_kernel_blocked_call:
		note_blocked_call(loader, event->payload);
		return 0;
	case MR_EVENT_kernel_migrate:
		return add_migration(loader, event->payload);
	case MR_EVENT_kernel_block_io:
		return add_block_io(loader, event->payload);
	case MR_EVENT_kernel_major_fault:
		return add_fault(loader, event->payload);
	case MR_EVENT_kernel_interrupt:
		return add_interrupt(loader, event->payload);
	case MR_EVENT_kernel_socket:
		return add_socket(loader, event->payload);
	case MR_EVENT_kernel_signal:
		return add_signal(loader, event->payload);
	case MR_EVENT_kernel_uring_submit:
		return add_submission(loader, event->payload);
	case MR_EVENT_kernel_uring_complete:
		return add_completion(loader, event->payload);
	}
	return 0;
}

static bool is_wanted(const struct mr_trace_stream *stream)
{
	return stream->stream_class == MR_STREAM_KERNEL && stream->kind == MR_PACKET_EVENTS;
}

static int load_events(struct kernel_loader *loader)
{
	const struct mr_model *model = loader->model;
	mr_auto(merge) struct mr_merge *merge = NULL;
	struct mr_event event;
	int result = mr_merge_start(model->trace, is_wanted, mr_clocks_stream_to_ns,
				    model->survey->clocks, &merge);

	while (result == 0 && mr_merge_next(merge, &event, &loader->ns)) {
		loader->finder.host = MR_OWN_HOST;
		loader->finder.now_ns = loader->ns;
		loader->cpu = event.context->tid;
		loader->cpu_track = mr_survey_track_of_cpu(model->survey, MR_OWN_HOST, loader->cpu);
		loader->occupant =
			&loader->occupants[loader->cpu_track - model->survey->first_cpu_track];
		result = mr_states_advance(&loader->states, loader->ns);
		if (result == 0)
			result = add_row(loader, &event);
	}
	return result < 0 ? result : mr_states_finish(&loader->states);
}

/* The survey has counted, so the large tables need not grow by copying. */
static int reserve(struct mr_model *model)
{
	const uint64_t *counts = model->survey->event_counts;
	uint64_t switches = counts[MR_EVENT_kernel_switch],
		 wakings = counts[MR_EVENT_kernel_waking];
	int result = mr_table_reserve(&model->system_calls.table,
				      counts[MR_EVENT_kernel_syscall] +
					      counts[MR_EVENT_kernel_syscall_argument] +
					      counts[MR_EVENT_kernel_syscall_wide] +
					      counts[MR_EVENT_kernel_syscall_unfinished]);

	if (result == 0)
		result = mr_table_reserve(&model->states.table, switches + wakings);
	if (result == 0)
		result = mr_table_reserve(&model->cpu_runs.table, switches);
	if (result == 0)
		result = mr_table_reserve(&model->wakeups.table, wakings);
	return result;
}

static int prepare(struct kernel_loader *loader)
{
	const struct mr_survey *survey = loader->model->survey;
	uint32_t cpu_count = mr_strings_count(&survey->cpu_keys);

	mr_survey_find_process(survey, MR_OWN_HOST, MR_RECORDER_PROCESS, &loader->process);
	loader->occupants = malloc((cpu_count + 1) * sizeof *loader->occupants);
	if (!loader->occupants)
		return -ENOMEM;
	for (uint32_t i = 0; i < cpu_count; i++)
		loader->occupants[i] = (struct occupant){.tid = MR_NO_TID, .known_ns = INT64_MIN};
	int result = reserve(loader->model);
	if (result == 0)
		result = mr_task_finder_start(&loader->finder, &survey->tasks, &loader->states);
	return result < 0 ? result : mr_states_start(&loader->states, loader->model);
}

int mr_kernel_level_load(struct mr_model *model)
{
	struct kernel_loader loader = {.model = model};

	if (mr_strings_count(&model->survey->cpu_keys) == 0)
		return 0;
	int result = prepare(&loader);
	if (result == 0)
		result = load_events(&loader);
	mr_states_free(&loader.states);
	mr_task_finder_free(&loader.finder);
	free(loader.occupants);
	return result;
}
