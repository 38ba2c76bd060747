/* SPDX-License-Identifier: Apache-2.0
 *
 * What a hook knows about objects of its runtime, found by their handles.
 *
 *     map ─► 16 shards, each: lock, [ . │ ● │ ● │ . ... ]    open addressing, a power of two,
 *                                                            at most half full
 *
 * A map of zeroes is empty and ready for use: it lives in memory that forked children find empty. Its
 * slots come straight from mmap, because the program's allocator may be the caller.
 * Thread safe. If a lock cannot be taken, an entry seems absent, and a new one is dropped.
 */
#ifndef MR_HOOK_SHARED_HANDLES_H
#define MR_HOOK_SHARED_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	MR_HANDLE_SHARDS = 16,
};

enum mr_handle_flag {
	MR_HANDLE_IS_HELD = 1 << 0,    /* the hook has a reference of its own */
	MR_HANDLE_IS_UNTIMED = 1 << 1, /* the program asked for no profiling */
};

struct mr_handle {
	const void *handle;
	uint64_t value; /* an id */
	void *owner;
	uint32_t references; /* that the program has */
	uint32_t flags;      /* enum mr_handle_flag */
};

struct mr_handle_shard {
	_Atomic uintptr_t lock;
	struct mr_handle *slots;
	uint32_t capacity;
	uint32_t used;
} __attribute__((aligned(64)));

struct mr_handle_map {
	struct mr_handle_shard shards[MR_HANDLE_SHARDS];
};

/* Adds an entry, or replaces that of an earlier object with the same handle. */
bool mr_handle_put(struct mr_handle_map *map, const struct mr_handle *entry);

bool mr_handle_get(struct mr_handle_map *map, const void *handle, struct mr_handle *ret_entry);

/* Changes the references by `change` and takes `flags` away; an entry left with neither references nor
 * MR_HANDLE_IS_HELD is removed. False if there is none, or it would have less than no references. */
bool mr_handle_change(struct mr_handle_map *map, const void *handle, int change, uint32_t flags,
		      struct mr_handle *ret_entry);

#endif
