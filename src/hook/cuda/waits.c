/* SPDX-License-Identifier: Apache-2.0
 *
 * What waits for what, from the arguments of calls. Events and streams keep the correlations that they stand for:
 *
 *     launch 5 on A, record E on A          E: 5
 *     B waits for E                         B: 5
 *     launch 9 on B                         9 waits for 5; B: nothing more
 *     synchronise E                         the call waits for 5
 *
 * Whatever is done on the default stream of a context comes after what was launched on its other streams, and they after what
 * was done on it, except streams that are non-blocking. Events that are recorded on it or waited for count, too:
 *
 *     launch 5 on A, record E on the default stream         E: 5
 *     launch 6 on B                                         6 waits for 5
 *     launch 7 on the default stream                        7 waits for 5 and 6
 *     record F on A                                         F: 5 7
 *
 * An operation of a stream waits for the one before it anyway: that is not written.
 */
#include "hook/cuda/cuda.h"

#include "record/own_call.h"

enum {
	EVENTS_AT_ONCE = 256,
};

/* Of two operations of a stream the later one counts. */
static void add(struct mr_cuda_awaited *awaited, const struct mr_cuda_stream *stream,
		uint64_t correlation)
{
	uint32_t i = 0;
	while (i < awaited->count && awaited->operations[i].stream != stream)
		i++;
	if (i == MR_CUDA_AWAITED) {
		mr_count_loss(MR_loss_reason_device_waits, 1);
		return;
	}
	if (i == awaited->count)
		awaited->operations[awaited->count++].correlation = 0;
	awaited->operations[i].stream = stream;
	awaited->operations[i].correlation =
		mr_max(awaited->operations[i].correlation, correlation);
}

static void add_all(struct mr_cuda_awaited *awaited, const struct mr_cuda_awaited *more)
{
	for (uint32_t i = 0; i < more->count; i++)
		add(awaited, more->operations[i].stream, more->operations[i].correlation);
}

static void write_waits(uint64_t correlation, const struct mr_cuda_awaited *awaited)
{
	for (uint32_t i = 0; i < awaited->count; i++)
		mr_emit(runtime_wait, .correlation = correlation,
			.awaited = awaited->operations[i].correlation);
}

/* Takes what a stream waits for, without its own operations. */
static struct mr_cuda_awaited take(struct mr_cuda_stream *stream)
{
	struct mr_cuda_awaited taken = {0};
	if (mr_likely(!stream->awaited.count) || !mr_lock(&stream->lock))
		return taken;
	for (uint32_t i = 0; i < stream->awaited.count; i++)
		if (stream->awaited.operations[i].stream != stream)
			add(&taken, stream->awaited.operations[i].stream,
			    stream->awaited.operations[i].correlation);
	stream->awaited.count = 0;
	mr_unlock(&stream->lock);
	return taken;
}

/* ---- the default stream ---------------------------------------------------------------------------------- */

static struct mr_cuda_stream *default_of(const struct mr_cuda_stream *of)
{
	struct mr_cuda_stream *stream =
		atomic_load_explicit(&mr_cuda->streams, memory_order_acquire);
	while (stream && !(stream->is_default && stream->context_id == of->context_id))
		stream = stream->next;
	return stream;
}

/* The default stream comes after this one, and this one after it. */
static bool is_bound(const struct mr_cuda_stream *stream, const struct mr_cuda_stream *main_stream)
{
	return stream != main_stream && stream->context_id == main_stream->context_id &&
	       !atomic_load_explicit(&stream->is_non_blocking, memory_order_relaxed);
}

static void add_last(struct mr_cuda_awaited *awaited, const struct mr_cuda_stream *stream)
{
	uint64_t last = atomic_load_explicit(&stream->last, memory_order_relaxed);
	if (last)
		add(awaited, stream, last);
}

static void add_waits(struct mr_cuda_awaited *awaited, struct mr_cuda_stream *stream)
{
	if (!stream->awaited.count || !mr_lock(&stream->lock))
		return;
	add_all(awaited, &stream->awaited);
	mr_unlock(&stream->lock);
}

/* What is new on the others since the default stream came after them last; it does so now if `is_done`. */
static void add_news(struct mr_cuda_awaited *awaited, const struct mr_cuda_stream *main_stream,
		     bool is_done)
{
	struct mr_cuda_stream *stream =
		atomic_load_explicit(&mr_cuda->streams, memory_order_acquire);
	for (; stream; stream = stream->next) {
		if (!is_bound(stream, main_stream) ||
		    !atomic_load_explicit(&stream->has_news, memory_order_relaxed))
			continue;
		if (is_done)
			atomic_store_explicit(&stream->has_news, false, memory_order_relaxed);
		add_last(awaited, stream);
		add_waits(awaited, stream);
	}
}

