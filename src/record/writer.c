/* SPDX-License-Identifier: Apache-2.0
 *
 * Writers and their packets: claiming, filling, handing over. The caller has reserved the writer: it has
 * marked it in thread->marks, or holds the definition lock.
 */
#include "record/recorder.h"
#include "record/window.h"

/* A writer without a packet points to these. If a signal handler forks in the middle of an event, the child's
 * commit then writes to nowhere instead of crashing the program. Such an event moves the cursor, but not the
 * limit: NULL is below every cursor, so there is no room until there is a packet. */
static struct mr_slot no_slot;
static uint8_t no_packet[1];

static void detach_packet(struct mr_writer *writer)
{
	writer->slot = &no_slot;
	writer->packet = writer->cursor = no_packet;
	writer->limit = NULL;
}

void mr_writer_reset(struct mr_writer *writer)
{
	*writer = (struct mr_writer){0};
	detach_packet(writer);
}

void mr_writer_repair(struct mr_writer *writer)
{
	uint32_t packets = writer->packets;
	if (!writer->is_moving)
		return;
	/* What was claimed stays so until the process ends, as if it had been killed at this moment. */
	mr_writer_reset(writer);
	writer->packets = packets + 1;
}

static void attach_packet(struct mr_writer *writer, uint32_t index)
{
	uint8_t *packet = (uint8_t *)mr_arena_packet(mr_arena, index);
	writer->slot = mr_arena_slot(mr_arena, index);
	writer->slot_index = index;
	writer->packet = packet;
	writer->cursor = packet + sizeof(struct mr_packet);
	writer->limit = packet + MR_PACKET_ROOM_BYTES;
}

static void start_packet(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
			 uint8_t depth, uint64_t not_before)
{
	uint64_t now = mr_ticks_now();
	struct mr_packet *packet = mr_arena_packet(mr_arena, writer->slot_index);
	*packet = (struct mr_packet){
		.header = {.magic = MR_CTF_MAGIC, .stream_class = MR_STREAM_USER},
		.context = {.begin_ticks = mr_max(now, not_before),
			    .process = (uint32_t)mr_this_process.generation,
			    .pid = mr_this_process.pid,
			    .tid = tid,
			    .kind = kind,
			    .depth = depth},
	};
	memcpy(packet->header.trace_uuid, mr_arena->trace_uuid, sizeof packet->header.trace_uuid);
	struct mr_slot *slot = writer->slot;
	slot->last_ticks = packet->context.begin_ticks;
	slot->discarded_events = mr_take(writer->discarded);
	slot->owner_packet = writer->packets++;
	slot->owner_ended = false;
	atomic_store_explicit(&slot->progress,
			      mr_slot_progress(sizeof(struct mr_packet), writer->open_count),
			      memory_order_release);
}

/* Claims one in a window that is mapped, or maps another. */
static int32_t claim_below(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
			   uint32_t limit)
{
	const uint64_t word =
		mr_slot_word(MR_SLOT_FILLING, kind, (uint32_t)mr_this_process.slot, tid);
	for (;;) {
		int32_t index = mr_arena_claim(mr_arena, kind, word, limit);
		if (index != MR_ARENA_NO_SLOT)
			return index;
		enum mr_window_result result = mr_windows_map_more(mr_arena, kind, limit);
		writer->lack = result == MR_WINDOW_LIMITED ? MR_loss_reason_memory_limit
							   : MR_loss_reason_no_free_packet;
		if (result != MR_WINDOW_MAPPED)
			return MR_ARENA_NO_SLOT;
	}
}

/* Prefers those that have their memory. */
static int32_t claim(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid)
{
	const uint32_t ready = mr_arena_slot_count(mr_arena),
		       all = mr_arena_slots_allowed(mr_arena);
	int32_t index = claim_below(writer, kind, tid, ready);
	if (index == MR_ARENA_NO_SLOT && ready < all)
		index = claim_below(writer, kind, tid, all);
	if (index == MR_ARENA_NO_SLOT && all < mr_arena->slot_limit)
		writer->lack = MR_loss_reason_memory_limit;
	if (index == MR_ARENA_NO_SLOT || (uint32_t)index < ready ||
	    mr_windows_allocate(mr_arena, (uint32_t)index))
		return index;
	atomic_store_explicit(mr_arena_state(mr_arena, (uint32_t)index), 0, memory_order_release);
	return MR_ARENA_NO_SLOT;
}

