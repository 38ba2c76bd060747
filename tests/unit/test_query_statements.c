/* SPDX-License-Identifier: Apache-2.0
 *
 * What a query may do, and how its rows are printed: on a model that holds little, of which the answers are plain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "query/query.h"

enum {
	ROWS = 600, /* wakeups, all the same */
	RESULT_BYTES = 1 << 20,
};

static struct mr_survey survey;
static struct mr_model model = {.survey = &survey};
static char result[RESULT_BYTES];
static struct mr_query *query;

static int open_query(void **state)
{
	(void)state;
	assert_int_equal(mr_definitions_start(&survey.definitions), 0);
	assert_int_equal(mr_vec_push(&survey.tracks, (struct mr_track){0}), 0);
#define TABLE(name) model.name.table.desc = &mr_##name##_desc;
	MR_TABLES(TABLE)
#undef TABLE
	for (uint32_t i = 0; i < ROWS; i++)
		assert_int_equal(mr_wakeups_append(&model.wakeups, (struct mr_wakeups_row){0}), 0);
	assert_int_equal(mr_table_sort(&model.wakeups.table, 1), 0);
	return mr_query_open(&model, &query);
}

static int close_query(void **state)
{
	(void)state;
	mr_query_close(query);
	mr_table_free(&model.wakeups.table);
	mr_vec_free(&survey.tracks);
	mr_definitions_free(&survey.definitions);
	return 0;
}

static int print(const char *sql, enum mr_query_format format)
{
	FILE *file = fmemopen(result, sizeof result, "w");

	result[0] = '\0';
	int code = mr_query_print(query, sql, format, file);

	fclose(file);
	return code;
}

/* ---- what a query may do --------------------------------------------------------------------- */

static void test_refusals(void **state)
{
	static const char *const refused[] = {
		"attach '/tmp/mr-query-made' as other",
		"vacuum into '/tmp/mr-query-made'",
		"vacuum",
		"detach main",
		"create table made (a)",
		"create temp table made (a)",
		"create temp table made as select * from wakeups",
		"create view made as select 1",
		"create virtual table made using millrace",
		"create virtual table made using fts5(a)",
		"drop table wakeups",
		"alter table wakeups rename to made",
		"insert into wakeups (track) values (1)",
		"update wakeups set track = 1",
		"delete from wakeups",
		"delete from sqlite_schema",
		"pragma writable_schema = 1",
		"pragma temp_store = 1",
		"pragma temp_store_directory = '/tmp'",
		"pragma journal_mode = wal",
		"pragma hard_heap_limit = 1",
		"select * from pragma_journal_mode",
		"select load_extension('/tmp/mr-query-made')",
		"select writefile('/tmp/mr-query-made', 'x')",
		"begin",
		"savepoint a",
		"analyze",
		"select * from millrace",
		"select 1; drop table wakeups",
		"select 1; select 2",
		"",
		" -- nothing",
		"slect 1",
	};

	(void)state;
	for (size_t i = 0; i < mr_countof(refused); i++) {
		if (print(refused[i], MR_QUERY_CSV) == 0)
			fail_msg("%s: is not refused", refused[i]);
		assert_ptr_equal(strstr(mr_error_text(), "cannot run the query: "),
				 mr_error_text());
		assert_string_equal(result, "");
	}
	assert_int_not_equal(access("/tmp/mr-query-made", F_OK), 0);
	assert_int_equal(print("attach 'x' as y", MR_QUERY_CSV), -EINVAL);
	assert_string_equal(mr_error_text(),
			    "cannot run the query: ATTACH is refused: a query only "
			    "reads the trace");
	assert_int_equal(print("slect 1", MR_QUERY_CSV), -EINVAL);
	assert_string_equal(mr_error_text(), "cannot run the query: near \"slect\": syntax error");
	assert_int_equal(print("select count(*) as n from wakeups; -- fine", MR_QUERY_CSV), 0);
	assert_string_equal(result, "n\n600\n");
}

static void test_bounds(void **state)
{
	char deep[3000], *at = deep;

	(void)state;
	at = stpcpy(at, "select ");
	for (int i = 0; i < 1200; i++)
		at = stpcpy(at, "-(");
	stpcpy(at, "1");
	assert_int_equal(print(deep, MR_QUERY_CSV), -EINVAL);
	assert_int_equal(print("select zeroblob(1000000000)", MR_QUERY_CSV), -EINVAL);
	assert_int_equal(print("select hex(zeroblob(40000000))", MR_QUERY_CSV), -EINVAL);
}

static void interrupt(int number)
{
	(void)number;
	mr_query_interrupt(query);
	alarm(1); /* the query may not have begun */
}

