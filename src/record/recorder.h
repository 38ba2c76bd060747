/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder: every hook calls it to write events. It runs in the traced process and uses only libc.
 *
 *     if (mr_level_is_on(MR_LEVEL_dataflow))
 *             mr_emit(node_instant, .node = node, .step = step);
 *
 * How it writes an event, without a lock, an atomic read-modify-write or a system call:
 *
 *     thread-local        ┌───────────────┐        shared arena
 *     struct mr_thread    │ generation    │        ┌─────────────────────────────┐
 *                         │ marks         │   ┌───►│ packet  ▒▒▒▒▒▒▒▒            │
 *                         │ writers[0] ───┼───┤    └─────────────────────────────┘
 *                         │ writers[1]    │   └───►  slot: progress, last_ticks, open intervals
 *                         │ writers[2]    │
 *                         └───────────────┘
 *
 *   1. It marks the writer as used. A signal handler that interrupts from here on sees that and uses the next
 *      writer, with its own packet and stream. So a handler cannot disturb a half-written event, and times
 *      never decrease within a stream.
 *   2. It checks for room, reads the clock and stores the bytes.
 *   3. A release store of slot->progress makes the event part of the trace. It removes the mark.
 *
 * A signal handler may also jump out of an event, and the mark stays. It says where on the stack the writer is used, so
 * that the next event finds out that nobody is there any more (stack.h). One store both takes the writer and says where:
 * with two, a handler that comes between them, and uses the writer itself, would leave its own place behind.
 *
 * After fork the child must not write into its parent's packet. The generation of the process is in a
 * page that the kernel empties in every child, however it was made (MADV_WIPEONFORK). A thread whose own
 * generation differs takes the slow path and starts afresh. The same test covers a thread's first event.
 * (vfork children share all memory with the waiting parent and simply write as the parent.)
 *
 * On any failure the event is counted as lost, by reason, in the process's entry in the arena.
 */
#ifndef MR_RECORD_RECORDER_H
#define MR_RECORD_RECORDER_H

#include <string.h>

#include "record/arena.h"
#include "record/stack.h"
#include "record/ticks.h"
#include "schema/schema.h"

enum {
	MR_WRITERS = 3, /* the thread, a signal handler on top of it, another on top of that */
	MR_FIRST_CLOCK_ID =
		16, /* lower ones are clocks of the operating system (enum mr_trace_clock) */
	MR_TEXT_MAX = 16 << 10,                 /* bytes; longer texts are truncated */
	MR_EVENT_MAX_BYTES = MR_TEXT_MAX + 256, /* fields and text of one event */
};

/* Where one nesting level of a thread writes. */
struct mr_writer {
	uint8_t *packet; /* where it begins */
	uint8_t *cursor; /* where the next event goes */
	uint8_t *limit;  /* where events must end; NULL: there is no packet */
	struct mr_slot *slot;
	uint32_t slot_index;
	uint32_t open_count; /* intervals begun and not ended */
	uint32_t freed_seen; /* control->freed when it last searched for a slot */
	bool found_none;     /* ... and there was none */
	bool is_moving;      /* to another packet: the fields do not belong together */
	uint8_t lack;        /* enum mr_loss_reason: why */
	uint32_t packets;    /* begun so far */
	uint64_t discarded;  /* events lost for lack of a packet since the last one was claimed */
};

static inline bool mr_writer_has_packet(const struct mr_writer *writer)
{
	return writer->limit != NULL;
}

/* Whether so many bytes more fit into the packet, and one is there. A program that switches between stacks in a signal
 * handler may end an event long after it began, and set the cursor back into a packet that was handed over: from there
 * it is further to the limit than any packet is long. */
static inline bool mr_writer_has_room(const struct mr_writer *writer, size_t bytes)
{
	return (uintptr_t)writer->limit - (uintptr_t)writer->cursor - bytes <=
	       MR_ARENA_PACKET_BYTES;
}