/* Something other than a launch is done on the default stream: what it comes after binds what follows on any stream. */
static void act_on_default(struct mr_cuda_stream *main_stream)
{
	struct mr_cuda_awaited news = {0};
	add_news(&news, main_stream, true);
	if (!mr_lock(&main_stream->lock))
		return;
	add_all(&main_stream->awaited, &news);
	atomic_fetch_add_explicit(&main_stream->waits, 1, memory_order_release);
	mr_unlock(&main_stream->lock);
}

/* What the default stream comes after without having launched anything since. */
static void take_over(struct mr_cuda_stream *stream, struct mr_cuda_stream *main_stream)
{
	uint32_t waits = atomic_load_explicit(&main_stream->waits, memory_order_acquire);
	if (mr_likely(waits == atomic_exchange_explicit(&stream->default_waits, waits,
							memory_order_relaxed)) ||
	    !mr_lock(&main_stream->lock))
		return;
	const struct mr_cuda_awaited awaited = main_stream->awaited;
	mr_unlock(&main_stream->lock);
	if (!awaited.count || !mr_lock(&stream->lock))
		return;
	add_all(&stream->awaited, &awaited);
	mr_unlock(&stream->lock);
}

static void obey_default(struct mr_cuda_stream *stream, uint64_t correlation)
{
	if (stream->is_default) {
		struct mr_cuda_awaited news = {0};
		add_news(&news, stream, true);
		write_waits(correlation, &news);
		return;
	}
	if (atomic_load_explicit(&stream->is_non_blocking, memory_order_relaxed))
		return;
	struct mr_cuda_stream *other = default_of(stream);
	uint64_t last = other ? atomic_load_explicit(&other->last, memory_order_relaxed) : 0;
	if (last &&
	    last != atomic_exchange_explicit(&stream->default_seen, last, memory_order_relaxed))
		mr_emit(runtime_wait, .correlation = correlation, .awaited = last);
	if (other)
		take_over(stream, other);
	atomic_store_explicit(&stream->has_news, true, memory_order_relaxed);
}

void mr_cuda_note_launch(struct mr_cuda_stream *stream, uint64_t correlation)
{
	obey_default(stream, correlation);
	const struct mr_cuda_awaited awaited = take(stream);
	write_waits(correlation, &awaited);
	atomic_store_explicit(&stream->last, correlation, memory_order_relaxed);
}

/* All that a stream comes after now: what it has, what it waits for, and what the default stream's rules add. */
static struct mr_cuda_awaited all_before(struct mr_cuda_stream *stream)
{
	struct mr_cuda_awaited all = {0};
	add_waits(&all, stream);
	add_last(&all, stream);
	if (!stream->is_default) {
		struct mr_cuda_stream *other = default_of(stream);
		if (other && is_bound(stream, other)) {
			if (atomic_load_explicit(&other->waits, memory_order_acquire) !=
			    atomic_load_explicit(&stream->default_waits, memory_order_relaxed))
				add_waits(&all, other);
			if (atomic_load_explicit(&other->last, memory_order_relaxed) !=
			    atomic_load_explicit(&stream->default_seen, memory_order_relaxed))
				add_last(&all, other);
		}
		return all;
	}
	add_news(&all, stream, false);
	return all;
}

/* ---- calls that wait --------------------------------------------------------------------------------------- */

/* A stream has ended when all has that it comes after. If that is its own operations alone, its queue says enough. */
void mr_cuda_note_stream_wait(struct mr_cuda_stream *stream, uint64_t correlation)
{
	const struct mr_cuda_awaited awaited = all_before(stream);
	uint64_t last = atomic_load_explicit(&stream->last, memory_order_relaxed);
	if (awaited.count > (last ? 1u : 0u))
		write_waits(correlation, &awaited);
}

static void write_waits_for_context(uint32_t id, uint64_t correlation)
{
	struct mr_cuda_stream *stream =
		atomic_load_explicit(&mr_cuda->streams, memory_order_acquire);
	bool is_nothing = true;
	for (; stream; stream = stream->next) {
		struct mr_cuda_awaited awaited = {0};
		if (stream->context_id != id)
			continue;
		add_last(&awaited, stream);
		add_waits(&awaited, stream);
		write_waits(correlation, &awaited);
		is_nothing = is_nothing && awaited.count == 0;
	}
	if (is_nothing)
		mr_emit(runtime_wait, .correlation = correlation, .awaited = correlation);
}

