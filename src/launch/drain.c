/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "launch/arena_room.h"
#include "record/recorder.h"

enum {
	PASS_NS = 20000000 /* how long a pass may write */
};

int mr_drain_init(struct mr_drain *drain, struct mr_arena_file *file, struct mr_streams *streams,
		  struct mr_processes *processes)
{
	*drain = (struct mr_drain){.file = file,
				   .streams = streams,
				   .processes = processes,
				   .own_process = MR_RECORDER_PROCESS,
				   .copy.packet = malloc(MR_ARENA_PACKET_BYTES)};
	return drain->copy.packet ? 0 : mr_fail(ENOMEM, "no memory for a packet");
}

void mr_drain_stop(struct mr_drain *drain)
{
	mr_arena_file_switch(drain->file, 0);
	if (!drain->stop_reason)
		drain->stop_reason = strdup(mr_error_text());
}

bool mr_drain_copy_packet(struct mr_drain *drain, uint32_t slot)
{
	struct mr_arena *arena = drain->file->arena;
	const struct mr_slot *from = mr_arena_slot(arena, slot);
	struct mr_drain_copy *copy = &drain->copy;
	uint64_t progress = atomic_load_explicit(&from->progress, memory_order_acquire);
	copy->content_bytes = (uint32_t)progress;
	copy->open_count = mr_min((uint32_t)(progress >> 32), (uint32_t)MR_OPEN_INTERVALS);
	if (copy->content_bytes < sizeof *copy->packet ||
	    copy->content_bytes > MR_PACKET_ROOM_BYTES)
		return false;
	memcpy(copy->packet, mr_arena_packet(arena, slot), copy->content_bytes);
	memcpy(copy->open, from->open, sizeof copy->open);
	copy->owner_packet = from->owner_packet;
	copy->owner_ended = from->owner_ended != 0;
	copy->discarded_events = from->discarded_events;
	/* Read after progress: not before the last event copied. */
	copy->end_ticks = mr_max(from->last_ticks, copy->packet->context.begin_ticks);
	if (copy->packet->header.magic != MR_CTF_MAGIC)
		return false;
	/* Who it is from may be a lie, but it is no packet of the kernel level, and of this trace. */
	copy->packet->header.stream_class = MR_STREAM_USER;
	memcpy(copy->packet->header.trace_uuid, arena->trace_uuid, sizeof arena->trace_uuid);
	copy->packet->context.kind = copy->packet->context.kind != MR_PACKET_EVENTS;
	return true;
}

/* Appends an interval_unfinished event for everything that is open in a packet whose owner will not. It was
 * open until then, as far as anybody can say: a call that hangs is what its thread does last. */
static void put_unfinished(struct mr_drain_copy *copy, uint64_t until_ticks)
{
	if (copy->open_count > 0)
		copy->end_ticks = mr_max(copy->end_ticks, until_ticks);
	for (uint32_t i = 0; i < copy->open_count; i++) {
		const struct mr_open_interval *open = &copy->open[i];
		const struct mr_event_interval_unfinished event = {.event = open->event,
								   .what = open->what,
								   .step = open->step,
								   .start = open->start_ticks};
		uint8_t *at = (uint8_t *)copy->packet + copy->content_bytes;
		at[0] = MR_EVENT_EXTENDED;
		at[1] = MR_EVENT_interval_unfinished;
		memcpy(at + 2, &copy->end_ticks, sizeof copy->end_ticks);
		memcpy(at + MR_EXTENDED_HEADER_BYTES, &event, sizeof event);
		copy->content_bytes += MR_EXTENDED_HEADER_BYTES + sizeof event;
	}
}

_Static_assert(MR_OPEN_INTERVALS *(MR_EXTENDED_HEADER_BYTES +
				   sizeof(struct mr_event_interval_unfinished)) <=
		       MR_ARENA_PACKET_BYTES - MR_PACKET_ROOM_BYTES,
	       "owners leave room for what record adds");

/* Definitions, and records of record itself (clocks): without them the rest means little. So this is tried even on
 * a full disk, where room is kept for it. */
