/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenCL layer in front of a runtime made for the purpose (opencl_fixture.h).
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "opencl_fixture.h"

static void test_without_event(void **state)
{
	(void)state;
	fill(NULL);
	assert_int_equal(events[0].references, 1); /* ours */
	assert_int_equal(look().operations, 0);
	mr_opencl_clFinish(queue);
	struct seen seen = look();
	assert_int_equal(events[0].references, 0);
	assert_int_equal(seen.operations, 1);
	assert_int_equal(seen.operation.correlation, seen.launch.correlation);
	assert_int_equal(seen.operation.queue, seen.launch.queue);
	assert_int_equal(seen.operation.queued, events[0].queued);
	assert_int_equal(seen.operation.end, events[0].queued + 3);
	assert_int_equal(seen.operation.bytes, 4096);
	assert_int_equal(seen.operation.kind, MR_operation_kind_fill);
	assert_false(seen.is_untimed);
}

/* Whoever else takes a correlation, an annotation or another runtime, none is taken twice. */
static void test_correlations_have_one_base(void **state)
{
	(void)state;
	fill(NULL);
	uint64_t first = look().launch.correlation;
	uint64_t other = mr_correlation_new();
	fill(NULL);
	assert_int_equal(other, first + 1);
	assert_int_equal(look().launch.correlation, first + 2);
}

static cl_uint references_of(cl_event event)
{
	cl_uint references = 0;
	assert_int_equal(mr_opencl_clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT,
						  sizeof references, &references, NULL),
			 CL_SUCCESS);
	return references;
}

static void test_hidden(void **state)
{
	(void)state;
	cl_event event = NULL;
	cl_ulong properties = 7, time = 7;
	fill(&event);
	assert_int_equal(events[0].references, 2);
	assert_int_equal(references_of(event), 1);
	assert_int_equal(mr_opencl_clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED,
							   sizeof time, &time, NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	mr_opencl_clFinish(queue);
	assert_int_equal(events[0].references, 1);
	assert_int_equal(references_of(event), 1);
	assert_int_equal(mr_opencl_clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED,
							   sizeof time, &time, NULL),
			 CL_PROFILING_INFO_NOT_AVAILABLE);
	assert_int_equal(time, 7);
	assert_int_equal(mr_opencl_clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES,
							 sizeof properties, &properties, NULL),
			 CL_SUCCESS);
	assert_int_equal(properties, 0);
	assert_int_equal(queue->properties, CL_QUEUE_PROFILING_ENABLE);
}

static void test_asked_for(void **state)
{
	(void)state;
	cl_event event = NULL;
	cl_ulong properties = 7, time = 7;
	queue = new_queue(CL_QUEUE_PROFILING_ENABLE);
	fill(&event);
	mr_opencl_clFinish(queue);
	assert_int_equal(mr_opencl_clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED,
							   sizeof time, &time, NULL),
			 CL_SUCCESS);
	assert_int_equal(time, events[0].queued);
	mr_opencl_clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties,
					NULL);
	assert_int_equal(properties, CL_QUEUE_PROFILING_ENABLE);
}

static void test_refused(void **state)
{
	(void)state;
	refuses_profiling = true;
	queue = new_queue(0);
	assert_non_null(queue);
	fill(NULL);
	mr_opencl_clFinish(queue);
	struct seen seen = look();
	assert_true(seen.is_untimed);
	assert_int_equal(seen.operations, 1);
	assert_int_equal(seen.operation.queued | seen.operation.end, 0);
}

/* The reference we hold must not be what a program releases that has none left. */
static void test_released_too_often(void **state)
{
	(void)state;
	cl_event event = NULL;
	fill(&event);
	assert_int_equal(mr_opencl_clReleaseEvent(event), CL_SUCCESS);
	assert_int_equal(events[0].references, 1);
	assert_int_equal(mr_opencl_clReleaseEvent(event), CL_INVALID_EVENT);
	assert_int_equal(events[0].references, 0);
	mr_opencl_clFinish(queue);
	assert_int_equal(events[0].references, 0);
	assert_int_equal(look().operations, 0);
}

