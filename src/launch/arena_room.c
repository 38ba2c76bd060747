/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/arena_room.h"

#include <fcntl.h>

#include "base/memory_room.h"
#include "record/ticks.h"

enum {
	CAPACITY_PARTS = 16,
	GROUP_PARTS = 64,
	FILLED_PER_NS = 2, /* bytes: no program fills memory faster */
	SHORTEST_LOOK_NS = 20000000,
	LONGEST_LOOK_NS = 1000000000,
};

uint64_t mr_arena_room_capacity(void)
{
	const struct mr_memory_room room = mr_memory_room("");
	return mr_memory_share(&room, CAPACITY_PARTS);
}

/* In whole windows. */
static uint32_t slots_of_share(const struct mr_memory_room *room)
{
	uint64_t windows = mr_memory_share(room, GROUP_PARTS) / MR_WINDOW_BYTES;
	return (uint32_t)mr_min(windows, (uint64_t)MR_ARENA_WINDOWS) * MR_WINDOW_SLOTS;
}

/* `more`: slots that may get memory until the next look. Those that were withdrawn come first. */
static void allow(struct mr_arena_file *file, uint32_t more)
{
	uint32_t allowed = file->is_short ? file->usual_slots
					  : file->slot_count + (file->withdrawn > 0 ? 0 : more);
	file->slots_to_take = more;
	file->slots_allowed = mr_min(file->slot_capacity, allowed);
	atomic_store_explicit(&file->arena->control->slots_allowed, file->slots_allowed,
			      memory_order_relaxed);
}

uint32_t mr_arena_room_first(struct mr_arena_file *file, uint32_t usual)
{
	const struct mr_memory_room room = mr_memory_room("");
	file->is_in_group = room.is_in_group;
	file->usual_slots = usual;
	if (room.is_in_group)
		file->usual_slots =
			mr_min(usual, mr_max(slots_of_share(&room), (uint32_t)MR_WINDOW_SLOTS));
	allow(file, room.is_in_group ? file->usual_slots : file->slot_capacity);
	return file->usual_slots;
}

/* ---- when memory is short ------------------------------------------------------------------------- */

static const uint64_t withdrawn_word = (uint64_t)MR_SLOT_WITHDRAWN << 56 | UINT64_C(0xffff) << 32;

/* Of a slot that nobody can claim. */
static void take_memory(struct mr_arena_file *file, uint32_t slot)
{
	if (fallocate(file->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)mr_arena_file_bytes(slot), MR_ARENA_SLOT_BYTES) == 0)
		file->withdrawn++;
	else
		mr_arena_free(file->arena, slot); /* this file system cannot do it */
}

static void withdraw_if_free(struct mr_arena_file *file, uint32_t slot)
{
	uint64_t seen = 0;
	if (atomic_compare_exchange_strong_explicit(mr_arena_state(file->arena, slot), &seen,
						    withdrawn_word, memory_order_acquire,
						    memory_order_relaxed))
		take_memory(file, slot);
}

void mr_arena_room_free(struct mr_arena_file *file, uint32_t slot)
{
	if (!file->is_short || slot < file->usual_slots) {
		mr_arena_free(file->arena, slot);
		return;
	}
	atomic_store_explicit(mr_arena_state(file->arena, slot), withdrawn_word,
			      memory_order_relaxed);
	take_memory(file, slot);
}

/* Looking takes several files: not more often than it can matter. */
static uint64_t calm_ns_of(const struct mr_memory_room *room)
{
	uint64_t calm_ns = mr_memory_share(room, FILLED_PER_NS);
	return mr_min(mr_max(calm_ns, (uint64_t)SHORTEST_LOOK_NS), (uint64_t)LONGEST_LOOK_NS);
}

void mr_arena_room_look(struct mr_arena_file *file, bool needs_more)
{
	if (!file->is_in_group)
		return;
	uint64_t now_ns = mr_ticks_of_system(CLOCK_MONOTONIC);
	if (now_ns < file->looked_ns + (needs_more ? (uint64_t)SHORTEST_LOOK_NS : file->calm_ns))
		return;
	const struct mr_memory_room room = mr_memory_room("");
	uint32_t more = slots_of_share(&room);
	file->looked_ns = now_ns;
	file->calm_ns = calm_ns_of(&room);
	file->is_short = more == 0;
	for (uint32_t i = mr_arena_file_slots_in_use(file); file->is_short && i > file->usual_slots;
	     i--)
		withdraw_if_free(file, i - 1);
	allow(file, more);
}

bool mr_arena_room_restore(struct mr_arena_file *file)
{
	uint32_t count = mr_arena_file_slots_in_use(file);
	bool was_any = file->withdrawn > 0;
	for (uint32_t i = 0; i < count && file->withdrawn > 0 && file->slots_to_take > 0; i++) {
		if (atomic_load_explicit(mr_arena_state(file->arena, i), memory_order_relaxed) !=
		    withdrawn_word)
			continue;
		if (fallocate(file->fd, 0, (off_t)mr_arena_file_bytes(i), MR_ARENA_SLOT_BYTES) < 0)
			break;
		file->withdrawn--;
		file->slots_to_take--;
		mr_arena_free(file->arena, i);
	}
	return was_any;
}