/* All streams of the context, and of no other. While there is one context, the process says enough. */
void mr_cuda_note_context_wait(void *context, uint64_t correlation)
{
	uint32_t id;
	const struct mr_cuda_stream *stream =
		atomic_load_explicit(&mr_cuda->streams, memory_order_acquire);
	if (!context || mr_cupti.cuptiGetContextId(context, &id) != MR_CUPTI_SUCCESS)
		return;
	while (stream && stream->context_id == id)
		stream = stream->next;
	if (stream)
		write_waits_for_context(id, correlation);
}

/* ---- events ---------------------------------------------------------------------------------------------- */

/* The lock of making events is held. */
static struct mr_cuda_event *new_event(const void *handle)
{
	if (!mr_cuda->free_events) {
		struct mr_cuda_event *events = mr_own_map(EVENTS_AT_ONCE * sizeof *events);
		for (int i = 0; events && i < EVENTS_AT_ONCE; i++) {
			events[i].next = mr_cuda->free_events;
			mr_cuda->free_events = &events[i];
		}
	}
	struct mr_cuda_event *event = mr_cuda->free_events;
	if (!event)
		return NULL;
	mr_cuda->free_events = event->next;
	const struct mr_handle entry = {.handle = handle, .owner = event, .references = 1};
	mr_handle_put(&mr_cuda->events, &entry);
	return event;
}

static bool find_event(const void *handle, struct mr_cuda_event *ret_copy)
{
	struct mr_handle entry = {0};
	bool is_found = false;
	if (!mr_lock(&mr_cuda->lock))
		return false;
	if (mr_handle_get(&mr_cuda->events, handle, &entry)) {
		*ret_copy = *(struct mr_cuda_event *)entry.owner;
		is_found = true;
	}
	mr_unlock(&mr_cuda->lock);
	return is_found;
}

/* An event stands for all that its stream comes after. If there is nothing, it stands for the call itself, which launches
 * nothing, so that nobody seems to wait for anything. */
void mr_cuda_note_record(void *handle, struct mr_cuda_stream *stream, uint64_t correlation)
{
	if (stream->is_default)
		act_on_default(stream);
	struct mr_cuda_awaited awaited = all_before(stream);
	if (!awaited.count)
		add(&awaited, NULL, correlation);
	struct mr_handle entry = {0};
	if (!mr_lock(&mr_cuda->lock))
		return;
	struct mr_cuda_event *event =
		mr_handle_get(&mr_cuda->events, handle, &entry) ? entry.owner : new_event(handle);
	if (event) {
		event->awaited = awaited;
		event->capture = atomic_load_explicit(&stream->capture, memory_order_relaxed);
	}
	mr_unlock(&mr_cuda->lock);
}

/* A stream that waits for an event of a capture takes part in it. */
void mr_cuda_note_stream_waits(struct mr_cuda_stream *stream, void *handle)
{
	struct mr_cuda_event event;
	if (!find_event(handle, &event))
		return;
	if (event.capture) {
		atomic_store_explicit(&stream->capture, event.capture, memory_order_relaxed);
		return;
	}
	if (stream->is_default)
		act_on_default(stream);
	if (!mr_lock(&stream->lock))
		return;
	add_all(&stream->awaited, &event.awaited);
	atomic_fetch_add_explicit(&stream->waits, 1, memory_order_release);
	mr_unlock(&stream->lock);
	atomic_store_explicit(&stream->has_news, true, memory_order_relaxed);
}

void mr_cuda_note_event_wait(void *handle, uint64_t correlation)
{
	struct mr_cuda_event event;
	if (find_event(handle, &event))
		write_waits(correlation, &event.awaited);
	else /* never recorded: it waits for nothing */
		mr_emit(runtime_wait, .correlation = correlation, .awaited = correlation);
}

void mr_cuda_note_event_gone(void *handle)
{
	struct mr_handle entry = {0};
	if (!mr_lock(&mr_cuda->lock))
		return;
	if (mr_handle_change(&mr_cuda->events, handle, -1, 0, &entry)) {
		struct mr_cuda_event *event = entry.owner;
		event->next = mr_cuda->free_events;
		mr_cuda->free_events = event;
	}
	mr_unlock(&mr_cuda->lock);
}

void mr_cuda_note_capture_end(struct mr_cuda_stream *ended)
{
	uint64_t capture = atomic_load_explicit(&ended->capture, memory_order_relaxed);
	struct mr_cuda_stream *stream =
		atomic_load_explicit(&mr_cuda->streams, memory_order_acquire);
	for (; stream && capture; stream = stream->next)
		if (atomic_load_explicit(&stream->capture, memory_order_relaxed) == capture)
			atomic_store_explicit(&stream->capture, 0, memory_order_relaxed);
}
