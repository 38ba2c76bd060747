/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads wait for at futexes, and who let them go on (doc/causes.md, "One wait", "A lock or a hand-over").
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "hand_model.h"
#include "load/python_waits.h"

enum {
	WAIT = 0,
	WAKE = 1,
	WAIT_BITSET = 9,
	MS = 1000000,
};

#define WORD UINT64_C(0x7000)

/* The state of that thread that begins at that time. */
static uint32_t state_at(const struct mr_model *model, uint32_t thread, int64_t ns)
{
	for (uint32_t row = 0; row < model->states.table.count; row++)
		if (model->states.track[row] == thread && model->states.start_ns[row] == ns)
			return row;
	fail();
	return MR_NO_ROW;
}

/* A thread waits for five milliseconds, in vain, and again after having run for a while. */
static struct mr_model *wait_twice(int64_t ran_ns)
{
	struct mr_model *model = hand_model_start();

	hand_futex(0, 0, 5 * MS, WORD, WAIT_BITSET, true);
	hand_woken(0, 5 * MS, MR_wake_context_hrtimer, MR_NO_TRACK, "hrtimer_wakeup");
	hand_run(0, 5 * MS, 5 * MS + ran_ns);
	hand_futex(0, 5 * MS + ran_ns, 9 * MS, WORD, WAIT_BITSET, true);
	hand_woken(0, 9 * MS, MR_wake_context_task, 1, "");
	hand_model_load();
	return model;
}

static void test_repeated(void **state)
{
	static const struct {
		int64_t ran_ns;
		uint32_t released_by;
	} cases[] = {{20000, 1}, {240000, 1}, {260000, MR_NO_TRACK}};

	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++) {
		struct mr_model *model = wait_twice(cases[i].ran_ns);

		assert_int_equal(model->states.released_by[state_at(model, 0, 0)],
				 cases[i].released_by);
		mr_model_free(model);
	}
}

/* Thread 1 has the lock of the interpreter. The wait of thread 0 runs out, and when it gets a CPU the lock is free: nobody
 * woke it. Thread 2 waits all the time, thread 3 has nothing to do with it. */
static void test_free_in_time(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_interpreter(WORD, 0x100);
	hand_futex(0, 0, 5 * MS, WORD + 16, WAIT_BITSET, true);
	hand_woken(0, 5 * MS, MR_wake_context_hrtimer, MR_NO_TRACK, "hrtimer_wakeup");
	hand_runnable(0, 5 * MS, 8 * MS, MR_REASON_WOKEN);
	hand_run(0, 8 * MS, 12 * MS);
	hand_run(1, 0, 6 * MS);
	hand_futex(1, 6 * MS, 8 * MS, WORD + 64, WAIT_BITSET, true);
	hand_woken(1, 8 * MS, MR_wake_context_task, 0, "");
	hand_futex(2, 1 * MS, 11 * MS, WORD + 16, WAIT_BITSET, true);
	hand_futex(3, 5 * MS, 6 * MS, WORD + 0x1000, WAIT_BITSET, true);
	hand_model_load();
	uint32_t row = state_at(model, 0, 0);
	assert_int_equal(model->states.exchange[row], MR_EXCHANGE_GIL);
	assert_int_equal(model->states.released_by[row], 1);
	assert_int_equal(model->states.released_by[state_at(model, 1, 6 * MS)], 0);
	mr_model_free(model);
}

/* Who waited gives it back: a lock. */
static void test_kinds(void **state)
{
	struct mr_model *model = hand_model_start();

	(void)state;
	hand_futex(0, 0, 1 * MS, WORD, WAIT, true);
	hand_woken(0, 1 * MS, MR_wake_context_task, 1, "");
	hand_futex(1, 1 * MS, 1 * MS + 10, WORD, WAKE, false);
	hand_futex(0, 2 * MS, 2 * MS + 10, WORD, WAKE, false);
	hand_futex(0, 3 * MS, 4 * MS, WORD + 64, WAIT_BITSET, true);
	hand_woken(0, 4 * MS, MR_wake_context_task, 1, "");
	hand_futex(1, 4 * MS, 4 * MS + 10, WORD + 64, WAKE, false);
	hand_model_load();
	assert_int_equal(model->states.exchange[state_at(model, 0, 0)], MR_EXCHANGE_LOCK);
	assert_int_equal(model->states.exchange[state_at(model, 0, 3 * MS)], MR_EXCHANGE_HAND_OVER);
	mr_model_free(model);
}

/* ---- lines of Python ---------------------------------------------------------------------------- */

static uint32_t add_text(struct mr_model *model, const char *characters)
{
	uint32_t number;

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, characters,
					   strlen(characters), &number),
			 0);
	return number;
}

