/* SPDX-License-Identifier: Apache-2.0
 *
 * What an importer can say is what a recording can say. A made-up one says it through the builder: threads with
 * a clock of their own, a device that is no GPU, with another clock, CPUs with scheduling and system calls, edges.
 * Its packets are written as a recording's folder and loaded into the model; the rows are compared with what was
 * said, in times of the trace clock.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "import/builder.h"
#include "load/load.h"
#include "trace_writer.h"

enum {
	BEGIN = 1000000, /* everything happens between these */
	END = 2000000,
	CPU = 3,
	TID = 71,
	OTHER_TID = 90,
	HALF_BRACKET = 200,
	JITTER = 150, /* how far a sample of the device's clock is from the truth */
};

/* The threads' clock ticks every half nanosecond from 500000 on, the device's every nanosecond from 400000. */
#define THREAD_TICKS(ns) (2 * ((ns)-500000))
#define DEVICE_TICKS(ns) ((uint64_t)(ns)-400000)

static struct mr_builder builder;
static char *directory;
static uint32_t thread, cpu, queues[2], nodes[2];

static uint32_t string(const char *text)
{
	uint32_t number;

	assert_int_equal(mr_builder_string(&builder, text, strlen(text), &number), 0);
	return number;
}

/* ---- saying it -------------------------------------------------------------------------------------- */

/* The event ends at `ns` of the trace clock. */
#define SAY(stream, ticks, name, ...)                                                              \
	do {                                                                                       \
		const struct mr_event_##name fields_ = {__VA_ARGS__};                              \
		assert_int_equal(                                                                  \
			mr_builder_add(&builder, stream, ticks, ticks, MR_EVENT_##name, &fields_), \
			0);                                                                        \
	} while (0)
#define THREAD_SAYS(ns, ...) SAY(thread, THREAD_TICKS(ns), __VA_ARGS__)
#define CPU_SAYS(ns, ...)    SAY(cpu, ns, __VA_ARGS__)

static void say_clocks(uint32_t *ret_clock)
{
	builder.thread_ticks_per_second = 2000000000;
	assert_int_equal(mr_builder_clock(&builder, string("npu clock"), 1000000000, ret_clock), 0);
	for (uint64_t ns = BEGIN; ns <= END; ns += (END - BEGIN) / 4) {
		const struct mr_event_clock_sample of_threads = {.reference = MR_trace_clock_tsc,
								 .clock = MR_trace_clock_monotonic,
								 .before = THREAD_TICKS(ns),
								 .value = ns,
								 .after = THREAD_TICKS(ns)};
		const struct mr_event_clock_sample of_device = {
			.reference = MR_trace_clock_monotonic,
			.clock = *ret_clock,
			.before = ns - HALF_BRACKET,
			.value = DEVICE_TICKS(ns) + (ns / 250000 % 2 ? JITTER : -JITTER),
			.after = ns + HALF_BRACKET};

		assert_int_equal(mr_builder_sample(&builder, &of_threads), 0);
		assert_int_equal(mr_builder_sample(&builder, &of_device), 0);
	}
}

static void say_device(uint32_t clock)
{
	uint32_t device;

	assert_int_equal(mr_builder_device(&builder, 12345, &device), 0);
	struct mr_build_device *described = &builder.devices.items[device - 1];
	described->name = string("NPU 0");
	described->kind = MR_device_kind_accelerator;
	described->identity = string("uuid 12345");
	described->clock = clock;
	assert_int_equal(mr_builder_queue(&builder, device, string("ring"), &queues[0]), 0);
	assert_int_equal(mr_builder_queue(&builder, device, string("copies"), &queues[1]), 0);
	builder.queues.items[queues[0] - 1].order = MR_queue_order_out_of_order;
}

static void say_graph(void)
{
	static const char *const names[] = {"x/MatMul", "x/Relu"}, *const types[] = {"MatMul",
										     "Relu"};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			mr_builder_node(&builder, string("step"), string(names[i]), &nodes[i]), 0);
		builder.nodes.items[nodes[i] - 1].type = string(types[i]);
		builder.nodes.items[nodes[i] - 1].device = 1;
	}
	const struct mr_event_def_edge edge = {.source = nodes[0],
					       .target = nodes[1],
					       .target_input = 1,
					       .kind = MR_edge_kind_control};
	assert_int_equal(mr_builder_edge(&builder, &edge), 0);
}

