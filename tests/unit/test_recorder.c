/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder in one process and its children: what is written, what is lost, and that the two add up.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory_arena.h"
#include "record/interval.h"
#include "record/recorder.h"

static struct mr_arena *arena;

static void attach(uint32_t slots)
{
	arena = test_arena_create(slots);
	mr_process_attach_mapped(arena);
	assert_ptr_equal(mr_arena, arena);
}

static int detach(void **state)
{
	(void)state;
	mr_arena = NULL;
	test_arena_destroy(arena);
	arena = NULL;
	return 0;
}

static void emit(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		mr_emit(node_instant, .node = 7, .step = i);
}

static struct test_counts drain_all(void)
{
	struct test_counts counts = {0};
	test_arena_drain(arena, true, &counts);
	return counts;
}

/* ---- one thread -------------------------------------------------------------------------------- */

struct seen {
	uint32_t count;
	struct test_event events[16];
};

static void keep(const struct test_event *event, void *data)
{
	struct seen *seen = data;
	if (event->packet->context.kind == MR_PACKET_EVENTS) {
		assert_true(seen->count < mr_countof(seen->events));
		seen->events[seen->count++] = *event;
	}
}

static void test_fields_are_as_given(void **state)
{
	(void)state;
	attach(4);
	uint64_t before = mr_ticks_now();
	mr_emit(node_instant, .node = 11, .step = 12);
	mr_emit(counter, .name = 13, .value = -14);
	mr_emit_text(thread_name, "fifteen");
	uint64_t after = mr_ticks_now();
	struct seen seen = {0};
	test_arena_visit(arena, keep, &seen);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.events[0].id, MR_EVENT_thread_start);
	const struct mr_event_node_instant *instant = seen.events[1].payload;
	assert_int_equal(instant->node, 11);
	assert_int_equal(instant->step, 12);
	const struct mr_event_counter *counter = seen.events[2].payload;
	assert_int_equal(counter->name, 13);
	assert_int_equal(counter->value, -14);
	assert_string_equal(seen.events[3].text, "fifteen");
	assert_true(seen.events[1].ticks >= before && seen.events[3].ticks <= after);
	const struct mr_packet_context *context = &seen.events[1].packet->context;
	assert_int_equal(context->pid, getpid());
	assert_int_equal(context->tid, syscall(SYS_gettid));
	assert_int_equal(context->depth, 0);
}

static void test_full_packets_are_handed_over(void **state)
{
	(void)state;
	attach(4);
	struct test_counts counts = {0};
	for (int round = 0; round < 100; round++) {
		emit(1000);
		test_arena_drain(arena, false, &counts);
	}
	test_arena_drain(arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant], 100000);
	assert_int_equal(counts.discarded, 0);
	assert_true(counts.packets > 15);
}

static void test_losses_add_up(void **state)
{
	(void)state;
	attach(3);
	emit(50000);
	struct test_counts counts = {0};
	test_arena_drain(arena, false, &counts);
	uint64_t lost = test_arena_lost(arena, MR_loss_reason_no_free_packet);
	assert_int_equal(counts.events[MR_EVENT_node_instant] + lost, 50000);
	assert_true(lost > 10000);
	/* There is room again: the next packet says what is missing before it. */
	emit(1);
	test_arena_drain(arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant] + lost, 50001);
	assert_int_equal(counts.discarded, lost);
}

static void test_long_pauses_and_backward_clocks(void **state)
{
	(void)state;
	attach(4);
	emit(1);
	mr_self.writers[0].slot->last_ticks -= UINT64_C(5000000000);
	emit(1);
	mr_self.writers[0].slot->last_ticks += UINT64_C(1000000000);
	emit(1);
	struct seen seen = {0};
	test_arena_visit(arena, keep, &seen);
	assert_int_equal(seen.count, 4);
	assert_false(seen.events[1].is_extended);
	assert_true(seen.events[2].is_extended);
	assert_false(seen.events[3].is_extended);
	assert_true(seen.events[3].ticks - seen.events[2].ticks == UINT64_C(1000000000));
	assert_int_equal(test_arena_lost(arena, MR_loss_reason_clock_backwards), 1);
}

