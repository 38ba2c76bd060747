/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder in one process and its children: what is written, what is lost, and that the two add up.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "memory_arena.h"
#include "record/interval.h"
#include "record/recorder.h"

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
	test_arena_attach(4);
	uint64_t before = mr_ticks_now();
	mr_emit(node_instant, .node = 11, .step = 12);
	mr_emit(counter, .name = 13, .value = -14);
	mr_emit_text(thread_name, "fifteen");
	uint64_t after = mr_ticks_now();
	struct seen seen = {0};
	test_arena_visit(test_arena, keep, &seen);
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
	test_arena_attach(4);
	struct test_counts counts = {0};
	for (int round = 0; round < 100; round++) {
		test_emit(1000);
		test_arena_drain(test_arena, false, &counts);
	}
	test_arena_drain(test_arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant], 100000);
	assert_int_equal(counts.discarded, 0);
	assert_true(counts.packets > 15);
}

static void test_losses_add_up(void **state)
{
	(void)state;
	test_arena_attach(3);
	test_emit(50000);
	struct test_counts counts = {0};
	test_arena_drain(test_arena, false, &counts);
	uint64_t lost = test_arena_lost(test_arena, MR_loss_reason_no_free_packet);
	assert_int_equal(counts.events[MR_EVENT_node_instant] + lost, 50000);
	assert_true(lost > 10000);
	/* There is room again: the next packet says what is missing before it. */
	test_emit(1);
	test_arena_drain(test_arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant] + lost, 50001);
	assert_int_equal(counts.discarded, lost);
}

static void test_long_pauses_and_backward_clocks(void **state)
{
	const uint64_t ahead = 4000000000; /* for the busiest machine, and yet 32 bits */
	(void)state;
	test_arena_attach(4);
	test_emit(1);
	mr_self.writers[0].slot->last_ticks -= UINT64_C(5000000000);
	test_emit(1);
	mr_self.writers[0].slot->last_ticks += ahead;
	test_emit(1);
	struct seen seen = {0};
	test_arena_visit(test_arena, keep, &seen);
	assert_int_equal(seen.count, 4);
	assert_false(seen.events[1].is_extended);
	assert_true(seen.events[2].is_extended);
	assert_false(seen.events[3].is_extended);
	assert_true(seen.events[3].ticks - seen.events[2].ticks == ahead);
	assert_int_equal(test_arena_lost(test_arena, MR_loss_reason_clock_backwards), 1);
}

static void test_long_texts_are_cut(void **state)
{
	(void)state;
	test_arena_attach(4);
	static char text[MR_TEXT_MAX * 2];
	memset(text, 'x', sizeof text - 1);
	mr_emit_text(thread_name, text);
	struct seen seen = {0};
	test_arena_visit(test_arena, keep, &seen);
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
	test_arena_attach(4);
	struct mr_interval outer;
	mr_interval_begin(&outer, MR_EVENT_step_interval, 0, 5);
	struct mr_interval inner;
	mr_interval_begin(&inner, MR_EVENT_node_interval, 21, 5);
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
	test_arena_visit(test_arena, keep, &seen);
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
	test_arena_attach(4);
	struct mr_interval intervals[40];
	for (uint32_t i = 0; i < mr_countof(intervals); i++)
		mr_interval_begin(&intervals[i], MR_EVENT_node_interval, i + 1, 0);
	assert_int_equal(open_count(), mr_countof(intervals));
	for (uint32_t i = mr_countof(intervals); i-- > 0;)
		mr_node_interval_end(&intervals[i]);
	assert_int_equal(open_count(), 0);
	assert_int_equal(test_arena_drain_all().events[MR_EVENT_node_interval],
			 mr_countof(intervals));
}

/* An end that was missed (longjmp, exception) must not leave its interval open for ever. */
static void test_outer_end_closes_inner(void **state)
{
	(void)state;
	test_arena_attach(4);
	struct mr_interval outer;
	mr_interval_begin(&outer, MR_EVENT_node_interval, 1, 0);
	mr_interval_begin(&(struct mr_interval){0}, MR_EVENT_node_interval, 2, 0);
	mr_interval_begin(&(struct mr_interval){0}, MR_EVENT_node_interval, 3, 0);
	mr_node_interval_end(&outer);
	assert_int_equal(open_count(), 0);
}