/* An index, or MR_ARENA_NO_SLOT. Does not search again until record has freed a slot. */
static int32_t find_slot(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid)
{
	uint32_t freed = atomic_load_explicit(&mr_arena->control->freed, memory_order_acquire);
	/* Generation 0: a handler has forked, and this is the child that returned from it. */
	if (mr_this_process.generation == 0 || (writer->found_none && freed == writer->freed_seen))
		return MR_ARENA_NO_SLOT;
	int32_t index = claim(writer, kind, tid);
	writer->found_none = index == MR_ARENA_NO_SLOT;
	writer->freed_seen = freed;
	return index;
}

bool mr_writer_claim(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
		     uint8_t depth)
{
	int32_t index = find_slot(writer, kind, tid);
	if (index == MR_ARENA_NO_SLOT) {
		detach_packet(writer);
		return false;
	}
	writer->is_moving = true;
	mr_signal_fence();
	attach_packet(writer, (uint32_t)index);
	start_packet(writer, kind, tid, depth, 0);
	mr_signal_fence();
	writer->is_moving = false;
	return true;
}

void mr_writer_hand_over(struct mr_writer *writer, bool owner_ended)
{
	if (!mr_writer_has_packet(writer))
		return;
	_Atomic uint64_t *state = mr_arena_state(mr_arena, writer->slot_index);
	uint64_t word = atomic_load_explicit(state, memory_order_relaxed);
	writer->slot->owner_ended = owner_ended;
	/* Release: pairs with record's acquire before it reads the packet. */
	atomic_store_explicit(state,
			      (word & ~(UINT64_C(0xff) << 56)) | (uint64_t)MR_SLOT_FULL << 56,
			      memory_order_release);
	detach_packet(writer);
}

bool mr_writer_next_packet(struct mr_writer *writer, enum mr_packet_kind kind, uint32_t tid,
			   uint8_t depth)
{
	struct mr_slot *full = writer->slot;
	uint64_t last_ticks = full->last_ticks;
	int32_t index = find_slot(writer, kind, tid);
	if (index == MR_ARENA_NO_SLOT) {
		/* Handing over without a successor frees memory for others. If the program is killed
		 * now, its open intervals cannot be recovered. */
		mr_count_loss(MR_loss_reason_deep_interval, mr_take(writer->open_count));
		mr_writer_hand_over(writer, false);
		return false;
	}
	struct mr_writer successor = *writer;
	attach_packet(&successor, (uint32_t)index);
	memcpy(successor.slot->open, full->open, sizeof full->open);
	start_packet(&successor, kind, tid, depth, last_ticks);
	successor.is_moving = writer->is_moving = true;
	mr_signal_fence();
	mr_writer_hand_over(writer, false);
	*writer = successor;
	mr_signal_fence();
	writer->is_moving = false;
	return true;
}

uint8_t *mr_writer_put_header(struct mr_writer *writer, uint8_t event, uint64_t *ret_ticks)
{
	uint8_t *at = writer->cursor;
	uint64_t last = writer->slot->last_ticks;
	uint64_t now = mr_ticks_now();
	if (mr_unlikely(now < last)) {
		/* A stream's times must not decrease; count that this one's did. */
		mr_count_loss(MR_loss_reason_clock_backwards, 1);
		now = last;
	}
	writer->slot->last_ticks = now;
	*ret_ticks = now;
	if (now - last <= UINT32_MAX) {
		uint32_t low = (uint32_t)now;
		at[0] = event;
		memcpy(at + 1, &low, sizeof low);
		return at + MR_COMPACT_HEADER_BYTES;
	}
	at[0] = MR_EVENT_EXTENDED;
	at[1] = event;
	memcpy(at + 2, &now, sizeof now);
	return at + MR_EXTENDED_HEADER_BYTES;
}