struct mr_thread {
	uint64_t generation;         /* equal to the process's: everything below is valid */
	uint64_t fast_generation;    /* the same, or UINT64_MAX if only the slow path is possible */
	uintptr_t marks[MR_WRITERS]; /* where the user of each is (stack.h); 0: it is free */
	uint32_t tid;
	uint32_t libc_tid;         /* what the C library called it then (identity.h) */
	uintptr_t definition_mark; /* where the definition lock was taken */
	uint8_t destructor_rounds;
	bool is_restarting;
	bool was_left; /* an event of it was taken back (stack.h) */
	bool started;  /* thread_start has been written */
	bool ended;    /* its last packet has been handed over */
	char name[16]; /* when it started; 16 bytes are the kernel's limit */
	struct mr_writer writers[MR_WRITERS];
};

/* State of the process that a forked child must find empty. */
struct mr_process {
	uint64_t
		generation; /* number of the process in this run; 0: not attached, or just forked */
	int32_t slot;       /* of its entry in the arena */
	uint32_t pid;       /* this and the next also stand there, but others can write that */
	uint8_t origin;     /* enum mr_process_origin */
	bool is_known_to_libc; /* made by exec or fork(), not by a raw clone (identity.h) */
	bool is_refused;       /* there was no free entry in the arena for it */
	_Atomic uintptr_t restart_lock; /* address of the mr_self that attaches the child */
	_Atomic uintptr_t
		definition_lock; /* likewise, of the holder: the gettid system call might be forbidden */
	struct mr_writer definitions;
};

/* The kernel can only empty whole pages: this one shares its page with nothing else. */
union mr_process_page {
	struct mr_process process;
	char page[64 << 10];
} __attribute__((aligned(64 << 10)));

#pragma GCC visibility push(hidden)
extern _Thread_local struct mr_thread mr_self __attribute__((tls_model("initial-exec")));
extern union mr_process_page mr_process_page;
extern struct mr_arena *mr_arena;         /* NULL: not attached */
extern const _Atomic uint32_t *mr_levels; /* never NULL */
extern bool mr_ticks_are_counter;
extern bool mr_clock_is_forbidden;
/* Where they are, as this process was told when it started; empty if it was not. */
extern char mr_library_path[MR_ARENA_PATH_BYTES];
extern char mr_arena_path[MR_ARENA_PATH_BYTES];
#pragma GCC visibility pop

#define mr_this_process (mr_process_page.process)

/* ---- process.c ------------------------------------------------------------------------------- */

/* Attaches the process to the arena at mr_arena_path. If it fails, the process is not traced: for that reason, or
 * because there are too many (MR_UNTRACED_NONE, but mr_arena is NULL). */
enum mr_untraced_reason mr_process_attach(void);

/* Gives up all that the process shares with others, for good; its entry says why. */
void mr_process_leave(enum mr_untraced_reason reason);

/* Uses an arena that is already mapped: for `record` itself, and for tests. */
void mr_process_attach_mapped(struct mr_arena *arena);

/* Takes over the entry of a killed recorder, to recover its trace. */
void mr_process_adopt(struct mr_arena *arena, uint32_t slot);

/* Claims an entry in the arena for a forked child; false if it gets none. */
bool mr_process_restart(void);

/* Notes that the process exits normally. Its packets stay open: other destructors may still record
 * events, and record collects the packets when the process has ended. */
void mr_process_end(void);

/* Says where the process, and its children, have their Python interpreter. */
void mr_process_show_interpreter(const struct mr_interpreter_place *place);

/* Lists a program that is about to run without the library, and why. */
void mr_process_note_untraced(uint32_t pid, const char *path, enum mr_untraced_reason reason);

/* Reading the clock would kill the program from now on (in seccomp's strict mode, and after PR_SET_TSC), or not after
 * all. Without a clock there are no events and no definitions. Other threads may go on until they end. */
void mr_clock_forbid(bool is_forbidden);

/* What mr_ticks_now() does where it cannot just read the counter. */
uint64_t mr_ticks_slow(void);

void mr_count_loss(enum mr_loss_reason reason, uint64_t count);

/* Takes a lock of struct mr_process. False if the calling thread holds it already (a signal handler), or if
 * nobody releases it: a traced program must not wait forever. */
bool mr_lock(_Atomic uintptr_t *lock);
void mr_unlock(_Atomic uintptr_t *lock);

/* ---- writer.c -------------------------------------------------------------------------------- */

/* A writer without a packet. */
void mr_writer_reset(struct mr_writer *writer);

/* Gets a packet for the writer; false if none is available. */
bool mr_writer_claim(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
		     uint8_t depth);

