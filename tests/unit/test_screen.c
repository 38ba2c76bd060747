/* SPDX-License-Identifier: Apache-2.0
 *
 * The first screen of a report: what it says of hand-made findings, and that it fits 80 x 24 whatever they are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/report.h"

#define SECOND INT64_C(1000000000)

static struct mr_findings findings;
static struct mr_summary summary;
static char *printed;

static int begin(void **state)
{
	(void)state;
	findings = (struct mr_findings){.diagnosis = {.of = "steps", .whole_ns = 10 * SECOND}};
	summary = (struct mr_summary){
		.path = "run.mill",
		.command = "python train.py",
		.wall_ns = 12 * SECOND,
		.exit_kind = MR_EXIT_CODE,
		.process_count = 1,
		.thread_count = 1,
		.event_count = 1,
		.event_bytes = 1024,
	};
	return mr_findings_add(&findings, "overview", "Where the time went") ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(printed);
	printed = NULL;
	mr_findings_free(&findings);
	return 0;
}

static struct mr_problem *add(const char *key, const char *title, int64_t time_ns)
{
	struct mr_problem problem = {
		.key = key,
		.title = title,
		.time_ns = time_ns,
		.where = "",
		.why = "It is so.",
		.remedy = "Do so.",
	};

	assert_int_equal(mr_vec_push(&findings.diagnosis.problems, problem), 0);
	return &findings.diagnosis.problems.items[findings.diagnosis.problems.count - 1];
}

/* Up to the first finding, whose title follows an empty line. */
static void print(uint32_t width, bool utf8)
{
	const struct mr_text_style style = {.width = width, .max_rows = 5, .utf8 = utf8};
	size_t size = 0;

	free(printed);
	printed = NULL;
	FILE *file = open_memstream(&printed, &size);
	assert_non_null(file);
	mr_report_print_text(&summary, &findings, &style, file);
	fclose(file);
	char *first = strstr(printed, "\nWhere the time went\n");
	assert_non_null(first);
	*first = '\0';
}

static void test_whole_screen(void **state)
{
	(void)state;
	summary.part = "";
	summary.window = (struct mr_window){SECOND, 11 * SECOND};
	summary.start_up = "1.00 s: imports, set-up 1.00 s";
	summary.end = "1.00 s";
	struct mr_problem *first = add("launch_bound", "Launch bound", 3 * SECOND);
	struct mr_evidence evidence = {.what = "", .start_ns = 2 * SECOND + 5000};
	assert_int_equal(mr_vec_push(&first->evidence, evidence), 0);
	struct mr_problem *warm_up = add("warm_up", "Compile and warm-up", SECOND);
	warm_up->outside_ns = SECOND;
	add("device_limit", "The device is the limit", 4 * SECOND)->is_verdict = true;
	assert_non_null(mr_findings_add(&findings, "device_operations", "Device operations"));
	print(100, true);
	assert_string_equal(
		printed, "trace       run.mill\n"
			 "command     python train.py\n"
			 "ran for     12.0 s, exit status 0\n"
			 "recorded    1 process, 1 thread, 1 event in 1.00 KiB\n"
			 "steps       10.0 s, from 1.000000000 s to 11.000000000 s; --whole: all\n"
			 "before      1.00 s: imports, set-up 1.00 s\n"
			 "after       1.00 s\n"
			 "verdict     1 problem costs 30.0% of the steps, device works 40.0%, "
			 "other 30.0%\n"
			 "\n"
			 "1. Launch bound: 3.00 s, 30.0% of the steps\n"
			 "   It is so.\n"
			 "   > Do so.\n"
			 "2. Compile and warm-up: 1.00 s, once, before the steps\n"
			 "   It is so.\n"
			 "   > Do so.\n"
			 "Look next: \"Device operations\" below; millrace view at 2.000005 s\n");
}

static void test_device_is_the_limit(void **state)
{
	(void)state;
	add("device_limit", "The device is the limit", 9 * SECOND)->is_verdict = true;
	print(80, true);
	assert_non_null(strstr(printed,
			       "verdict     the device works for 90.0% of the steps, other "
			       "10.0%\n\n1. The device is the limit: 9.00 s, 90.0% of the "
			       "steps\n"));
}

static void test_nothing_found(void **state)
{
	(void)state;
	add("nothing_found", "No problem found", 10 * SECOND)->is_verdict = true;
	print(80, true);
	assert_non_null(strstr(printed, "\n\nNo problem found\n   It is so.\n   > Do so.\n"
					"Look next: millrace view\n"));
	assert_null(strstr(printed, "verdict"));
}

static void test_nothing_but_warm_up(void **state)
{
	(void)state;
	add("warm_up", "Compile and warm-up", SECOND)->outside_ns = SECOND;
	add("nothing_found", "No problem found", 10 * SECOND)->is_verdict = true;
	print(80, true);
	assert_non_null(strstr(printed, "verdict     no problem found in the steps\n"));
	assert_null(strstr(printed, "2. "));
}