static void test_failed_launch(void **state)
{
	(void)state;
	assert_int_equal(mr_opencl_clEnqueueFillBuffer(queue, NULL, "", 1, 0, 64, 1, NULL, NULL),
			 CL_INVALID_VALUE);
	struct seen seen = look();
	assert_int_equal(seen.launches, 1);
	assert_int_equal(seen.launch.result, CL_INVALID_VALUE);
	assert_int_equal(seen.launch.bytes, 0);
	mr_opencl_write_unfinished();
	assert_int_equal(look().unfinished, 0);
}

/* The same variable may hold what is waited for and receive the new event. */
static void test_waits(void **state)
{
	(void)state;
	cl_event event = NULL;
	fill(&event);
	uint64_t first = look().launch.correlation;
	mr_opencl_clEnqueueMarkerWithWaitList(queue, 1, &event, &event);
	assert_ptr_equal(event, &events[1]);
	struct seen seen = look();
	assert_int_equal(seen.waits, 1);
	assert_int_equal(seen.last_awaited, first);
	mr_opencl_clFinish(queue);
	assert_int_equal(look().last_awaited, seen.launch.correlation);
}

/* Out of order, one that never ends does not keep back the others. */
static void test_out_of_order(void **state)
{
	(void)state;
	queue = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	fill(NULL);
	completes_at_once = true;
	for (int i = 0; i < 10000; i++)
		fill(NULL);
	assert_in_range(look().operations, 9000, 10000);
	mr_opencl_harvest_all(true);
	assert_int_equal(look().operations, 10000);
	mr_opencl_write_unfinished();
	assert_int_equal(look().unfinished, 1);
}

static void test_many_pending(void **state)
{
	(void)state;
	uint64_t sum = 0;
	for (int i = 0; i < 60000; i++)
		fill(NULL);
	for (int i = 0; i < 60000; i++)
		sum += events[i].queued;
	assert_int_equal(look().operations, 0);
	mr_opencl_clFinish(queue);
	struct seen seen = look();
	assert_int_equal(seen.operations, 60000);
	assert_int_equal(seen.queued_sum, sum);
	for (int i = 0; i < 60000; i++)
		assert_int_equal(events[i].references, 0);
}

static void test_in_order(void **state)
{
	(void)state;
	fill(NULL);
	fill(NULL);
	atomic_store(&events[0].status, CL_COMPLETE);
	mr_opencl_harvest_all(false);
	assert_int_equal(look().operations, 1);
	mr_opencl_write_unfinished();
	assert_int_equal(look().unfinished, 1);
	assert_int_equal(events[1].references, 1); /* the driver may be gone: nothing is released */
}

/* The program may never call again, and yet the events we hold must not keep its queue alive. */
static void test_released_in_flight(void **state)
{
	(void)state;
	fill(NULL);
	fill(NULL);
	mr_opencl_clReleaseCommandQueue(queue);
	assert_int_equal(queue->references, 0);
	assert_int_equal(events[1].callback_count, 1); /* in order: the last tells for all */
	complete(&events[0]);
	complete(&events[1]);
	assert_int_equal(events[0].references + events[1].references, 0);
	assert_int_equal(look().operations, 2);
}

static void release_once(void)
{
	while_asked = NULL;
	mr_opencl_clReleaseCommandQueue(queue);
}

/* ... nor those that another thread is just looking at. */
static void test_released_while_looked_at(void **state)
{
	(void)state;
	fill(NULL);
	while_asked = release_once;
	mr_opencl_harvest_all(true);
	assert_int_equal(queue->references, 0);
	complete(&events[0]);
	assert_int_equal(events[0].references, 0);
}

/* What _exit() does. */
static void test_left_at_once(void **state)
{
	(void)state;
	fill(NULL);
	fill(NULL);
	atomic_store(&events[0].status, CL_COMPLETE);
	mr_opencl_leave_program(true);
	assert_int_equal(look().operations, 1);
	assert_int_equal(look().unfinished, 1);
}