static void test_long_texts_are_cut(void **state)
{
	(void)state;
	attach(4);
	static char text[MR_TEXT_MAX * 2];
	memset(text, 'x', sizeof text - 1);
	mr_emit_text(thread_name, text);
	struct seen seen = {0};
	test_arena_visit(arena, keep, &seen);
	assert_int_equal(seen.count, 2);
	assert_int_equal(strlen(seen.events[1].text), MR_TEXT_MAX - 1);
}

/* ---- intervals --------------------------------------------------------------------------------- */

static uint32_t open_count(void)
{
	return (uint32_t)(atomic_load(&mr_self.writers[0].slot->progress) >> 32);
}

static void test_open_intervals_stand_in_the_slot(void **state)
{
	(void)state;
	attach(4);
	struct mr_interval outer = mr_interval_begin(MR_EVENT_step_interval, 0, 5);
	struct mr_interval inner = mr_interval_begin(MR_EVENT_node_interval, 21, 5);
	const struct mr_slot *slot = mr_self.writers[0].slot;
	assert_int_equal(open_count(), 2);
	assert_int_equal(slot->open[0].event, MR_EVENT_step_interval);
	assert_int_equal(slot->open[1].event, MR_EVENT_node_interval);
	assert_int_equal(slot->open[1].what, 21);
	assert_true(slot->open[1].start_ticks == inner.start_ticks);
	mr_node_interval_end(&inner);
	assert_int_equal(open_count(), 1);
	mr_step_interval_end(&outer);
	assert_int_equal(open_count(), 0);

	struct seen seen = {0};
	test_arena_visit(arena, keep, &seen);
	assert_int_equal(seen.count, 3);
	const struct mr_event_node_interval *node = seen.events[1].payload;
	const struct mr_event_step_interval *step = seen.events[2].payload;
	assert_int_equal(node->node, 21);
	assert_int_equal(node->step, 5);
	assert_true(seen.events[1].ticks - mr_u48_value(node->duration_ticks) == inner.start_ticks);
	assert_true(seen.events[2].ticks - step->duration_ticks == outer.start_ticks);
}

static void test_deep_intervals_are_all_recorded(void **state)
{
	(void)state;
	attach(4);
	struct mr_interval intervals[40];
	for (uint32_t i = 0; i < mr_countof(intervals); i++)
		intervals[i] = mr_interval_begin(MR_EVENT_node_interval, i + 1, 0);
	assert_int_equal(open_count(), mr_countof(intervals));
	for (uint32_t i = mr_countof(intervals); i-- > 0;)
		mr_node_interval_end(&intervals[i]);
	assert_int_equal(open_count(), 0);
	assert_int_equal(drain_all().events[MR_EVENT_node_interval], mr_countof(intervals));
}

/* An end that was missed (longjmp, exception) must not leave its interval open for ever. */
static void test_outer_end_closes_inner(void **state)
{
	(void)state;
	attach(4);
	struct mr_interval outer = mr_interval_begin(MR_EVENT_node_interval, 1, 0);
	mr_interval_begin(MR_EVENT_node_interval, 2, 0);
	mr_interval_begin(MR_EVENT_node_interval, 3, 0);
	mr_node_interval_end(&outer);
	assert_int_equal(open_count(), 0);
}

static void test_open_intervals_move_to_the_next_packet(void **state)
{
	(void)state;
	attach(8);
	struct mr_interval outer = mr_interval_begin(MR_EVENT_node_interval, 31, 9);
	const struct mr_slot *first = mr_self.writers[0].slot;
	emit(6000);
	const struct mr_slot *slot = mr_self.writers[0].slot;
	assert_ptr_not_equal(first, slot);
	assert_int_equal(open_count(), 1);
	assert_int_equal(slot->open[0].what, 31);
	mr_node_interval_end(&outer);
	assert_int_equal(drain_all().events[MR_EVENT_node_interval], 1);
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void *emit_ten(void *unused)
{
	(void)unused;
	emit(10);
	return NULL;
}

static void test_short_threads(void **state)
{
	(void)state;
	attach(16);
	struct test_counts counts = {0};
	enum {
		THREADS = 8,
		ROUNDS = 50
	};
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[THREADS];
		for (int i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, emit_ten, NULL), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		test_arena_drain(arena, false, &counts);
	}
	assert_int_equal(counts.events[MR_EVENT_node_instant], THREADS * ROUNDS * 10);
	assert_int_equal(counts.events[MR_EVENT_thread_start], THREADS * ROUNDS);
	assert_int_equal(counts.events[MR_EVENT_thread_end], THREADS * ROUNDS);
	assert_int_equal(counts.ended_threads, THREADS * ROUNDS);
}