static bool is_vital(const struct mr_packet *packet)
{
	return packet->context.kind == MR_PACKET_DEFINITIONS ||
	       (packet->header.stream_class == MR_STREAM_USER &&
		packet->context.process == MR_RECORDER_PROCESS);
}

/* Where the event at `at` ends; `limit` if that is no event. */
static const uint8_t *after_event(const uint8_t *at, const uint8_t *limit)
{
	bool is_extended = at[0] == MR_EVENT_EXTENDED;
	size_t head = is_extended ? MR_EXTENDED_HEADER_BYTES : MR_COMPACT_HEADER_BYTES;
	size_t left = (size_t)(limit - at);
	const struct mr_event_desc *event = &mr_event_table[at[is_extended && left > 1]];
	if (!event->name || left < head + event->fixed_bytes)
		return limit;
	at += head + event->fixed_bytes;
	if (!event->has_text)
		return at;
	const uint8_t *zero = memchr(at, 0, (size_t)(limit - at));
	return zero ? zero + 1 : limit;
}

static void count_lost_packet(struct mr_drain *drain, const struct mr_packet *packet,
			      uint32_t content_bytes)
{
	const uint8_t *limit = (const uint8_t *)packet + content_bytes;
	uint64_t events = 0;
	for (const uint8_t *at = packet->events; at < limit; at = after_event(at, limit))
		events++;
	drain->lost_packets++;
	if (packet->context.kind == MR_PACKET_DEFINITIONS)
		drain->definitions_lost_with_packets += events;
	else
		drain->lost_with_packets += events;
}

int mr_drain_append(struct mr_drain *drain, struct mr_packet *packet, uint32_t content_bytes,
		    uint64_t end_ticks, uint64_t discarded_events, bool owner_ended)
{
	int result = drain->stop_reason && !is_vital(packet)
			     ? -ENOSPC
			     : mr_streams_append(drain->streams, packet, content_bytes, end_ticks,
						 discarded_events, owner_ended);
	if (result < 0) {
		count_lost_packet(drain, packet, content_bytes);
		mr_drain_stop(drain);
	}
	return result;
}

/* `gone_ticks`: when its owner, which has not finished it, was gone. */
static void take_packet(struct mr_drain *drain, uint32_t slot, bool owner_gone, uint64_t gone_ticks)
{
	struct mr_arena *arena = drain->file->arena;
	struct mr_drain_copy *copy = &drain->copy;
	bool is_packet = mr_drain_copy_packet(drain, slot);
	if (is_packet && !(drain->is_recovery && mr_streams_has(drain->streams, copy->packet))) {
		bool is_last = owner_gone || copy->owner_ended;
		/* An empty packet may still hold what its owner had open when it was killed. */
		if (is_last)
			put_unfinished(copy, copy->owner_ended ? 0 : gone_ticks);
		if (copy->content_bytes > sizeof *copy->packet)
			mr_drain_append(drain, copy->packet, copy->content_bytes, copy->end_ticks,
					copy->discarded_events, is_last);
	}
	/* A slot that its next owner has claimed but not begun must not look full of old events. */
	atomic_store_explicit(&mr_arena_slot(arena, slot)->progress, 0, memory_order_relaxed);
	mr_arena_room_free(drain->file, slot);
}

/* Notes a slot as one to take now. */
static void remember(struct mr_drain *drain, uint32_t slot)
{
	struct mr_drain_candidate candidate = {
		.begin_ticks = mr_arena_packet(drain->file->arena, slot)->context.begin_ticks,
		.slot = slot};
	if (mr_vec_push(&drain->candidates, candidate) < 0) {
		mr_fail(ENOMEM, "no memory for the list of packets");
		mr_drain_stop(drain);
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct mr_drain_candidate *left = a, *right = b;
	return (left->begin_ticks > right->begin_ticks) - (left->begin_ticks < right->begin_ticks);
}

static void sort_candidates(struct mr_drain *drain)
{
	if (drain->candidates.count > 1)
		qsort(drain->candidates.items, drain->candidates.count,
		      sizeof *drain->candidates.items, by_begin);
}

void mr_drain_list(struct mr_drain *drain)
{
	struct mr_arena *arena = drain->file->arena;
	uint32_t count = mr_arena_file_slots_in_use(drain->file);
	drain->candidates.count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t word =
			atomic_load_explicit(mr_arena_state(arena, i), memory_order_acquire);
		if (!mr_slot_word_is_owned(word))
			continue; /* there may be no memory */
		uint64_t progress = atomic_load_explicit(&mr_arena_slot(arena, i)->progress,
							 memory_order_acquire);
		if ((uint32_t)progress > sizeof(struct mr_packet))
			remember(drain, i);
	}
	sort_candidates(drain);
}

