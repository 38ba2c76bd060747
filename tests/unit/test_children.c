/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder in children, however they are made; and definitions, which children share.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory_arena.h"
#include "record/recorder.h"

/* ---- children ---------------------------------------------------------------------------------- */

struct by_pid {
	uint32_t pid;
	uint32_t process;
	uint32_t instants;
	uint32_t starts;
	uint32_t parent_process;
};

static void count_of_pid(const struct test_event *event, void *data)
{
	struct by_pid *found = data;
	if (event->packet->context.pid != found->pid)
		return;
	found->process = event->packet->context.process;
	found->instants += event->id == MR_EVENT_node_instant;
}

static struct by_pid events_of(pid_t pid)
{
	struct by_pid found = {.pid = (uint32_t)pid};
	test_arena_visit(test_arena, count_of_pid, &found);
	for (uint32_t i = 0; i < MR_ARENA_PROCESSES; i++) {
		const struct mr_process_entry *entry = mr_arena_process(test_arena, i);
		if (entry->state != MR_PROCESS_LIVE || entry->pid != found.pid)
			continue;
		found.starts++;
		found.parent_process = entry->parent_process;
	}
	return found;
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

/* A child that emits ten events and ends well: its pid. */
static pid_t run_child(pid_t (*make_child)(void))
{
	pid_t child = make_child();
	if (child == 0) {
		test_emit(10);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	return child;
}

static void check_child_of(pid_t (*make_child)(void))
{
	test_arena_attach(16);
	test_emit(3);
	pid_t child = run_child(make_child);
	test_emit(4);
	struct by_pid own = events_of(getpid());
	struct by_pid theirs = events_of(child);
	assert_int_equal(own.instants, 7);
	assert_int_equal(theirs.instants, 10);
	assert_int_equal(theirs.starts, 1);
	assert_int_equal(theirs.parent_process, own.process);
	assert_int_not_equal(theirs.process, own.process);
}

static void test_fork(void **state)
{
	(void)state;
	check_child_of(fork);
}

static void test_fork_without_handlers(void **state)
{
	(void)state;
	check_child_of(_Fork);
}

static void test_raw_clone(void **state)
{
	(void)state;
	check_child_of(raw_clone);
}

/* ThreadSanitizer makes a fork of every vfork, and takes the threads of the parent for the child's. */
static void skip_with_thread_sanitizer(void)
{
#ifdef __SANITIZE_THREAD__
	print_message("not with ThreadSanitizer: it makes a fork of every vfork\n");
	skip();
#endif
}

/* Its child borrows the parent's memory, and so writes as the parent. */
static void test_vfork(void **state)
{
	(void)state;
	skip_with_thread_sanitizer();
	test_arena_attach(16);
	test_emit(3);
	pid_t child = vfork();
	if (child == 0) {
		test_emit(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	test_emit(4);
	assert_int_equal(events_of(getpid()).instants, 17);
	assert_int_equal(events_of(child).instants, 0);
}

/* A handler forks while an event is half written; its child returns from the handler and goes on. */
static void fork_and_emit(void *ret_child)
{
	*(pid_t *)ret_child = _Fork();
	if (*(pid_t *)ret_child == 0)
		test_emit(10);
}

static void test_fork_within_an_event(void **state)
{
	(void)state;
	test_arena_attach(16);
	test_emit(1);
	uint64_t ticks;
	const struct mr_event_counter payload = {.value = 1};
	uint8_t *at = mr_reserve_slow(MR_EVENT_counter, sizeof payload, &ticks);
	pid_t child;
	test_interrupt(fork_and_emit, &child);
	memcpy(at, &payload, sizeof payload);
	mr_commit(at + sizeof payload, mr_reserved_writer()->open_count);
	test_emit(3);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	test_emit(5);
	assert_int_equal(events_of(child).instants, 13);
	assert_int_equal(events_of(getpid()).instants, 9);
	struct test_counts handed_over = {0};
	test_arena_drain(test_arena, false, &handed_over);
	assert_int_equal(handed_over.packets, 0);
	assert_int_equal(test_arena_drain_all().events[MR_EVENT_counter], 1);
}

enum {
	MANY_EVENTS =
		200000, /* of two threads: the arena has room for them, however long it takes */
};

static _Atomic bool stop;

static void *emit_until_stopped(void *ret_count)
{
	uint64_t count = 0;
	while (!atomic_load(&stop)) {
		uint32_t more = count < MANY_EVENTS ? 10 : 0;
		test_emit(more);
		mr_define_string("a text of a busy thread");
		count += more;
		usleep(50);
	}
	*(uint64_t *)ret_count = count;
	return NULL;
}

static void test_fork_among_busy_threads(void **state)
{
	(void)state;
	skip_with_thread_sanitizer();
	test_arena_attach(256);
	pthread_t threads[2];
	uint64_t emitted[2];
	atomic_store(&stop, false);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, emit_until_stopped, &emitted[i]);
	enum {
		CHILDREN = 50
	};
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = i % 2 ? fork() : _Fork();
		if (child == 0) {
			char text[32];
			snprintf(text, sizeof text, "child %d", i);
			test_emit(10);
			_exit(mr_define_string(text) == 0);
		}
		int status;
		waitpid(child, &status, 0);
		assert_int_equal(status, 0);
		assert_int_equal(events_of(child).instants, 10);
	}
	atomic_store(&stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(events_of(getpid()).instants, emitted[0] + emitted[1]);
}

/* ---- definitions ------------------------------------------------------------------------------- */

enum {
	TEXTS = 1000,
	DEFINERS = 8
};

static uint32_t text_ids[DEFINERS][TEXTS];

static void *define_texts(void *ids)
{
	for (int i = 0; i < TEXTS; i++) {
		char text[32];
		snprintf(text, sizeof text, "interned text %d", i);
		((uint32_t *)ids)[i] = mr_define_string(text);
	}
	return NULL;
}

static void test_texts_are_interned_once(void **state)
{
	(void)state;
	test_arena_attach(32);
	pthread_t threads[DEFINERS];
	for (int i = 0; i < DEFINERS; i++)
		pthread_create(&threads[i], NULL, define_texts, text_ids[i]);
	for (int i = 0; i < DEFINERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < DEFINERS; i++)
		assert_memory_equal(text_ids[0], text_ids[i], sizeof text_ids[0]);
	for (int i = 1; i < TEXTS; i++)
		assert_int_not_equal(text_ids[0][i], text_ids[0][i - 1]);
	assert_int_equal(test_arena_drain_all().events[MR_EVENT_def_string], TEXTS);
	assert_int_equal(test_arena_lost(test_arena, MR_loss_reason_definition), 0);
}

struct definition {
	const char *text;
	uint32_t id;
	uint32_t pid;
	uint32_t count;
};

static void find_definition(const struct test_event *event, void *data)
{
	struct definition *wanted = data;
	if (event->id != MR_EVENT_def_string || strcmp(event->text, wanted->text) != 0)
		return;
	wanted->id = ((const struct mr_event_def_string *)event->payload)->id;
	wanted->pid = event->packet->context.pid;
	wanted->count++;
}

static void test_children_share_and_add_definitions(void **state)
{
	(void)state;
	test_arena_attach(16);
	uint32_t shared = mr_define_string("defined by the parent");
	uint32_t next = mr_definition_next();
	pid_t child = fork();
	if (child == 0) {
		bool same = mr_define_string("defined by the parent") == shared;
		_exit(!same || mr_define_string("defined by the child") < next);
	}
	int status;
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	struct definition of_parent = {.text = "defined by the parent"};
	struct definition of_child = {.text = "defined by the child"};
	test_arena_visit(test_arena, find_definition, &of_parent);
	test_arena_visit(test_arena, find_definition, &of_child);
	assert_int_equal(of_parent.count, 1);
	assert_int_equal(of_parent.id, shared);
	assert_int_equal(of_parent.pid, getpid());
	assert_int_equal(of_child.count, 1);
	assert_int_equal(of_child.pid, child);
}

#define child_test(name) cmocka_unit_test_teardown(name, test_arena_detach)

/* The table of processes is full: the child is not traced, and says so. */
static void test_refused_child(void **state)
{
	(void)state;
	test_arena_attach(16);
	test_emit(1);
	while (mr_arena_claim_process(test_arena) >= 0)
		;
	uint32_t refused = test_arena->tables->processes_refused;
	run_child(fork);
	assert_int_equal(test_arena->tables->processes_refused, refused + 1);
	assert_int_equal(test_arena->tables->events_refused, 10);
}

/* A program that finds no place at all goes on without, and so do its children. */
static void test_refused_program(void **state)
{
	(void)state;
	test_arena = test_arena_create(4);
	while (mr_arena_claim_process(test_arena) >= 0)
		;
	mr_process_attach_mapped(test_arena);
	assert_null(mr_arena);
	pid_t child = fork();
	if (child == 0)
		_exit(0);
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		child_test(test_fork),
		child_test(test_fork_without_handlers),
		child_test(test_raw_clone),
		child_test(test_vfork),
		child_test(test_fork_within_an_event),
		child_test(test_fork_among_busy_threads),
		child_test(test_texts_are_interned_once),
		child_test(test_children_share_and_add_definitions),
		child_test(test_refused_child),
		child_test(test_refused_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
