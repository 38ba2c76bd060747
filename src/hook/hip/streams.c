/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known of HIP's streams and events. It lives in memory that forked children find empty.
 */
#include "hook/hip/hip.h"
#include "record/own_call.h"

struct state {
	_Atomic uint32_t changes;
	_Atomic uint32_t last_number;
	_Atomic uintptr_t lock;          /* of making streams */
	struct mr_handle_map stream_map; /* owner: struct mr_hip_stream */
	struct mr_handle_map event_map;  /* value: correlation */
	struct mr_hip_stream *unused;
	struct mr_hip_stream default_stream; /* NULL, which no map can hold */
};

struct memo {
	const void *handle;
	uint64_t generation;
	uint32_t changes;
	struct mr_hip_stream *stream;
};

static _Atomic(struct state *) state_;
static _Thread_local struct memo memo __attribute__((tls_model("initial-exec")));

static struct state *state_of(void)
{
	struct state *state = atomic_load_explicit(&state_, memory_order_acquire);
	if (mr_likely(state != NULL))
		return state;
	struct state *made = mr_own_map(sizeof *made);
	if (!made || mr_own_call(SYS_madvise, made, sizeof *made, MADV_WIPEONFORK) != 0)
		return NULL;
	if (atomic_compare_exchange_strong(&state_, &state, made))
		return made;
	mr_own_call(SYS_munmap, made, sizeof *made);
	return state;
}

/* Devices have default streams of their own; it matters only if each has a thread. Nothing has an address like these. */
const void *mr_hip_default_stream(uint32_t device)
{
	return mr_likely(!mr_hsa_has_workers()) ? NULL
						: (const void *)(UINTPTR_MAX - (device & 0xffff));
}

uint32_t mr_hip_stream_number_new(void)
{
	struct state *state = state_of();
	return state ? atomic_fetch_add_explicit(&state->last_number, 1, memory_order_relaxed) + 1
		     : 0;
}

/* The lock is held. */
static struct mr_hip_stream *new_stream(struct state *state, const void *handle, uint32_t number,
					uint32_t device)
{
	struct mr_hip_stream *stream = state->unused;
	if (stream)
		state->unused = stream->next;
	else
		stream = mr_own_map(sizeof *stream);
	if (!stream)
		return NULL;
	atomic_store_explicit(&stream->last_correlation, 0, memory_order_relaxed);
	atomic_store_explicit(&stream->next_correlation, 0, memory_order_relaxed);
	stream->number = number;
	stream->device = device;
	const struct mr_handle entry = {.handle = handle, .owner = stream, .references = 1};
	mr_handle_put(&state->stream_map, &entry);
	return stream;
}

static struct mr_hip_stream *look_up(struct state *state, const void *handle)
{
	struct mr_handle entry = {0};
	if (!handle)
		return &state->default_stream;
	if (mr_handle_get(&state->stream_map, handle, &entry) || !mr_lock(&state->lock))
		return entry.owner;
	struct mr_hip_stream *stream =
		mr_handle_get(&state->stream_map, handle, &entry)
			? entry.owner
			: new_stream(state, handle, mr_hip_stream_number_new(), mr_hip_device);
	mr_unlock(&state->lock);
	return stream;
}

struct mr_hip_stream *mr_hip_stream_make(const void *handle, uint32_t number, uint32_t device)
{
	struct state *state = state_of();
	if (!state || !handle || !mr_lock(&state->lock))
		return NULL;
	struct mr_hip_stream *stream = new_stream(state, handle, number, device);
	mr_unlock(&state->lock);
	atomic_fetch_add_explicit(&state->changes, 1, memory_order_release);
	return stream;
}

struct mr_hip_stream *mr_hip_stream_find(const void *handle)
{
	struct state *state = state_of();
	if (!state)
		return NULL;
	uint32_t changes = atomic_load_explicit(&state->changes, memory_order_acquire);
	if (mr_likely(memo.stream && memo.handle == handle && memo.changes == changes &&
		      memo.generation == mr_this_process.generation))
		return memo.stream;
	struct mr_hip_stream *stream = look_up(state, handle);
	memo = (struct memo){handle, mr_this_process.generation, changes, stream};
	return stream;
}

void mr_hip_stream_end(const void *handle)
{
	struct state *state = state_of();
	struct mr_handle entry;
	if (!state || !handle || !mr_handle_change(&state->stream_map, handle, -1, 0, &entry))
		return;
	atomic_fetch_add_explicit(&state->changes, 1, memory_order_release);
	struct mr_hip_stream *stream = entry.owner;
	if (!mr_lock(&state->lock))
		return;
	stream->next = state->unused;
	state->unused = stream;
	mr_unlock(&state->lock);
}

void mr_hip_event_record(const void *event, const struct mr_hip_stream *stream)
{
	struct state *state = state_of();
	const struct mr_handle entry = {
		.handle = event,
		.value = stream ? atomic_load_explicit(&stream->last_correlation,
						       memory_order_relaxed)
				: 0,
		.references = 1};
	if (state && event)
		mr_handle_put(&state->event_map, &entry);
}

uint64_t mr_hip_event_awaited(const void *event)
{
	struct state *state = state_of();
	struct mr_handle entry;
	return state && event && mr_handle_get(&state->event_map, event, &entry) ? entry.value : 0;
}

void mr_hip_event_end(const void *event)
{
	struct state *state = state_of();
	struct mr_handle unused;
	if (state && event)
		mr_handle_change(&state->event_map, event, -1, 0, &unused);
}