/* Was the owner killed after it had begun its next packet, but before it handed this one over? Then what
 * is open stands in both. */
static bool has_successor(const struct mr_drain *drain, uint32_t slot)
{
	struct mr_arena *arena = drain->file->arena;
	const struct mr_packet_context *context = &mr_arena_packet(arena, slot)->context;
	for (size_t i = 0; i < drain->candidates.count; i++) {
		uint32_t other = drain->candidates.items[i].slot;
		const struct mr_packet_context *next = &mr_arena_packet(arena, other)->context;
		if (next->process == context->process && next->tid == context->tid &&
		    next->kind == context->kind && next->depth == context->depth &&
		    mr_arena_slot(arena, other)->progress != 0 &&
		    mr_arena_slot(arena, other)->owner_packet ==
			    mr_arena_slot(arena, slot)->owner_packet + 1)
			return true;
	}
	return false;
}

/* Until when a process may have done something: one that is still there, until recording ended. A recovery
 * comes too late to know: 0. */
static uint64_t when_gone(const struct mr_drain *drain, const struct mr_process_info *info)
{
	if (drain->is_recovery)
		return 0;
	return info->dead ? info->gone_ticks : mr_ticks_now();
}

/* Takes everything that a process left behind, half-full packets included. */
static void take_process(struct mr_drain *drain, size_t index)
{
	struct mr_arena *arena = drain->file->arena;
	const struct mr_process_info *info = &drain->processes->list.items[index];
	uint32_t process = info->process;
	uint64_t gone_ticks = when_gone(drain, info);
	uint32_t count = mr_arena_file_slots_in_use(drain->file);
	drain->candidates.count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t word =
			atomic_load_explicit(mr_arena_state(arena, i), memory_order_acquire);
		if (mr_slot_word_is_owned(word) &&
		    mr_slot_word_process_slot(word) == (uint32_t)info->slot)
			remember(drain, i);
	}
	sort_candidates(drain);
	for (size_t i = 0; i < drain->candidates.count; i++) {
		uint32_t slot = drain->candidates.items[i].slot;
		uint64_t word =
			atomic_load_explicit(mr_arena_state(arena, slot), memory_order_acquire);
		take_packet(drain, slot,
			    mr_slot_word_state(word) == MR_SLOT_FILLING &&
				    !has_successor(drain, slot),
			    gone_ticks);
	}
	mr_streams_release_process(drain->streams, process);
	mr_processes_retire(drain->processes, index);
}

/* Takes the full packets in order of time. An owner's packets must be written in its own order, but the
 * scan may have missed an earlier one that became full behind its back: then the later one waits for
 * the next pass. */
static uint32_t take_full_packets(struct mr_drain *drain, uint32_t *ret_free_slots)
{
	struct mr_arena *arena = drain->file->arena;
	uint32_t count = mr_arena_file_slots_in_use(drain->file);
	uint32_t taken = 0, free_slots = 0;
	drain->candidates.count = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t word =
			atomic_load_explicit(mr_arena_state(arena, i), memory_order_acquire);
		free_slots +=
			i < drain->file->slot_count && mr_slot_word_state(word) == MR_SLOT_FREE;
		if (mr_slot_word_state(word) == MR_SLOT_FULL)
			remember(drain, i);
	}
	sort_candidates(drain);
	uint64_t deadline_ns = mr_ticks_of_system(CLOCK_MONOTONIC) + PASS_NS;
	for (size_t i = 0; i < drain->candidates.count; i++) {
		/* A slow disk must not keep the arena from growing: the rest has time. */
		if (mr_ticks_of_system(CLOCK_MONOTONIC) > deadline_ns)
			break;
		uint32_t slot = drain->candidates.items[i].slot;
		if (!drain->stop_reason &&
		    mr_arena_slot(arena, slot)->owner_packet !=
			    mr_streams_owner_packets(drain->streams, mr_arena_packet(arena, slot)))
			continue;
		take_packet(drain, slot, false, 0);
		taken++;
	}
	*ret_free_slots = free_slots;
	return taken;
}