static void test_query_without_end(void **state)
{
	(void)state;
	signal(SIGALRM, interrupt);
	alarm(1);
	assert_int_equal(print("with recursive n(i) as (select 1 union all select i + 1 from n) "
			       "select count(*) from n",
			       MR_QUERY_CSV),
			 -EINTR);
	alarm(0);
	assert_string_equal(mr_error_text(), "cannot run the query: interrupted");
	assert_int_equal(print("select 1 as still", MR_QUERY_CSV), 0);
	assert_string_equal(result, "still\n1\n");
}

/* ---- formats -------------------------------------------------------------------------------------- */

#define VALUES                                                                           \
	"select 1 as id, 'a,\"b\"' as text, null as nil, 0.5 as real, x'00ff' as bytes " \
	"union all select -20, '\x1b[1m', '', 1e300 * 1e300, x''"

static void test_formats(void **state)
{
	(void)state;
	assert_int_equal(print(VALUES, MR_QUERY_CSV), 0);
	assert_string_equal(result, "id,text,nil,real,bytes\n"
				    "1,\"a,\"\"b\"\"\",,0.5,x'00ff'\n"
				    "-20,\uFFFD[1m,\"\",Inf,x''\n");
	assert_int_equal(print(VALUES, MR_QUERY_JSON), 0);
	assert_string_equal(result, "{\"id\": 1, \"text\": \"a,\\\"b\\\"\", \"nil\": null, "
				    "\"real\": 0.5, \"bytes\": \"x'00ff'\"}\n"
				    "{\"id\": -20, \"text\": \"\\u001b[1m\", \"nil\": \"\", "
				    "\"real\": null, \"bytes\": \"x''\"}\n");
	assert_int_equal(print(VALUES, MR_QUERY_TABLE), 0);
	assert_string_equal(result, " id  text   nil  real  bytes\n"
				    "  1  a,\"b\"  -     0.5  x'00ff'\n"
				    "-20  ?[1m         Inf  x''\n");
	assert_int_equal(print("select 1 as a, 2 as a", MR_QUERY_JSON), -EINVAL);
	assert_int_equal(print("select 1 as a where 0", MR_QUERY_TABLE), 0);
	assert_string_equal(result, "a\n");
}

/* Texts of a trace that a terminal would obey, or that look like others: in no format, as values or as names. */
static void test_hostile_texts(void **state)
{
	static const char sql[] = "select 'a\x1b]0;x\x07"
				  "\r\u202Eb\u2066c\u200Fd\xC2\x9B"
				  "e\u2028f\n"
				  "g\th\u200Di\u00E4\U000E0041j\x7Fk\xFF"
				  "l' as \"\x1b\u202E\"";
	static const char *const bad[] = {"\x1b",   "\x07",   "\r",        "\u202E",
					  "\u2066", "\u200F", "\xC2\x9B",  "\u2028",
					  "\x7F",   "\xFF",   "\U000E0041"};

	(void)state;
	for (enum mr_query_format format = MR_QUERY_TABLE; format <= MR_QUERY_JSON; format++) {
		assert_int_equal(print(sql, format), 0);
		for (size_t i = 0; i < mr_countof(bad); i++)
			assert_null(strstr(result, bad[i]));
		assert_non_null(strstr(result, "h\u200Di\u00E4"));
	}
	assert_non_null(strstr(result, "\\u202eb\\u2066c\\u200fd\\u009be\\u2028f\\ng\\th"));
	assert_non_null(strstr(result, "\\udb40\\udc41j"));
	assert_int_equal(print("select '\x1b' from \"\u202E\x1b\"", MR_QUERY_CSV), -EINVAL);
	assert_null(strpbrk(mr_error_text(), "\x1b"));
	assert_null(strstr(mr_error_text(), "\u202E"));
}

/* More rows than are measured before printing. */
static void test_long_table(void **state)
{
	(void)state;
	assert_int_equal(print("with recursive n(i) as (select 1 union all select i + 1 from n "
			       "where i < 12345) select i, 'x' as x from n",
			       MR_QUERY_TABLE),
			 0);
	int lines = 0;
	for (const char *at = result; (at = strchr(at, '\n')); at++)
		lines++;
	assert_int_equal(lines, 12346);
	assert_non_null(strstr(result, "\n   1  x\n"));
	assert_non_null(strstr(result, "\n1234  x\n"));
	assert_non_null(strstr(result, "\n12345  x\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),          cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_query_without_end), cmocka_unit_test(test_formats),
		cmocka_unit_test(test_hostile_texts),     cmocka_unit_test(test_long_table),
	};

	return cmocka_run_group_tests(tests, open_query, close_query);
}
