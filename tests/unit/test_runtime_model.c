/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime level in the model: joins by identity, operations that never ended, live memory. With a
 * folder as argument, writes a trace of every event of the level there instead
 * (tests/golden/runtime/opencl.mill).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime_trace.h"
#include "trace_writer.h"

#define AT(ns) (UINT64_C(1010000000) + (uint64_t)(ns))

static struct mr_model *model;
static uint32_t device, queue, function, kernel;

static void start(uint32_t jitter_ns)
{
	runtime_trace_start();
	device = define_device("gpu0", jitter_ns);
	queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
	function = define_string("clEnqueueWriteBuffer");
	kernel = define_string("scale");
}

static void launch(uint64_t ns, uint64_t correlation)
{
	emit_copy_launch(AT(ns), function, queue, correlation);
}

static void operate(uint64_t ns, uint64_t correlation, uint64_t from, uint64_t until)
{
	emit_copy(AT(ns), queue, correlation, AT(from), AT(until));
}

/* ---- joins -------------------------------------------------------------------------------------- */

static uint32_t process_of(uint32_t track)
{
	uint32_t process = model->survey->tracks.items[track].process;

	return model->survey->processes.items[process].number;
}

/* Two processes use the same correlations, and operations end in another order than they began. */
static void test_joins_by_identity(void **state)
{
	enum {
		LAUNCHES = 200
	};
	uint64_t random = 3;

	(void)state;
	start(0);
	for (uint32_t process = 2; process <= 3; process++) {
		uint64_t order[LAUNCHES];

		for (uint64_t i = 0; i < LAUNCHES; i++) {
			launch(200 * i + 100, 1000 * i + 7);
			order[i] = i;
		}
		for (uint64_t i = LAUNCHES - 1; i > 0; i--) {
			uint64_t other = next_random(&random) % (i + 1), kept = order[i];

			order[i] = order[other];
			order[other] = kept;
		}
		for (uint64_t i = 0; i < LAUNCHES; i++)
			operate(100000 + i, 1000 * order[i] + 7, 200 * order[i] + 50 + process,
				200 * order[i] + 60);
		if (process == 2) {
			runtime_trace_process(3);
			device = define_device("gpu0", 0);
			queue = define_queue(device, "queue0", MR_queue_order_in_order, false);
			function = define_string("clEnqueueWriteBuffer");
		}
	}
	model = runtime_trace_load();
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_calls *calls = &model->calls;
	assert_int_equal(operations->table.count, 2 * LAUNCHES);
	assert_int_equal(calls->table.count, 2 * LAUNCHES);
	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t call = operations->call[row];
		uint32_t process = process_of(operations->track[row]);

		assert_int_equal(process_of(calls->track[call]), process);
		assert_int_equal(calls->correlation[call], operations->correlation[row]);
		assert_int_equal(calls->operation[call], row);
		assert_int_equal(calls->role[call], MR_CALL_LAUNCH);
		/* Times are the witness: each operation starts 50 after its launch, and its process. */
		assert_int_equal(operations->start_ns[row] - calls->start_ns[call], 50 + process);
	}
	assert_int_equal(model->anomalies.uncorrelated, 0);
	assert_int_equal(model->anomalies.ambiguous, 0);
	assert_int_equal(model->anomalies.unfinished_operations, 0);
	runtime_trace_end(model);
}

static void test_kernel_sizes(void **state)
{
	(void)state;
	start(0);
	EMIT(runtime_launch_kernel, AT(100), .function = function, .correlation = 1, .queue = queue,
	     .name = kernel, .global_x = 64, .global_y = 2, .global_z = 1, .local_x = 8);
	EMIT(runtime_launch_size, AT(200), .correlation = 2, .global_x = UINT64_C(1) << 40,
	     .global_y = 3, .global_z = 4);
	EMIT(runtime_launch_kernel, AT(210), .function = function, .correlation = 2, .queue = queue,
	     .name = kernel, .global_x = UINT32_MAX, .global_y = UINT32_MAX);
	EMIT(runtime_launch_kernel, AT(220), .function = function, .correlation = 3, .queue = queue,
	     .name = kernel, .global_x = 5);
	model = runtime_trace_load();
	const struct mr_kernel_launches *launches = &model->kernel_launches;
	assert_int_equal(launches->table.count, 3);
	assert_int_equal(launches->global_x[0], 64);
	assert_int_equal(launches->global_y[0], 2);
	assert_int_equal(launches->local_x[0], 8);
	assert_int_equal(launches->global_x[1], INT64_C(1) << 40);
	assert_int_equal(launches->global_z[1], 4);
	assert_int_equal(launches->global_x[2], 5);
	for (uint32_t row = 0; row < 3; row++) {
		assert_int_equal(model->calls.correlation[launches->call[row]], row + 1);
		assert_string_equal(mr_model_text(model, launches->name[row]), "scale");
	}
	runtime_trace_end(model);
}

