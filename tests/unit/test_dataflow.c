/* SPDX-License-Identifier: Apache-2.0
 *
 * From a framework's own tracing to nodes, edges, runs, completions and messages: one step of a function "train"
 * whose times can be checked by hand, and events with anything in them. Milliseconds:
 *
 *     main     ├ step 41 ───────────────────────────────────────────────────────┤   1090 .. 1600
 *                ├ EagerLocalExecute: train ──────────────────────────────────┤     1100 .. 1500
 *                  ├FunctionRun 7┤                                  ├Done 40┤       1110 .. 1120, 1450
 *     worker                   ├ Process 7 ──────────────────────┤                  1200 .. 1300
 *                                ├Relu┤  ├ Start 40 ──────┤  ├s┤                    1210, 1250 .. 1280, 1290
 *                                          ├ call ─────┤
 *                                            ├ Process 8 ┤, in it inner
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "framework_trace.h"
#include "load/load.h"

#define CPU "/job:localhost/replica:0/task:0/device:CPU:0"
#define XPU "/job:localhost/replica:0/task:0/device:XPU:0"

enum {
	FUNCTION_RUN = 1,
	LOCAL_EXECUTE,
	PROCESS,
	ASYNC_START,
	ASYNC_DONE,
	RELU,
	CALL,
	INNER,
	SEND,
	SEEN,
	MATMUL,
	DEVICE_NAME,
	FOLDED,
	RECEIVE,
	HALF,
	SEEN_ELSEWHERE,
	LITERAL,
	UNKNOWN = 999,
};

static const char *const texts[] = {
	"FunctionRun#id=%,_r=%,_pt=%,_p=%#",
	"EagerLocalExecute: train",
	"ExecutorState::Process#id=%,iter_num=%,_ct=%,_c=%#",
	"ExecutorState::ProcessAsync::Start#name=call,step_id=%,_pt=%,_p=%#",
	"ExecutorState::ProcessAsync::Done#_ct=%,_c=%#",
	"Relu:Relu#shape=(float[2,3])#",
	"call:PartitionedCall",
	"inner:Tanh",
	"s:_Send#from=a,to=b,key=k;0:0#",
	"ExecutorState::Process\nnode_name=Relu\nop=Relu\ndevice=" CPU "\ninputs=x:1; ^init\n",
	"MatMul",
	CPU,
	"folded:Mul",
	"r:_Recv#from=a,to=b,key=k;0:0#",
	"CompleteParams",
	"ExecutorState::Process\nnode_name=inner\nop=Tanh\ndevice=" XPU "\ninputs=\n",
	"train#step_num=43#",
};

static struct mr_model *model;

static void plain(uint32_t text, uint64_t start_ms, uint64_t end_ms)
{
	EMIT(traceme, MS(end_ms), NULL, .text = text, .start = REALTIME(start_ms),
	     .end = REALTIME(end_ms));
}

static void numbers(uint32_t text, uint64_t start_ms, uint64_t end_ms, uint64_t first,
		    uint64_t second, uint64_t third, uint64_t fourth)
{
	EMIT(traceme_numbers, MS(end_ms), NULL, .text = text, .start = REALTIME(start_ms),
	     .end = REALTIME(end_ms), .first = first, .second = second, .third = third,
	     .fourth = fourth);
}

static void write_main(void)
{
	framework_begin(2, 2, 100, MR_PACKET_EVENTS);
	framework_process_start();
	EMIT(traceme, MS(1001), NULL, .text = RELU, .end = REALTIME(1001)); /* no time */
	EMIT(traceme, MS(1002), NULL, .text = HALF, .start = REALTIME(1002), .end = -5);
	EMIT(eager_operation, MS(1050), NULL, .name = MATMUL, .device = DEVICE_NAME,
	     .duration_ticks = mr_u48_from(2 * MS(10)));
	plain(FOLDED, 1106, 1107);
	numbers(PROCESS, 1105, 1108, UINT64_MAX, 0, 2, 1);
	numbers(FUNCTION_RUN, 1110, 1120, 7, 1, 2, 9);
	numbers(ASYNC_DONE, 1450, 1451, 2, 40, 0, 0);
	plain(LOCAL_EXECUTE, 1100, 1500);
	EMIT(traceme_text, MS(1600), "train#a=1,b=2,c=3,d=4,step_num=41#", .start = REALTIME(1090),
	     .end = REALTIME(1600));
	plain(LITERAL, 1600, 1601); /* somebody else has interned it, numbers and all */
	plain(UNKNOWN, 1601, 1602);
	EMIT(traceme_text, MS(1603),
	     "reduce:Reduce#step_id=7,a=1,b=2,instance_key=101,group_key=3#",
	     .start = REALTIME(1400), .end = REALTIME(1420));
	framework_end("ctf/main");
}

