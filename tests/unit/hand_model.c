/* SPDX-License-Identifier: Apache-2.0 */
#include "hand_model.h"

#include <stdlib.h>
#include <string.h>

#include "load/exchanges.h"
#include "load/infer_steps.h"
#include "load/operations.h"
#include "model/kernel_link.h"

static struct mr_model *model;

static void must(int result)
{
	if (result != 0)
		abort();
}

static uint32_t text(const char *characters)
{
	uint32_t number;

	must(mr_strings_intern(&model->survey->definitions.strings, characters, strlen(characters),
			       &number));
	return number;
}

static void add_track(enum mr_track_kind kind, uint32_t number, const char *name)
{
	struct mr_track track = {.kind = kind, .name = text(name)};

	track.tid = kind == MR_TRACK_THREAD ? 100 + number : 0;
	track.queue = kind == MR_TRACK_QUEUE ? number : 0;
	track.cpu = kind == MR_TRACK_CPU ? number : 0;
	must(mr_vec_push(&model->survey->tracks, track));
}

static void define(struct mr_definitions *definitions)
{
	static const struct mr_queue queues[] = {{0},
						 {.device = 1, .order = MR_queue_order_in_order},
						 {.device = 1, .order = MR_queue_order_in_order},
						 {.device = 2, .order = MR_queue_order_in_order}};

	text("");
	for (uint32_t i = 0; i <= 2; i++)
		must(mr_vec_push(&definitions->devices,
				 ((struct mr_device){.name = i ? text(i == 1 ? "gpu0" : "gpu1") : 0,
						     .same = i})));
	for (uint32_t i = 0; i < mr_countof(queues); i++)
		must(mr_vec_push(&definitions->queues, queues[i]));
	must(mr_vec_push(&definitions->graphs, ((struct mr_graph){0})));
	must(mr_vec_push(&definitions->nodes, ((struct mr_node){0})));
	must(mr_vec_push(&definitions->files, ((struct mr_file){0})));
}

struct mr_model *hand_model_start(void)
{
	model = calloc(1, sizeof *model);
	must(model ? 0 : -ENOMEM);
	model->survey = calloc(1, sizeof *model->survey);
	model->survey->recorded = (struct mr_switched){INT64_MIN, INT64_MAX};
	model->survey->kernel_recorded = model->survey->recorded;
	must(model->survey ? 0 : -ENOMEM);
	must(mr_manifest_read("no such trace", &model->manifest)); /* says nothing */
#define DESCRIBE_TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(DESCRIBE_TABLE)
#undef DESCRIBE_TABLE
	define(&model->survey->definitions);
	must(mr_vec_push(&model->survey->processes, ((struct mr_process){.pid = 7})));
	for (uint32_t i = 0; i < THREADS; i++)
		add_track(MR_TRACK_THREAD, i, "");
	for (uint32_t i = 1; i <= QUEUES; i++)
		add_track(MR_TRACK_QUEUE, i, "queue");
	for (uint32_t i = 0; i < CPUS; i++) {
		uint32_t index;

		add_track(MR_TRACK_CPU, i, "cpu");
		must(mr_strings_intern(&model->survey->cpu_keys,
				       &(const struct mr_host_key){MR_OWN_HOST, i},
				       sizeof(struct mr_host_key), &index));
	}
	model->survey->first_queue_track = THREADS;
	model->survey->first_cpu_track = FIRST_CPU_TRACK;
	model->device_clocks = calloc(3, sizeof *model->device_clocks);
	must(model->device_clocks ? 0 : -ENOMEM);
	for (uint32_t tid = FOREIGN_TID; tid <= FOREIGN_TID + 1; tid++)
		must(mr_vec_push(&model->survey->tasks.names,
				 ((struct mr_task_name){.tid = tid, .name = text("cc")})));
	model->survey->tasks.tid_limit = FOREIGN_TID + 2;
	model->survey->tasks.host_limit = MR_OWN_HOST + 1;
	must(mr_tasks_build(&model->survey->tasks));
	return model;
}

/* ---- what happens in it ------------------------------------------------------------------------- */

