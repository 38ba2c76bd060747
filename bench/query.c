/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares GROUP BY on the model's columns with the same rows in one of SQLite's own in-memory tables:
 *
 *     bench_query ROWS ROUNDS        CPU seconds of ours, native, native again; one line per round
 *
 * Fails if the two answers differ.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "query/module.h"

enum {
	NAMES = 1000,
	TRACKS = 16,
};

#define QUESTION "select name, sum(duration_ns) from %s group by name"

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "bench_query: %s\n", what);
	exit(1);
}

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t random_bits(void)
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> 33;
}

/* A model with only device operations. */
static void make_model(struct mr_model *model, uint32_t rows)
{
	struct mr_strings *strings = &model->survey->definitions.strings;
	uint32_t empty;

	require(mr_definitions_start(&model->survey->definitions) == 0, "no memory");
	require(mr_strings_intern(strings, "", 0, &empty) == 0, "no memory");
	uint32_t first_name = mr_strings_count(strings);
	for (uint32_t i = 0; i < NAMES; i++) {
		char name[64];
		uint32_t number;
		int length = snprintf(name, sizeof name, "void kernel_%04u<float, 4>(float*)", i);

		require(mr_strings_intern(strings, name, (size_t)length, &number) == 0,
			"no memory");
	}
	for (uint32_t i = 0; i < TRACKS; i++)
		require(mr_vec_push(&model->survey->tracks, (struct mr_track){0}) == 0,
			"no memory");
#define TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(TABLE)
#undef TABLE
	for (uint32_t i = 0; i < rows; i++) {
		struct mr_device_operations_row row = {
			.track = (uint32_t)(random_bits() % TRACKS),
			.start_ns = 1000 * (int64_t)i,
			.duration_ns = (int64_t)(random_bits() % 100000),
			.name = first_name + (uint32_t)(random_bits() % NAMES),
		};

		require(mr_device_operations_append(&model->device_operations, row) == 0,
			"no memory");
	}
	require(mr_table_sort(&model->device_operations.table, TRACKS) == 0, "no memory");
}

static void run(sqlite3 *database, const char *sql)
{
	require(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK,
		sqlite3_errmsg(database));
}

/* Runs the query; returns its seconds and a sum over the answer. */
static double ask(sqlite3 *database, const char *table, uint64_t *ret_sum)
{
	char sql[128];
	sqlite3_stmt *statement;
	uint64_t sum = 0;

	snprintf(sql, sizeof sql, QUESTION, table);
	double start = cpu_seconds();
	require(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK,
		sqlite3_errmsg(database));
	while (sqlite3_step(statement) == SQLITE_ROW)
		sum = 31 * sum + (uint64_t)sqlite3_column_int64(statement, 1) +
		      (uint64_t)sqlite3_column_bytes(statement, 0);
	require(sqlite3_finalize(statement) == SQLITE_OK, sqlite3_errmsg(database));
	*ret_sum = sum;
	return cpu_seconds() - start;
}

int main(int argument_count, char **arguments)
{
	struct mr_survey survey = {0};
	struct mr_model model = {.survey = &survey};
	struct mr_relations relations;
	sqlite3 *database;
	uint64_t ours, native, again;

	require(argument_count == 3, "give the number of rows, and of rounds");
	make_model(&model, (uint32_t)strtoul(arguments[1], NULL, 10));
	require(mr_relations_make(&model, &relations) == 0, "no memory");
	require(sqlite3_open(":memory:", &database) == SQLITE_OK, "no database");
	require(mr_module_add(database, &relations) == SQLITE_OK, sqlite3_errmsg(database));
	run(database, "PRAGMA temp_store = MEMORY");
	run(database, "CREATE TABLE native AS SELECT track, start_ns, duration_ns, name FROM "
		      "device_operations");
	for (unsigned long round = strtoul(arguments[2], NULL, 10); round > 0; round--) {
		double our_time = ask(database, "device_operations", &ours);
		double native_time = ask(database, "native", &native);
		double again_time = ask(database, "native", &again);

		require(ours == native && native == again, "the answers differ");
		printf("%.6f %.6f %.6f\n", our_time, native_time, again_time);
	}
	sqlite3_close(database);
	mr_relations_free(&relations);
	return 0;
}
