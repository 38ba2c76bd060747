/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that are traced by tests: emits events and keeps count of them, over forked children too.
 * A program prints "emitted N"; the trace must hold N node_instant events.
 */
#ifndef MR_TEST_EMIT_H
#define MR_TEST_EMIT_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <millrace.h>

static _Atomic uint64_t *emitted; /* shared with children */
static uint32_t emitting_node;

static inline void emit_prepare(void)
{
	emitted = mmap(NULL, sizeof *emitted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (emitted == MAP_FAILED)
		abort();
	emitting_node = millrace_node(millrace_graph("test"), "node", "type", 0);
}

static inline void emit(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		millrace_node_instant(emitting_node, i);
	atomic_fetch_add(emitted, count);
}

static inline void emit_report(void)
{
	printf("emitted %lu\n", (unsigned long)atomic_load(emitted));
	fflush(stdout);
}

/* The same where the number differs from run to run, which what is printed must not. */
static inline void emit_report_aside(void)
{
	FILE *file = fopen(getenv("EMITTED_FILE"), "w");
	if (!file)
		abort();
	fprintf(file, "%lu", (unsigned long)atomic_load(emitted));
	fclose(file);
}

/* What a test may ask of a program. */
struct situation {
	const char *name;
	int (*run)(void); /* returns the exit status */
};

static inline int run_situation(const struct situation *situations, const char *name)
{
	emit_prepare();
	for (; situations->name; situations++)
		if (strcmp(situations->name, name) == 0)
			return situations->run();
	fprintf(stderr, "no such situation: %s\n", name);
	return 100;
}

#endif