/* Events come in no order. */
static void say_thread(void)
{
	THREAD_SAYS(1008000, runtime_call, .function = string("npuLaunch"),
		    .duration_ticks = mr_u48_from(THREAD_TICKS(1008000) - THREAD_TICKS(1007500)),
		    .correlation = 6);
	THREAD_SAYS(1007500, runtime_wait, .correlation = 6, .awaited = 5);
	THREAD_SAYS(1002500, runtime_call, .function = string("npuLaunch"),
		    .duration_ticks = mr_u48_from(THREAD_TICKS(1002500) - THREAD_TICKS(1002000)),
		    .correlation = 5);
	THREAD_SAYS(1002800, node_interval, .node = nodes[0], .step = UINT32_MAX,
		    .duration_ticks = mr_u48_from(THREAD_TICKS(1002800) - THREAD_TICKS(1001200)));
	THREAD_SAYS(1900000, device_operation, .queue = queues[0], .name = string("gemm"),
		    .correlation = 5, .start = DEVICE_TICKS(1100000), .end = DEVICE_TICKS(1300000),
		    .kind = MR_operation_kind_kernel);
	THREAD_SAYS(1900001, device_operation, .queue = queues[1], .name = string("out"),
		    .correlation = 6, .start = DEVICE_TICKS(1310000), .end = DEVICE_TICKS(1400000),
		    .bytes = 77, .kind = MR_operation_kind_copy_from_device);
}

static void say_cpu(void)
{
	const struct mr_event_kernel_fork fork = {
		.parent_tid = 1, .tid = TID, .pid = 70, .inner_tid = TID, .inner_pid = 70};
	uint32_t file;

	assert_int_equal(mr_builder_system_call(&builder, 0, string("read")), 0);
	assert_int_equal(mr_builder_file(&builder, 8, 15, string("/data/val.bin"), &file), 0);
	assert_int_equal(
		mr_builder_add_text(&builder, cpu, BEGIN, MR_EVENT_kernel_fork, &fork, "worker", 6),
		0);
	CPU_SAYS(1006000, kernel_switch, .previous_tid = 0, .next_tid = TID);
	CPU_SAYS(1001000, kernel_switch, .previous_tid = 0, .next_tid = TID);
	CPU_SAYS(1003000, kernel_switch, .previous_tid = TID, .next_tid = 0,
		 .reason = MR_switch_reason_disk);
	CPU_SAYS(1005000, kernel_waking, .tid = TID, .waker_tid = OTHER_TID,
		 .source = string("nvme0q1"), .context = MR_wake_context_irq);
	CPU_SAYS(1006500, kernel_syscall, .tid = TID, .number = 0,
		 .duration_ns = mr_u48_from(1006500 - 1002900), .result = 4096, .file = file);
	CPU_SAYS(1950000, kernel_switch, .previous_tid = TID, .next_tid = 0,
		 .reason = MR_switch_reason_interruptible);
}

static void start(void)
{
	directory = directory_make();
	assert_int_equal(mr_builder_start(&builder), 0);
}

static struct mr_model *load(void)
{
	const struct mr_metadata metadata = mr_builder_metadata(&builder);
	struct mr_mapping packets;
	struct mr_model *model;
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_int_equal(mr_metadata_print(&metadata, file), 0);
	assert_int_equal(fclose(file), 0);
	directory_write(directory, "ctf/metadata", text, size);
	free(text);
	assert_int_equal(mr_builder_finish(&builder, metadata.trace_uuid, &packets), 0);
	directory_write(directory, "ctf/stream", packets.bytes, packets.size);
	mr_mapping_close(&packets);
	mr_builder_free(&builder);
	if (mr_model_load(directory, &model) < 0)
		fail_msg("%s", mr_error_text());
	assert_int_equal(model->trace->damage_count, 0);
	assert_int_equal(model->survey->definitions.impossible, 0);
	assert_int_equal(model->survey->clocks->unusable_samples, 0);
	assert_int_equal(model->anomalies.undefined, 0);
	return model;
}

static void end(struct mr_model *model)
{
	mr_model_free(model);
	directory_remove(directory);
}

/* ---- what comes out ---------------------------------------------------------------------------------- */

/* The only thread of that name. */
static uint32_t track_named(const struct mr_model *model, const char *name)
{
	for (uint32_t i = 0; i < model->survey->tracks.count; i++)
		if (strcmp(mr_model_text(model, model->survey->tracks.items[i].name), name) == 0)
			return i;
	fail_msg("no track %s", name);
	return 0;
}

