/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: memory shared by `millrace record` and every traced process. The processes write events
 * into it, and `record` moves them to the stream files.
 *
 *     file    ┌────────────────────┐ 0
 *             │ header             │  identity, clock, enabled levels, sizes
 *             ├────────────────────┤ MR_ARENA_HEADER_BYTES
 *             │ processes          │  one entry per live process; record retires the dead
 *             ├────────────────────┤ MR_ARENA_STATES_OFFSET
 *             │ states             │  one 64-bit word per slot: who owns it (dense: record polls it)
 *             ├────────────────────┤ MR_ARENA_SLOTS_OFFSET
 *             │ slot 0             │  the owner's state beside the packet: committed size, open
 *             │  └ packet          │  intervals; then the CTF packet being filled. In one page if
 *             ├────────────────────┤  possible: a forked child pays for every page it touches.
 *             │ slot 1 ...         │
 *             └────────────────────┘
 *
 * Life of a slot. Each arrow is one atomic operation on its state word, which names the owner. So a
 * process may die at any instruction, and record still knows which slots it owned.
 *
 *              claim (compare-and-swap)         hand over (release)
 *     FREE ───────────────────────────► FILLING ──────────────────► FULL
 *      ▲                                  │ owner died: record         │
 *      └──────────── record ◄─────────────┴────────────────────────────┘
 *
 * Inside a FILLING packet the owner writes with plain stores and publishes each event by a release
 * store of slot->progress. Committed events are complete; readers ignore what follows them.
 *
 * All positions are fixed here and never read from the arena: a traced process that has dropped its
 * privileges can still write into the arena, and must not gain anything by doing so.
 *
 * Only slots below header->slot_count may be claimed. record raises it after it has allocated the
 * memory behind them, so that no store into the arena can fail because the disk or /dev/shm is full.
 */
#ifndef MR_RECORD_ARENA_H
#define MR_RECORD_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "schema/packet.h"
#include "schema/schema.h"

#define MR_ARENA_MAGIC   UINT64_C(0x656361726c6c696d) /* "millrace" */
#define MR_ARENA_VERSION 1

enum {
	MR_ARENA_HEADER_BYTES = 4096,
	MR_ARENA_SLOT_BYTES = 64 << 10,
	MR_ARENA_PACKET_BYTES = MR_ARENA_SLOT_BYTES - 512, /* the rest is struct mr_slot */
	MR_PACKET_ROOM_BYTES =
		MR_ARENA_PACKET_BYTES - 1024, /* owners stop here: record may add what
								was left open */
	MR_ARENA_PROCESSES = 4096,
	MR_OPEN_INTERVALS =
		20, /* deeper ones are recorded, but not recovered if the program is killed */
	MR_LOSS_REASONS = 7,
	MR_ARENA_NO_SLOT = -1,
	MR_ARENA_SLOTS_MAX = 64 << 10, /* 4 GiB */
	MR_ARENA_PATH_BYTES = 1024,
};

/* state word:   63 ... 56   55 ... 48   47 ... 32      31 ... 0
 *               state       kind        process slot   tid                                        */
enum mr_slot_state {
	MR_SLOT_FREE = 0,
	MR_SLOT_FILLING = 1,
	MR_SLOT_FULL = 2
};

static inline uint64_t mr_slot_word(enum mr_slot_state state, enum mr_packet_kind kind,
				    uint32_t process_slot, uint32_t tid)
{
	return (uint64_t)state << 56 | (uint64_t)kind << 48 | (uint64_t)process_slot << 32 | tid;
}

static inline enum mr_slot_state mr_slot_word_state(uint64_t word)
{
	return (enum mr_slot_state)(word >> 56);
}

static inline uint32_t mr_slot_word_process_slot(uint64_t word)
{
	return (uint32_t)(word >> 32) & 0xffff;
}

struct mr_open_interval {
	uint64_t start_ticks;
	uint64_t step;
	uint32_t what;
	uint8_t event;
};

struct mr_slot {
	_Atomic uint64_t progress; /* committed bytes of the packet, and open intervals */
	uint64_t last_ticks;       /* never before the last committed event */
	uint64_t discarded_events; /* by the owner, since its packet before this one */
	uint32_t owner_packet;     /* how many packets the owner had before this one */
	bool owner_ended;          /* with FULL: the thread's last packet */
	struct mr_open_interval open[MR_OPEN_INTERVALS];
} __attribute__((aligned(64)));

/* progress word: high half: open intervals (those beyond MR_OPEN_INTERVALS are not kept); low half:
 * committed bytes of the packet, including the header. One word, so that both are always consistent. */
static inline uint64_t mr_slot_progress(uint32_t committed_bytes, uint32_t open_count)
{
	return (uint64_t)open_count << 32 | committed_bytes;
}

_Static_assert(sizeof(struct mr_slot) + MR_ARENA_PACKET_BYTES == MR_ARENA_SLOT_BYTES, "as drawn");

enum mr_process_state {
	MR_PROCESS_FREE = 0,
	MR_PROCESS_CLAIMED = 1, /* being filled in */
	MR_PROCESS_LIVE = 2,    /* traced */
	MR_PROCESS_UNTRACED =
		3, /* noticed by an exec or spawn wrapper; `reason` says why it is not traced */
};

