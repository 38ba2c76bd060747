/* SPDX-License-Identifier: Apache-2.0
 *
 * Intervals. The same thread begins and ends an interval; its end writes one event. While it is open,
 * it is also noted in the slot beside the thread's packet, so that record can show what a killed or
 * hanging program was doing. The caller keeps the struct between begin and end, so no search is needed.
 */
#ifndef MR_RECORD_INTERVAL_H
#define MR_RECORD_INTERVAL_H

#include "record/recorder.h"

struct mr_interval {
	uint64_t start_ticks;
	uint64_t step;
	uint32_t what;        /* node, function ..., depending on its event */
	uint32_t depth;       /* intervals open on the thread when it began; UINT32_MAX: not kept */
	uint32_t tid;         /* thread that began it */
} __attribute__((may_alias)); /* the annotation API calls it struct millrace_span */

/* The slow paths, which are always correct. */
void mr_interval_begin_slow(struct mr_interval *ret_interval, uint8_t event, uint32_t what,
			    uint64_t step);
void mr_node_interval_end_slow(const struct mr_interval *interval);

/* Ends an interval begun as MR_EVENT_step_interval. */
void mr_step_interval_end(const struct mr_interval *interval);

/* Ends a call of a runtime on the slow path; see mr_call_interval_end(). */
uint64_t mr_call_interval_end_slow(const struct mr_interval *interval, uint8_t event, void *payload,
				   size_t bytes);

/* Notes an open interval beside the writer's packet. */
static inline void mr_writer_open(struct mr_writer *writer, uint64_t now,
				  struct mr_interval *ret_interval, uint8_t event, uint32_t what,
				  uint64_t step)
{
	struct mr_slot *slot = writer->slot;
	uint32_t depth = writer->open_count;
	ret_interval->start_ticks = now;
	ret_interval->step = step;
	ret_interval->what = what;
	ret_interval->depth = depth;
	ret_interval->tid = mr_self.tid;
	if (mr_likely(depth < MR_OPEN_INTERVALS))
		slot->open[depth] = (struct mr_open_interval){
			.start_ticks = now, .step = step, .what = what, .event = event};
	mr_writer_commit(writer, writer->cursor, depth + 1);
}

/* Begins an interval that will be written as `event`: MR_EVENT_node_interval, MR_EVENT_step_interval ... */
static inline void mr_interval_begin(struct mr_interval *ret_interval, uint8_t event, uint32_t what,
				     uint64_t step)
{
	struct mr_thread *thread = &mr_self;
	if (mr_unlikely(thread->fast_generation != mr_this_process.generation ||
			thread->marks[0] != 0 || !mr_writer_has_packet(&thread->writers[0]))) {
		mr_interval_begin_slow(ret_interval, event, what, step);
		return;
	}
	mr_stack_mark(&thread->marks[0]);
	mr_signal_fence();
	mr_writer_open(&thread->writers[0], mr_ticks_of_counter(), ret_interval, event, what, step);
	mr_signal_fence();
	thread->marks[0] = 0;
}

/* Ends an execution of a node: writes node_interval, or node_interval_at if that cannot hold it. */
static inline void mr_node_interval_end(const struct mr_interval *interval)
{
	const struct mr_writer *writer = &mr_self.writers[0];
	uint64_t now;
	/* Nearly always it is the innermost interval of this thread; the slow path handles the rest. */
	uint8_t *at = NULL;
	if (mr_likely(interval->tid == mr_self.tid && interval->depth + 1 == writer->open_count))
		at = mr_reserve_fast(MR_EVENT_node_interval, sizeof(struct mr_event_node_interval),
				     &now);
	if (mr_unlikely(!at || now - interval->start_ticks > MR_U48_MAX)) {
		if (at)
			mr_self.marks[0] = 0;
		mr_node_interval_end_slow(interval);
		return;
	}
	const struct mr_event_node_interval payload = {
		.node = interval->what,
		.step = (uint32_t)interval->step,
		.duration_ticks = mr_u48_from(now - interval->start_ticks)};
	memcpy(at, &payload, sizeof payload);
	mr_commit_fast(at + sizeof payload, interval->depth);
}

/* All events of calls begin with function and duration. */
static inline void mr_call_set_duration(void *payload, uint64_t duration_ticks)
{
	const struct mr_u48 duration = mr_u48_from(mr_min(duration_ticks, MR_U48_MAX));
	memcpy((char *)payload + offsetof(struct mr_event_runtime_call, duration_ticks), &duration,
	       sizeof duration);
}

/* The fast path of ending a call, up to where its fields go; NULL if the slow path is needed. */
static inline uint8_t *mr_call_reserve_fast(const struct mr_interval *interval, uint8_t event,
					    size_t bytes, uint64_t *ret_now)
{
	if (mr_unlikely(interval->tid != mr_self.tid ||
			interval->depth + 1 != mr_self.writers[0].open_count))
		return NULL;
	return mr_reserve_fast(event, bytes, ret_now);
}

/* mr_call_end(&interval, runtime_call, .function = 7): as mr_call_interval_end(), for those who know the event: its fields
 * go straight into the packet. */
#define mr_call_end(interval, event, ...)                                                          \
	({                                                                                         \
		const struct mr_event_##event payload_ = {__VA_ARGS__};                            \
		uint64_t now_;                                                                     \
		uint8_t *at_ = mr_call_reserve_fast((interval), MR_EVENT_##event, sizeof payload_, \
						    &now_);                                        \
		if (mr_likely(at_ != NULL)) {                                                      \
			struct mr_event_##event done_ = payload_;                                  \
			done_.duration_ticks =                                                     \
				mr_u48_from(mr_min(now_ - (interval)->start_ticks, MR_U48_MAX));   \
			memcpy(at_, &done_, sizeof done_);                                         \
			mr_commit_fast(at_ + sizeof done_, (interval)->depth);                     \
		} else {                                                                           \
			struct mr_event_##event copy_ = payload_;                                  \
			now_ = mr_call_interval_end_slow((interval), MR_EVENT_##event, &copy_,     \
							 sizeof copy_);                            \
		}                                                                                  \
		now_;                                                                              \
	})

/* Ends a call of a runtime that was begun as MR_EVENT_runtime_call. `event` is that event or a more detailed
 * one; `payload` holds its fields except the duration, which is limited to 32 hours. Returns when the call
 * ended, or 0 if the event was lost. */
static inline uint64_t mr_call_interval_end(const struct mr_interval *interval, uint8_t event,
					    void *payload, size_t bytes)
{
	uint64_t now;
	uint8_t *at = mr_call_reserve_fast(interval, event, bytes, &now);
	if (mr_unlikely(!at))
		return mr_call_interval_end_slow(interval, event, payload, bytes);
	/* Not in the payload: a copy of what was stored just now waits for the store. */
	memcpy(at, payload, bytes);
	mr_call_set_duration(at, now - interval->start_ticks);
	mr_commit_fast(at + bytes, interval->depth);
	return now;
}

/* Writes an execution with times measured by the program. */
static inline void mr_node_interval_at(uint32_t node, uint64_t step, uint32_t clock, uint64_t start,
				       uint64_t end)
{
	mr_emit(node_interval_at, .node = node, .step = (uint32_t)step, .clock = clock,
		.start = start, .end = end);
}

#endif
