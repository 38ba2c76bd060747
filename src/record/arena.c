/* SPDX-License-Identifier: Apache-2.0 */
#include "record/arena.h"

#include <string.h>

static uint32_t mix(uint32_t hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 16777619u;
	return hash;
}

uint32_t mr_schema_check(void)
{
	uint32_t hash = 2166136261u;
	const uint32_t sizes[] = {MR_ARENA_VERSION,         sizeof(struct mr_control),
				  sizeof(struct mr_tables), sizeof(struct mr_slot),
				  sizeof(struct mr_packet), MR_ARENA_SLOTS_OFFSET};
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

uint32_t mr_arena_slots_of(uint64_t file_bytes)
{
	if (file_bytes < MR_ARENA_SLOTS_OFFSET)
		return 0;
	return (uint32_t)mr_min((file_bytes - MR_ARENA_SLOTS_OFFSET) / MR_ARENA_SLOT_BYTES,
				(uint64_t)MR_ARENA_SLOTS_MAX);
}

bool mr_control_is_valid(const struct mr_control *control)
{
	return control->magic == MR_ARENA_MAGIC && control->version == MR_ARENA_VERSION &&
	       control->schema_check == mr_schema_check();
}

void mr_arena_use(struct mr_arena *ret_arena, struct mr_control *control, struct mr_tables *tables,
		  uint32_t slot_limit)
{
	ret_arena->control = control;
	ret_arena->tables = tables;
	ret_arena->slot_limit = slot_limit;
	ret_arena->step_levels = control->step_levels;
	ret_arena->first_step = control->first_step;
	ret_arena->last_step = control->last_step;
	ret_arena->user_clock = control->user_clock;
	memcpy(ret_arena->trace_uuid, control->trace_uuid, sizeof ret_arena->trace_uuid);
}

void mr_arena_use_whole(struct mr_arena *ret_arena, void *file, uint32_t slot_limit)
{
	mr_arena_use(ret_arena, file, (void *)((char *)file + MR_ARENA_TABLES_OFFSET), slot_limit);
	for (uint32_t i = 0; i * MR_WINDOW_SLOTS < slot_limit; i++)
		ret_arena->windows[i] =
			(char *)file + MR_ARENA_SLOTS_OFFSET + (size_t)i * MR_WINDOW_BYTES;
}

/* ---- slots -------------------------------------------------------------------------------------- */

/* A part of the slots of a window. */
struct range {
	uint32_t first, limit;
};

static struct range slots_of_window(uint32_t window, uint32_t slot_count)
{
	uint32_t first = window * MR_WINDOW_SLOTS;
	return (struct range){first, mr_min(first + MR_WINDOW_SLOTS, slot_count)};
}

/* Where those begin that are for definitions only. */
static uint32_t first_reserved(struct range slots)
{
	uint32_t count = slots.limit - slots.first;
	return slots.limit - mr_max(count / MR_DEFINITION_SHARE, 1u);
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

static int32_t claim_in(struct mr_arena *arena, struct range slots, enum mr_packet_kind kind,
			uint64_t word)
{
	uint32_t reserved = first_reserved(slots);
	int32_t slot = MR_ARENA_NO_SLOT;
	if (kind == MR_PACKET_DEFINITIONS)
		slot = claim_between(arena, reserved, slots.limit, word);
	/* Low slots first: few are in use, and those stay in the caches. */
	return slot == MR_ARENA_NO_SLOT ? claim_between(arena, slots.first, reserved, word) : slot;
}

static uint32_t count_windows(uint32_t slot_count)
{
	return (slot_count + MR_WINDOW_SLOTS - 1) / MR_WINDOW_SLOTS;
}

static bool is_mapped(const struct mr_arena *arena, uint32_t window)
{
	return atomic_load_explicit(&arena->windows[window], memory_order_relaxed) != NULL;
}

int32_t mr_arena_claim(struct mr_arena *arena, enum mr_packet_kind kind, uint64_t word,
		       uint32_t limit)
{
	const uint32_t windows = count_windows(limit);
	uint32_t last = atomic_load_explicit(&arena->last_window, memory_order_relaxed);
	for (uint32_t i = 0; i < windows; i++) {
		uint32_t window = last + i < windows ? last + i : (last + i) % windows;
		if (!is_mapped(arena, window))
			continue;
		int32_t slot = claim_in(arena, slots_of_window(window, limit), kind, word);
		if (slot == MR_ARENA_NO_SLOT)
			continue;
		if (window != last)
			atomic_store_explicit(&arena->last_window, window, memory_order_relaxed);
		return slot;
	}
	return MR_ARENA_NO_SLOT;
}

static uint32_t count_free(struct mr_arena *arena, struct range slots, enum mr_packet_kind kind)
{
	uint32_t limit = kind == MR_PACKET_DEFINITIONS ? slots.limit : first_reserved(slots);
	uint32_t free_slots = 0;
	for (uint32_t i = slots.first; i < limit; i++)
		free_slots += mr_slot_word_state(atomic_load_explicit(mr_arena_state(arena, i),
								      memory_order_relaxed)) ==
			      MR_SLOT_FREE;
	return free_slots;
}

int32_t mr_arena_emptiest_window(struct mr_arena *arena, enum mr_packet_kind kind, uint32_t limit)
{
	const uint32_t enough = MR_WINDOW_SLOTS - MR_WINDOW_SLOTS / MR_DEFINITION_SHARE;
	int32_t best = MR_ARENA_NO_SLOT;
	uint32_t most = 0;
	for (uint32_t window = 0; window < count_windows(limit) && most < enough; window++) {
		if (is_mapped(arena, window))
			continue;
		uint32_t free_slots = count_free(arena, slots_of_window(window, limit), kind);
		if (free_slots > most) {
			most = free_slots;
			best = (int32_t)window;
		}
	}
	return best;
}

void mr_arena_free(struct mr_arena *arena, uint32_t index)
{
	atomic_store_explicit(mr_arena_state(arena, index), 0, memory_order_release);
	atomic_fetch_add_explicit(&arena->control->freed, 1, memory_order_release);
}

/* ---- processes ---------------------------------------------------------------------------------- */

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
	atomic_fetch_add_explicit(&arena->tables->processes_refused, 1, memory_order_relaxed);
	return -1;
}