/* Replaces the writer's full packet by an empty one and moves the open intervals to it. */
bool mr_writer_next_packet(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
			   uint8_t depth);

/* After a jump out of something that was using the writer: it can be used again. */
void mr_writer_repair(struct mr_writer *writer);

/* Hands the packet over to record. `owner_ended`: it was the thread's last. */
void mr_writer_hand_over(struct mr_writer *writer, bool owner_ended);

/* Writes an event's header at the writer's cursor and returns where its fields go; the writer has room
 * for it. Handles long pauses and a clock that runs backwards. */
uint8_t *mr_writer_put_header(struct mr_writer *writer, uint8_t event, uint64_t *ret_ticks);

/* ---- thread.c -------------------------------------------------------------------------------- */

/* The slow path of reserving, which is always correct: first event, full packet, long pause, signal handler,
 * a clock that is not the counter. Returns where the fields go; call mr_commit() next. NULL: lost. */
uint8_t *mr_reserve_slow(uint8_t event, size_t bytes, uint64_t *ret_ticks);

/* Writes an event on the slow path; `text` is its str field, or NULL. */
void mr_emit_slow(uint8_t event, const void *payload, size_t bytes, const char *text);

/* Decides whether the calling thread may use the fast path: the clock must be the counter, and no event of it may ever have been
 * taken back, as such an event might go on after all, and set the cursor back into a packet that was handed over. */
void mr_thread_choose_path(void);

/* Makes the key whose destructor ends a thread's recording; once per program. */
void mr_thread_prepare(void);

/* In a forked child: releases the parent's packets. If a signal handler forked in the middle of an event,
 * the child commits that event to nowhere. */
void mr_thread_forget(void);

/* Ends the calling thread's recording and hands its packets over. */
void mr_thread_end(void);

/* ---- define.c: each returns the new id, or 0 if it could not be defined ------------------------ */

uint32_t mr_define_string(const char *text);

/* The same for a text of that many bytes, none of them 0. mr_find_text() defines nothing: 0 if not known. */
uint32_t mr_define_text(const char *text, size_t bytes);
uint32_t mr_find_text(const char *text, size_t bytes);

uint32_t mr_define_graph(uint32_t name);
uint32_t mr_define_node(uint32_t graph, uint32_t name, uint32_t type, uint32_t device);
void mr_define_edge(const struct mr_event_def_edge *edge);
uint32_t mr_define_device(uint32_t name, uint32_t clock, enum mr_device_kind kind);
void mr_define_device_identity(uint32_t device, const char *identity);
void mr_define_device_memory(uint32_t device, uint64_t bytes);
uint32_t mr_define_queue(uint32_t device, uint32_t name, enum mr_queue_order order,
			 bool is_untimed);
uint32_t mr_define_clock(uint32_t name, uint64_t ticks_per_second);

/* Writes any event into the process's definition stream; `text` is its str field, or NULL. */
bool mr_define_event(uint8_t event, const void *payload, size_t bytes, const char *text);

/* The id of the next definition. */
uint32_t mr_definition_next(void);

/* Reserves an id for something that mr_define_event() will define later. */
uint32_t mr_definition_take(void);

/* Bytes of a text, at most `most`. */
static inline size_t mr_text_length(const char *text, size_t most)
{
	size_t length = 0;
	while (length < most && text[length])
		length++;
	return length;
}

/* ---- writing an event ----------------------------------------------------------------------------- */

static inline bool mr_level_is_on(enum mr_level level)
{
	return mr_unlikely(atomic_load_explicit(mr_levels, memory_order_relaxed) & level);
}

static inline uint64_t mr_ticks_now(void)
{
	return mr_likely(mr_ticks_are_counter) ? mr_ticks_of_counter() : mr_ticks_slow();
}

/* Keeps the compiler from moving stores across it: a signal handler of the same thread may read them. */
#define mr_signal_fence() atomic_signal_fence(memory_order_seq_cst)

/* Writes an event's header and returns where its fields go. */
static inline uint8_t *mr_put_header(uint8_t *at, uint8_t event, uint64_t ticks)
{
	uint32_t low = (uint32_t)ticks;
	at[0] = event;
	memcpy(at + 1, &low, sizeof low);
	return at + MR_COMPACT_HEADER_BYTES;
}

