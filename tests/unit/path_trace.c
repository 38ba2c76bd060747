/* SPDX-License-Identifier: Apache-2.0 */
#include "path_trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/cause/critical_path.h"

struct mr_model *path_model;
static uint32_t device, queues[2], launch_name, sync_name;
static bool has_kernel;

/* ---- writing ------------------------------------------------------------------------------------ */

void path_start(bool kernel)
{
	has_kernel = kernel;
	if (kernel) {
		kernel_trace_begin(3);
		runtime_trace_start_in((char *)kernel_trace_directory());
	} else {
		runtime_trace_start();
	}
	device = define_device("gpu0", 0);
	queues[0] = define_queue(device, "queue0", MR_queue_order_in_order, false);
	queues[1] = define_queue(device, "queue1", MR_queue_order_in_order, false);
	launch_name = define_string("launch");
	sync_name = define_string("cudaDeviceSynchronize");
}

void path_load(void)
{
	if (!has_kernel) {
		path_model = runtime_trace_load();
		return;
	}
	runtime_trace_finish();
	path_model = kernel_trace_load(TRACE_END);
}

void path_unload(void)
{
	if (has_kernel)
		kernel_trace_end(path_model);
	else
		runtime_trace_end(path_model);
}

void path_live_main(void)
{
	kernel_born(0, TRACE_BEGIN, 0, MAIN, MAIN, "main");
	kernel_switch(0, AT(0), 0, MAIN, 0);
}

void path_live(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_born(cpu, AT(us), MAIN, tid, MAIN, "thread");
	kernel_switch(cpu, AT(us), 0, tid, 0);
}

void path_leave(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), tid, 0, MR_switch_reason_exited);
}

void path_block(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), tid, 0, MR_switch_reason_interruptible);
}

void path_resume(uint32_t cpu, uint32_t tid, uint64_t us)
{
	kernel_switch(cpu, AT(us), 0, tid, 0);
}

void path_wake(uint32_t cpu, uint32_t tid, uint32_t waker, uint64_t us)
{
	kernel_wake(cpu, AT(us), tid, waker);
}

void path_launch(uint64_t from, uint64_t until, uint64_t correlation, uint32_t queue,
		 bool is_blocking)
{
	EMIT(runtime_launch, AT(until), .function = launch_name,
	     .duration_ticks = mr_u48_from(1000 * (until - from)), .correlation = correlation,
	     .queue = queues[queue], .is_blocking = is_blocking,
	     .kind = MR_operation_kind_copy_from_device);
}

void path_synchronise(uint64_t from, uint64_t until)
{
	EMIT(runtime_call, AT(until), .function = sync_name,
	     .duration_ticks = mr_u48_from(1000 * (until - from)));
}

void path_call(uint64_t from, uint64_t until)
{
	EMIT(runtime_call, AT(until), .function = launch_name,
	     .duration_ticks = mr_u48_from(1000 * (until - from)));
}

void path_operate(uint64_t correlation, uint32_t queue, uint64_t from, uint64_t until)
{
	EMIT(device_operation, AT(80000), .queue = queues[queue], .correlation = correlation,
	     .start = DEVICE_TIME(AT(from)), .end = DEVICE_TIME(AT(until)),
	     .kind = MR_operation_kind_kernel);
}

/* ---- checking ----------------------------------------------------------------------------------- */

static uint32_t who_of(const struct mr_path_segment *segment)
{
	if (segment->operation != MR_NO_ROW)
		return (uint32_t)path_model->device_operations.correlation[segment->operation];
	return segment->track == MR_NO_TRACK ? 0
					     : path_model->survey->tracks.items[segment->track].tid;
}

static void print_path(const struct mr_critical_path *path)
{
	for (size_t i = 0; i < path->segments.count; i++) {
		const struct mr_path_segment *segment = &path->segments.items[i];

		print_error("%8lld %8lld  %s %u\n",
			    (long long)((segment->start_ns - (int64_t)BASE) / 1000),
			    (long long)(segment->duration_ns / 1000),
			    mr_cause_name((enum mr_cause_kind)segment->link.kind), who_of(segment));
	}
}

void path_check(const struct mr_model *looked_at, const struct path_expected *expected,
		size_t count)
{
	struct mr_critical_path path;
	struct mr_window window = mr_model_window(looked_at);
	bool is_right;

	assert_int_equal(mr_critical_path_make(looked_at, &path), 0);
	is_right = path.segments.count == count;
	for (size_t i = 0; is_right && i < count; i++) {
		const struct mr_path_segment *segment = &path.segments.items[i];
		int64_t until_ns = i + 1 < count ? (int64_t)BASE + 1000 * expected[i + 1].from_us
						 : window.last_ns;

		is_right = segment->start_ns == (int64_t)BASE + 1000 * expected[i].from_us &&
			   segment->start_ns + segment->duration_ns == until_ns &&
			   strcmp(mr_cause_name((enum mr_cause_kind)segment->link.kind),
				  expected[i].cause) == 0 &&
			   who_of(segment) == expected[i].who;
	}
	if (!is_right)
		print_path(&path);
	assert_true(is_right);
	mr_critical_path_free(&path);
}