void hand_operation(uint32_t queue, int64_t begin_ns, int64_t end_ns, const char *name,
		    uint64_t correlation)
{
	struct mr_device_operations_row row = {.track = THREADS + queue - 1,
					       .start_ns = begin_ns,
					       .duration_ns = end_ns - begin_ns,
					       .call = MR_NO_ROW,
					       .after = MR_NO_ROW,
					       .name = text(name),
					       .correlation = correlation,
					       .kind = MR_operation_kind_kernel};

	must(mr_device_operations_append(&model->device_operations, row));
}

void hand_marker(uint32_t queue, int64_t begin_ns, int64_t end_ns, uint64_t correlation)
{
	hand_operation(queue, begin_ns, end_ns, "marker", correlation);
	model->device_operations.kind[model->device_operations.table.count - 1] =
		MR_operation_kind_marker;
}

/* `awaits`: the correlation of what it waits for; 0: nothing. */
void hand_call(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *function,
	       uint64_t correlation, enum mr_call_role role, uint64_t awaits)
{
	struct mr_calls_row row = {.track = thread,
				   .start_ns = begin_ns,
				   .duration_ns = end_ns - begin_ns,
				   .function = text(function),
				   .correlation = correlation,
				   .object = awaits,
				   .operation = MR_NO_ROW,
				   .awaited = MR_NO_ROW,
				   .execution = MR_NO_ROW,
				   .role = role,
				   .is_blocking = role == MR_CALL_LAUNCH && awaits == correlation};

	must(mr_calls_append(&model->calls, row));
}

void hand_launch(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t correlation)
{
	hand_call(thread, begin_ns, end_ns, "launch", correlation, MR_CALL_LAUNCH, 0);
}

void hand_state(uint32_t thread, int64_t begin_ns, int64_t end_ns, enum mr_thread_state state,
		enum mr_state_reason reason)
{
	struct mr_states_row row = {.track = thread,
				    .start_ns = begin_ns,
				    .duration_ns = end_ns - begin_ns,
				    .cpu = 0,
				    .system_call = MR_NO_ROW,
				    .wakeup = MR_NO_ROW,
				    .ended_by = MR_NO_ROW,
				    .released_by = MR_NO_TRACK,
				    .state = state,
				    .reason = reason};

	must(mr_states_append(&model->states, row));
}

void hand_run(uint32_t thread, int64_t begin_ns, int64_t end_ns)
{
	hand_state(thread, begin_ns, end_ns, MR_STATE_RUN, MR_REASON_NONE);
}

void hand_runnable(uint32_t thread, int64_t begin_ns, int64_t end_ns, enum mr_state_reason reason)
{
	hand_state(thread, begin_ns, end_ns, MR_STATE_RUNNABLE, reason);
}

uint32_t hand_file(const char *path)
{
	must(mr_vec_push(&model->survey->definitions.files,
			 ((struct mr_file){.path = text(path)})));
	return (uint32_t)model->survey->definitions.files.count - 1;
}

/* Blocked all through a system call; NULL: in none. */
void hand_blocked(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *system_call,
		  uint32_t of_file)
{
	struct mr_definitions *definitions = &model->survey->definitions;

	hand_state(thread, begin_ns, end_ns, MR_STATE_BLOCKED, MR_REASON_INTERRUPTIBLE);
	if (!system_call)
		return;
	struct mr_system_calls_row row = {.track = thread,
					  .start_ns = begin_ns,
					  .duration_ns = end_ns - begin_ns,
					  .number = (uint32_t)definitions->system_calls.count,
					  .file = of_file};
	must(mr_vec_push(&definitions->system_calls, text(system_call)));
	must(mr_system_calls_append(&model->system_calls, row));
}

void hand_futex(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint64_t address,
		uint8_t command, bool is_blocked)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	struct mr_system_calls_row row = {.track = thread,
					  .start_ns = begin_ns,
					  .duration_ns = end_ns - begin_ns,
					  .argument = address,
					  .operation = command};

	while (row.number < definitions->system_calls.count &&
	       strcmp(mr_model_text(model, definitions->system_calls.items[row.number]), "futex") !=
		       0)
		row.number++;
	if (row.number == definitions->system_calls.count)
		must(mr_vec_push(&definitions->system_calls, text("futex")));
	if (is_blocked)
		hand_state(thread, begin_ns, end_ns, MR_STATE_BLOCKED, MR_REASON_INTERRUPTIBLE);
	must(mr_system_calls_append(&model->system_calls, row));
}