static void tell_memory(uint64_t ms, const char *what, const char *allocator, uint64_t address)
{
	char text[200];

	snprintf(text, sizeof text, "%s#allocator_name=%s,allocation_bytes=64,addr=%" PRIu64 "#",
		 what, allocator, address);
	EMIT(traceme_text, MS(ms), text, .start = REALTIME(ms), .end = REALTIME(ms));
}

static void write_memory(void)
{
	framework_begin(4, 2, 102, MR_PACKET_EVENTS);
	tell_memory(1700, "MemoryAllocation", "PluggableDevice_0_bfc", 1);
	tell_memory(1701, "MemoryAllocation", "PluggableDevice_1_bfc", 2);
	tell_memory(1702, "MemoryAllocation", "pluggable_device_host_bfc", 3);
	tell_memory(1703, "MemoryDeallocation", "PluggableDevice_0_bfc", 1);
	framework_end("ctf/memory");
}

static void write_worker(void)
{
	framework_begin(3, 2, 101, MR_PACKET_EVENTS);
	EMIT(activity, MS(1201), NULL, .text = SEEN, .run = 7);
	plain(RELU, 1210, 1220);
	EMIT(activity, MS(1221), NULL, .text = SEEN, .run = 7);
	EMIT(activity, MS(1222), NULL, .text = SEEN_ELSEWHERE, .run = 8);
	plain(INNER, 1262, 1264);
	numbers(PROCESS, 1260, 1270, 8, 0, 2, 10);
	plain(CALL, 1255, 1275);
	numbers(ASYNC_START, 1250, 1280, 7, 2, 40, 0);
	EMIT(traceme, MS(1281), NULL, .text = HALF, .start = -5, .end = REALTIME(1281));
	plain(SEND, 1290, 1292);
	plain(RECEIVE, 1294, 1296);
	numbers(PROCESS, 1200, 1300, 7, 0, 2, 9);
	framework_end("ctf/worker");
}

static int load_step(void **state)
{
	(void)state;
	framework_start(texts, mr_countof(texts));
	write_main();
	write_worker();
	write_memory();
	return mr_model_load(framework_directory, &model);
}

static int free_step(void **state)
{
	(void)state;
	mr_model_free(model);
	directory_remove(framework_directory);
	return 0;
}

static const struct mr_node *node_at(uint32_t node)
{
	return &model->survey->definitions.nodes.items[node];
}

static uint32_t execution_of(const char *name)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++)
		if (strcmp(mr_model_text(model, node_at(executions->node[row])->name), name) == 0)
			return row;
	fail_msg("%s was not executed", name);
	return 0;
}

static void assert_execution(const char *name, const char *type, const char *graph, uint64_t run,
			     uint64_t start_ms, uint64_t end_ms)
{
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t row = execution_of(name);
	const struct mr_node *node = node_at(executions->node[row]);

	assert_string_equal(mr_model_text(model, node->type), type);
	assert_string_equal(
		mr_model_text(model, model->survey->definitions.graphs.items[node->graph].name),
		graph);
	assert_int_equal(executions->run[row], run);
	assert_in_range(executions->start_ns[row], MS(start_ms) - 100, MS(start_ms) + 100);
	assert_in_range(executions->duration_ns[row], MS(end_ms - start_ms) - 200,
			MS(end_ms - start_ms) + 200);
}

static void test_executions(void **state)
{
	(void)state;
	assert_int_equal(model->node_executions.table.count, 7);
	assert_execution("Relu", "Relu", "train", 7, 1210, 1220);
	assert_execution("call", "PartitionedCall", "train", 7, 1255, 1275);
	assert_execution("inner", "Tanh", "train", 8, 1262, 1264);
	assert_execution("s", "_Send", "train", 7, 1290, 1292);
	assert_execution("MatMul", "MatMul", "eager", 0, 1040, 1050);
	assert_execution("folded", "Mul", "constant folding", UINT64_MAX, 1106, 1107);
	assert_string_equal(
		mr_model_text(model, model->node_executions.shapes[execution_of("Relu")]),
		"(float[2,3])");
	assert_int_equal(model->anomalies.unplaced, 1);
}

/* An allocator that is called after a device lies there; others are of no device that is known. */
static void test_memory_of_devices(void **state)
{
	const struct mr_memory *memory = &model->memory;
	const struct mr_device *devices = model->survey->definitions.devices.items;

	(void)state;
	assert_int_equal(memory->table.count, 4);
	assert_string_equal(mr_model_text(model, devices[memory->device[0]].name), XPU);
	assert_int_equal(memory->device[1], 0);
	assert_int_equal(memory->device[2], 0);
	assert_int_equal(memory->device[3], memory->device[0]);
	assert_int_equal(memory->live_bytes[0], 64);
	assert_int_equal(memory->live_bytes[2], 128);
	assert_int_equal(memory->live_bytes[3], 0);
	assert_int_equal(memory->bytes[3], 64);
}

