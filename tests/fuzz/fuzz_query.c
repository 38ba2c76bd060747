/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes queries: an input is a format (first byte) and SQL text, asked of a small model. Whatever it
 * is, the next question must be answered as ever. What takes long is interrupted. Seeds:
 * tests/corpus/fuzz_query.
 */
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	TRACKS = 3,
	ROWS = 40,
	HEAP_BYTES = 256 << 20,
	PATIENCE_US = 50000,
};

static struct mr_survey survey;
static struct mr_model model = {.survey = &survey};
static struct mr_query *query;
static FILE *sink;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static uint32_t intern(const char *text)
{
	uint32_t number;

	require(mr_strings_intern(&survey.definitions.strings, text, strlen(text), &number) == 0);
	return number;
}

static void make_model(void)
{
	static const char *const names[TRACKS] = {"main", "worker", ""};

	require(mr_definitions_start(&survey.definitions) == 0);
	for (uint32_t i = 0; i < TRACKS; i++)
		require(mr_vec_push(&survey.tracks, (struct mr_track){.name = intern(names[i])}) ==
			0);
#define TABLE(name) model.name.table.desc = &mr_##name##_desc;
	MR_TABLES(TABLE)
#undef TABLE
	for (uint32_t i = 0; i < ROWS; i++) {
		struct mr_wakeups_row row = {
			.track = i % TRACKS,
			.start_ns = i % 7 ? 10 * i : MR_NO_TIME,
			.waker_tid = i % 5 ? i : MR_NO_TID,
			.waker = i % 4 < TRACKS ? i % 4 : MR_NO_TRACK,
			.source = i % 3 ? intern(i % 2 ? "tick" : "irq") : 0,
			.context = (uint8_t)(i % 9), /* not all are known */
		};

		require(mr_wakeups_append(&model.wakeups, row) == 0);
	}
	require(mr_table_sort(&model.wakeups.table, TRACKS) == 0);
}

static void interrupt(int number)
{
	(void)number;
	mr_query_interrupt(query);
}

static void start(void)
{
	make_model();
	require(mr_query_open(&model, &query) == 0);
	sqlite3_hard_heap_limit64(HEAP_BYTES);
	sink = fopen("/dev/null", "w");
	require(sink);
	signal(SIGVTALRM, interrupt);
}

static void set_timer(int us)
{
	const struct itimerval timer = {.it_value.tv_usec = us, .it_interval.tv_usec = us};

	require(setitimer(ITIMER_VIRTUAL, &timer, NULL) == 0);
}

/* The unknown contexts are one group. */
static void check(void)
{
	char answer[64] = "";
	FILE *file = fmemopen(answer, sizeof answer, "w");

	require(mr_query_print(query,
			       "select count(*) as rows, count(distinct context) as contexts from "
			       "wakeups",
			       MR_QUERY_CSV, file) == 0);
	fclose(file);
	require(strcmp(answer, "rows,contexts\n40,7\n") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!query)
		start();
	if (size == 0)
		return 0;
	char *sql = strndup((const char *)data + 1, size - 1);

	require(sql);
	set_timer(PATIENCE_US);
	mr_query_print(query, sql, data[0] % 3, sink);
	set_timer(0);
	free(sql);
	check();
	return 0;
}