static void test_open_intervals_move_to_the_next_packet(void **state)
{
	(void)state;
	test_arena_attach(8);
	struct mr_interval outer;
	mr_interval_begin(&outer, MR_EVENT_node_interval, 31, 9);
	const struct mr_slot *first = mr_self.writers[0].slot;
	test_emit(6000);
	const struct mr_slot *slot = mr_self.writers[0].slot;
	assert_ptr_not_equal(first, slot);
	assert_int_equal(open_count(), 1);
	assert_int_equal(slot->open[0].what, 31);
	mr_node_interval_end(&outer);
	assert_int_equal(test_arena_drain_all().events[MR_EVENT_node_interval], 1);
}

/* ---- threads ----------------------------------------------------------------------------------- */

static void *emit_ten(void *unused)
{
	(void)unused;
	test_emit(10);
	return NULL;
}

static void test_short_threads(void **state)
{
	(void)state;
	test_arena_attach(16);
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
		test_arena_drain(test_arena, false, &counts);
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
	test_emit(1);
}

static void *end_with_destructor(void *unused)
{
	pthread_setspecific(late_key, &late_key);
	return emit_ten(unused);
}

static void test_destructors_of_others_may_record(void **state)
{
	(void)state;
	test_arena_attach(4);
	pthread_t thread;
	pthread_key_create(&late_key, emit_late);
	pthread_create(&thread, NULL, end_with_destructor, NULL);
	pthread_join(thread, NULL);
	pthread_key_delete(late_key);
	assert_int_equal(test_arena_drain_all().events[MR_EVENT_node_instant], 11);
}

/* ---- signal handlers --------------------------------------------------------------------------- */

static void emit_once(void *unused)
{
	(void)unused;
	test_emit(1);
}

/* An event that is interrupted by another as often as it says, and then by one too many. */
static void emit_interrupted(void *interruptions)
{
	const struct mr_event_node_instant payload = {.node = 1};
	int left = *(int *)interruptions - 1;
	uint64_t ticks;
	uint8_t *at = mr_reserve_slow(MR_EVENT_node_instant, sizeof payload, &ticks);
	assert_non_null(at);
	if (left > 0)
		test_interrupt(emit_interrupted, &left);
	else
		test_interrupt(emit_once, NULL);
	memcpy(at, &payload, sizeof payload);
	mr_commit(at + sizeof payload, mr_reserved_writer()->open_count);
}

/* What a handler does that interrupts an event, one that interrupts that, and one too many. */
static void test_nested_events(void **state)
{
	(void)state;
	test_arena_attach(8);
	int writers = MR_WRITERS;
	emit_interrupted(&writers);
	test_emit(1);
	assert_int_equal(test_arena_lost(test_arena, MR_loss_reason_signal_nesting), 1);
	struct seen seen = {0};
	test_arena_visit(test_arena, keep, &seen);
	uint32_t by_depth[MR_WRITERS] = {0};
	for (uint32_t i = 0; i < seen.count; i++)
		if (seen.events[i].id == MR_EVENT_node_instant)
			by_depth[seen.events[i].packet->context.depth]++;
	assert_int_equal(by_depth[0], 2);
	assert_int_equal(by_depth[1], 1);
	assert_int_equal(by_depth[2], 1);
}

/* Two threads that a program switches itself, in a handler: the first is in the middle of an event when the other, whose
 * stack lies above, records. That looks as if the first had been left for good; but it comes back. */
static void begin_event(void *ret_at)
{
	uint64_t ticks;
	*(uint8_t **)ret_at = mr_reserve_slow(MR_EVENT_node_instant,
					      sizeof(struct mr_event_node_instant), &ticks);
}