/* What an asynchronous function does synchronously is done when it returns. */
static void test_completions(void **state)
{
	const int64_t *done_ns = model->node_executions.done_ns;
	const uint8_t *flags = model->node_executions.flags;

	(void)state;
	assert_int_equal(flags[execution_of("call")], MR_ROW_ASYNCHRONOUS);
	assert_int_equal(flags[execution_of("inner")], 0);
	assert_int_equal(flags[execution_of("Relu")], 0);
	assert_in_range(done_ns[execution_of("call")], MS(1450) - 100, MS(1450) + 100);
	assert_int_equal(done_ns[execution_of("inner")], MR_NO_TIME);
	assert_int_equal(done_ns[execution_of("Relu")], MR_NO_TIME);
}

static void test_edges_and_devices(void **state)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t relu = model->node_executions.node[execution_of("Relu")];
	const struct mr_device *device = &definitions->devices.items[node_at(relu)->device];
	const struct mr_edge *edges = definitions->edges.items;

	(void)state;
	assert_string_equal(mr_model_text(model, device->name), CPU);
	assert_int_equal(device->kind, MR_device_kind_cpu);
	assert_int_equal(node_at(model->node_executions.node[execution_of("MatMul")])->device,
			 node_at(relu)->device);
	assert_int_equal(definitions->edges.count, 2);
	assert_string_equal(mr_model_text(model, node_at(edges[0].source)->name), "x");
	assert_int_equal(edges[0].target, relu);
	assert_int_equal(edges[0].source_output, 1);
	assert_int_equal(edges[0].kind, MR_edge_kind_data);
	assert_string_equal(mr_model_text(model, node_at(edges[1].source)->name), "init");
	assert_int_equal(edges[1].kind, MR_edge_kind_control);
}

static void test_messages_and_steps(void **state)
{
	(void)state;
	assert_int_equal(model->messages.table.count, 2);
	for (uint32_t row = 0; row < 2; row++) {
		assert_string_equal(mr_model_text(model, model->messages.channel[row]), "k;0:0");
		assert_int_equal(model->messages.key[row], 7);
		assert_int_equal(model->messages.is_receive[row], row);
		assert_int_equal(model->messages.execution[row], execution_of(row ? "r" : "s"));
		assert_int_equal(model->messages.peer[row], 1 - row);
		assert_int_equal(model->messages.bytes[row], MR_NO_SIZE); /* nobody tells */
	}
	assert_int_equal(model->steps.table.count, 2);
	assert_int_equal(model->steps.step[0], 41);
	assert_int_equal(model->steps.step[1], 43);
}

static void test_collectives(void **state)
{
	const struct mr_collectives *collectives = &model->collectives;
	const struct mr_node *node = node_at(collectives->node[0]);

	(void)state;
	assert_int_equal(collectives->table.count, 1);
	assert_string_equal(mr_model_text(model, node->name), "reduce");
	assert_string_equal(
		mr_model_text(model, model->survey->definitions.graphs.items[node->graph].name),
		"train");
	assert_in_range(collectives->start_ns[0], MS(1400) - 100, MS(1400) + 100);
	assert_int_equal(collectives->run[0], 7);
	assert_int_equal(collectives->group_key[0], 3);
	assert_int_equal(collectives->instance_key[0], 101);
}

/* Of what one thread begins and another ends, it is known when it began. */
static void test_halves(void **state)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint32_t found = 0;

	(void)state;
	for (uint32_t row = 0; row < scopes->table.count; row++) {
		if (strcmp(mr_model_text(model, scopes->name[row]), "CompleteParams") != 0)
			continue;
		found++;
		assert_in_range(scopes->start_ns[row], MS(1002) - 100, MS(1002) + 100);
		assert_int_equal(scopes->duration_ns[row], 0);
	}
	assert_int_equal(found, 1);
}

/* Whatever the events say, they are read; a sanitizer sees the rest. */
static void test_anything(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int round = 0; round < 20; round++) {
		framework_start(texts, mr_countof(texts));
		framework_begin(2, 2, 100, MR_PACKET_EVENTS);
		framework_process_start();
		for (uint64_t i = 0; i < 400; i++) {
			struct sample anything;
			uint8_t id = (uint8_t)(MR_EVENT_traceme + next_random(&random) % 7);

			sample_fill(&anything, id, 2 * MS(1100) + i, &random);
			if (next_random(&random) % 2) /* a text that is known */
				put_number(anything.payload,
					   next_random(&random) % (mr_countof(texts) + 2), 4);
			packet_event(&framework_packet, id, anything.ticks, anything.payload,
				     anything.size);
		}
		framework_end("ctf/main");
		assert_int_equal(mr_model_load(framework_directory, &model), 0);
		free_step(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_executions, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_completions, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_memory_of_devices, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_edges_and_devices, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_messages_and_steps, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_collectives, load_step, free_step),
		cmocka_unit_test_setup_teardown(test_halves, load_step, free_step),
		cmocka_unit_test(test_anything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