void hand_interpreter(uint64_t address, uint32_t bytes)
{
	must(mr_vec_push(&model->survey->interpreters,
			 ((struct mr_interpreter){.address = address, .bytes = bytes})));
}

void hand_woken(uint32_t thread, int64_t ns, enum mr_wake_context context, uint32_t waker,
		const char *source)
{
	struct mr_wakeups_row row = {.track = thread,
				     .start_ns = ns,
				     .waker_tid = waker == MR_NO_TRACK ? FOREIGN_TID : 100 + waker,
				     .waker = waker,
				     .source = text(source),
				     .context = context};

	must(mr_wakeups_append(&model->wakeups, row));
}

void hand_cpu(int64_t begin_ns, int64_t end_ns, uint32_t tid, uint32_t thread)
{
	must(mr_cpu_runs_append(&model->cpu_runs,
				(struct mr_cpu_runs_row){.track = FIRST_CPU_TRACK,
							 .start_ns = begin_ns,
							 .duration_ns = end_ns - begin_ns,
							 .tid = tid,
							 .thread = thread}));
}

void hand_node(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *name)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	struct mr_node_executions_row row = {.track = thread,
					     .start_ns = begin_ns,
					     .duration_ns = end_ns - begin_ns,
					     .node = (uint32_t)definitions->nodes.count};

	must(mr_vec_push(&definitions->nodes, ((struct mr_node){.name = text(name)})));
	must(mr_node_executions_append(&model->node_executions, row));
}

void hand_interrupt(uint32_t thread, int64_t begin_ns, int64_t end_ns, uint32_t number)
{
	struct mr_interrupts_row row = {.track = thread,
					.start_ns = begin_ns,
					.duration_ns = end_ns - begin_ns,
					.number = number,
					.kind = MR_interrupt_kind_irq};

	must(mr_interrupts_append(&model->interrupts, row));
}

/* ---- how it hangs together ---------------------------------------------------------------------- */

static uint32_t find_operation(uint64_t correlation)
{
	for (uint32_t row = 0; row < model->device_operations.table.count; row++)
		if (correlation && model->device_operations.correlation[row] == correlation)
			return row;
	return MR_NO_ROW;
}

/* What a launch awaits its operation comes after, unless the predecessor in the queue ends later. */
static void link_operations(void)
{
	const struct mr_device_operations *operations = &model->device_operations;

	for (uint32_t row = 1; row < operations->table.count; row++)
		if (operations->track[row] == operations->track[row - 1])
			operations->after[row] = row - 1;
	for (uint32_t row = 0; row < model->calls.table.count; row++) {
		uint32_t operation = find_operation(model->calls.correlation[row]);
		uint32_t awaited = find_operation(model->calls.object[row]);

		model->calls.awaited[row] = awaited;
		if (operation == MR_NO_ROW)
			continue;
		model->calls.operation[row] = operation;
		operations->call[operation] = row;
		uint32_t before = operations->after[operation];
		if (awaited != MR_NO_ROW && awaited != operation &&
		    (before == MR_NO_ROW ||
		     mr_operation_end_ns(model, before) < mr_operation_end_ns(model, awaited)))
			operations->after[operation] = awaited;
	}
}

void hand_model_load(void)
{
	uint32_t track_count = (uint32_t)model->survey->tracks.count;

#define SORT_TABLE(name)                       \
	if (!model->name.table.first_of_track) \
		must(mr_table_sort(&model->name.table, track_count));
	MR_TABLES(SORT_TABLE)
#undef SORT_TABLE
	must(mr_model_nest(model));
	must(mr_kernel_level_link(model));
	must(mr_exchanges_link(model));
	link_operations();
	must(mr_steps_infer(model));
	must(mr_operations_link(model));
}