static uint32_t add_line(struct mr_model *model, const char *file, const char *function)
{
	struct mr_sites *sites = &model->survey->definitions.sites;
	uint32_t code, site;

	if (sites->count == 0)
		assert_int_equal(mr_sites_start(sites), 0);
	assert_int_equal(mr_sites_add_code(sites,
					   &(struct mr_code){add_text(model, file),
							     add_text(model, function), 1},
					   &code),
			 0);
	assert_int_equal(mr_sites_add(sites, &(struct mr_site){.code = code, .line = 5}, &site), 0);
	return site;
}

static void add_sample(struct mr_model *model, uint32_t thread, int64_t ns, uint32_t site)
{
	const struct mr_samples_row row = {
		.track = thread, .start_ns = ns, .site = site, .cpu_ns = -1};

	assert_int_equal(mr_samples_append(&model->samples, row), 0);
}

/* Thread 0 waits twice at a word for thread 1, which never waits there: the kernel sees a hand-over. While it waits for
 * the first time, a sample is taken; the second wait is like the first. What both are then. */
static enum mr_exchange judge_line(const char *file, const char *function, bool is_other_python)
{
	struct mr_model *model = hand_model_start();
	uint32_t line = add_line(model, file, function);

	for (int64_t i = 0; i < 2; i++) {
		int64_t ns = 20 * MS * i;

		hand_futex(0, ns, ns + 10 * MS, WORD, WAIT_BITSET, true);
		hand_woken(0, ns + 10 * MS, MR_wake_context_task, 1, "");
		hand_run(0, ns + 10 * MS, ns + 20 * MS);
		hand_futex(1, ns + 10 * MS, ns + 10 * MS + 10, WORD, WAKE, false);
	}
	add_sample(model, 0, 3 * MS, line);
	if (is_other_python)
		add_sample(model, 1, 30 * MS, add_line(model, "/home/me/train.py", "upload"));
	hand_model_load();
	uint32_t first = state_at(model, 0, 0), second = state_at(model, 0, 20 * MS);
	assert_int_equal(model->states.exchange[first], MR_EXCHANGE_HAND_OVER);
	assert_int_equal(mr_python_waits_judge(model), 0);
	assert_int_equal(model->states.exchange[first], model->states.exchange[second]);
	enum mr_exchange exchange = model->states.exchange[first];
	mr_model_free(model);
	return exchange;
}

static void test_python_lines(void **state)
{
	static const struct {
		const char *file;
		const char *function;
		bool is_other_python;
		enum mr_exchange exchange;
	} cases[] = {
		{"/home/me/train.py", "main", true, MR_EXCHANGE_LOCK},
		{"<string>", "<module>", true, MR_EXCHANGE_LOCK},
		{"/usr/lib/python3.11/threading.py", "Condition.__enter__", true, MR_EXCHANGE_LOCK},
		{"/usr/lib/python3.11/threading.py", "Condition.wait", true, MR_EXCHANGE_HAND_OVER},
		{"/usr/lib64/python3.9/threading.py", "join", true, MR_EXCHANGE_HAND_OVER},
		{"<frozen importlib._bootstrap>", "acquire", true, MR_EXCHANGE_LOCK},
		{"/venv/lib/python3.11/site-packages/x/execute.py", "run", true,
		 MR_EXCHANGE_HAND_OVER},
		{"/home/me/train.py", "main", false, MR_EXCHANGE_HAND_OVER},
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(cases); i++)
		assert_int_equal(
			judge_line(cases[i].file, cases[i].function, cases[i].is_other_python),
			cases[i].exchange);
}

/* Two locks, one after the other, at the same place in memory: each wait's own line counts. */
static void test_reused_word(void **state)
{
	struct mr_model *model = hand_model_start();
	const uint32_t lines[] = {add_line(model, "/usr/lib/python3.11/threading.py", "wait"),
				  add_line(model, "/home/me/train.py", "main")};

	(void)state;
	for (int64_t i = 0; i < 2; i++) {
		hand_futex(0, 20 * MS * i, 20 * MS * i + 10 * MS, WORD, WAIT_BITSET, true);
		hand_woken(0, 20 * MS * i + 10 * MS, MR_wake_context_task, 1, "");
		hand_run(0, 20 * MS * i + 10 * MS, 20 * MS * i + 20 * MS);
		add_sample(model, 0, 20 * MS * i + 1, lines[i]);
	}
	add_sample(model, 1, 0, lines[1]);
	hand_model_load();
	assert_int_equal(mr_python_waits_judge(model), 0);
	assert_int_equal(model->states.exchange[state_at(model, 0, 0)], MR_EXCHANGE_HAND_OVER);
	assert_int_equal(model->states.exchange[state_at(model, 0, 20 * MS)], MR_EXCHANGE_LOCK);
	mr_model_free(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeated),    cmocka_unit_test(test_free_in_time),
		cmocka_unit_test(test_kinds),       cmocka_unit_test(test_python_lines),
		cmocka_unit_test(test_reused_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