/* A run of which no thread is known. */
static void test_nothing_looked_at(void **state)
{
	(void)state;
	findings.diagnosis = (struct mr_diagnosis){0};
	print(80, true);
	assert_non_null(strstr(printed, "verdict     none: the trace does not show"));
	assert_non_null(
		strstr(printed, "Look next: \"Where the time went\" below; millrace view\n"));
}

static void test_ascii(void **state)
{
	(void)state;
	summary.start_up = "34.0 \u00b5s: building 34.0 \u00b5s";
	add("x", "X", 5000)->why = "One takes 5.00 \u00b5s.";
	print(80, false);
	assert_null(strstr(printed, "\u00b5"));
	assert_non_null(strstr(printed, "before      34.0 us: building 34.0 us\n"));
	assert_non_null(
		strstr(printed, "1. X: 5.00 us, 0.0% of the steps\n   One takes 5.00 us.\n"));
}

/* The reasons of the others give way; then the line of the title says where. */
static void test_little_room(void **state)
{
	static char long_text[1201];

	(void)state;
	for (size_t i = 0; i + 1 < sizeof long_text; i++)
		long_text[i] = i % 8 == 7 ? ' ' : 'w';
	for (int i = 0; i < 5; i++) {
		struct mr_problem *problem = add("x", "X", SECOND);

		problem->why = problem->remedy = long_text;
		problem->where = "thread 'feeder'";
	}
	print(80, true);
	assert_non_null(
		strstr(printed, "2. X: 1.00 s, 10.0% of the steps (thread 'feeder')\n   > "));
	assert_non_null(strstr(printed, "1. X: 1.00 s, 10.0% of the steps\n   wwwwwww "));
	assert_null(strstr(printed, "4. "));
	assert_non_null(strstr(printed, "www ...\n2. X"));
}

/* Words of all lengths, also with characters of several bytes, control characters and bytes that are not UTF-8. */
static const char *random_text(size_t longest)
{
	static const char *const letters[] = {"a",      "b",      " ",    " ",
					      "\u00b5", "\u20ac", "\033", "\xff"};
	size_t count = (size_t)rand() % longest, one = (size_t)rand() % 4 + 1;
	char *text = mr_region_allocate(&findings.region, 4 * count + 1), *to = text;

	assert_non_null(text);
	for (size_t i = 0; i < count; i++) {
		bool is_word = (size_t)rand() % (one * one * one * 4) != 0;

		to = stpcpy(to, letters[is_word ? (size_t)rand() % 2 + (rand() % 8 ? 0 : 4)
						: (size_t)rand() % 8]);
	}
	*to = '\0';
	return text;
}

/* Columns of the widest line, counted by the first bytes of characters; *ret_lines: how many. */
static size_t widest_line(const char *text, size_t *ret_lines)
{
	size_t widest = 0, width = 0;

	*ret_lines = 0;
	for (; *text; text++) {
		if (*text == '\n') {
			widest = width > widest ? width : widest;
			width = 0;
			++*ret_lines;
		} else {
			width += ((unsigned char)*text & 0xc0) != 0x80;
		}
	}
	return widest;
}

static void make_anything(size_t longest)
{
	struct mr_finding *health = mr_findings_add(&findings, "health", "Trace health");
	int count = rand() % 6 + 1;

	assert_non_null(health);
	if (rand() % 2)
		assert_int_equal(mr_finding_say(&findings, health, MR_SEVERITY_WARNING, "%s",
						random_text(longest)),
				 0);
	summary.path = random_text(longest);
	summary.command = random_text(longest);
	if (rand() % 2) {
		summary.part = random_text(longest);
		summary.start_up = random_text(longest);
		summary.end = random_text(longest);
	}
	for (int i = 0; i < count; i++) {
		struct mr_problem *problem = add("x", "Checkpoint or logging in the loop", SECOND);

		problem->why = random_text(longest);
		problem->remedy = random_text(longest);
		problem->where = random_text(longest);
		problem->is_verdict = rand() % 4 == 0;
	}
}

static void test_always_fits(void **state)
{
	(void)state;
	srand(17);
	for (int round = 0; round < 1500; round++) {
		size_t lines;

		end(NULL);
		begin(NULL);
		make_anything(round % 3 == 0 ? 5000 : 300);
		print(round % 2 ? 80 : 200, true);
		assert_in_range(widest_line(printed, &lines), 1, 80);
		assert_in_range(lines, 5, 23);
		assert_non_null(strstr(printed, "\nLook next: "));
	}
}

#define screen_test(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		screen_test(test_whole_screen),      screen_test(test_device_is_the_limit),
		screen_test(test_nothing_found),     screen_test(test_nothing_but_warm_up),
		screen_test(test_nothing_looked_at), screen_test(test_ascii),
		screen_test(test_little_room),       screen_test(test_always_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
