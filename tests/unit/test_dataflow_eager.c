/* SPDX-License-Identifier: Apache-2.0
 *
 * Eager operations of TensorFlow: devices, duplicate records, asynchronous operations, and steps.
 * Milliseconds; what is asynchronous has the address of its work below:
 *
 *     main         ├MatMul┤ ...  ├ step 41 ──────────────────────────────────────────────┤   1090 .. 1300
 *                                  ├Relu┤   ├Relu┤  ├Lost┤ ├Far┤ ├Now┤ ├g┤
 *                                   70       70      80     90    a0    b0
 *     executor                            ├70┤  ├70 ─┤        ├90┤         ├b0, FunctionRun 9 ─┤
 *     worker                                                                  ├ Process 9: Mul ┤
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "framework_trace.h"
#include "load/load.h"

enum {
	MATMUL = 1,
	TANH,
	RELU,
	LOST,
	FAR,
	NOW,
	FUNCTION,
	COMPILED,
	COMPILED_TOLD,
	CPU,
	XPU,
	FUNCTION_RUN,
	PROCESS,
	MUL,
	ADD,
	STEP,
	CALL_OF_FUNCTION,
};

static const char *const texts[] = {
	"MatMul",
	"Tanh",
	"Relu",
	"Lost",
	"Far",
	"Now",
	"__inference_g",
	"__inference_f",
	"__inference_f:__inference_f#shape=(float[2])#",
	"/job:localhost/replica:0/task:0/device:CPU:0",
	"/job:localhost/replica:0/task:0/device:XPU:0",
	"FunctionRun#id=%,_r=%#",
	"ExecutorState::Process#id=%,iter_num=%#",
	"Mul:Mul",
	"Add:Add",
	"train#step_num=%#",
	"EagerLocalExecute: __inference_g",
};

static struct mr_model *model;

static void scope(uint32_t text, uint64_t start_ms, uint64_t end_ms, uint64_t number)
{
	EMIT(traceme_numbers, MS(end_ms), NULL, .text = text, .start = REALTIME(start_ms),
	     .end = REALTIME(end_ms), .first = number);
}

static void operation(uint32_t text, uint64_t start_ms, uint64_t end_ms)
{
	EMIT(traceme, MS(end_ms), NULL, .text = text, .start = REALTIME(start_ms),
	     .end = REALTIME(end_ms));
}

static void call(uint32_t name, uint32_t device, uint64_t start_ms, uint64_t end_ms)
{
	EMIT(eager_operation, MS(end_ms), NULL, .name = name, .device = device,
	     .duration_ticks = mr_u48_from(2 * MS(end_ms - start_ms)));
}

static void enqueue(uint64_t ms, uint64_t item)
{
	EMIT(eager_enqueue, MS(ms), NULL, .item = item);
}

static void run(uint64_t item, uint64_t start_ms, uint64_t end_ms, bool is_done)
{
	EMIT(eager_run, MS(end_ms), NULL, .item = item, .is_done = is_done,
	     .duration_ticks = mr_u48_from(2 * MS(end_ms - start_ms)));
}

static void write_synchronous(void)
{
	call(MATMUL, CPU, 1040, 1050);
	call(MATMUL, 0, 1052, 1054); /* failed */
	call(TANH, CPU, 1060, 1061);
	call(TANH, XPU, 1062, 1063);
	call(TANH, 0, 1064, 1065);
	operation(COMPILED_TOLD, 1072, 1078);
	call(COMPILED, CPU, 1070, 1080);
}

static void write_asynchronous(void)
{
	enqueue(1101, 0x70);
	call(RELU, CPU, 1100, 1102);
	enqueue(1230, 0x71); /* a copy of an input */
	enqueue(1231, 0x70);
	call(RELU, CPU, 1229, 1232);
	enqueue(1261, 0x80);
	call(LOST, CPU, 1260, 1262);
	enqueue(1271, 0x90);
	call(FAR, CPU, 1270, 1272);
	enqueue(1276, 0xa0);
	run(0xa0, 1276, 1278, true);
	call(NOW, CPU, 1275, 1279);
	enqueue(1281, 0xb0);
	call(FUNCTION, CPU, 1280, 1282);
	scope(STEP, 1090, 1300, 41);
}

