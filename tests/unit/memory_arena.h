/* SPDX-License-Identifier: Apache-2.0
 *
 * An arena for tests, and a reader of its packets that knows only what schema.h draws: it stands in for
 * `record` and is independent of src/trace.
 */
#ifndef MR_TEST_MEMORY_ARENA_H
#define MR_TEST_MEMORY_ARENA_H

#include "record/arena.h"

/* An event found in a packet. */
struct test_event {
	uint8_t id;
	bool is_extended;
	uint64_t ticks;
	const void *payload; /* struct mr_event_NAME */
	const char *text;    /* NULL if it has none */
	const struct mr_packet *packet;
};

typedef void test_visit(const struct test_event *event, void *data);

/* What a reader has found so far. Zeroed before first use. */
struct test_counts {
	uint64_t events[256];
	uint64_t discarded; /* as the slots say */
	uint64_t ended_threads;
	uint64_t packets;
};

/* Makes an arena of a file of zeroes that is mapped: all levels are on. NULL is none: test_arena_destroy(). */
struct mr_arena *test_arena_of(void *memory, uint32_t slots);

/* An arena that forked children share. */
struct mr_arena *test_arena_create(uint32_t slots);
void test_arena_destroy(struct mr_arena *arena);

/* Makes an arena, test_arena, and attaches the process to it; the second undoes both (a cmocka
 * teardown function). */
extern struct mr_arena *test_arena;
void test_arena_attach(uint32_t slots);
int test_arena_detach(void **state);

/* Emits node_instant events. */
void test_emit(uint32_t count);

/* Calls the function as a signal handler would be: far enough down the stack. */
void test_interrupt(void (*handler)(void *data), void *data);

/* Visits every committed event in the arena; asserts that packets are sound. */
void test_arena_visit(struct mr_arena *arena, test_visit *visit, void *data);

/* Counts and frees packets: those handed over, or (`all`) also those being filled by the dead. */
void test_arena_drain(struct mr_arena *arena, bool all, struct test_counts *counts);

/* Empties test_arena. */
struct test_counts test_arena_drain_all(void);

/* Losses of all processes of the arena, for one reason. */
uint64_t test_arena_lost(struct mr_arena *arena, enum mr_loss_reason reason);

#endif
