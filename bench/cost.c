/* SPDX-License-Identifier: Apache-2.0
 *
 * cost ROUNDS BLOCK LOOP...: measures what one operation costs in a user's program.
 *
 * What the annotations do depends on how the program is started: alone they find no tracer, under
 * `millrace record` they record, and with the dataflow level off they are disabled. A loop given
 * twice is compared with itself.
 */
#include <stdio.h>
#include <string.h>

#include "lttng_event.h"
#include "millrace.h"
#include "record/ticks.h"
#include "rounds.h"

static uint32_t node;

static __attribute__((noinline)) void empty_call(uint32_t first, uint64_t second)
{
	__asm__ volatile("" : : "r"(first), "r"(second));
}

static void run_empty(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		empty_call(node, i);
		bench_keep(i);
	}
}

static void run_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(mr_ticks_of_counter());
}

static void run_instant(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		millrace_node_instant(node, i);
		bench_keep(i);
	}
}

static void run_interval(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct millrace_span span = millrace_node_begin(node, i);
		bench_keep(i);
		millrace_node_end(&span);
	}
}

static void run_lttng(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bench_lttng_event(node, i);
		bench_keep(i);
	}
}

static const struct bench_loop known_loops[] = {
	{"empty", run_empty},       {"clock", run_clock}, {"instant", run_instant},
	{"interval", run_interval}, {"lttng", run_lttng},
};

static const struct bench_loop *find_loop(const char *name)
{
	for (size_t i = 0; i < sizeof known_loops / sizeof *known_loops; i++)
		if (strcmp(known_loops[i].name, name) == 0)
			return &known_loops[i];
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 4) {
		fputs("usage: cost ROUNDS BLOCK LOOP...\n", stderr);
		return 2;
	}
	size_t loop_count = (size_t)argc - 3;
	const struct bench_loop *loops[loop_count];
	for (size_t i = 0; i < loop_count; i++) {
		loops[i] = find_loop(argv[3 + i]);
		if (!loops[i]) {
			fprintf(stderr, "no such loop: %s\n", argv[3 + i]);
			return 2;
		}
	}
	node = millrace_node(millrace_graph("bench"), "bench", "Bench", 0);
	bench_rounds(loops, loop_count, bench_number(argv[1]), bench_number(argv[2]));
	return 0;
}