/* What the trace says of operation `correlation`. */
static uint32_t find_operation(uint64_t correlation)
{
	for (uint32_t row = 0; row < model->device_operations.table.count; row++)
		if (model->device_operations.correlation[row] == correlation)
			return row;
	return MR_NO_ROW;
}

static void check_unknown_time(uint64_t correlation, uint8_t flags, uint64_t call_start)
{
	uint32_t row = find_operation(correlation);

	assert_int_not_equal(row, MR_NO_ROW);
	assert_int_equal(model->device_operations.flags[row], flags);
	assert_int_equal(model->device_operations.duration_ns[row], 0);
	assert_int_equal(model->device_operations.start_ns[row], AT(call_start));
	assert_int_equal(model->calls.operation[model->device_operations.call[row]], row);
}

static void test_operations_that_are_not_there(void **state)
{
	(void)state;
	start(0);
	launch(200, 1); /* ends */
	operate(300, 1, 210, 250);
	launch(400, 2); /* the program ends first, and says so */
	launch(600, 3); /* the program is killed */
	EMIT(runtime_launch_kernel, AT(800), .function = function,
	     .duration_ticks = mr_u48_from(100), .correlation = 4, .queue = queue, .name = kernel);
	EMIT(runtime_launch, AT(900), .function = function, .correlation = 5, .result = -30,
	     .queue = queue); /* refused: there never was an operation */
	launch(1100, 6);
	EMIT(device_operation, AT(1150), .queue = queue, .correlation = 6); /* no times */
	uint32_t timed = queue;
	queue = define_queue(device, "untimed", MR_queue_order_in_order, true);
	launch(1300, 7);
	queue = timed;
	operate(1400, 99, 1310, 1320); /* the launch is lost */
	EMIT(device_operation_unfinished, AT(1500), .queue = queue, .correlation = 2,
	     .kind = MR_operation_kind_copy_to_device);
	model = runtime_trace_load();
	assert_int_equal(model->device_operations.table.count, 7);
	assert_int_equal(find_operation(5), MR_NO_ROW);
	check_unknown_time(2, MR_ROW_UNFINISHED, 300);
	check_unknown_time(3, MR_ROW_UNFINISHED, 500);
	check_unknown_time(4, MR_ROW_UNFINISHED, 700);
	check_unknown_time(6, MR_ROW_UNTIMED, 1000);
	check_unknown_time(7, MR_ROW_UNTIMED, 1200);
	assert_string_equal(mr_model_text(model, model->device_operations.name[find_operation(4)]),
			    "scale");
	assert_int_equal(model->device_operations.bytes[find_operation(3)], 30);
	assert_int_equal(model->device_operations.bound_ns[find_operation(3)],
			 MR_CLOCK_BOUND_UNKNOWN);
	assert_int_equal(model->device_operations.call[find_operation(99)], MR_NO_ROW);
	assert_int_equal(model->anomalies.unfinished_operations, 3);
	assert_int_equal(model->anomalies.untimed_operations, 2);
	assert_int_equal(model->anomalies.uncorrelated, 1);
	assert_int_equal(model->anomalies.unplaced, 0);
	runtime_trace_end(model);
}

static void test_ambiguous_correlation(void **state)
{
	(void)state;
	start(0);
	launch(200, 1);
	launch(400, 1);
	operate(500, 1, 410, 420);
	model = runtime_trace_load();
	assert_int_equal(model->anomalies.ambiguous, 1);
	/* The operation is the first one's; then the second has none that ended. */
	const struct mr_device_operations *operations = &model->device_operations;
	assert_int_equal(operations->table.count, 2);
	assert_int_equal(operations->flags[0], MR_ROW_UNFINISHED);
	assert_int_equal(model->calls.start_ns[operations->call[0]], AT(300));
	assert_int_equal(model->calls.start_ns[operations->call[1]], AT(100));
	runtime_trace_end(model);
}