static pthread_key_t late_key;

static void emit_late(void *unused)
{
	(void)unused;
	emit(1);
}

static void *end_with_destructor(void *unused)
{
	pthread_setspecific(late_key, &late_key);
	return emit_ten(unused);
}

static void test_destructors_of_others_may_record(void **state)
{
	(void)state;
	attach(4);
	pthread_t thread;
	pthread_key_create(&late_key, emit_late);
	pthread_create(&thread, NULL, end_with_destructor, NULL);
	pthread_join(thread, NULL);
	pthread_key_delete(late_key);
	assert_int_equal(drain_all().events[MR_EVENT_node_instant], 11);
}

/* ---- signal handlers --------------------------------------------------------------------------- */

/* What a handler does that interrupts an event, one that interrupts that, and one too many. */
static void test_nested_events(void **state)
{
	(void)state;
	attach(8);
	uint64_t ticks;
	const struct mr_event_node_instant payload = {.node = 1};
	uint8_t *at[MR_WRITERS];
	for (int i = 0; i < MR_WRITERS; i++) {
		at[i] = mr_reserve(MR_EVENT_node_instant, sizeof payload, &ticks);
		assert_non_null(at[i]);
	}
	emit(1);
	for (int i = MR_WRITERS; i-- > 0;) {
		memcpy(at[i], &payload, sizeof payload);
		mr_commit(at[i] + sizeof payload);
	}
	emit(1);
	assert_int_equal(test_arena_lost(arena, MR_loss_reason_signal_nesting), 1);
	struct seen seen = {0};
	test_arena_visit(arena, keep, &seen);
	uint32_t by_depth[MR_WRITERS] = {0};
	for (uint32_t i = 0; i < seen.count; i++)
		if (seen.events[i].id == MR_EVENT_node_instant)
			by_depth[seen.events[i].packet->context.depth]++;
	assert_int_equal(by_depth[0], 2);
	assert_int_equal(by_depth[1], 1);
	assert_int_equal(by_depth[2], 1);
}

static volatile sig_atomic_t handler_runs;

static void emit_in_handler(int signal_number)
{
	(void)signal_number;
	mr_emit(counter, .name = 1, .value = ++handler_runs);
}

static void start_timer(long interval_us)
{
	struct itimerval timer = {{0, interval_us}, {0, interval_us}};
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void test_signal_handlers_at_any_moment(void **state)
{
	(void)state;
	attach(32);
	struct test_counts counts = {0};
	struct sigaction action = {.sa_handler = emit_in_handler, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	handler_runs = 0;
	start_timer(20);
	uint32_t emitted = 0;
	for (; emitted < 3000000 && handler_runs < 3000; emitted += 1000) {
		emit(1000);
		test_arena_drain(arena, false, &counts);
	}
	start_timer(0);
	signal(SIGALRM, SIG_IGN);
	test_arena_drain(arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant], emitted);
	assert_int_equal(counts.events[MR_EVENT_counter], handler_runs);
	assert_true(handler_runs > 100);
}

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
	if (event->id == MR_EVENT_process_start) {
		const struct mr_event_process_start *start = event->payload;
		found->starts++;
		found->parent_process = start->parent_process;
	}
}

