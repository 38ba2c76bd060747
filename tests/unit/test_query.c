/* SPDX-License-Identifier: Apache-2.0
 *
 * SQL over the model. The oracle is SQLite itself: the same rows stand in a table of its own, put there
 * by code that knows nothing of virtual tables, and every question is asked of both.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "query/describe.h"
#include "query/module.h"

enum {
	TRACKS = 7,
	SOURCES = 5,
	CONTEXTS = 6,
	ROWS = 600,
	RESULT_BYTES = 1 << 20,
};

/* Tracks of the same name; one without a name. */
static const char *const track_names[TRACKS] = {"main", "worker", "",        "worker",
						"B",    "a",      "\xc3\xa9"};
static const char *const sources[SOURCES] = {"", "tick_sched_timer", "irq 7", "tick", "Irq"};
static const char *const contexts[CONTEXTS] = {"task", "hrtimer", "timer",
					       "irq",  "softirq", "interrupt_vector"};

static struct mr_survey survey;
static struct mr_model model;
static uint32_t source_ids[SOURCES];
static struct mr_relations relations;
static sqlite3 *database;
static char result[RESULT_BYTES], other[RESULT_BYTES];

static uint32_t random_below(uint32_t limit)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(state >> 33) % limit;
}

/* ---- rows, twice ---------------------------------------------------------------------------------- */

static uint32_t intern(const char *text)
{
	uint32_t number;

	assert_int_equal(
		mr_strings_intern(&survey.definitions.strings, text, strlen(text), &number), 0);
	return number;
}

static void make_model(void)
{
	survey = (struct mr_survey){0};
	model = (struct mr_model){.survey = &survey};
	assert_int_equal(mr_definitions_start(&survey.definitions), 0);
	for (uint32_t i = 0; i < TRACKS; i++) {
		struct mr_track track = {.name = intern(track_names[i])};

		assert_int_equal(mr_vec_push(&survey.tracks, track), 0);
	}
	for (uint32_t i = 0; i < SOURCES; i++)
		source_ids[i] = intern(sources[i]);
#define TABLE(name) model.name.table.desc = &mr_##name##_desc;
	MR_TABLES(TABLE)
#undef TABLE
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t waker = random_below(TRACKS + 1);
		struct mr_wakeups_row row = {
			.track = random_below(TRACKS - 1), /* the last has no rows */
			.start_ns = random_below(20) ? random_below(300) : MR_NO_TIME,
			.waker_tid = random_below(4) ? random_below(50) : MR_NO_TID,
			.waker = waker < TRACKS ? waker : MR_NO_TRACK,
			.source = source_ids[random_below(SOURCES)],
			.context = (uint8_t)random_below(CONTEXTS),
		};

		assert_int_equal(mr_wakeups_append(&model.wakeups, row), 0);
	}
	assert_int_equal(mr_table_sort(&model.wakeups.table, TRACKS), 0);
}

static void run(const char *sql)
{
	assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text)
{
	if (*text)
		assert_int_equal(sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC), 0);
	else
		assert_int_equal(sqlite3_bind_null(statement, place), 0);
}

static void bind_number(sqlite3_stmt *statement, int place, int64_t number, int64_t none)
{
	if (number == none)
		assert_int_equal(sqlite3_bind_null(statement, place), 0);
	else
		assert_int_equal(sqlite3_bind_int64(statement, place, number), 0);
}

static const char *source_text(uint32_t id)
{
	for (uint32_t i = 0; i < SOURCES; i++)
		if (source_ids[i] == id)
			return sources[i];
	return NULL;
}

static void make_native(void)
{
	const struct mr_wakeups *rows = &model.wakeups;
	sqlite3_stmt *statement;

	run("CREATE TABLE native (number INTEGER PRIMARY KEY, track INTEGER, track_name TEXT, "
	    "start_ns INTEGER, waker_tid INTEGER, waker INTEGER, waker_name TEXT, source TEXT, "
	    "context TEXT)");
	assert_int_equal(sqlite3_prepare_v2(database,
					    "INSERT INTO native VALUES (?,?,?,?,?,?,?,?,?)", -1,
					    &statement, NULL),
			 SQLITE_OK);
	for (uint32_t i = 0; i < ROWS; i++) {
		uint32_t waker = rows->waker[i];

		bind_number(statement, 1, i, -1);
		bind_number(statement, 2, rows->track[i], -1);
		bind_text(statement, 3, track_names[rows->track[i]]);
		bind_number(statement, 4, rows->start_ns[i], INT64_MIN);
		bind_number(statement, 5, rows->waker_tid[i], UINT32_MAX);
		bind_number(statement, 6, waker, UINT32_MAX);
		bind_text(statement, 7, waker < TRACKS ? track_names[waker] : "");
		bind_text(statement, 8, source_text(rows->source[i]));
		bind_text(statement, 9, contexts[rows->context[i]]);
		assert_int_equal(sqlite3_step(statement), SQLITE_DONE);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
}

static int make_all(void **state)
{
	(void)state;
	make_model();
	assert_int_equal(mr_relations_make(&model, &relations), 0);
	assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
	assert_int_equal(mr_module_add(database, &relations), SQLITE_OK);
	make_native();
	return 0;
}

static int free_all(void **state)
{
	(void)state;
	sqlite3_close(database);
	mr_relations_free(&relations);
	mr_table_free(&model.wakeups.table);
	mr_vec_free(&survey.tracks);
	mr_definitions_free(&survey.definitions);
	return 0;
}

/* ---- asking both ---------------------------------------------------------------------------------- */

/* The answer as one text. */
static void ask(const char *sql, char *answer)
{
	sqlite3_stmt *statement;
	size_t used = 0;

	if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(database));
	answer[0] = '\0';
	while (sqlite3_step(statement) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const unsigned char *text = sqlite3_column_text(statement, i);

			used += (size_t)snprintf(answer + used, RESULT_BYTES - used, "%s|",
						 text ? (const char *)text : "NULL");
		}
		used += (size_t)snprintf(answer + used, RESULT_BYTES - used, "\n");
		assert_true(used < RESULT_BYTES);
	}
	assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
}