static void test_dependencies(void **state)
{
	(void)state;
	start(0);
	launch(200, 1);
	launch(400, 2);
	EMIT(runtime_wait, AT(400), .correlation = 2, .awaited = 1);
	EMIT(runtime_wait, AT(500), .correlation = 3, .awaited = 2);
	EMIT(runtime_wait, AT(500), .correlation = 3, .awaited = 55);
	EMIT(runtime_call_on, AT(600), .function = function, .duration_ticks = mr_u48_from(100),
	     .correlation = 3, .queue = queue, .object = 77);
	EMIT(runtime_call, AT(700), .function = function);
	EMIT(runtime_wait, AT(710), .correlation = 4, .awaited = 2);
	EMIT(interval_unfinished, AT(900), .event = MR_EVENT_runtime_call, .what = function,
	     .step = 4, .start = AT(800)); /* the program was killed while it waited */
	model = runtime_trace_load();
	const struct mr_dependencies *waits = &model->dependencies;
	const struct mr_calls *calls = &model->calls;
	assert_int_equal(waits->table.count, 4);
	assert_int_equal(calls->correlation[waits->call[0]], 2);
	assert_int_equal(calls->correlation[waits->awaited_call[0]], 1);
	assert_int_equal(calls->correlation[waits->call[1]], 3);
	assert_int_equal(calls->correlation[waits->awaited_call[1]], 2);
	assert_int_equal(waits->awaited_call[2], MR_NO_ROW);
	assert_int_equal(calls->role[0], MR_CALL_LAUNCH);
	assert_int_equal(calls->role[2], MR_CALL_WAIT);
	assert_int_equal(calls->object[2], 77);
	assert_int_equal(calls->role[3], MR_CALL_PLAIN);
	assert_int_equal(waits->call[3], 4);
	assert_int_equal(calls->role[4], MR_CALL_WAIT);
	assert_int_equal(calls->flags[4], MR_ROW_UNFINISHED);
	assert_int_equal(model->constraints[MR_CONSTRAINT_WAIT].checked, 0);
	runtime_trace_end(model);
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void allocate(uint64_t ns, uint64_t object, uint64_t parent, uint64_t bytes)
{
	EMIT(runtime_allocate, AT(ns), .function = function, .device = device, .object = object,
	     .parent = parent, .bytes = bytes);
}

static void test_memory(void **state)
{
	static const uint64_t live[] = {1000, 3000, 3000, 2000, 6000, 6000, 4000, 4000, 0};

	(void)state;
	start(0);
	allocate(1, 0xa0, 0, 1000);
	allocate(2, 0xb0, 0, 2000);
	allocate(3, 0xc0, 0xb0, 500); /* a part takes nothing */
	EMIT(runtime_free, AT(4), .object = 0xa0);
	allocate(5, 0xa0, 0, 4000); /* the handle is used again */
	EMIT(runtime_free, AT(6), .object = 0xc0);
	EMIT(runtime_free, AT(7), .object = 0xb0);
	EMIT(runtime_free, AT(8), .object = 0xdead); /* made before the recording */
	EMIT(runtime_free, AT(9), .object = 0xa0);
	model = runtime_trace_load();
	const struct mr_memory *memory = &model->memory;
	assert_int_equal(memory->table.count, mr_countof(live));
	for (uint32_t row = 0; row < mr_countof(live); row++) {
		assert_int_equal(memory->teller[row], MR_MEMORY_RUNTIME);
		if (row == 7)
			assert_int_equal(memory->device[row], 0);
		else
			assert_int_equal(memory->live_bytes[row], live[row]);
	}
	assert_int_equal(memory->bytes[3], 1000);
	assert_int_equal(memory->bytes[8], 4000);
	runtime_trace_end(model);
}

/* ---- a trace to look at ------------------------------------------------------------------------- */

#define US(microseconds) (1000 * (uint64_t)(microseconds))

static uint64_t next_correlation;

/* A kernel or copy that is launched at `us`, and ran from `from` to `until`. */
static void show_kernel(uint64_t us, uint64_t from, uint64_t until)
{
	EMIT(runtime_launch_kernel, AT(US(us)), .function = function,
	     .duration_ticks = mr_u48_from(US(2)), .correlation = ++next_correlation,
	     .queue = queue, .name = kernel, .global_x = 1024, .global_y = 16, .global_z = 1,
	     .local_x = 64, .local_y = 1, .local_z = 1);
	EMIT(device_operation, AT(US(us) + 1), .queue = queue, .name = kernel,
	     .correlation = next_correlation, .queued = DEVICE_TIME(AT(US(us))),
	     .submitted = DEVICE_TIME(AT(US(us + 1))), .start = DEVICE_TIME(AT(US(from))),
	     .end = DEVICE_TIME(AT(US(until))), .kind = MR_operation_kind_kernel);
}

static void show_copy(uint64_t us, uint64_t from, uint64_t until, enum mr_operation_kind kind,
		      uint32_t name)
{
	EMIT(runtime_launch, AT(US(us)), .function = name, .duration_ticks = mr_u48_from(US(1)),
	     .correlation = ++next_correlation, .queue = queue, .object = 0xb0, .bytes = 65536,
	     .kind = (uint8_t)kind);
	EMIT(device_operation, AT(US(us) + 1), .queue = queue, .correlation = next_correlation,
	     .queued = DEVICE_TIME(AT(US(us))), .submitted = DEVICE_TIME(AT(US(us + 1))),
	     .start = DEVICE_TIME(AT(US(from))), .end = DEVICE_TIME(AT(US(until))), .bytes = 65536,
	     .kind = (uint8_t)kind);
}

static void write_sample(char *folder)
{
	runtime_trace_start_in(folder);
	device = define_device("gpu0", 0);
	uint32_t copies = define_queue(device, "copies", MR_queue_order_in_order, false);
	uint32_t kernels = define_queue(device, "kernels", MR_queue_order_out_of_order, false);
	uint32_t untimed = define_queue(device, "untimed", MR_queue_order_in_order, true);
	uint32_t write = define_string("clEnqueueWriteBuffer"), finish = define_string("clFinish");
	function = define_string("clEnqueueNDRangeKernel");
	kernel = define_string("scale");
	allocate(0, 0xb0, 0, 65536);
	allocate(100, 0xc0, 0xb0, 4096);
	EMIT(runtime_call, AT(US(1)), .function = define_string("clGetPlatformIDs"),
	     .duration_ticks = mr_u48_from(300));
	queue = copies;
	show_copy(10, 20, 60, MR_operation_kind_copy_to_device, write);
	queue = kernels;
	EMIT(runtime_wait, AT(US(11)), .correlation = 2, .awaited = 1);
	show_kernel(12, 70, 200);
	queue = copies;
	show_copy(50, 90, 120, MR_operation_kind_copy_to_device, write);
	queue = kernels;
	kernel = define_string("reduce");
	show_kernel(60, 210, 230);
	queue = copies;
	show_copy(70, 240, 250, MR_operation_kind_copy_from_device,
		  define_string("clEnqueueReadBuffer"));
	EMIT(runtime_wait, AT(US(260)), .correlation = 90, .awaited = 5);
	EMIT(runtime_call_on, AT(US(261)), .function = finish,
	     .duration_ticks = mr_u48_from(US(150)), .correlation = 90, .queue = queue);
	EMIT(runtime_launch_size, AT(US(270)), .correlation = 91, .global_x = UINT64_C(1) << 33,
	     .global_y = 1, .global_z = 1);
	EMIT(runtime_launch_kernel, AT(US(271)), .function = function,
	     .duration_ticks = mr_u48_from(US(1)), .correlation = 91, .queue = kernels,
	     .name = kernel, .global_x = UINT32_MAX);
	EMIT(runtime_launch, AT(US(272)), .function = write, .correlation = 92, .queue = untimed,
	     .kind = MR_operation_kind_fill);
	EMIT(runtime_free, AT(US(280)), .object = 0xc0);
	EMIT(device_operation_unfinished, AT(US(300)), .queue = kernels, .name = kernel,
	     .correlation = 91, .kind = MR_operation_kind_kernel);
	runtime_trace_finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joins_by_identity),
		cmocka_unit_test(test_kernel_sizes),
		cmocka_unit_test(test_operations_that_are_not_there),
		cmocka_unit_test(test_ambiguous_correlation),
		cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_memory),
	};

	if (argc == 2) {
		write_sample(argv[1]);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
