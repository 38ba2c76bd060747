/* SPDX-License-Identifier: Apache-2.0
 *
 * Signal handlers that record, after every single instruction of an event or a definition: what happens by chance once in
 * a hundred thousand signals happens here each time. The CPU's trap flag makes the kernel send SIGTRAP after each.
 * Not with a sanitizer: of a few instructions it makes a million.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "memory_arena.h"
#include "record/interval.h"
#include "record/recorder.h"

enum {
	EVENTS = 20,
	SLOTS = 64,
	TEXTS_MOST = 1 << 16,
};

static volatile sig_atomic_t handler_runs;

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
/* Below the red zone, which the caller may use. */
#define set_trap_flag(operation)                                                        \
	__asm__ volatile("lea -128(%%rsp), %%rsp; pushfq\n\t" operation ", (%%rsp)\n\t" \
			 "popfq; lea 128(%%rsp), %%rsp"                                 \
			 :                                                              \
			 :                                                              \
			 : "memory", "cc")
#define begin_steps() set_trap_flag("orq $0x100")
#define end_steps()   set_trap_flag("andq $~0x100")
#else
#define begin_steps()                                                                        \
	do {                                                                                 \
		print_message("only on x86-64, and without a sanitizer: it makes a million " \
			      "instructions of a few\n");                                    \
		skip();                                                                      \
	} while (0)
#define end_steps()
#endif

static void handle_each(void (*handler)(int signal_number))
{
	struct sigaction action = {.sa_handler = handler};
	handler_runs = 0;
	sigaction(SIGTRAP, &action, NULL);
}

/* ---- events -------------------------------------------------------------------------------------- */

static void emit_in_handler(int signal_number)
{
	(void)signal_number;
	mr_emit(counter, .name = 1, .value = ++handler_runs);
}

static void begin_arena(bool is_fast)
{
	test_arena_attach(SLOTS);
	test_emit(1);
	mr_ticks_are_counter = is_fast;
	if (!is_fast)
		return;
	/* The two clocks have nothing in common. */
	mr_self.writers[0].slot->last_ticks = mr_ticks_of_counter();
	mr_thread_choose_path();
}

static void check_events(uint64_t intervals)
{
	struct test_counts counts = test_arena_drain_all();
	assert_true(handler_runs > EVENTS);
	assert_int_equal(counts.events[MR_EVENT_node_instant], 1 + EVENTS);
	assert_int_equal(counts.events[MR_EVENT_node_interval], intervals);
	assert_int_equal(counts.events[MR_EVENT_counter], handler_runs);
	for (int reason = 0; reason < MR_LOSS_REASONS; reason++)
		assert_int_equal(test_arena_lost(test_arena, (enum mr_loss_reason)reason), 0);
}

static void emit_in_steps(bool is_fast)
{
	begin_arena(is_fast);
	handle_each(emit_in_handler);
	begin_steps();
	test_emit(EVENTS);
	end_steps();
	check_events(0);
}

static void test_events_on_the_fast_path(void **state)
{
	(void)state;
	emit_in_steps(true);
}

static void test_events_on_the_slow_path(void **state)
{
	(void)state;
	emit_in_steps(false);
}

static void test_intervals(void **state)
{
	(void)state;
	for (int is_fast = 0; is_fast < 2; is_fast++) {
		begin_arena(is_fast);
		handle_each(emit_in_handler);
		begin_steps();
		for (int i = 0; i < EVENTS; i++) {
			struct mr_interval interval;
			mr_interval_begin(&interval, MR_EVENT_node_interval, 1, 0);
			test_emit(1);
			mr_node_interval_end(&interval);
		}
		end_steps();
		check_events(EVENTS);
		test_arena_detach(NULL);
	}
}

/* ---- definitions --------------------------------------------------------------------------------- */

static uint32_t defined_in_handler;

static void define_in_handler(int signal_number)
{
	char text[32];
	(void)signal_number;
	snprintf(text, sizeof text, "handler %d", (int)++handler_runs);
	defined_in_handler += mr_define_string(text) != 0;
}

struct texts {
	uint32_t count;
	uint32_t by_main;
	uint8_t is_known[TEXTS_MOST]; /* by id */
};

static void note_text(const struct test_event *event, void *data)
{
	struct texts *texts = data;
	if (event->id != MR_EVENT_def_string)
		return;
	uint32_t id = ((const struct mr_event_def_string *)event->payload)->id;
	assert_true(id < TEXTS_MOST);
	assert_false(texts->is_known[id]);
	texts->is_known[id] = true;
	texts->count++;
	texts->by_main += strncmp(event->text, "main", 4) == 0;
}

/* A handler that interrupts a definition cannot define anything: that is counted. Nothing else is lost, nothing is broken. */
static void test_definitions(void **state)
{
	static struct texts texts;
	uint32_t ids[EVENTS];
	char names[EVENTS][32];
	(void)state;
	test_arena_attach(SLOTS);
	for (int i = 0; i < EVENTS; i++)
		snprintf(names[i], sizeof names[i], "main %d", i);
	defined_in_handler = 0;
	handle_each(define_in_handler);
	begin_steps();
	for (int i = 0; i < EVENTS; i++)
		ids[i] = mr_define_string(names[i]);
	end_steps();
	test_arena_visit(test_arena, note_text, &texts);
	for (int i = 0; i < EVENTS; i++)
		assert_true(ids[i] != 0 && texts.is_known[ids[i]]);
	assert_int_equal(texts.by_main, EVENTS);
	assert_true(defined_in_handler > 0);
	assert_int_equal(texts.count, EVENTS + defined_in_handler);
	assert_int_equal(defined_in_handler +
				 test_arena_lost(test_arena, MR_loss_reason_definition),
			 handler_runs);
}

#define step_test(name) cmocka_unit_test_teardown(name, test_arena_detach)

int main(void)
{
	const struct CMUnitTest tests[] = {
		step_test(test_events_on_the_fast_path),
		step_test(test_events_on_the_slow_path),
		step_test(test_intervals),
		step_test(test_definitions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