/* %s in the question is the table, %r is its rowid. */
static void expand(const char *question, const char *table, const char *rowid, char *sql)
{
	for (; *question; question++) {
		if (*question != '%') {
			*sql++ = *question;
			continue;
		}
		sql = stpcpy(sql, *++question == 's' ? table : rowid);
	}
	*sql = '\0';
}

static void compare(const char *question)
{
	char sql[512];

	expand(question, "wakeups", "rowid", sql);
	ask(sql, result);
	expand(question, "native", "number", sql);
	ask(sql, other);
	if (strcmp(result, other) != 0)
		fail_msg("%s\n%s\n%s", question, result, other);
}

/* Whether SQLite sorts by itself to answer. */
static bool is_sorted_by_sqlite(const char *question)
{
	char sql[512] = "EXPLAIN QUERY PLAN ";

	expand(question, "wakeups", "rowid", sql + strlen(sql));
	ask(sql, result);
	return strstr(result, "TEMP B-TREE");
}

static void test_rows(void **state)
{
	(void)state;
	compare("select %r, track, track_name, start_ns, waker_tid, waker, waker_name, source, "
		"context "
		"from %s order by %r");
}

static const char *const orderable[] = {"track",  "track_name", "waker",
					"source", "context",    "waker_name"};

static void test_order(void **state)
{
	(void)state;
	for (int i = 0; i < 300; i++) {
		char columns[128] = "", terms[192] = "", sql[512];
		uint32_t count = 1 + random_below(4);

		for (uint32_t j = 0; j < count; j++) {
			const char *column = orderable[random_below(mr_countof(orderable))];

			snprintf(columns + strlen(columns), sizeof columns - strlen(columns),
				 "%s%s", j ? ", " : "", column);
			snprintf(terms + strlen(terms), sizeof terms - strlen(terms), "%s%s%s",
				 j ? ", " : "", column, random_below(2) ? " desc" : "");
		}
		const char *where = random_below(2) ? "where track > 2" : "";
		snprintf(sql, sizeof sql, "select %s from %%s %s order by %s", columns, where,
			 terms);
		compare(sql);
		assert_false(is_sorted_by_sqlite(sql));
		snprintf(sql, sizeof sql,
			 "select * from (select %s, count(*), sum(start_ns), min(waker_tid) from "
			 "%%s "
			 "%s group by %s) order by 1, 2, 3, 4, 5, 6",
			 columns, where, columns);
		if (count >= 3)
			compare(sql);
		snprintf(sql, sizeof sql, "select distinct %s from %%s %s order by %s", columns,
			 where, columns);
		compare(sql);
	}
}

/* What cannot be counted is left to SQLite; the table's own order costs nothing. */
static void test_other_orders(void **state)
{
	(void)state;
	compare("select start_ns, %r from %s order by start_ns desc, %r");
	compare("select track_name, start_ns from %s order by track_name, start_ns");
	compare("select waker_tid from %s order by waker_tid nulls last");
	compare("select source from %s order by source nulls last");
	compare("select source from %s order by source collate nocase, source");
	compare("select start_ns from %s where track = 2 order by start_ns");
	compare("select start_ns, track from %s where track in (4, 2) order by start_ns, track");
	compare("select source from %s where track in (4, 1, 2) order by source");
	assert_false(is_sorted_by_sqlite("select * from %s order by track, start_ns"));
	assert_false(is_sorted_by_sqlite("select * from %s where track = 2 order by start_ns"));
	assert_true(is_sorted_by_sqlite("select * from %s order by start_ns"));
	assert_true(is_sorted_by_sqlite("select * from %s order by track desc, start_ns desc"));
}