/* What a failing exec does: the program goes on. */
static void test_stayed(void **state)
{
	(void)state;
	fill(NULL);
	fill(NULL);
	atomic_store(&events[0].status, CL_COMPLETE);
	mr_opencl_leave_program(false);
	assert_int_equal(look().operations, 1);
	mr_opencl_clFinish(queue);
	assert_int_equal(look().operations, 2);
	assert_int_equal(look().unfinished, 0);
}

static void leave_in_handler(int number)
{
	(void)number;
	mr_opencl_leave_program(true);
}

/* A signal handler may have interrupted the driver, which must then not be asked. */
static void test_left_in_handler(void **state)
{
	(void)state;
	const struct sigaction action = {.sa_handler = leave_in_handler};
	struct sigaction old;
	fill(NULL);
	atomic_store(&events[0].status, CL_COMPLETE);
	assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &old, NULL);
	assert_int_equal(look().operations + look().unfinished, 0);
}

/* A child has its parent's pending operations neither to write nor to release. */
static void test_fork(void **state)
{
	(void)state;
	fill(NULL);
	pid_t child = fork();
	if (child == 0) {
		atomic_store(&events[0].status, CL_COMPLETE);
		mr_opencl_harvest_all(true);
		mr_opencl_write_unfinished();
		_exit(atomic_load(&events[0].references) == 1 ? 0 : 1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	struct seen seen = look();
	assert_int_equal(seen.operations + seen.unfinished, 0);
	mr_opencl_clFinish(queue);
	assert_int_equal(look().operations, 1);
}

static void test_level_off(void **state)
{
	(void)state;
	atomic_store(&test_arena->control->levels, MR_LEVEL_core);
	fill(NULL);
	assert_int_equal(events[0].references, 0); /* none was asked for */
	assert_int_equal(queue->properties, CL_QUEUE_PROFILING_ENABLE);
	atomic_store(&test_arena->control->levels, MR_LEVEL_core | MR_LEVEL_runtime);
	assert_int_equal(look().launches, 0);
}

/* A queue made through an older or another table becomes known by what is done with it. */
static void test_queue_of_others(void **state)
{
	(void)state;
	cl_int error;
	cl_event event = NULL;
	queue = create_queue(NULL, &the_device, 0, &error);
	fill(&event);
	assert_int_equal(events[0].references, 1);
	assert_int_equal(look().launch.queue, 0);
	fill(NULL);
	mr_opencl_clFinish(queue);
	struct seen seen = look();
	assert_true(seen.is_untimed);
	assert_int_equal(seen.operations, 1);
	assert_int_equal(seen.operation.correlation, seen.launch.correlation);
}

/* Launches until there is a sample: one that the machine has held up for so long is none. */
static struct seen launch_for_sample(void)
{
	enum {
		HELD_UP_TICKS = 1 << 17
	};
	struct seen seen;
	uint64_t before, after;
	do {
		before = mr_ticks_now();
		fill(NULL);
		after = mr_ticks_now();
		mr_opencl_clFinish(queue);
		seen = look();
	} while (seen.samples == 0 && after - before >= HELD_UP_TICKS);
	assert_int_equal(seen.samples, 1);
	assert_int_equal(seen.sample.value, events[atomic_load(&event_count) - 1].queued);
	assert_true(before <= seen.sample.before && seen.sample.after <= after);
	return seen;
}

/* Without a timer a launch is the sample: the operation was queued while the call ran. */
static void test_clock_by_launch(void **state)
{
	(void)state;
	assert_int_equal(launch_for_sample().sample.reference, test_arena->user_clock);
}

static void test_clock_by_timer(void **state)
{
	uint64_t ahead = *(uint64_t *)*state;
	fill(NULL);
	mr_opencl_clFinish(queue);
	struct seen seen = look();
	assert_int_equal(seen.samples, 1);
	assert_true(seen.sample.before <= seen.sample.after);
	assert_int_equal(seen.sample.value, atomic_load(&clock_ns) + ahead);
}

/* A timer that speaks of another clock than the operations do is of no use. */
static void test_clock_by_wrong_timer(void **state)
{
	(void)state;
	launch_for_sample();
}

enum {
	THREADS = 8,
	LAUNCHES = 1000,
};

static void *launch_many(void *shared)
{
	cl_command_queue own = new_queue(0);
	for (int i = 0; i < LAUNCHES; i++) {
		cl_event event = NULL;
		mr_opencl_clEnqueueMarkerWithWaitList(i % 2 ? own : shared, 0, NULL, &event);
		mr_opencl_clEnqueueMarkerWithWaitList(own, 1, &event, NULL);
		mr_opencl_clReleaseEvent(event);
	}
	mr_opencl_clFinish(own);
	mr_opencl_clReleaseCommandQueue(own);
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	completes_at_once = true;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch_many, queue), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	mr_opencl_clFinish(queue);
	assert_int_equal(look().operations, 2 * THREADS * LAUNCHES);
	for (int i = 0; i < 2 * THREADS * LAUNCHES; i++)
		assert_int_equal(events[i].references, 0);
}

enum {
	STORM_THREADS = 64,
	STORM_LAUNCHES = 100,
	STORM_FINISHES = 10, /* after so many launches */
};

static void release_in_callback(cl_event event, cl_int status, void *unused)
{
	(void)unused;
	cl_int seen = CL_RUNNING;
	mr_opencl_clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof seen, &seen,
				 NULL);
	assert_int_equal(seen, status);
	mr_opencl_clReleaseEvent(event);
}