/* The fast path of reserving room for an event whose fields take `bytes`. Writes its header and returns
 * where its fields go; call mr_commit_fast() next. NULL if the slow path is needed. Calls no function, so
 * that a hook needs no stack frame. */
static inline uint8_t *mr_reserve_fast(uint8_t event, size_t bytes, uint64_t *ret_ticks)
{
	struct mr_thread *thread = &mr_self;
	if (mr_unlikely(thread->fast_generation != mr_this_process.generation ||
			thread->marks[0] != 0))
		return NULL;
	mr_stack_mark(&thread->marks[0]);
	mr_signal_fence();
	struct mr_writer *writer = &thread->writers[0];
	uint8_t *at = writer->cursor;
	uint64_t now = mr_ticks_of_counter();
	/* The difference is unsigned, so it is also large if the clock went backwards. */
	if (mr_unlikely(at + MR_COMPACT_HEADER_BYTES + bytes > writer->limit ||
			now - writer->slot->last_ticks > UINT32_MAX)) {
		mr_signal_fence();
		thread->marks[0] = 0;
		return NULL;
	}
	writer->slot->last_ticks = now;
	*ret_ticks = now;
	return mr_put_header(at, event, now);
}

/* Publishes the event that ends at `end`, together with the number of intervals now open, in one store, so
 * that a killed program never leaves one without the other. */
static inline void mr_writer_commit(struct mr_writer *writer, uint8_t *end, uint32_t open_count)
{
	writer->cursor = end;
	writer->open_count = open_count;
	atomic_store_explicit(&writer->slot->progress,
			      mr_slot_progress((uint32_t)(end - writer->packet), open_count),
			      memory_order_release);
}

static inline void mr_commit_fast(uint8_t *end, uint32_t open_count)
{
	mr_writer_commit(&mr_self.writers[0], end, open_count);
	mr_signal_fence();
	mr_self.marks[0] = 0;
}

/* How many writers are in use: the first ones. */
static inline uint32_t mr_thread_depth(const struct mr_thread *thread)
{
	uint32_t depth = 0;
	while (depth < MR_WRITERS && thread->marks[depth] != 0)
		depth++;
	return depth;
}

/* The writer between mr_reserve_slow() and mr_commit(). Any of them, if the event was taken back meanwhile (stack.h). */
static inline struct mr_writer *mr_reserved_writer(void)
{
	return &mr_self.writers[(mr_thread_depth(&mr_self) - 1) % MR_WRITERS];
}

static inline void mr_release_writer(void)
{
	uint32_t depth = mr_thread_depth(&mr_self);
	if (depth > 0)
		mr_self.marks[depth - 1] = 0;
}

/* Ends what mr_reserve_slow() began. */
static inline void mr_commit(uint8_t *end, uint32_t open_count)
{
	mr_writer_commit(mr_reserved_writer(), end, open_count);
	mr_signal_fence();
	mr_release_writer();
}

/* mr_emit(node_instant, .node = 7, .step = 1): writes one event without a text. The slow path gets a copy: what another
 * function sees must be in memory, and the fields would take that way on the fast path, too. */
#define mr_emit(event, ...)                                                                   \
	do {                                                                                  \
		const struct mr_event_##event payload_ = {__VA_ARGS__};                       \
		uint64_t ticks_;                                                              \
		uint8_t *at_ = mr_reserve_fast(MR_EVENT_##event, sizeof payload_, &ticks_);   \
		if (mr_likely(at_ != NULL)) {                                                 \
			memcpy(at_, &payload_, sizeof payload_);                              \
			mr_commit_fast(at_ + sizeof payload_, mr_self.writers[0].open_count); \
		} else {                                                                      \
			const struct mr_event_##event copy_ = payload_;                       \
			mr_emit_slow(MR_EVENT_##event, &copy_, sizeof copy_, NULL);           \
		}                                                                             \
	} while (0)

/* mr_emit_text(thread_name, name, ...): the same for an event whose last field is a text. */
#define mr_emit_text(event, text, ...)                                              \
	do {                                                                        \
		const struct mr_event_##event payload_ = {__VA_ARGS__};             \
		mr_emit_slow(MR_EVENT_##event, &payload_, sizeof payload_, (text)); \
	} while (0)

#endif