static void check_states(const struct mr_model *model)
{
	static const struct {
		int64_t start_ns;
		int64_t end_ns;
		enum mr_thread_state state;
		enum mr_state_reason reason;
	} expected[] = {
		{1000000, 1001000, MR_STATE_RUNNABLE, MR_REASON_NEW},
		{1001000, 1003000, MR_STATE_RUN, MR_REASON_NONE},
		{1003000, 1005000, MR_STATE_BLOCKED, MR_REASON_DISK},
		{1005000, 1006000, MR_STATE_RUNNABLE, MR_REASON_WOKEN},
		{1006000, 1950000, MR_STATE_RUN, MR_REASON_NONE},
	};
	const struct mr_states *states = &model->states;
	uint32_t track = track_named(model, "worker");

	/* The task is the thread of the user streams. */
	assert_int_equal(model->survey->tracks.items[track].tid, TID);
	assert_int_equal(model->node_executions.track[0], track);
	assert_int_equal(states->table.first_of_track[track], 0);
	assert_true(states->table.count >= mr_countof(expected));
	for (uint32_t i = 0; i < mr_countof(expected); i++) {
		assert_int_equal(states->start_ns[i], expected[i].start_ns);
		assert_int_equal(states->start_ns[i] + states->duration_ns[i], expected[i].end_ns);
		assert_int_equal(states->state[i], expected[i].state);
		assert_int_equal(states->reason[i], expected[i].reason);
	}
	assert_int_equal(states->cpu[1], CPU);
	assert_int_equal(states->system_call[2], 0);
	assert_int_equal(states->wakeup[2], 0);
	assert_string_equal(mr_model_text(model, model->wakeups.source[0]), "nvme0q1");
	assert_int_equal(model->wakeups.waker_tid[0], OTHER_TID);
}

static void check_system_call(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_system_calls *calls = &model->system_calls;

	assert_int_equal(calls->table.count, 1);
	assert_int_equal(calls->start_ns[0], 1002900);
	assert_int_equal(calls->blocked_ns[0], 2000);
	assert_int_equal(calls->runnable_ns[0], 1000);
	assert_int_equal(calls->result[0], 4096);
	const struct mr_file *file = &definitions->files.items[calls->file[0]];
	assert_int_equal(file->inode, 15);
	assert_string_equal(mr_model_text(model, file->path), "/data/val.bin");
	assert_string_equal(mr_model_text(model, definitions->system_calls.items[calls->number[0]]),
			    "read");
}

/* Half a bracket bounds what the sample is off by; between samples no more than the rates can hide. */
static void check_near(int64_t found_ns, int64_t true_ns, uint64_t bound_ns)
{
	assert_in_range(bound_ns, JITTER, 10 * HALF_BRACKET);
	assert_true((uint64_t)llabs(found_ns - true_ns) <= bound_ns);
}

static void check_device(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_device_operations *operations = &model->device_operations;

	assert_int_equal(definitions->devices.count, 2); /* the first means none */
	assert_string_equal(mr_model_text(model, definitions->devices.items[1].name), "NPU 0");
	assert_string_equal(mr_model_text(model, definitions->devices.items[1].identity),
			    "uuid 12345");
	assert_int_equal(definitions->devices.items[1].kind, MR_device_kind_accelerator);
	assert_int_equal(definitions->queues.items[1].order, MR_queue_order_out_of_order);
	assert_int_equal(definitions->queues.items[2].order, MR_queue_order_unknown);
	assert_int_equal(operations->table.count, 2);
	assert_string_equal(mr_model_text(model, operations->name[0]), "gemm");
	check_near(operations->start_ns[0], 1100000, operations->bound_ns[0]);
	check_near(mr_operation_end_ns(model, 0), 1300000, operations->bound_ns[0]);
	check_near(operations->start_ns[1], 1310000, operations->bound_ns[1]);
	assert_int_equal(operations->raw_start[1], DEVICE_TICKS(1310000));
	assert_int_equal(operations->bytes[1], 77);

	/* The copy waited for the kernel. */
	assert_int_equal(operations->after[1], 0);
	assert_int_equal(operations->after[0], MR_NO_ROW);
	assert_int_equal(model->dependencies.table.count, 1);
	assert_int_equal(model->dependencies.call[0], 1);
	assert_int_equal(model->dependencies.awaited_call[0], 0);
}

static void check_graph(const struct mr_model *model)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	assert_int_equal(definitions->edges.count, 1);
	const struct mr_edge *edge = &definitions->edges.items[0];
	const struct mr_node *source = &definitions->nodes.items[edge->source];
	const struct mr_node *target = &definitions->nodes.items[edge->target];
	assert_string_equal(mr_model_text(model, source->name), "x/MatMul");
	assert_string_equal(mr_model_text(model, source->type), "MatMul");
	assert_string_equal(mr_model_text(model, target->name), "x/Relu");
	assert_int_equal(source->device, 1);
	assert_int_equal(edge->target_input, 1);
	assert_int_equal(edge->kind, MR_edge_kind_control);
	assert_string_equal(mr_model_text(model, definitions->graphs.items[source->graph].name),
			    "step");
}

