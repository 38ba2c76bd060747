/* SPDX-License-Identifier: Apache-2.0
 *
 * include/millrace.h: does nothing without a tracer; with one, every call becomes the event it stands for.
 * For the latter the test runs itself with the library preloaded and an arena file of its own making.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <millrace.h>

#include "memory_arena.h"

static const char *own_path;
static char arena_path[] = "/tmp/millrace-test-arena-XXXXXX";

/* Calls everything once. */
static void annotate(void)
{
	uint32_t device = millrace_device("gpu", MILLRACE_DEVICE_GPU);
	millrace_device_identity(device, "pci 0000:3b:00.0");
	uint32_t queue = millrace_queue(device, "queue");
	uint32_t graph = millrace_graph("graph");
	uint32_t node = millrace_node(graph, "node", "type", device);
	uint32_t text = millrace_string("text");
	millrace_edge(node, 1, node, 2);
	millrace_control_edge(node, node);
	struct millrace_span step = millrace_step_begin(UINT64_C(1) << 40);
	struct millrace_span span = millrace_node_begin(node, 5);
	millrace_node_end(&span);
	millrace_node_end(&span); /* ends nothing */
	millrace_step_end(&step);
	millrace_node_complete(node, 6, 100, 200);
	millrace_node_instant(node, 7);
	millrace_memory_allocate(device, text, node, (void *)0x1234, 64);
	millrace_memory_free(device, text, (void *)0x1234, 64);
	millrace_message_send(text, 8, 9);
	millrace_message_receive(text, 10, 11);
	millrace_counter(text, -12);
	struct millrace_call launch = millrace_launch_begin(text, queue, MILLRACE_OPERATION_FILL);
	millrace_launch_end(&launch);
	millrace_launch_end(&launch); /* ends nothing */
	struct millrace_call wait = millrace_wait_begin(text, queue, launch.correlation);
	millrace_wait_end(&wait);
	millrace_wait_end(&wait);
	millrace_device_operation(&(struct millrace_operation){.queue = queue,
							       .name = text,
							       .correlation = launch.correlation,
							       .start = 13,
							       .end = 14,
							       .bytes = 15,
							       .kind = MILLRACE_OPERATION_FILL});
}

static void test_without_a_tracer(void **state)
{
	(void)state;
	assert_null(millrace_tracer_);
	assert_false(millrace_is_on());
	assert_int_equal(millrace_string("x"), 0);
	assert_int_equal(millrace_graph("x"), 0);
	assert_int_equal(millrace_node(0, "x", "y", 0), 0);
	assert_int_equal(millrace_device("x", MILLRACE_DEVICE_CPU), 0);
	assert_int_equal(millrace_queue(0, "x"), 0);
	assert_true(millrace_now() == 0);
	annotate();
}

static struct mr_arena *create_arena_file(uint32_t levels)
{
	strcpy(arena_path + strlen(arena_path) - 6, "XXXXXX");
	int file = mkstemp(arena_path);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, (off_t)mr_arena_file_bytes(8)), 0);
	void *memory =
		mmap(NULL, mr_arena_file_bytes(8), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	close(file);
	struct mr_arena *arena = test_arena_of(memory, 8);
	atomic_store(&arena->control->levels, levels);
	return arena;
}

