/* SPDX-License-Identifier: Apache-2.0 */
#include "record/arena.h"

static uint32_t mix(uint32_t hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
	return hash;
}

uint32_t mr_schema_check(void)
{
	uint32_t hash = 2166136261u;
	const uint32_t sizes[] = {MR_ARENA_VERSION, sizeof(struct mr_arena), sizeof(struct mr_slot),
				  sizeof(struct mr_process_entry), sizeof(struct mr_packet)};
	hash = mix(hash, sizes, sizeof sizes);
	for (int id = 0; id < MR_EVENT_EXTENDED; id++) {
		const struct mr_event_desc *event = &mr_event_table[id];
		if (!event->name)
			continue;
		hash = mix(hash, &event->id, 1);
		for (uint32_t i = 0; i < event->field_count; i++) {
			const uint8_t type = event->fields[i].type;
			hash = mix(hash, &type, 1);
			for (const char *c = event->fields[i].name; *c; c++)
				hash = mix(hash, c, 1);
		}
	}
	return hash;
}

bool mr_arena_is_valid(const struct mr_arena *arena, uint64_t mapped_bytes)
{
	if (mapped_bytes < MR_ARENA_HEADER_BYTES || arena->magic != MR_ARENA_MAGIC ||
	    arena->version != MR_ARENA_VERSION || arena->schema_check != mr_schema_check())
		return false;
	return arena->slot_capacity > 0 && arena->slot_capacity <= MR_ARENA_SLOTS_MAX &&
	       mapped_bytes == mr_arena_file_bytes(arena->slot_capacity) &&
	       arena->slot_count <= arena->slot_capacity &&
	       arena->reserved_slots <= arena->slot_count;
}

static int32_t claim_between(struct mr_arena *arena, uint32_t first, uint32_t limit, uint64_t word)
{
	for (uint32_t i = first; i < limit; i++) {
		_Atomic uint64_t *state = mr_arena_state(arena, i);
		uint64_t seen = atomic_load_explicit(state, memory_order_relaxed);
		if (mr_slot_word_state(seen) != MR_SLOT_FREE)
			continue;
		/* Acquire: pairs with the release in mr_arena_free(), after record has read it. */
		if (atomic_compare_exchange_strong_explicit(
			    state, &seen, word, memory_order_acquire, memory_order_relaxed))
			return (int32_t)i;
	}
	return MR_ARENA_NO_SLOT;
}

int32_t mr_arena_claim(struct mr_arena *arena, enum mr_packet_kind kind, uint32_t process_slot,
		       uint32_t tid)
{
	uint64_t word = mr_slot_word(MR_SLOT_FILLING, kind, process_slot, tid);
	uint32_t count = atomic_load_explicit(&arena->slot_count, memory_order_acquire);
	uint32_t reserved = atomic_load_explicit(&arena->reserved_slots, memory_order_relaxed);
	uint32_t limit = kind == MR_PACKET_DEFINITIONS ? count : count - mr_min(count, reserved);
	/* Low slots first: few are in use, and those stay in the caches. */
	uint32_t hint = atomic_load_explicit(&arena->free_hint, memory_order_relaxed);
	if (hint >= limit)
		hint = 0;
	int32_t slot = claim_between(arena, hint, limit, word);
	if (slot == MR_ARENA_NO_SLOT)
		slot = claim_between(arena, 0, hint, word);
	if (slot != MR_ARENA_NO_SLOT)
		atomic_store_explicit(&arena->free_hint, (uint32_t)slot + 1, memory_order_relaxed);
	return slot;
}

int32_t mr_arena_claim_process(struct mr_arena *arena)
{
	for (uint32_t i = 0; i < MR_ARENA_PROCESSES; i++) {
		struct mr_process_entry *entry = mr_arena_process(arena, i);
		uint32_t seen = MR_PROCESS_FREE;
		if (atomic_load_explicit(&entry->state, memory_order_relaxed) == seen &&
		    atomic_compare_exchange_strong_explicit(
			    &entry->state, &seen, MR_PROCESS_CLAIMED, memory_order_acquire,
			    memory_order_relaxed))
			return (int32_t)i;
	}
	atomic_fetch_add_explicit(&arena->processes_refused, 1, memory_order_relaxed);
	return -1;
}

void mr_arena_free(struct mr_arena *arena, uint32_t index)
{
	atomic_store_explicit(mr_arena_state(arena, index), 0, memory_order_release);
	if (index < atomic_load_explicit(&arena->free_hint, memory_order_relaxed))
		atomic_store_explicit(&arena->free_hint, index, memory_order_relaxed);
	atomic_fetch_add_explicit(&arena->freed, 1, memory_order_release);
}