static void write_main(void)
{
	framework_begin(2, 2, 100, MR_PACKET_EVENTS);
	framework_process_start();
	write_synchronous();
	write_asynchronous();
	scope(FUNCTION_RUN, 1405, 1406, 11);
	scope(FUNCTION_RUN, 1407, 1408, 12);
	scope(STEP, 1400, 1450, 42);
	scope(FUNCTION_RUN, 1465, 1466, 11); /* of another session */
	scope(STEP, 1460, 1480, 43);
	framework_end("ctf/main");
}

static void write_executor(void)
{
	framework_begin(3, 2, 101, MR_PACKET_EVENTS);
	run(0x70, 1200, 1220, true);
	run(0x71, 1240, 1241, true);
	run(0x70, 1245, 1255, true);
	run(0x90, 1273, 1274, false);
	run(0x60, 1275, 1276, true); /* given before the recording began */
	scope(FUNCTION_RUN, 1312, 1338, 9);
	run(0xb0, 1310, 1340, true);
	framework_end("ctf/executor");
}

static void write_worker(void)
{
	framework_begin(4, 2, 102, MR_PACKET_EVENTS);
	operation(MUL, 1321, 1323);
	scope(PROCESS, 1320, 1330, 9);
	operation(ADD, 1411, 1412);
	scope(PROCESS, 1410, 1415, 11);
	operation(MUL, 1421, 1422);
	scope(PROCESS, 1420, 1425, 12);
	framework_end("ctf/worker");
}

static int load(void **state)
{
	(void)state;
	framework_start(texts, mr_countof(texts));
	write_main();
	write_executor();
	write_worker();
	return mr_model_load(framework_directory, &model);
}

static int unload(void **state)
{
	(void)state;
	mr_model_free(model);
	directory_remove(framework_directory);
	return 0;
}

static const struct mr_node *node_of(uint32_t row)
{
	return &model->survey->definitions.nodes.items[model->node_executions.node[row]];
}

static const char *device_of(uint32_t row)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	return mr_model_text(model, definitions->devices.items[node_of(row)->device].name);
}

/* The execution of a node that began in that millisecond. */
static uint32_t execution_at(const char *name, uint64_t ms)
{
	const struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++)
		if (strcmp(mr_model_text(model, node_of(row)->name), name) == 0 &&
		    (uint64_t)executions->start_ns[row] + 1000 >= MS(ms) &&
		    (uint64_t)executions->start_ns[row] <= MS(ms) + 1000)
			return row;
	fail_msg("%s was not executed at %u ms", name, (unsigned int)ms);
	return 0;
}

/* What does not tell its device is executed by the node that all others of its name are; if there are several, it is
 * not known by which. */
static void test_devices(void **state)
{
	const uint32_t *node = model->node_executions.node;

	(void)state;
	assert_int_equal(node[execution_at("MatMul", 1040)], node[execution_at("MatMul", 1052)]);
	assert_string_equal(device_of(execution_at("MatMul", 1052)), texts[CPU - 1]);
	assert_string_equal(device_of(execution_at("Tanh", 1062)), texts[XPU - 1]);
	assert_int_equal(node_of(execution_at("Tanh", 1064))->device, 0);
}

static void test_told_twice(void **state)
{
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t row = execution_at("__inference_f", 1070);
	uint32_t count = 0;

	(void)state;
	for (uint32_t i = 0; i < executions->table.count; i++)
		count += node_of(i)->name == node_of(row)->name;
	assert_int_equal(count, 1);
	assert_string_equal(mr_model_text(model, executions->shapes[row]), "(float[2])");
	assert_int_equal(executions->table.count, 15);
}