/* Runs `annotate` in a traced process; the caller frees the arena. NULL: cannot be done here. */
static struct mr_arena *run_traced(uint32_t levels)
{
	const char *build = getenv("BUILD_DIR");
	const char *sanitized = getenv("SANITIZED");
	if (!build || (sanitized && *sanitized)) {
		printf("not tested: BUILD_DIR is not set, or this is a sanitizer build\n");
		return NULL;
	}
	struct mr_arena *arena = create_arena_file(levels);
	char library_path[MR_ARENA_PATH_BYTES];
	snprintf(library_path, sizeof library_path, "%s/libmillrace.so", build);
	pid_t child = fork();
	if (child == 0) {
		setenv("LD_PRELOAD", library_path, 1);
		setenv("MILLRACE_ARENA", arena_path, 1);
		execl(own_path, own_path, "annotate", NULL);
		_exit(1);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	unlink(arena_path);
	assert_int_equal(status, 0);
	return arena;
}

/* The last event of each kind. */
struct last {
	struct test_event events[256];
	uint32_t counts[256];
};

static void keep_last(const struct test_event *event, void *data)
{
	struct last *last = data;
	last->events[event->id] = *event;
	last->counts[event->id]++;
}

#define payload_of(last, event) \
	((const struct mr_event_##event *)(last)->events[MR_EVENT_##event].payload)

static void check_definitions(const struct last *last)
{
	assert_int_equal(last->counts[MR_EVENT_def_string], 6);
	assert_int_equal(last->counts[MR_EVENT_def_edge], 2);
	assert_int_equal(payload_of(last, def_device)->kind, MR_device_kind_gpu);
	assert_int_equal(payload_of(last, def_device_identity)->device,
			 payload_of(last, def_device)->id);
	assert_string_equal(last->events[MR_EVENT_def_device_identity].text, "pci 0000:3b:00.0");
	assert_int_equal(payload_of(last, def_queue)->device, payload_of(last, def_device)->id);
	assert_int_equal(payload_of(last, def_node)->graph, payload_of(last, def_graph)->id);
	assert_int_equal(payload_of(last, def_node)->device, payload_of(last, def_device)->id);
	assert_int_equal(payload_of(last, def_edge)->kind, MR_edge_kind_control);
	assert_string_equal(last->events[MR_EVENT_def_string].text, "text");
}

static void check_executions(const struct last *last)
{
	uint32_t node = payload_of(last, def_node)->id;
	assert_int_equal(last->counts[MR_EVENT_node_interval], 1);
	assert_int_equal(payload_of(last, node_interval)->node, node);
	assert_int_equal(payload_of(last, node_interval)->step, 5);
	assert_int_equal(last->counts[MR_EVENT_step_interval], 1);
	assert_true(payload_of(last, step_interval)->step == UINT64_C(1) << 40);
	assert_int_equal(payload_of(last, node_interval_at)->start, 100);
	assert_int_equal(payload_of(last, node_interval_at)->end, 200);
	assert_int_equal(payload_of(last, node_interval_at)->clock, MR_trace_clock_monotonic);
	assert_int_equal(payload_of(last, node_instant)->step, 7);
}

static void check_the_rest(const struct last *last)
{
	uint32_t text = payload_of(last, def_string)->id;
	assert_int_equal(payload_of(last, memory_allocate)->address, 0x1234);
	assert_int_equal(payload_of(last, memory_allocate)->bytes, 64);
	assert_int_equal(payload_of(last, memory_allocate)->allocator, text);
	assert_int_equal(payload_of(last, memory_free)->address, 0x1234);
	assert_int_equal(payload_of(last, message_send)->key, 8);
	assert_int_equal(payload_of(last, message_send)->bytes, 9);
	assert_int_equal(payload_of(last, message_receive)->key, 10);
	assert_int_equal(payload_of(last, message_receive)->bytes, 11);
	assert_int_equal(payload_of(last, counter)->value, -12);
}

static void check_devices(const struct last *last)
{
	uint32_t text = payload_of(last, def_string)->id, queue = payload_of(last, def_queue)->id;
	const struct mr_event_runtime_launch *launch = payload_of(last, runtime_launch);
	assert_int_equal(last->counts[MR_EVENT_runtime_launch], 1);
	assert_int_equal(launch->function, text);
	assert_int_equal(launch->queue, queue);
	assert_int_equal(launch->kind, MR_operation_kind_fill);
	assert_true(launch->correlation != 0);
	const struct mr_event_runtime_call_on *wait = payload_of(last, runtime_call_on);
	assert_int_equal(last->counts[MR_EVENT_runtime_call_on], 1);
	assert_int_equal(wait->function, text);
	assert_int_equal(wait->queue, queue);
	assert_true(wait->correlation != 0 && wait->correlation != launch->correlation);
	assert_int_equal(payload_of(last, runtime_wait)->correlation, wait->correlation);
	assert_int_equal(payload_of(last, runtime_wait)->awaited, launch->correlation);
	const struct mr_event_device_operation *operation = payload_of(last, device_operation);
	assert_int_equal(operation->queue, queue);
	assert_int_equal(operation->correlation, launch->correlation);
	assert_int_equal(operation->start, 13);
	assert_int_equal(operation->end, 14);
	assert_int_equal(operation->bytes, 15);
	assert_int_equal(operation->kind, MR_operation_kind_fill);
}

static void test_with_a_tracer(void **state)
{
	(void)state;
	static struct last last;
	struct mr_arena *arena = run_traced(MR_LEVEL_core | MR_LEVEL_dataflow | MR_LEVEL_runtime);
	if (!arena)
		return;
	test_arena_visit(arena, keep_last, &last);
	check_definitions(&last);
	check_executions(&last);
	check_the_rest(&last);
	check_devices(&last);
	assert_int_equal(last.counts[MR_EVENT_process_end], 1);
	test_arena_destroy(arena);
}

/* Descriptions are kept even so: the level may be switched on later. */
static void test_with_the_level_off(void **state)
{
	(void)state;
	static struct last last;
	struct mr_arena *arena = run_traced(MR_LEVEL_core);
	if (!arena)
		return;
	test_arena_visit(arena, keep_last, &last);
	check_definitions(&last);
	for (int id = MR_EVENT_node_interval; id < 255; id++)
		assert_int_equal(last.counts[id], 0);
	test_arena_destroy(arena);
}

int main(int argc, char **argv)
{
	own_path = argv[0];
	if (argc > 1) {
		annotate();
		return 0;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_tracer),
		cmocka_unit_test(test_with_a_tracer),
		cmocka_unit_test(test_with_the_level_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
