/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/shared/handles.h"

#include "record/own_call.h"
#include "record/recorder.h"

enum {
	FIRST_SLOTS = 128,
};

static uint64_t hash_of(const void *handle)
{
	uint64_t hash = (uintptr_t)handle * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static struct mr_handle_shard *shard_of(struct mr_handle_map *map, uint64_t hash)
{
	return &map->shards[hash >> 60 & (MR_HANDLE_SHARDS - 1)];
}

/* The slot of the handle, or the empty one where it belongs. */
static uint32_t find(const struct mr_handle_shard *shard, const void *handle, uint64_t hash)
{
	uint32_t mask = shard->capacity - 1;
	uint32_t at = (uint32_t)hash & mask;
	while (shard->slots[at].handle && shard->slots[at].handle != handle)
		at = (at + 1) & mask;
	return at;
}

static bool grow(struct mr_handle_shard *shard)
{
	const struct mr_handle_shard old = *shard;
	uint32_t capacity = old.capacity ? old.capacity * 2 : FIRST_SLOTS;
	void *memory = mr_own_map(capacity * sizeof *old.slots);
	if (!memory)
		return false;
	shard->slots = memory;
	shard->capacity = capacity;
	for (uint32_t i = 0; i < old.capacity; i++) {
		const struct mr_handle *moved = &old.slots[i];
		if (moved->handle)
			shard->slots[find(shard, moved->handle, hash_of(moved->handle))] = *moved;
	}
	if (old.slots)
		mr_own_unmap(old.slots, old.capacity * sizeof *old.slots);
	return true;
}

/* Empties a slot and moves up those behind it that would no longer be found. */
static void empty(struct mr_handle_shard *shard, uint32_t hole)
{
	uint32_t mask = shard->capacity - 1;
	for (uint32_t at = (hole + 1) & mask; shard->slots[at].handle; at = (at + 1) & mask) {
		uint32_t home = (uint32_t)hash_of(shard->slots[at].handle) & mask;
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		shard->slots[hole] = shard->slots[at];
		hole = at;
	}
	shard->slots[hole] = (struct mr_handle){0};
	shard->used--;
}

bool mr_handle_put(struct mr_handle_map *map, const struct mr_handle *entry)
{
	uint64_t hash = hash_of(entry->handle);
	struct mr_handle_shard *shard = shard_of(map, hash);
	if (!mr_lock(&shard->lock))
		return false;
	bool has_room = shard->used * 2 < shard->capacity || grow(shard);
	if (has_room) {
		struct mr_handle *slot = &shard->slots[find(shard, entry->handle, hash)];
		shard->used += !slot->handle;
		*slot = *entry;
	}
	mr_unlock(&shard->lock);
	return has_room;
}

bool mr_handle_get(struct mr_handle_map *map, const void *handle, struct mr_handle *ret_entry)
{
	return mr_handle_change(map, handle, 0, 0, ret_entry);
}

/* With the shard's lock held. */
static bool change_slot(struct mr_handle_shard *shard, uint32_t at, int change, uint32_t flags,
			struct mr_handle *ret_entry)
{
	struct mr_handle *slot = &shard->slots[at];
	if (!slot->handle || (change < 0 && slot->references < (uint32_t)-change))
		return false;
	slot->references += (uint32_t)change;
	slot->flags &= ~flags;
	*ret_entry = *slot;
	if (slot->references == 0 && !(slot->flags & MR_HANDLE_IS_HELD))
		empty(shard, at);
	return true;
}

bool mr_handle_change(struct mr_handle_map *map, const void *handle, int change, uint32_t flags,
		      struct mr_handle *ret_entry)
{
	uint64_t hash = hash_of(handle);
	struct mr_handle_shard *shard = shard_of(map, hash);
	if (!handle || !mr_lock(&shard->lock))
		return false;
	bool is_changed = shard->capacity > 0 &&
			  change_slot(shard, find(shard, handle, hash), change, flags, ret_entry);
	mr_unlock(&shard->lock);
	return is_changed;
}
