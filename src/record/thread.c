/* SPDX-License-Identifier: Apache-2.0
 *
 * What a thread does off the fast path: its first event, the next packet, its end.
 */
#include <pthread.h>
#include <sys/prctl.h>

#include "record/identity.h"
#include "record/interval.h"
#include "record/own_call.h"
#include "record/recorder.h"
#include "record/thread_room.h"

_Thread_local struct mr_thread mr_self
	__attribute__((tls_model("initial-exec"))) = {.fast_generation = UINT64_MAX};

enum {
	/* Destructors of other keys may still record, so ours asks to be called again this often. */
	MR_DESTRUCTOR_ROUNDS = 3,
};

static pthread_key_t thread_key;
static bool thread_key_is_made;

/* False before the thread's first event, and in a forked child that has not recorded yet. */
static bool thread_is_current(const struct mr_thread *thread)
{
	return thread->generation != 0 && thread->generation == mr_this_process.generation;
}

static void on_thread_exit(void *thread)
{
	if (!thread_is_current(&mr_self))
		return;
	if (++mr_self.destructor_rounds < MR_DESTRUCTOR_ROUNDS)
		pthread_setspecific(thread_key, thread);
	else
		mr_thread_end();
}

void mr_thread_prepare(void)
{
	if (!thread_key_is_made)
		thread_key_is_made = pthread_key_create(&thread_key, on_thread_exit) == 0;
}

void mr_thread_forget(void)
{
	for (int i = 0; i < MR_WRITERS; i++)
		mr_writer_reset(&mr_self.writers[i]);
}

void mr_thread_choose_path(void)
{
	bool is_fast = mr_ticks_are_counter && !mr_self.was_left;
	mr_self.fast_generation = is_fast ? mr_self.generation : UINT64_MAX;
}

/* Adopts the process's generation, at a thread's first event and in a forked child (where the key's value is set
 * already, copied from the thread that forked). A signal handler that interrupts this loses its event. */
static bool thread_restart(struct mr_thread *thread)
{
	if (!mr_arena || thread->is_restarting)
		return false;
	thread->is_restarting = true;
	mr_signal_fence();
	bool is_new = thread->generation == 0;
	bool is_attached = mr_this_process.generation != 0 || mr_process_restart();
	if (is_attached) {
		/* Field by field: a handler must see the right marks and is_restarting at any time. */
		thread->destructor_rounds = 0;
		thread->started = thread->ended = false;
		mr_thread_forget();
		thread->tid = mr_own_tid();
		thread->libc_tid = mr_libc_tid();
		mr_own_call(SYS_prctl, PR_GET_NAME, thread->name);
		if (is_new && thread_key_is_made)
			pthread_setspecific(thread_key, thread);
		thread->generation = mr_this_process.generation;
		mr_thread_choose_path();
	} else if (mr_this_process.is_refused) {
		atomic_fetch_add_explicit(&mr_arena->tables->events_refused, 1,
					  memory_order_relaxed);
	}
	mr_signal_fence();
	thread->is_restarting = false;
	return is_attached;
}

/* These two need no commit: the event that needed the room is committed after them, and with them. */
static void put_text_event(struct mr_writer *writer, uint8_t event, const char *text)
{
	uint64_t ticks;
	uint8_t *at = mr_writer_put_header(writer, event, &ticks);
	size_t bytes = strlen(text) + 1;
	memcpy(at, text, bytes);
	writer->cursor = at + bytes;
}

static void put_loss(struct mr_writer *writer, uint64_t count)
{
	const struct mr_event_loss loss = {.count = count, .reason = writer->lack};
	uint64_t ticks;
	uint8_t *at = mr_writer_put_header(writer, MR_EVENT_loss, &ticks);
	memcpy(at, &loss, sizeof loss);
	writer->cursor = at + sizeof loss;
}

/* Gets a packet with room for `bytes` more for the writer. */
static bool make_room(struct mr_thread *thread, uint32_t depth, size_t bytes)
{
	struct mr_writer *writer = &thread->writers[depth];
	if (mr_writer_has_room(writer, bytes))
		return true;
	if (mr_writer_has_packet(writer))
		return mr_writer_next_packet(writer, MR_PACKET_EVENTS, thread->tid, (uint8_t)depth);
	uint64_t lost = writer->discarded;
	if (!mr_writer_claim(writer, MR_PACKET_EVENTS, thread->tid, (uint8_t)depth))
		return false;
	if (lost)
		put_loss(writer, lost);
	if (depth == 0 && !thread->started) {
		put_text_event(writer, MR_EVENT_thread_start, thread->name);
		thread->started = true;
	}
	return true;
}