/* Why a program runs without the library. */
enum mr_untraced_reason {
	MR_UNTRACED_NONE,
	MR_UNTRACED_STATIC,
	MR_UNTRACED_OTHER_LIBC,
	MR_UNTRACED_OTHER_CLASS,
	MR_UNTRACED_SANITIZER,
	MR_UNTRACED_PRIVILEGED,
	MR_UNTRACED_NO_LIBRARY,
	MR_UNTRACED_NO_ARENA,
	MR_UNTRACED_UNREADABLE,
	MR_UNTRACED_NO_MEMORY,
};

struct mr_process_entry {
	_Atomic uint32_t state; /* enum mr_process_state */
	uint32_t process;       /* number in this run, from 1 */
	uint32_t parent_process;
	uint32_t pid; /* as the process sees it, as the next one */
	uint32_t parent_pid;
	uint32_t first_definition; /* lower ids are its parent's */
	uint64_t pid_namespace;    /* inode of its pid namespace; 0 if not known */
	uint64_t
		registered_ticks; /* of the user clock: cheaper in a forked child than a system call */
	_Atomic uint64_t lost[MR_LOSS_REASONS];
	uint8_t origin;       /* enum mr_process_origin */
	uint8_t reason;       /* enum mr_untraced_reason */
	uint8_t ended;        /* began to exit normally */
	uint8_t is_announced; /* process_start has been written */
	char program[156];
} __attribute__((aligned(64)));

struct mr_arena {
	uint64_t magic;
	uint32_t version;
	uint32_t schema_check; /* mr_schema_check() of the writer: both sides must agree */
	uint32_t slot_capacity;
	uint8_t user_clock; /* enum mr_trace_clock: tsc or monotonic */
	uint32_t
		step_levels; /* levels that are on only during some steps (steps.h); 0: steps do not matter */
	uint64_t first_step;
	uint64_t last_step;
	uint8_t trace_uuid[16];
	char library_path[MR_ARENA_PATH_BYTES]; /* each process reads it once, when it attaches */
	char arena_path[MR_ARENA_PATH_BYTES];

	_Atomic uint32_t levels __attribute__((aligned(64))); /* enabled, mask of enum mr_level */
	_Atomic uint32_t step_process; /* whose steps count; 0: none has begun */
	_Atomic uint32_t slot_count;   /* slots that may be claimed */
	_Atomic uint32_t
		reserved_slots;     /* this many of them, at the end, are for definitions only */
	_Atomic uint32_t freed;     /* increases with every freed slot: worth searching again */
	_Atomic uint32_t free_hint; /* where to start searching for a free slot */
	_Atomic uint32_t next_process;
	_Atomic uint32_t processes_refused; /* the process table was full */
	_Atomic uint64_t events_refused;    /* events of these processes */
};

_Static_assert(sizeof(struct mr_arena) <= MR_ARENA_HEADER_BYTES, "fits its page");
_Static_assert(sizeof(struct mr_process_entry) == 256, "as drawn up");

enum {
	MR_ARENA_STATES_OFFSET =
		MR_ARENA_HEADER_BYTES + MR_ARENA_PROCESSES * (int)sizeof(struct mr_process_entry),
	MR_ARENA_SLOTS_OFFSET = MR_ARENA_STATES_OFFSET + MR_ARENA_SLOTS_MAX * (int)sizeof(uint64_t),
};

_Static_assert(MR_ARENA_SLOTS_OFFSET % 4096 == 0, "slots begin with a page");

static inline uint64_t mr_arena_file_bytes(uint32_t slot_capacity)
{
	return MR_ARENA_SLOTS_OFFSET + (uint64_t)slot_capacity * MR_ARENA_SLOT_BYTES;
}

/* A checksum of struct layouts and events: library and command must match. */
uint32_t mr_schema_check(void);

/* True if the mapped header describes an arena this program can use. */
bool mr_arena_is_valid(const struct mr_arena *arena, uint64_t mapped_bytes);

static inline struct mr_process_entry *mr_arena_process(struct mr_arena *arena, uint32_t index)
{
	return (struct mr_process_entry *)((char *)arena + MR_ARENA_HEADER_BYTES) + index;
}

static inline _Atomic uint64_t *mr_arena_state(struct mr_arena *arena, uint32_t index)
{
	return (_Atomic uint64_t *)((char *)arena + MR_ARENA_STATES_OFFSET) + index;
}

static inline struct mr_slot *mr_arena_slot(struct mr_arena *arena, uint32_t index)
{
	return (struct mr_slot *)((char *)arena + MR_ARENA_SLOTS_OFFSET +
				  (uint64_t)index * MR_ARENA_SLOT_BYTES);
}

static inline struct mr_packet *mr_arena_packet(struct mr_arena *arena, uint32_t index)
{
	return (struct mr_packet *)((char *)(mr_arena_slot(arena, index) + 1));
}

/* Claims a free slot for the caller: its index, or MR_ARENA_NO_SLOT. */
int32_t mr_arena_claim(struct mr_arena *arena, enum mr_packet_kind kind, uint32_t process_slot,
		       uint32_t tid);

/* Claims a free process entry (state CLAIMED): its index, or -1. */
int32_t mr_arena_claim_process(struct mr_arena *arena);

/* Makes a slot claimable again. Only record calls it. */
void mr_arena_free(struct mr_arena *arena, uint32_t index);

#endif
