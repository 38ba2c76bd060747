/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the arena as a hostile program would write it: an input is a list of
 *
 *     u8 what │ u8 which │ u16 offset │ u64 value
 *
 * stores into its parts, with a pass of the drain now and then. What reaches the stream files must be whole packets.
 * Seeds: tests/corpus/fuzz_arena.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "../unit/drained_arena.h"
#include "record/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	SLOTS = 20, /* one window and a part of another */
	ENTRIES = 4,
	STORES_MAX = 64,
	SLOT_HEAD_BYTES = sizeof(struct mr_slot) + sizeof(struct mr_packet) + 64,
};

struct store {
	uint8_t what, which;
	uint16_t offset;
	uint64_t value;
} __attribute__((packed));

static struct drained_arena drained;

static void put(void *part, size_t part_bytes, const struct store *store)
{
	size_t at = store->offset % (part_bytes - sizeof store->value + 1);
	memcpy((char *)part + at, &store->value, sizeof store->value);
}

/* Looking for a pid in another namespace reads all of /proc: slow, and not what this is about. */
static void put_entry(struct mr_process_entry *entry, const struct store *store)
{
	put(entry, sizeof *entry, store);
	entry->pid_namespace = drained.processes.own_pid_namespace;
}

static void do_store(const struct store *store)
{
	struct mr_arena *arena = drained.file.arena;
	uint32_t slot = store->which % SLOTS;
	switch (store->what % 8) {
	case 0:
		put(arena->control, sizeof *arena->control, store);
		break;
	case 1:
		put(arena->tables, offsetof(struct mr_tables, processes), store);
		break;
	case 2:
		put_entry(&arena->tables->processes[store->which % ENTRIES], store);
		break;
	case 3:
		arena->tables->states[slot] = store->value;
		break;
	case 4:
		put(mr_arena_slot(arena, slot), SLOT_HEAD_BYTES, store);
		break;
	case 5:
		mr_define_string(store->value & 1 ? "one text" : "another text");
		mr_emit(node_instant, .node = store->which);
		break;
	case 6:
		mr_drain_list(&drained.drain);
		for (size_t i = 0; i < drained.drain.candidates.count; i++)
			mr_drain_copy_packet(&drained.drain,
					     drained.drain.candidates.items[i].slot);
		break;
	default:
		mr_drain_pass(&drained.drain);
	}
}

/* What may have been written is as in a new arena. */
static void reset(void)
{
	struct mr_arena *arena = drained.file.arena;
	memset(arena->tables, 0,
	       offsetof(struct mr_tables, processes) + ENTRIES * sizeof(struct mr_process_entry));
	for (uint32_t i = 0; i < SLOTS; i++) {
		arena->tables->states[i] = 0;
		memset(mr_arena_slot(arena, i), 0, SLOT_HEAD_BYTES);
	}
	memset(arena->control, 0, sizeof *arena->control);
	arena->control->slot_count = arena->control->slots_allowed = SLOTS;
}

static void remove_folder(void)
{
	rmdir(drained.folder_path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!drained.folder) {
		drained_arena_init(&drained, SLOTS, true);
		atexit(remove_folder);
	}
	reset();
	drained_arena_begin(&drained);
	for (size_t i = 0; i < STORES_MAX && size >= sizeof(struct store);
	     i++, data += sizeof(struct store), size -= sizeof(struct store)) {
		struct store store;
		memcpy(&store, data, sizeof store);
		do_store(&store);
	}
	drained_arena_end(&drained);
	return 0;
}
