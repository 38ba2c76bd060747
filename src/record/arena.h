/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: a file shared by `millrace record` and the traced processes of one user. The processes write events
 * into it, and `record` moves them to the stream files.
 *
 *     file    ┌────────────────────┐ 0
 *             │ control            │  only record writes it; programs map it read-only, from a descriptor that
 *             │                    │  cannot write: identity, clock, enabled levels, how many slots there are
 *             ├────────────────────┤ MR_ARENA_TABLES_OFFSET
 *             │ tables             │  programs write them, too: counters; one entry per live process, which record
 *             │                    │  retires when it is dead; one 64-bit word per slot: who owns it
 *             ├────────────────────┤ MR_ARENA_SLOTS_OFFSET
 *             │ window 0: slot 0   │  the owner's state beside the packet: committed size, open
 *             │            └ packet│  intervals; then the CTF packet being filled. In one page if
 *             │           slot 1   │  possible: a forked child pays for every page it touches.
 *             │           ...      │  The last slots of each window are for definitions only.
 *             ├────────────────────┤
 *             │ window 1 ...       │  a process maps only the windows that it uses (window.c)
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
 * Where memory is short, record withdraws free slots beyond the first ones: they have no memory then (arena_room.h).
 *
 * Inside a FILLING packet the owner writes with plain stores and publishes each event by a release
 * store of slot->progress. Committed events are complete; readers ignore what follows them.
 *
 * Trust. Any process of the recording may fill tables and slots with anything. So nobody acts upon what is there:
 * no path, no size, no address is taken from it. Positions are fixed here; an index or a size that is read from it is read
 * once, and limited to what the reader itself has mapped (struct mr_arena, private to each process). What is stored
 * as a truth value or one of an enumeration is read as a number. doc/security.md says what this protects from what.
 *
 * No store into the arena may fail because the disk or /dev/shm is full. So record allocates the memory of slots before
 * it offers them, by raising control->slot_count. Should those run out faster than record can follow, as when thousands
 * of threads begin at once, a thread claims one of the rest and allocates its memory itself, as far as
 * control->slots_allowed permits.
 */
#ifndef MR_RECORD_ARENA_H
#define MR_RECORD_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "schema/packet.h"
#include "schema/schema.h"
#include "schema/step_range.h"

#define MR_ARENA_MAGIC   UINT64_C(0x656361726c6c696d) /* "millrace" */
#define MR_ARENA_VERSION 3

enum {
	MR_ARENA_PAGE_BYTES = 64 << 10, /* the largest page of any machine: parts begin with one */
	MR_ARENA_SLOT_BYTES = 64 << 10,
	MR_ARENA_PACKET_BYTES = MR_ARENA_SLOT_BYTES - 512, /* the rest is struct mr_slot */
	MR_PACKET_ROOM_BYTES =
		MR_ARENA_PACKET_BYTES - 1024, /* owners stop here: record may add what
								was left open */
	MR_ARENA_PROCESSES = 4096,
	MR_OPEN_INTERVALS =
		20, /* deeper ones are recorded, but not recovered if the program is killed */
	MR_LOSS_REASONS = 14,
	MR_ARENA_NO_SLOT = -1,
	MR_ARENA_SLOTS_MAX = 64 << 10, /* 4 GiB */
	MR_WINDOW_SLOTS = 16,
	MR_WINDOW_BYTES = MR_WINDOW_SLOTS * MR_ARENA_SLOT_BYTES, /* 1 MiB */
	MR_ARENA_WINDOWS = MR_ARENA_SLOTS_MAX / MR_WINDOW_SLOTS,
	MR_DEFINITION_SHARE = 8, /* one slot in so many is for definitions only */
	MR_ARENA_PATH_BYTES = 1024,
};

/* state word:   63 ... 56   55 ... 48   47 ... 32      31 ... 0
 *               state       kind        process slot   tid                                        */