/* Nothing is complete until somebody waits: then callbacks run, in the thread of whoever waits. */
static void *launch_with_callbacks(void *shared)
{
	cl_command_queue own = new_queue(0);
	for (int i = 0; i < STORM_LAUNCHES; i++) {
		cl_event event = NULL;
		mr_opencl_clEnqueueMarkerWithWaitList(i % 2 ? own : shared, 0, NULL, &event);
		mr_opencl_clEnqueueMarkerWithWaitList(own, 1, &event, NULL);
		mr_opencl_clSetEventCallback(event, CL_COMPLETE, release_in_callback, NULL);
		if (i % STORM_FINISHES == 0)
			mr_opencl_clFinish(i % 4 ? own : shared);
	}
	mr_opencl_clReleaseCommandQueue(own);
	finish_queue(own);
	return NULL;
}

static void test_storm(void **state)
{
	(void)state;
	pthread_t threads[STORM_THREADS];
	for (int i = 0; i < STORM_THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch_with_callbacks, queue),
				 0);
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(threads[i], NULL);
	mr_opencl_clFinish(queue);
	mr_opencl_harvest_all(true);
	const struct seen seen = look();
	assert_int_equal(seen.launches, 2 * STORM_THREADS * STORM_LAUNCHES);
	assert_int_equal(seen.operations, seen.launches);
	for (uint64_t i = 0; i < seen.launches; i++)
		assert_int_equal(events[i].references, 0);
}

int main(void)
{
	static uint64_t near = 1000, far = UINT64_C(1) << 60;
	const struct CMUnitTest tests[] = {
		TEST(test_clock_by_launch),
		TEST(test_released_in_flight),
		TEST(test_released_while_looked_at),
		TEST(test_left_at_once),
		TEST(test_stayed),
		TEST(test_left_in_handler),
		TEST_OF(test_clock_by_timer, &near),
		TEST_OF(test_clock_by_wrong_timer, &far),
		TEST(test_without_event),
		TEST(test_correlations_have_one_base),
		TEST(test_hidden),
		TEST(test_asked_for),
		TEST(test_refused),
		TEST(test_released_too_often),
		TEST(test_failed_launch),
		TEST(test_waits),
		TEST(test_out_of_order),
		TEST(test_many_pending),
		TEST(test_in_order),
		TEST(test_fork),
		TEST(test_level_off),
		TEST(test_queue_of_others),
		TEST(test_threads),
		TEST(test_storm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