static void test_everything(void **unused)
{
	uint32_t process, clock;

	(void)unused;
	start();
	assert_int_equal(mr_builder_process(&builder, "70", 2, &process), 0);
	assert_int_equal(mr_builder_thread(&builder, process, string("71"), &thread), 0);
	assert_int_equal(mr_builder_cpu(&builder, CPU, &cpu), 0);
	builder.streams.items[thread].name = string("worker");
	builder.host = string("node7");
	builder.epoch_ns = 1700000000123456789;
	say_clocks(&clock);
	say_device(clock);
	say_graph();
	say_thread();
	say_cpu();
	struct mr_model *model = load();

	/* Times of threads are exact: their samples are. */
	assert_int_equal(model->node_executions.start_ns[0], 1001200);
	assert_int_equal(model->node_executions.duration_ns[0], 1600);
	assert_int_equal(model->calls.start_ns[0], 1002000);
	assert_int_equal(model->calls.execution[0], 0);
	assert_string_equal(model->trace->metadata.host, "node7");
	assert_int_equal(mr_clocks_epoch_ns(model->survey->clocks), 1700000000123456789);
	check_states(model);
	check_system_call(model);
	check_device(model);
	check_graph(model);
	/* Of CPUs there is the one that spoke. */
	assert_int_equal(mr_survey_track_of_cpu(model->survey, MR_OWN_HOST, 0), MR_NO_TRACK);
	assert_int_not_equal(mr_survey_track_of_cpu(model->survey, MR_OWN_HOST, CPU), MR_NO_TRACK);
	end(model);
}

/* A trace of the kernel alone: nobody defines but the recorder. */
static void test_cpus_alone(void **unused)
{
	(void)unused;
	start();
	assert_int_equal(mr_builder_cpu(&builder, CPU, &cpu), 0);
	say_cpu();
	struct mr_model *model = load();

	assert_int_equal(model->survey->first_ns, BEGIN);
	assert_int_equal(model->survey->last_ns, 1950000);
	assert_int_equal(model->states.table.count, 5);
	assert_string_equal(
		mr_model_text(model, model->survey->tracks.items[model->states.track[0]].name),
		"worker");
	check_system_call(model);
	end(model);
}

/* Ids mean the same to every process; the definer need not be the first. */
static void test_processes(void **unused)
{
	static const char *const keys[] = {"80", "70", "rank 2"};
	uint32_t process, function;

	(void)unused;
	start();
	function = string("launch");
	for (size_t i = 0; i < mr_countof(keys); i++) {
		assert_int_equal(mr_builder_process(&builder, keys[i], strlen(keys[i]), &process),
				 0);
		assert_int_equal(mr_builder_thread(&builder, process, string("main"), &thread), 0);
		SAY(thread, 100 + (int64_t)i, runtime_call, .function = function,
		    .correlation = i + 1);
	}
	builder.definer = 1;
	struct mr_model *model = load();

	assert_int_equal(model->calls.table.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct mr_track *track = &model->survey->tracks.items[model->calls.track[i]];
		const struct mr_process *owner = &model->survey->processes.items[track->process];
		uint64_t said = model->calls.correlation[i] - 1;

		assert_string_equal(mr_model_text(model, model->calls.function[i]), "launch");
		assert_int_equal(model->calls.start_ns[i], 100 + (int64_t)said);
		assert_int_equal(owner->pid, said == 0 ? 80 : said == 1 ? 70 : 0);
		assert_string_equal(mr_model_text(model, owner->program),
				    said == 2 ? "rank 2" : "");
	}
	end(model);
}

/* What stands behind the first 4 GiB is found there. Nobody touches the memory in between. */
static void test_large_payloads(void **unused)
{
	const size_t far = (UINT64_C(1) << 32) + 12345;
	const char *sanitized = getenv("SANITIZED");
	uint32_t process;

	(void)unused;
	if (sanitized && *sanitized) {
		print_message("skipped: sanitizers touch every byte\n");
		skip();
	}
	mallopt(M_PERTURB, 0); /* which meson sets, and which would touch it */
	start();
	assert_int_equal(mr_builder_process(&builder, "70", 2, &process), 0);
	assert_int_equal(mr_builder_thread(&builder, process, string("71"), &thread), 0);
	SAY(thread, 10, counter, .name = string("near"), .value = 1);
	assert_int_equal(mr_vec_reserve(&builder.payloads, far + 4096), 0);
	builder.payloads.count = far;
	SAY(thread, 5, counter, .name = string("far"), .value = 2);
	struct mr_model *model = load();

	assert_int_equal(model->counters.table.count, 2);
	assert_string_equal(mr_model_text(model, model->counters.name[0]), "far");
	assert_int_equal(model->counters.value[0], 2);
	assert_int_equal(model->counters.start_ns[0], 5);
	assert_int_equal(model->counters.value[1], 1);
	end(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_cpus_alone),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_large_payloads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