enum mr_slot_state {
	MR_SLOT_FREE = 0,
	MR_SLOT_FILLING = 1,
	MR_SLOT_FULL = 2,
	MR_SLOT_WITHDRAWN = 3 /* record has taken its memory away, as there is little left */
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

/* Whether it has a packet in it. */
static inline bool mr_slot_word_is_owned(uint64_t word)
{
	return mr_slot_word_state(word) == MR_SLOT_FILLING ||
	       mr_slot_word_state(word) == MR_SLOT_FULL;
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
	uint8_t owner_ended;       /* with FULL: the thread's last packet */
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
	MR_UNTRACED_CONFINED,
	MR_UNTRACED_OTHER_USER,
	MR_UNTRACED_NO_DESCRIPTOR,
	MR_UNTRACED_LITTLE_MEMORY,
	MR_UNTRACED_OTHER_VERSION,
	MR_UNTRACED_REASONS
};

/* The Python interpreter of a process, for record, which looks at its frames from outside. */
struct mr_interpreter_place {
	_Atomic uint64_t runtime; /* address of _PyRuntime; written last. 0: none, or not known */
	uint64_t code_type;       /* address of PyCode_Type */
	uint64_t text_type;       /* address of PyUnicode_Type */
	uint64_t version;         /* as 0x030b02f0 */
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
	struct mr_interpreter_place interpreter;
	uint8_t origin; /* enum mr_process_origin */
	uint8_t reason; /* enum mr_untraced_reason; of a LIVE one: why it is no longer recorded */
	uint8_t ended;  /* began to exit normally */
	uint8_t is_announced; /* process_start has been written */
	char program[260];
} __attribute__((aligned(64)));

/* Written by record alone. */
struct mr_control {
	uint64_t magic;
	uint32_t version;
	uint32_t schema_check; /* mr_schema_check() of the writer: both sides must agree */
	uint8_t user_clock;    /* enum mr_trace_clock: tsc or monotonic */
	uint8_t trace_uuid[16];
	uint32_t
		step_levels; /* levels that are on only during some steps (steps.h); 0: steps do not matter */
	uint32_t wanted_levels; /* those that are on at any time of the recording */
	uint64_t first_step;
	uint64_t last_step;
	char step_range[MR_STEP_RANGE_BYTES]; /* the name of ranges that are steps; empty: none */
	char folder
		[1024]; /* of the trace; for record alone, which looks for leftovers (leftovers.h) */