static void test_an_event_that_was_taken_back_may_end(void **state)
{
	const struct mr_event_node_instant payload = {.node = 1};
	uint8_t *at = NULL;
	(void)state;
	test_arena_attach(8);
	test_interrupt(begin_event, &at);
	assert_non_null(at);
	test_emit(1);
	assert_int_equal(test_arena_lost(test_arena, MR_loss_reason_signal_nesting), 1);
	memcpy(at, &payload, sizeof payload);
	mr_commit(at + sizeof payload, mr_reserved_writer()->open_count);
	test_emit(1);
	assert_true(test_arena_drain_all().events[MR_EVENT_node_instant] >= 2);
}

/* The same on the fast path, and its packet is full and handed over by then. */
static void begin_event_fast(void *ret_at)
{
	uint64_t ticks;
	*(uint8_t **)ret_at = mr_reserve_fast(MR_EVENT_node_instant,
					      sizeof(struct mr_event_node_instant), &ticks);
}

static void test_a_late_event_does_not_lead_back(void **state)
{
	const struct mr_writer *writer = &mr_self.writers[0];
	uint8_t *at = NULL;
	(void)state;
	test_arena_attach(16);
	mr_self.was_left = false; /* by the test before */
	test_emit(1);
	mr_ticks_are_counter = true;
	writer->slot->last_ticks = mr_ticks_of_counter();
	mr_thread_choose_path();
	test_interrupt(begin_event_fast, &at);
	assert_non_null(at);
	const uint8_t *first = writer->packet;
	for (uint32_t i = 0; writer->packet == first && i < MR_ARENA_PACKET_BYTES; i++)
		test_emit(1);
	assert_int_equal(test_arena_lost(test_arena, MR_loss_reason_signal_nesting), 1);
	mr_commit_fast(at, 0);
	assert_ptr_equal(writer->cursor, at);
	test_emit(1);
	assert_true(writer->packet != first && writer->cursor > writer->packet &&
		    writer->cursor < writer->limit);
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
	test_arena_attach(32);
	_Atomic uint64_t *lost_to_nesting =
		&mr_arena_process(test_arena, 0)->lost[MR_loss_reason_signal_nesting];
	struct test_counts counts = {0};
	struct sigaction action = {.sa_handler = emit_in_handler, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	handler_runs = 0;
	start_timer(20);
	test_emit(1);
	/* Those that came while the thread was about to record its first event are lost, and counted. */
	const int lost = (int)*lost_to_nesting;
	uint32_t emitted = 1;
	for (; (handler_runs <= 100 + lost && emitted < 300000000) ||
	       (emitted < 3000000 && handler_runs < 3000);
	     emitted += 1000) {
		test_emit(1000);
		test_arena_drain(test_arena, false, &counts);
	}
	start_timer(0);
	signal(SIGALRM, SIG_IGN);
	assert_true(handler_runs > 100 + lost);
	test_arena_drain(test_arena, true, &counts);
	assert_int_equal(counts.events[MR_EVENT_node_instant], emitted);
	assert_int_equal(*lost_to_nesting, lost);
	assert_int_equal(counts.events[MR_EVENT_counter] + *lost_to_nesting, handler_runs);
}

/* ---- definitions -------------------------------------------------------------------------------- */

static uint64_t pages_in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages;
}

static void test_texts_that_find_no_room_take_none(void **state)
{
	char text[4096];
	uint32_t number = 0;
	(void)state;
	test_arena_attach(2);
	do
		sprintf(text, "%04000u", number++);
	while (mr_define_string(text) && number < 1000);
	assert_true(number < 1000);
	uint64_t before = pages_in_use();
	for (uint32_t i = 0; i < 1000; i++) {
		sprintf(text, "%04000u", number++);
		mr_define_string(text);
	}
	assert_true(pages_in_use() - before <= (512 << 10) / (uint64_t)getpagesize());
	assert_true(test_arena_lost(test_arena, MR_loss_reason_definition) >= 1000);
}

#define recorder_test(name) cmocka_unit_test_teardown(name, test_arena_detach)

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
		recorder_test(test_an_event_that_was_taken_back_may_end),
		recorder_test(test_a_late_event_does_not_lead_back),
		recorder_test(test_signal_handlers_at_any_moment),
		recorder_test(test_texts_that_find_no_room_take_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
