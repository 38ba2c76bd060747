/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals: begun and ended by the same thread, written as one event at their end. While open, an
 * interval also stands in the slot beside the thread's packet, so that record can say what a killed or
 * hanging program was doing. The caller keeps the struct between begin and end; nothing is searched.
 */
#ifndef MR_RECORD_INTERVAL_H
#define MR_RECORD_INTERVAL_H

#include "record/recorder.h"

struct mr_interval {
	uint64_t start_ticks;
	uint64_t step;
	uint32_t what;  /* node, function ...: whatever its event calls it */
	uint32_t depth; /* intervals open on the thread when it began */
	uint32_t tid;   /* thread that began it */
};

/* The rare cases: first event of the thread, no packet, inside a signal handler. */
struct mr_interval mr_interval_begin_slow(uint8_t event, uint32_t what, uint64_t step);

/* Forgets an interval whose end could not be recorded. */
void mr_interval_abandon(const struct mr_interval *interval);

static inline struct mr_interval mr_writer_open(struct mr_writer *writer, uint8_t event,
						uint32_t what, uint64_t step)
{
	struct mr_interval interval = {.start_ticks = mr_ticks_now(),
				       .step = step,
				       .what = what,
				       .depth = writer->open_count,
				       .tid = mr_self.tid};
	struct mr_slot *slot = writer->slot;
	if (mr_likely(interval.depth < MR_OPEN_INTERVALS))
		slot->open[interval.depth] = (struct mr_open_interval){
			.start_ticks = interval.start_ticks, .step = step, .what = what, .event = event};
	writer->open_count = interval.depth + 1;
	uint32_t committed = (uint32_t)(writer->cursor - mr_writer_packet(writer));
	atomic_store_explicit(&slot->progress, mr_slot_progress(committed, interval.depth + 1),
			      memory_order_release);
	return interval;
}

/* Begins an interval that is to become `event` (MR_EVENT_node_interval ...). */
static inline struct mr_interval mr_interval_begin(uint8_t event, uint32_t what, uint64_t step)
{
	struct mr_thread *thread = &mr_self;
	if (mr_unlikely(thread->generation != mr_this_process.generation || thread->depth != 0 ||
			!thread->writers[0].cursor))
		return mr_interval_begin_slow(event, what, step);
	thread->depth = 1;
	mr_signal_fence();
	struct mr_interval interval = mr_writer_open(&thread->writers[0], event, what, step);
	mr_signal_fence();
	thread->depth = 0;
	return interval;
}

/* How many intervals stay open after this one ends. One that was begun elsewhere closes nothing. */
static inline uint32_t mr_interval_depth_after(const struct mr_interval *interval)
{
	uint32_t open = mr_self.writers[mr_self.depth - 1].open_count;
	return interval->tid == mr_self.tid && interval->depth < open ? interval->depth : open;
}

/* Writes an execution whose times are known: given by the program, or too long for 48 bits. */
static inline void mr_node_interval_at(uint32_t node, uint64_t step, uint32_t clock, uint64_t start,
				       uint64_t end)
{
	mr_emit(node_interval_at, .node = node, .step = (uint32_t)step, .clock = clock,
		.start = start, .end = end);
}

static inline void mr_node_interval_end(const struct mr_interval *interval)
{
	uint64_t now;
	uint8_t *at = mr_reserve(MR_EVENT_node_interval, sizeof(struct mr_event_node_interval), &now);
	if (mr_unlikely(!at)) {
		mr_interval_abandon(interval);
		return;
	}
	uint64_t duration = now - interval->start_ticks;
	if (mr_unlikely(duration > MR_U48_MAX)) {
		mr_cancel();
		mr_node_interval_at(interval->what, interval->step, mr_arena->user_clock,
				    interval->start_ticks, now);
		return;
	}
	const struct mr_event_node_interval payload = {.node = interval->what,
						       .step = (uint32_t)interval->step,
						       .duration_ticks = mr_u48_from(duration)};
	memcpy(at, &payload, sizeof payload);
	mr_commit_open(at + sizeof payload, mr_interval_depth_after(interval));
}

static inline void mr_step_interval_end(const struct mr_interval *interval)
{
	uint64_t now;
	uint8_t *at = mr_reserve(MR_EVENT_step_interval, sizeof(struct mr_event_step_interval), &now);
	if (mr_unlikely(!at)) {
		mr_interval_abandon(interval);
		return;
	}
	const struct mr_event_step_interval payload = {
		.step = interval->step, .duration_ticks = now - interval->start_ticks};
	memcpy(at, &payload, sizeof payload);
	mr_commit_open(at + sizeof payload, mr_interval_depth_after(interval));
}

#endif
