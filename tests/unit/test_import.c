/* SPDX-License-Identifier: Apache-2.0
 *
 * From a file to a trace: what was written in any order is read back in order of time, whatever lies
 * where the window over the file ends, and however far times are apart.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"

enum {
	THREADS = 5,
	EVENTS = 20000,
	NAMES = 50,
};

static uint64_t state = 1;

static uint64_t random_bits(void)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return state >> 31;
}

struct made {
	uint32_t tid;
	uint32_t name;
	uint64_t start_ns;
	uint64_t duration_ns;
};

/* Mostly near one another; sometimes more than 2^32 ns apart, or of more than 2^48 ns. */
static struct made make_event(void)
{
	struct made made = {(uint32_t)(random_bits() % THREADS), (uint32_t)(random_bits() % NAMES),
			    random_bits() % 1000000, random_bits() % 1000};

	if (random_bits() % 16 == 0)
		made.start_ns += random_bits() << 20;
	if (random_bits() % 64 == 0)
		made.duration_ns += UINT64_C(1) << (40 + random_bits() % 16);
	return made;
}

/* Blanks and arguments of any length, so that the window ends everywhere. */
static void print_event(FILE *file, const struct made *made)
{
	fprintf(file,
		"{\"args\": {\"x\": [\"%.*s\\\"]}\", {}]},%*s\"ph\":\"X\", \"name\":\"node %u\", "
		"\"pid\": 3, \"tid\": %u, \"ts\": %" PRIu64 ".%03" PRIu64 ", \"dur\": %" PRIu64
		".%03" PRIu64 "}",
		(int)(random_bits() % 90),
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
		"[",
		(int)(random_bits() % 60), "", made->name, made->tid, made->start_ns / 1000,
		made->start_ns % 1000, made->duration_ns / 1000, made->duration_ns % 1000);
}

static char *write_file(const struct made *events, size_t count)
{
	static char path[] = "/tmp/mr-test-import-XXXXXX";

	strcpy(strrchr(path, '-'), "-XXXXXX");
	FILE *file = fdopen(mkstemp(path), "w");
	assert_non_null(file);
	fprintf(file, "{\"traceEvents\": [");
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", file);
		print_event(file, &events[i]);
	}
	fprintf(file, "]}");
	assert_int_equal(fclose(file), 0);
	return path;
}

static struct mr_trace *import(const char *path)
{
	struct mr_trace *trace;

	assert_int_equal(mr_import_open(path, &trace), 0);
	remove(path);
	return trace;
}

static int compare(const void *first, const void *second)
{
	const struct made *a = first, *b = second;
	uint64_t a_end = a->start_ns + a->duration_ns, b_end = b->start_ns + b->duration_ns;

	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	return a_end < b_end ? -1 : a_end > b_end;
}

/* Events of equal ends may change places. */
static void match(struct made *left, size_t count, const struct made *found)
{
	for (size_t i = 0; i < count && compare(&left[i], found) == 0; i++)
		if (left[i].name == found->name && left[i].start_ns == found->start_ns) {
			struct made first = left[0];
			left[0] = left[i];
			left[i] = first;
			return;
		}
	fail_msg("an event of thread %u at %" PRIu64 " that was not written", found->tid,
		 found->start_ns);
}

static struct made read_event(const struct mr_event *event)
{
	if (event->desc->id == MR_EVENT_node_interval) {
		const struct mr_event_node_interval *interval = event->payload;
		uint64_t duration = mr_u48_value(interval->duration_ticks);

		return (struct made){event->context->tid, interval->node, event->ticks - duration,
				     duration};
	}
	assert_int_equal(event->desc->id, MR_EVENT_node_interval_at);
	const struct mr_event_node_interval_at *interval = event->payload;
	assert_int_equal(interval->end, event->ticks);
	assert_true(interval->end - interval->start > MR_U48_MAX);
	return (struct made){event->context->tid, interval->node, interval->start,
			     interval->end - interval->start};
}

/* The number in the name of each node. */
static void read_nodes(const struct mr_trace *trace, uint32_t *names)
{
	uint32_t strings[NAMES + 8] = {0};
	struct mr_cursor cursor;
	struct mr_event event;

	assert_int_equal(trace->streams[0].kind, MR_PACKET_DEFINITIONS);
	mr_cursor_start(&cursor, trace, &trace->streams[0]);
	while (mr_cursor_next(&cursor, &event)) {
		if (event.desc->id == MR_EVENT_def_string) {
			const struct mr_event_def_string *string = event.payload;

			assert_true(string->id < NAMES + 8);
			sscanf(event.text, "node %u", &strings[string->id]);
		} else if (event.desc->id == MR_EVENT_def_node) {
			const struct mr_event_def_node *node = event.payload;

			assert_in_range(node->id, 1, NAMES);
			names[node->id] = strings[node->name];
		}
	}
}

static void test_order(void **unused)
{
	static struct made events[EVENTS];
	uint32_t names[NAMES + 1];
	size_t count = 0;

	(void)unused;
	for (size_t i = 0; i < EVENTS; i++)
		events[i] = make_event();
	struct mr_trace *trace = import(write_file(events, EVENTS));
	assert_int_equal(trace->damage_count, 0);
	qsort(events, EVENTS, sizeof *events, compare);
	read_nodes(trace, names);
	assert_int_equal(trace->stream_count, THREADS + 1);
	for (uint32_t i = 1; i < trace->stream_count; i++) {
		struct mr_cursor cursor;
		struct mr_event event;

		size_t at = 0;

		mr_cursor_start(&cursor, trace, &trace->streams[i]);
		for (; mr_cursor_next(&cursor, &event); at++, count++) {
			struct made found = read_event(&event);

			found.name = names[found.name];
			while (at < EVENTS && events[at].tid < found.tid)
				at++;
			match(&events[at], EVENTS - at, &found);
		}
		assert_int_equal(cursor.malformed_packets, 0);
	}
	assert_int_equal(count, EVENTS);
	mr_trace_close(trace);
}

/* A packet begins with the first interval that ends in it, not before the thread. */
static void test_span(void **unused)
{
	static const struct made events[] = {
		{1, 1, 5000, 100}, {1, 2, 2000, 9000}, {2, 1, 7000, 0}};

	(void)unused;
	struct mr_trace *trace = import(write_file(events, 3));
	const struct mr_packet_context *first = &trace->streams[1].packets[0].packet->context;
	const struct mr_packet_context *second = &trace->streams[2].packets[0].packet->context;

	assert_int_equal(first->begin_ticks, 2000);
	assert_int_equal(first->end_ticks, 11000);
	assert_int_equal(second->begin_ticks, 7000);
	assert_int_equal(second->end_ticks, 7000);
	mr_trace_close(trace);
}

static void test_nothing(void **unused)
{
	(void)unused;
	struct mr_trace *trace = import(write_file(NULL, 0));

	assert_int_equal(trace->stream_count, 0);
	assert_int_equal(trace->damage_count, 0);
	mr_trace_close(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