/* Oldest first: so a later process can continue the streams of an earlier one. */
static void take_dead_processes(struct mr_drain *drain)
{
	struct mr_processes *processes = drain->processes;
	for (size_t i = 0; i < processes->live.count;) {
		size_t index = processes->live.items[i];
		if (processes->list.items[index].dead)
			take_process(drain, index); /* takes it off the list, too */
		else
			i++;
	}
}

uint32_t mr_drain_pass(struct mr_drain *drain)
{
	uint32_t free_slots;
	if (mr_processes_discover(drain->processes) < 0)
		mr_drain_stop(drain);
	mr_processes_check(drain->processes);
	uint32_t taken = take_full_packets(drain, &free_slots);
	take_dead_processes(drain);
	mr_arena_file_grow(drain->file, free_slots);
	return taken;
}

void mr_drain_finish(struct mr_drain *drain)
{
	struct mr_processes *processes = drain->processes;
	if (mr_processes_discover(processes) < 0)
		mr_drain_stop(drain);
	mr_processes_check(processes);
	while (processes->live.count > 0) {
		size_t index = processes->live.items[0];
		struct mr_process_info *info = &processes->list.items[index];
		info->alive_at_end = !info->dead;
		take_process(drain, index);
	}
}

void mr_drain_losses(const struct mr_drain *drain, uint64_t ret_lost[MR_DRAIN_LOSS_REASONS])
{
	memcpy(ret_lost, drain->lost_by_kernel, sizeof drain->lost_by_kernel);
	ret_lost[MR_loss_reason_not_written] += drain->lost_with_packets;
	ret_lost[MR_loss_reason_definition] += drain->definitions_lost_with_packets;
	for (size_t i = 0; i < drain->processes->list.count; i++)
		for (int reason = 0; reason < MR_LOSS_REASONS; reason++)
			ret_lost[reason] += drain->processes->list.items[i].lost[reason];
}

uint64_t mr_drain_lost_definitions(const struct mr_drain *drain)
{
	uint64_t by_reason[MR_DRAIN_LOSS_REASONS];
	mr_drain_losses(drain, by_reason);
	return by_reason[MR_loss_reason_definition];
}

uint64_t mr_drain_refused_events(const struct mr_drain *drain)
{
	const uint64_t most = UINT64_C(1) << 48; /* any process can write it */
	return mr_min(atomic_load_explicit(&drain->file->arena->tables->events_refused,
					   memory_order_relaxed),
		      most);
}

uint64_t mr_drain_lost_events(const struct mr_drain *drain)
{
	static const enum mr_loss_reason reasons[] = {
		MR_loss_reason_no_free_packet,     MR_loss_reason_signal_nesting,
		MR_loss_reason_thread_ending,      MR_loss_reason_too_large,
		MR_loss_reason_kernel_buffer_full, MR_loss_reason_kernel_nesting,
		MR_loss_reason_memory_limit,       MR_loss_reason_not_written,
		MR_loss_reason_device_records,     MR_loss_reason_device_waits};
	uint64_t by_reason[MR_DRAIN_LOSS_REASONS];
	uint64_t lost = mr_drain_refused_events(drain);
	mr_drain_losses(drain, by_reason);
	for (size_t i = 0; i < mr_countof(reasons); i++)
		lost += by_reason[reasons[i]];
	return lost;
}

void mr_drain_fini(struct mr_drain *drain)
{
	mr_vec_free(&drain->candidates);
	free(drain->stop_reason);
	free(drain->copy.packet);
}