/* Takes back what the program has jumped out of. A handler that does the same meanwhile comes to the same result. */
static void take_back_left(struct mr_thread *thread)
{
	for (uint32_t depth = mr_thread_depth(thread);
	     depth > 0 && mr_stack_is_left(thread->marks[depth - 1]); depth--) {
		mr_writer_repair(&thread->writers[depth - 1]);
		thread->was_left = true;
		thread->fast_generation = UINT64_MAX;
		mr_signal_fence();
		if (mr_take(thread->marks[depth - 1]) != 0)
			mr_count_loss(MR_loss_reason_signal_nesting, 1);
	}
	if (thread->marks[0] == 0)
		thread->is_restarting = false;
}

/* The number of the writer to use; MR_WRITERS: all are in use. */
static uint32_t free_writer(struct mr_thread *thread)
{
	if (thread->marks[0] != 0 || thread->is_restarting)
		take_back_left(thread);
	return mr_thread_depth(thread);
}

static inline void enter(struct mr_thread *thread, uint32_t depth)
{
	mr_stack_mark(&thread->marks[depth]);
	mr_signal_fence();
}

static void leave(struct mr_thread *thread, uint32_t depth)
{
	mr_signal_fence();
	thread->marks[depth] = 0;
}

/* Counts one more event that finds no packet; why. */
static enum mr_loss_reason lack_of(struct mr_writer *writer)
{
	writer->discarded++;
	return (enum mr_loss_reason)writer->lack;
}

uint8_t *mr_reserve_slow(uint8_t event, size_t bytes, uint64_t *ret_ticks)
{
	struct mr_thread *thread = &mr_self;
	uint32_t depth = free_writer(thread);
	if (depth >= MR_WRITERS) {
		mr_count_loss(MR_loss_reason_signal_nesting, 1);
		return NULL;
	}
	if (mr_clock_is_forbidden) { /* it can do little but end */
		mr_count_loss(MR_loss_reason_thread_ending, 1);
		return NULL;
	}
	enter(thread, depth);
	struct mr_writer *writer = &thread->writers[depth];
	enum mr_loss_reason reason;
	if (!thread_is_current(thread) && !thread_restart(thread)) {
		leave(thread, depth);
		if (thread->is_restarting)
			mr_count_loss(MR_loss_reason_signal_nesting, 1);
		return NULL;
	}
	if (thread->ended)
		reason = MR_loss_reason_thread_ending;
	else if (bytes > MR_EVENT_MAX_BYTES)
		reason = MR_loss_reason_too_large;
	else if (make_room(thread, depth, MR_EXTENDED_HEADER_BYTES + bytes))
		return mr_writer_put_header(writer, event, ret_ticks);
	else
		reason = lack_of(writer);
	leave(thread, depth);
	mr_count_loss(reason, 1);
	return NULL;
}

void mr_emit_slow(uint8_t event, const void *payload, size_t bytes, const char *text)
{
	size_t length = text ? mr_text_length(text, MR_TEXT_MAX - 1) : 0;
	size_t text_bytes = text ? length + 1 : 0;
	uint64_t ticks;
	uint8_t *at = mr_reserve_slow(event, bytes + text_bytes, &ticks);
	if (!at)
		return;
	memcpy(at, payload, bytes);
	if (text) {
		memcpy(at + bytes, text, length);
		at[bytes + length] = 0;
	}
	mr_commit(at + bytes + text_bytes, mr_reserved_writer()->open_count);
}

/* ---- intervals ----------------------------------------------------------------------------------- */