	_Atomic uint32_t levels __attribute__((aligned(64))); /* enabled, mask of enum mr_level */
	_Atomic uint32_t slot_count;                          /* slots that have their memory */
	_Atomic uint32_t slots_allowed; /* slots that may have it: programs allocate no others */
	_Atomic uint32_t freed;         /* increases with every freed slot: worth searching again */
};

/* Written by everybody. */
struct mr_tables {
	_Atomic uint32_t step_levels;  /* in place of control->levels, where steps matter */
	_Atomic uint32_t step_process; /* whose steps count; 0: none has begun */
	_Atomic uint32_t next_process;
	_Atomic uint32_t processes_refused; /* the process table was full */
	_Atomic uint64_t events_refused;    /* events of these processes */
	_Atomic uint32_t highest_slot;      /* ever claimed that had no memory yet */
	struct mr_process_entry processes[MR_ARENA_PROCESSES];
	_Atomic uint64_t states[MR_ARENA_SLOTS_MAX]; /* those of the file's slots are mapped */
};

_Static_assert(sizeof(struct mr_control) <= 4096, "one page");
_Static_assert(sizeof(struct mr_process_entry) == 448, "as drawn up");

enum {
	MR_ARENA_TABLES_OFFSET = MR_ARENA_PAGE_BYTES,
	MR_ARENA_SLOTS_OFFSET = MR_ARENA_TABLES_OFFSET +
				mr_align_up((int)sizeof(struct mr_tables), MR_ARENA_PAGE_BYTES),
};

/* Where a process has mapped the parts, and what it must know of them. Private: nobody else writes it. */
struct mr_arena {
	struct mr_control *control; /* in a program only readable */
	struct mr_tables *tables;
	uint32_t slot_limit; /* the file has no more, whatever the control page says */
	uint32_t step_levels;
	uint64_t first_step;
	uint64_t last_step;
	uint8_t user_clock;
	uint8_t trace_uuid[16];
	_Atomic uint32_t last_window;              /* where a slot was found last */
	_Atomic(char *) windows[MR_ARENA_WINDOWS]; /* NULL: not mapped */
};

static inline uint64_t mr_arena_file_bytes(uint32_t slots)
{
	return MR_ARENA_SLOTS_OFFSET + (uint64_t)slots * MR_ARENA_SLOT_BYTES;
}

/* How many slots there are in a file of that size, at most MR_ARENA_SLOTS_MAX. */
uint32_t mr_arena_slots_of(uint64_t file_bytes);

/* A checksum of struct layouts and events: library and command must match. */
uint32_t mr_schema_check(void);

/* True if the control page describes an arena this program can use. */
bool mr_control_is_valid(const struct mr_control *control);

/* Takes over what the control page says for good. */
void mr_arena_use(struct mr_arena *ret_arena, struct mr_control *control, struct mr_tables *tables,
		  uint32_t slot_limit);

/* The same for one who has mapped the whole file, as record does. */
void mr_arena_use_whole(struct mr_arena *ret_arena, void *file, uint32_t slot_limit);

/* Slots that have their memory: record's word, limited to what there can be. */
static inline uint32_t mr_arena_slot_count(const struct mr_arena *arena)
{
	return mr_min(atomic_load_explicit(&arena->control->slot_count, memory_order_acquire),
		      arena->slot_limit);
}

/* Slots that have their memory or may get it. */
static inline uint32_t mr_arena_slots_allowed(const struct mr_arena *arena)
{
	return mr_min(atomic_load_explicit(&arena->control->slots_allowed, memory_order_relaxed),
		      arena->slot_limit);
}

static inline struct mr_process_entry *mr_arena_process(struct mr_arena *arena, uint32_t index)
{
	return &arena->tables->processes[index];
}

static inline _Atomic uint64_t *mr_arena_state(struct mr_arena *arena, uint32_t index)
{
	return &arena->tables->states[index];
}

/* Its window must be mapped, as for the next one. */
static inline struct mr_slot *mr_arena_slot(struct mr_arena *arena, uint32_t index)
{
	char *window = atomic_load_explicit(&arena->windows[index / MR_WINDOW_SLOTS],
					    memory_order_acquire);
	return (struct mr_slot *)(window + (size_t)(index % MR_WINDOW_SLOTS) * MR_ARENA_SLOT_BYTES);
}

static inline struct mr_packet *mr_arena_packet(struct mr_arena *arena, uint32_t index)
{
	return (struct mr_packet *)((char *)(mr_arena_slot(arena, index) + 1));
}

/* Claims a free slot below `limit`, in a window that is mapped: its index, or MR_ARENA_NO_SLOT. `word` says whose it
 * is then: mr_slot_word(MR_SLOT_FILLING, ...). */
int32_t mr_arena_claim(struct mr_arena *arena, enum mr_packet_kind kind, uint64_t word,
		       uint32_t limit);

/* The window that is not mapped and has the most free slots for packets of that kind, of several the first;
 * MR_ARENA_NO_SLOT: none has any. */
int32_t mr_arena_emptiest_window(struct mr_arena *arena, enum mr_packet_kind kind, uint32_t limit);

/* Claims a free process entry (state CLAIMED): its index, or -1. */
int32_t mr_arena_claim_process(struct mr_arena *arena);

/* Makes a slot claimable again. Only record calls it. */
void mr_arena_free(struct mr_arena *arena, uint32_t index);

#endif
