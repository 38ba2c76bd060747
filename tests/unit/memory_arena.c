/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG /* tests check in every build */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory_arena.h"
#include "record/recorder.h"

struct mr_arena *test_arena;

struct mr_arena *test_arena_of(void *memory, uint32_t slots)
{
	/* Process numbers go on from arena to arena: threads of the test outlive them. */
	static uint32_t first_process;
	struct mr_arena *arena = calloc(1, sizeof *arena);
	struct mr_control *control = memory;
	assert(arena);
	control->magic = MR_ARENA_MAGIC;
	control->version = MR_ARENA_VERSION;
	control->schema_check = mr_schema_check();
	control->user_clock = MR_trace_clock_monotonic;
	atomic_store(&control->levels, MR_LEVEL_core | MR_LEVEL_dataflow | MR_LEVEL_runtime);
	atomic_store(&control->slot_count, slots);
	atomic_store(&control->slots_allowed, slots);
	mr_arena_use_whole(arena, memory, slots);
	atomic_store(&arena->tables->next_process, first_process += 100000);
	return arena;
}

struct mr_arena *test_arena_create(uint32_t slots)
{
	void *memory = mmap(NULL, mr_arena_file_bytes(slots), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert(memory != MAP_FAILED);
	return test_arena_of(memory, slots);
}

void test_arena_destroy(struct mr_arena *arena)
{
	if (arena)
		munmap(arena->control, mr_arena_file_bytes(arena->slot_limit));
	free(arena);
}

void test_arena_attach(uint32_t slots)
{
	test_arena = test_arena_create(slots);
	mr_process_attach_mapped(test_arena);
	assert(mr_arena == test_arena);
}

int test_arena_detach(void **state)
{
	(void)state;
	mr_arena = NULL;
	test_arena_destroy(mr_take(test_arena));
	return 0;
}

void test_interrupt(void (*handler)(void *data), void *data)
{
	char frame_of_the_signal[2048];
	/* Its address is known to somebody, so no compiler leaves it out. */
	__asm__ volatile("" : : "r"(frame_of_the_signal) : "memory");
	handler(data);
	__asm__ volatile("" : : "r"(frame_of_the_signal) : "memory");
}

void test_emit(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		mr_emit(node_instant, .node = 7, .step = i);
}

/* Reads one event at `at`; returns where the next one begins. */
static const uint8_t *read_event(const uint8_t *at, uint64_t last, struct test_event *ret_event)
{
	struct test_event event = {.id = at[0], .is_extended = at[0] == 255};
	if (event.is_extended) {
		event.id = at[1];
		memcpy(&event.ticks, at + 2, 8);
		at += 10;
	} else {
		uint32_t low;
		memcpy(&low, at + 1, 4);
		event.ticks = (last & ~UINT64_C(0xffffffff)) | low;
		if (event.ticks < last)
			event.ticks += UINT64_C(1) << 32;
		at += 5;
	}
	const struct mr_event_desc *desc = &mr_event_table[event.id];
	assert(desc->name && event.ticks >= last);
	event.payload = at;
	at += desc->fixed_bytes;
	if (desc->has_text) {
		event.text = (const char *)at;
		at += strlen(event.text) + 1;
	}
	*ret_event = event;
	return at;
}

static void visit_packet(struct mr_arena *arena, uint32_t index, test_visit *visit, void *data)
{
	const struct mr_packet *packet = mr_arena_packet(arena, index);
	uint32_t committed = (uint32_t)atomic_load(&mr_arena_slot(arena, index)->progress);
	const uint8_t *at = packet->events;
	const uint8_t *end = (const uint8_t *)packet + committed;
	uint64_t last = packet->context.begin_ticks;
	assert(committed >= sizeof *packet && committed <= MR_PACKET_ROOM_BYTES);
	while (at < end) {
		struct test_event event;
		at = read_event(at, last, &event);
		event.packet = packet;
		last = event.ticks;
		assert(at <= end);
		visit(&event, data);
	}
}

static bool is_used(struct mr_arena *arena, uint32_t index)
{
	return mr_slot_word_state(atomic_load(mr_arena_state(arena, index))) != MR_SLOT_FREE;
}

void test_arena_visit(struct mr_arena *arena, test_visit *visit, void *data)
{
	for (uint32_t i = 0; i < arena->slot_limit; i++)
		if (is_used(arena, i))
			visit_packet(arena, i, visit, data);
}

static void count_event(const struct test_event *event, void *data)
{
	struct test_counts *counts = data;
	counts->events[event->id]++;
}

void test_arena_drain(struct mr_arena *arena, bool all, struct test_counts *counts)
{
	for (uint32_t i = 0; i < arena->slot_limit; i++) {
		uint64_t word = atomic_load(mr_arena_state(arena, i));
		bool is_full = mr_slot_word_state(word) == MR_SLOT_FULL;
		if (!is_full && !(all && is_used(arena, i)))
			continue;
		visit_packet(arena, i, count_event, counts);
		struct mr_slot *slot = mr_arena_slot(arena, i);
		counts->discarded += slot->discarded_events;
		counts->ended_threads += is_full && slot->owner_ended;
		counts->packets++;
		mr_arena_free(arena, i);
	}
}

struct test_counts test_arena_drain_all(void)
{
	struct test_counts counts = {0};
	test_arena_drain(test_arena, true, &counts);
	return counts;
}

uint64_t test_arena_lost(struct mr_arena *arena, enum mr_loss_reason reason)
{
	uint64_t lost = 0;
	for (uint32_t i = 0; i < MR_ARENA_PROCESSES; i++) {
		struct mr_process_entry *entry = mr_arena_process(arena, i);
		if (atomic_load(&entry->state) == MR_PROCESS_LIVE)
			lost += atomic_load(&entry->lost[reason]);
	}
	return lost;
}