static struct by_pid events_of(pid_t pid)
{
	struct by_pid found = {.pid = (uint32_t)pid};
	test_arena_visit(arena, count_of_pid, &found);
	return found;
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static void check_child_of(pid_t (*make_child)(void))
{
	attach(16);
	emit(3);
	pid_t child = make_child();
	if (child == 0) {
		emit(10);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	emit(4);
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

/* Its child borrows the parent's memory, and so writes as the parent. */
static void test_vfork(void **state)
{
	(void)state;
	attach(16);
	emit(3);
	pid_t child = vfork();
	if (child == 0) {
		emit(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	emit(4);
	assert_int_equal(events_of(getpid()).instants, 17);
	assert_int_equal(events_of(child).instants, 0);
}

/* A handler forks while an event is half written; its child returns from the handler and goes on. */
static void test_fork_within_an_event(void **state)
{
	(void)state;
	attach(16);
	emit(1);
	uint64_t ticks;
	const struct mr_event_counter payload = {.value = 1};
	uint8_t *at = mr_reserve(MR_EVENT_counter, sizeof payload, &ticks);
	pid_t child = _Fork();
	if (child == 0)
		emit(10);
	memcpy(at, &payload, sizeof payload);
	mr_commit(at + sizeof payload);
	emit(3);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	emit(5);
	assert_int_equal(events_of(child).instants, 13);
	assert_int_equal(events_of(getpid()).instants, 9);
	struct test_counts handed_over = {0};
	test_arena_drain(arena, false, &handed_over);
	assert_int_equal(handed_over.packets, 0);
	assert_int_equal(drain_all().events[MR_EVENT_counter], 1);
}

static _Atomic bool stop;

static void *emit_until_stopped(void *ret_count)
{
	uint64_t count = 0;
	while (!atomic_load(&stop)) {
		emit(10);
		mr_define_string("a text of a busy thread");
		count += 10;
		usleep(50);
	}
	*(uint64_t *)ret_count = count;
	return NULL;
}

static void test_fork_among_busy_threads(void **state)
{
	(void)state;
	attach(256);
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
			emit(10);
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
	attach(32);
	pthread_t threads[DEFINERS];
	for (int i = 0; i < DEFINERS; i++)
		pthread_create(&threads[i], NULL, define_texts, text_ids[i]);
	for (int i = 0; i < DEFINERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < DEFINERS; i++)
		assert_memory_equal(text_ids[0], text_ids[i], sizeof text_ids[0]);
	for (int i = 1; i < TEXTS; i++)
		assert_int_not_equal(text_ids[0][i], text_ids[0][i - 1]);
	assert_int_equal(drain_all().events[MR_EVENT_def_string], TEXTS);
	assert_int_equal(test_arena_lost(arena, MR_loss_reason_definition), 0);
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
	attach(16);
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
	test_arena_visit(arena, find_definition, &of_parent);
	test_arena_visit(arena, find_definition, &of_child);
	assert_int_equal(of_parent.count, 1);
	assert_int_equal(of_parent.id, shared);
	assert_int_equal(of_parent.pid, getpid());
	assert_int_equal(of_child.count, 1);
	assert_int_equal(of_child.pid, child);
}

#define recorder_test(name) cmocka_unit_test_teardown(name, detach)

int main(void)
{
	const struct CMUnitTest tests[] = {
		recorder_test(test_fields_are_as_given),
		recorder_test(test_full_packets_are_handed_over),
		recorder_test(test_losses_add_up),
		recorder_test(test_long_pauses_and_backward_clocks),
		recorder_test(test_long_texts_are_cut),
		recorder_test(test_open_intervals_stand_in_the_slot),
		recorder_test(test_deep_intervals_are_all_recorded),
		recorder_test(test_outer_end_closes_inner),
		recorder_test(test_open_intervals_move_to_the_next_packet),
		recorder_test(test_short_threads),
		recorder_test(test_destructors_of_others_may_record),
		recorder_test(test_nested_events),
		recorder_test(test_signal_handlers_at_any_moment),
		recorder_test(test_fork),
		recorder_test(test_fork_without_handlers),
		recorder_test(test_raw_clone),
		recorder_test(test_vfork),
		recorder_test(test_fork_within_an_event),
		recorder_test(test_fork_among_busy_threads),
		recorder_test(test_texts_are_interned_once),
		recorder_test(test_children_share_and_add_definitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
