/* SPDX-License-Identifier: Apache-2.0
 *
 * What was done with each file, of system calls that are made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "analysis/analysis.h"
#include "hand_model.h"

static struct mr_model *model;
static struct mr_findings findings;
static int64_t now_ns;

static int start(void **state)
{
	(void)state;
	model = hand_model_start();
	now_ns = 0;
	return 0;
}

static int end(void **state)
{
	(void)state;
	mr_findings_free(&findings);
	findings = (struct mr_findings){0};
	mr_model_free(model);
	return 0;
}

/* A call of 100 ns, of which 10 blocked. */
static void call(const char *name, uint32_t file, int64_t result, uint8_t flags)
{
	hand_blocked(0, now_ns, now_ns + 10, name, file);
	uint32_t row = model->system_calls.table.count - 1;

	model->system_calls.duration_ns[row] = 100;
	model->system_calls.result[row] = result;
	model->system_calls.flags[row] = flags;
	now_ns += 100;
}

static const struct mr_finding_table *analyse(void)
{
	hand_model_load();
	for (uint32_t row = 0; row < model->system_calls.table.count; row++)
		model->system_calls.blocked_ns[row] = 10;
	assert_int_equal(mr_analyse_input_output(model, &findings), 0);
	return mr_findings_find_table(&findings, "input_output", "by_file");
}

static int64_t cell(const struct mr_finding_table *table, const char *file, const char *key)
{
	for (uint32_t row = 0; row < table->row_count; row++)
		if (strcmp(mr_finding_value(table, row, 0)->text, file) == 0)
			return mr_finding_value(table, row, mr_finding_column(table, key))->number;
	fail_msg("no row %s", file);
	return 0;
}

static void files_add_up(void **state)
{
	uint32_t data = hand_file("/data"), again = hand_file("/data"), folder = hand_file("/");
	uint32_t socket = hand_file("TCP:[1.2.3.4:5]");

	(void)state;
	call("openat", data, 3, 0);
	call("read", data, 4096, 0);
	call("pread64", again, 1000, 0);
	call("read", data, 0, 0);
	call("read", data, -11, 0);               /* nothing there */
	call("read", data, 0, MR_ROW_UNFINISHED); /* who knows */
	call("write", data, 7, 0);
	call("fstat", data, 0, 0);
	call("openat", folder, -2, 0); /* below it there is no such file */
	call("sendmsg", socket, 500, 0);
	call("sendmmsg", socket, 3, 0); /* messages */
	call("recvmmsg", socket, 2, 0);
	call("getpid", 0, 100, 0);
	const struct mr_finding_table *table = analyse();

	assert_int_equal(table->row_count, 3);
	assert_string_equal(mr_finding_value(table, 0, 0)->text, "/data");
	assert_int_equal(cell(table, "/data", "count"), 8);
	assert_int_equal(cell(table, "/data", "opens"), 1);
	assert_int_equal(cell(table, "/data", "reads"), 5);
	assert_int_equal(cell(table, "/data", "writes"), 1);
	assert_int_equal(cell(table, "/data", "read_bytes"), 5096);
	assert_int_equal(cell(table, "/data", "written_bytes"), 7);
	assert_int_equal(cell(table, "/data", "time_ns"), 800);
	assert_int_equal(cell(table, "/data", "blocked_ns"), 80);
	assert_int_equal(cell(table, "/", "opens"), 0);
	assert_int_equal(cell(table, "/", "count"), 1);
	assert_int_equal(cell(table, "TCP:[1.2.3.4:5]", "writes"), 2);
	assert_int_equal(cell(table, "TCP:[1.2.3.4:5]", "written_bytes"), 500);
	assert_int_equal(cell(table, "TCP:[1.2.3.4:5]", "reads"), 1);
	assert_int_equal(cell(table, "TCP:[1.2.3.4:5]", "read_bytes"), 0);
	assert_int_equal(table->wholes[mr_finding_column(table, "time_ns")], 1200);
}

/* Of a call of which only the blocked part is known, nobody knows what it did. */
static void blocked_parts_tell_times_alone(void **state)
{
	(void)state;
	call("read", hand_file("/data"), 0, MR_ROW_BLOCKED);
	const struct mr_finding_table *table = analyse();

	assert_int_equal(cell(table, "/data", "count"), 1);
	assert_int_equal(cell(table, "/data", "reads"), MR_NO_VALUE);
	assert_int_equal(cell(table, "/data", "read_bytes"), MR_NO_VALUE);
	assert_int_equal(cell(table, "/data", "blocked_ns"), 10);
}

static void without_files_there_is_nothing(void **state)
{
	(void)state;
	call("getpid", 0, 100, 0);
	assert_null(analyse());
	assert_int_equal(findings.list.count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
	const struct CMUnitTest tests[] = {
		TEST(files_add_up),
		TEST(blocked_parts_tell_times_alone),
		TEST(without_files_there_is_nothing),
	};
#undef TEST

	return cmocka_run_group_tests(tests, NULL, NULL);
}