static void assert_asynchronous(const char *name, uint64_t launched_ms, uint64_t start_ms,
				uint64_t end_ms, uint32_t tid)
{
	const struct mr_node_executions *executions = &model->node_executions;
	uint32_t row = execution_at(name, start_ms);

	assert_in_range(executions->asked_ns[row], MS(launched_ms) - 100, MS(launched_ms) + 100);
	assert_in_range(executions->duration_ns[row], MS(end_ms - start_ms) - 100,
			MS(end_ms - start_ms) + 100);
	assert_int_equal(model->survey->tracks.items[executions->track[row]].tid, tid);
	assert_int_equal(executions->flags[row], MR_ROW_ASYNCHRONOUS);
	assert_int_equal(executions->step[row], 41);
}

/* An execution is what the executor did, of the work that the call gave it. */
static void test_asynchronous(void **state)
{
	const int64_t *done_ns = model->node_executions.done_ns;
	uint32_t now = execution_at("Now", 1275);

	(void)state;
	assert_asynchronous("Relu", 1100, 1200, 1220, 101);
	assert_asynchronous("Relu", 1229, 1245, 1255, 101); /* at the same address */
	assert_asynchronous("__inference_g", 1280, 1310, 1340, 101);
	assert_in_range(done_ns[execution_at("Relu", 1200)], MS(1220) - 100, MS(1220) + 100);
	assert_asynchronous("Lost", 1260, 1260, 1262, 100);
	assert_int_equal(done_ns[execution_at("Lost", 1260)], MR_NO_TIME);
	assert_asynchronous("Far", 1270, 1273, 1274, 101);
	assert_int_equal(done_ns[execution_at("Far", 1273)], MR_NO_TIME);
	assert_int_equal(model->node_executions.flags[now], 0);
	assert_int_equal(model->node_executions.asked_ns[now], MR_NO_TIME);
}

/* What a function does that is executed asynchronously belongs to it. */
static void test_function(void **state)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	uint32_t row = execution_at("Mul", 1321);

	(void)state;
	assert_string_equal(
		mr_model_text(model, definitions->graphs.items[node_of(row)->graph].name),
		"__inference_g");
	assert_int_equal(model->node_executions.step[row], 41);
}

/* Operations are for the step that their run was begun in, on whatever thread; if that is not certain, for none. */
static void test_steps(void **state)
{
	const uint32_t *step = model->node_executions.step;

	(void)state;
	assert_int_equal(step[execution_at("MatMul", 1040)], MR_NO_STEP);
	assert_int_equal(step[execution_at("Now", 1275)], 41);
	assert_int_equal(step[execution_at("Mul", 1421)], 42);
	assert_int_equal(step[execution_at("Add", 1411)], MR_NO_STEP);
}

/* If no steps are marked, steps are calls, recorded inside them. */
static void test_calls_as_steps(void **state)
{
	(void)state;
	framework_start(texts, mr_countof(texts));
	framework_begin(2, 2, 100, MR_PACKET_EVENTS);
	framework_process_start();
	for (uint64_t ms = 1100; ms <= 1120; ms += 10) {
		scope(FUNCTION_RUN, ms + 3, ms + 4, ms);
		operation(CALL_OF_FUNCTION, ms + 1, ms + 5);
		call(FUNCTION, CPU, ms, ms + 6);
	}
	framework_end("ctf/main");
	assert_int_equal(mr_model_load(framework_directory, &model), 0);
	assert_int_equal(model->steps.table.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			model->node_executions.step[execution_at("__inference_g", 1100 + 10 * i)],
			model->steps.step[i]);
	unload(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_devices, load, unload),
		cmocka_unit_test_setup_teardown(test_told_twice, load, unload),
		cmocka_unit_test_setup_teardown(test_asynchronous, load, unload),
		cmocka_unit_test_setup_teardown(test_function, load, unload),
		cmocka_unit_test_setup_teardown(test_steps, load, unload),
		cmocka_unit_test(test_calls_as_steps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