static void test_conditions(void **state)
{
	static const char *const columns[] = {"%r", "track", "start_ns"};
	static const char *const operators[] = {"=", "<", ">", "<=", ">=", "is", "is not", "!="};
	static const char *const values[] = {
		"0",    "1",       "3",     "6",
		"7",    "150",     "299",   "599",
		"600",  "-1",      "2.5",   "'3'",
		"'x'",  "null",    "3.0",   "9223372036854775807",
		"1e30", "x'3031'", "-9e99", "-9223372036854775807 - 1"};

	(void)state;
	for (int i = 0; i < 4000; i++) {
		char sql[512] = "select %r, start_ns from %s where 1";

		for (uint32_t count = 1 + random_below(4); count > 0; count--)
			snprintf(sql + strlen(sql), sizeof sql - strlen(sql), " and %s %s %s",
				 columns[random_below(3)],
				 operators[random_below(mr_countof(operators))],
				 values[random_below(mr_countof(values))]);
		strcat(sql, " order by %r");
		compare(sql);
	}
}

static void test_joins(void **state)
{
	(void)state;
	compare("select w.%r, t.name from %s w join tracks t on t.rowid = w.waker order by w.%r");
	compare("select a.%r, b.%r from %s a join %s b on b.track = a.waker and b.start_ns > "
		"a.start_ns and b.start_ns < a.start_ns + 20 order by a.%r, b.%r");
	compare("select a.%r, b.%r from %s a left join %s b on b.waker_tid = a.start_ns order by "
		"a.%r, "
		"b.%r");
	compare("select a.%r, b.%r from %s a left join %s b on b.waker = a.track and b.track = 3 "
		"and "
		"b.%r < 300 order by a.%r, b.start_ns, b.%r");
	compare("select a.%r, (select group_concat(source) from (select source from %s b where "
		"b.waker_tid = a.start_ns / 5 group by source order by source)) from %s a order by "
		"a.%r");
	compare("select a.%r, (select group_concat(source) from (select source from %s b where "
		"b.waker_tid = a.start_ns / 5.0 group by source order by source)) from %s a order "
		"by a.%r");
	compare("select a.%r, count(b.%r) from %s a left join %s b on b.waker_tid = a.source "
		"group by a.%r order by a.%r");
	compare("select (select count(*) from %s b where b.track = a.waker), source from %s a "
		"order by %r");
	compare("select source, (select group_concat(context) from (select distinct context from "
		"%s b "
		"where b.track = a.track order by context)) from %s a order by %r");
}

/* A join by a number looks rows up; a condition that is the same for all rows leaves the order open. */
static void test_lookups(void **state)
{
	(void)state;
	ask("explain query plan select * from wakeups a left join wakeups b on b.waker_tid = "
	    "a.waker_tid",
	    result);
	assert_non_null(strstr(result, ":l="));
	ask("explain query plan select source, count(*) from wakeups where waker_tid = 3 group by "
	    "source",
	    result);
	assert_null(strstr(result, ":l="));
	assert_null(strstr(result, "TEMP B-TREE"));
}

/* ---- descriptions --------------------------------------------------------------------------------- */

static int describe(const char *request)
{
	FILE *file = fmemopen(result, sizeof result, "w");
	int code = mr_describe(request, file);

	fclose(file);
	return code;
}

/* Every column that is described can be asked for by its name as it is, and says what it is. */
static void test_every_column(void **state)
{
	(void)state;
	for (const struct mr_table_desc *const *table = mr_described_tables; *table; table++) {
		uint32_t count = 0;
		char sql[128];

		assert_true(*(*table)->doc);
		for (uint32_t i = 0; i < (*table)->column_count; i++) {
			struct mr_described columns[2];

			assert_true(*(*table)->columns[i].doc);
			for (uint32_t j = mr_describe_column(&(*table)->columns[i], columns);
			     j-- > 0; count++) {
				snprintf(sql, sizeof sql, "select %s from %s limit 1",
					 columns[j].name, (*table)->name);
				ask(sql, result);
				assert_true(strlen(columns[j].about) < MR_ABOUT_BYTES - 1);
			}
		}
		snprintf(sql, sizeof sql, "select count(*) from pragma_table_info('%s')",
			 (*table)->name);
		ask(sql, result);
		assert_int_equal(atoi(result), count);
	}
}

static void test_describe(void **state)
{
	(void)state;
	assert_int_equal(describe(".tables"), 0);
	assert_non_null(strstr(result, "\nwakeups "));
	assert_int_equal(describe(".schema wakeups;"), 0);
	assert_non_null(strstr(result, "CREATE TABLE wakeups (\n  track INTEGER, -- "));
	assert_non_null(strstr(result, "  context TEXT -- what woke it; one of task, hrtimer"));
	assert_int_equal(describe(".schema nothing"), -EINVAL);
	assert_int_equal(describe(".schema wakeups calls"), -EINVAL);
	assert_int_equal(describe(".tables x"), -EINVAL);
	assert_int_equal(describe(".open x"), -EINVAL);
	assert_int_equal(describe(".schema"), 0);
	sqlite3 *empty;
	assert_int_equal(sqlite3_open(":memory:", &empty), SQLITE_OK);
	assert_int_equal(sqlite3_exec(empty, result, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),         cmocka_unit_test(test_order),
		cmocka_unit_test(test_other_orders), cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_joins),        cmocka_unit_test(test_every_column),
		cmocka_unit_test(test_describe),     cmocka_unit_test(test_lookups),
	};

	return cmocka_run_group_tests(tests, make_all, free_all);
}