void mr_interval_begin_slow(struct mr_interval *ret_interval, uint8_t event, uint32_t what,
			    uint64_t step)
{
	struct mr_thread *thread = &mr_self;
	uint32_t depth = free_writer(thread);
	if (depth < MR_WRITERS && !mr_clock_is_forbidden) {
		enter(thread, depth);
		bool is_ready = (thread_is_current(thread) || thread_restart(thread)) &&
				!thread->ended && make_room(thread, depth, 0);
		if (is_ready)
			mr_writer_open(&thread->writers[depth], mr_ticks_now(), ret_interval, event,
				       what, step);
		leave(thread, depth);
		if (is_ready)
			return;
	}
	/* It cannot be noted as open, but its end is recorded if there is a packet by then. */
	*ret_interval = (struct mr_interval){.start_ticks = mr_ticks_now(),
					     .step = step,
					     .what = what,
					     .depth = UINT32_MAX,
					     .tid = thread->tid};
}

/* How many intervals stay open after this one ends. An interval that another thread began closes nothing. */
static uint32_t open_after(const struct mr_interval *interval, const struct mr_writer *writer)
{
	bool closes = interval->tid == mr_self.tid && interval->depth < writer->open_count;
	return closes ? interval->depth : writer->open_count;
}

/* Reserves the event of an interval's end; if the event is lost, the interval is still closed. */
static uint8_t *reserve_end(const struct mr_interval *interval, uint8_t event, size_t bytes,
			    uint64_t *ret_now)
{
	uint8_t *at = mr_reserve_slow(event, bytes, ret_now);
	struct mr_writer *writer = &mr_self.writers[0];
	if (!at && mr_self.marks[0] == 0)
		writer->open_count = open_after(interval, writer);
	return at;
}

static void commit_end(const struct mr_interval *interval, uint8_t *at, const void *payload,
		       size_t bytes)
{
	memcpy(at, payload, bytes);
	mr_commit(at + bytes, open_after(interval, mr_reserved_writer()));
}

static void long_node_interval_end(const struct mr_interval *interval)
{
	struct mr_event_node_interval_at payload = {.node = interval->what,
						    .step = (uint32_t)interval->step,
						    .clock = mr_arena->user_clock,
						    .start = interval->start_ticks};
	uint64_t now;
	uint8_t *at = reserve_end(interval, MR_EVENT_node_interval_at, sizeof payload, &now);
	if (!at)
		return;
	payload.end = now;
	commit_end(interval, at, &payload, sizeof payload);
}

void mr_node_interval_end_slow(const struct mr_interval *interval)
{
	struct mr_event_node_interval payload = {.node = interval->what,
						 .step = (uint32_t)interval->step};
	uint64_t now;
	uint8_t *at = reserve_end(interval, MR_EVENT_node_interval, sizeof payload, &now);
	if (!at)
		return;
	if (now - interval->start_ticks > MR_U48_MAX) {
		mr_release_writer(); /* not committed: the header just written is overwritten */
		long_node_interval_end(interval);
		return;
	}
	payload.duration_ticks = mr_u48_from(now - interval->start_ticks);
	commit_end(interval, at, &payload, sizeof payload);
}

void mr_step_interval_end(const struct mr_interval *interval)
{
	struct mr_event_step_interval payload = {.step = interval->step};
	uint64_t now;
	uint8_t *at = reserve_end(interval, MR_EVENT_step_interval, sizeof payload, &now);
	if (!at)
		return;
	payload.duration_ticks = now - interval->start_ticks;
	commit_end(interval, at, &payload, sizeof payload);
}

uint64_t mr_call_interval_end_slow(const struct mr_interval *interval, uint8_t event, void *payload,
				   size_t bytes)
{
	uint64_t now;
	uint8_t *at = reserve_end(interval, event, bytes, &now);
	if (!at)
		return 0;
	mr_call_set_duration(payload, now - interval->start_ticks);
	commit_end(interval, at, payload, bytes);
	return now;
}

/* ---- the end of a thread -------------------------------------------------------------------------- */

void mr_thread_end(void)
{
	struct mr_thread *thread = &mr_self;
	if (thread->ended || !thread_is_current(thread))
		return;
	char name[sizeof thread->name] = "";
	if (mr_own_call(SYS_prctl, PR_GET_NAME, name) == 0 && strcmp(name, thread->name) != 0)
		mr_emit_text(thread_name, name);
	mr_emit(thread_end);
	thread->ended = true;
	for (uint32_t i = mr_thread_depth(thread); i < MR_WRITERS; i++)
		mr_writer_hand_over(&thread->writers[i], true);
	mr_thread_rooms_free();
}
