/* SPDX-License-Identifier: Apache-2.0
 *
 * HIP's own threads. If AMD_DIRECT_DISPATCH=0, each stream has one, a worker, which gives the stream's operations to the
 * device in their order. HIP makes it inside of a call, which returns only when the worker has got its queue and memory:
 *
 *     program's thread   ├─ hipStreamCreate() ──────────────────────────┤ handle of the stream
 *     worker                     ├ hsa_amd_memory_pool_allocate() ┤          ├ dispatch ┤ ...
 *
 * So a thread without a call that allocates while just one call of HIP is open whose stream has no worker yet is that
 * stream's. If there are several such calls, or one that may make workers of other streams, its stream is not known.
 *
 * Nothing of this is done otherwise. All changing data is in memory that forked children find empty.
 */
#include <stdlib.h>

#include "hook/hsa/hsa.h"
#include "record/own_call.h"

enum {
	OPEN_CALLS = 256, /* more are not noted */
	WORKERS = 4096,   /* likewise */
};

struct open_call {
	const struct mr_hsa_caller *caller; /* NULL: unused */
	uint32_t stream;
	struct mr_hsa_worker *worker; /* that it has made; NULL: none */
};

struct state {
	_Atomic uintptr_t lock;
	uint32_t open_end; /* of those that were ever used */
	uint32_t worker_count;
	struct open_call open[OPEN_CALLS];
	struct mr_hsa_worker workers[WORKERS];
};

_Thread_local struct mr_hsa_worker *mr_hsa_worker __attribute__((tls_model("initial-exec")));

static _Atomic(struct state *) state_;

/* As HIP reads it. */
bool mr_hsa_has_workers(void)
{
	enum {
		UNKNOWN,
		NO,
		YES
	};
	static _Atomic int known;
	int answer = atomic_load_explicit(&known, memory_order_relaxed);
	if (mr_unlikely(answer == UNKNOWN)) {
		const char *value = getenv("AMD_DIRECT_DISPATCH");
		answer = value && strcmp(value, "true") != 0 && atoi(value) == 0 ? YES : NO;
		atomic_store_explicit(&known, answer, memory_order_relaxed);
	}
	return answer == YES;
}

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

/* The lock is held. NULL: there is none. */
static struct open_call *find_open(struct state *state, const struct mr_hsa_caller *caller)
{
	for (uint32_t i = 0; i < state->open_end; i++)
		if (state->open[i].caller == caller)
			return &state->open[i];
	return NULL;
}

void mr_hsa_caller_begin(const struct mr_hsa_caller *caller, uint32_t stream)
{
	struct state *state = state_of();
	if (!state || !mr_lock(&state->lock))
		return;
	struct open_call *place = find_open(state, NULL);
	if (!place && state->open_end < OPEN_CALLS)
		place = &state->open[state->open_end++];
	if (place)
		*place = (struct open_call){caller, stream, NULL};
	mr_unlock(&state->lock);
}

void mr_hsa_caller_end(const struct mr_hsa_caller *caller, const void *handle)
{
	struct state *state = state_of();
	if (!state || !mr_lock(&state->lock))
		return;
	struct open_call *call = find_open(state, caller);
	if (call && call->worker)
		atomic_store(&call->worker->handle, handle);
	if (call)
		*call = (struct open_call){0};
	mr_unlock(&state->lock);
}

/* The lock is held. */
static bool has_worker(const struct state *state, uint32_t stream)
{
	for (uint32_t i = 0; i < state->worker_count; i++)
		if (atomic_load_explicit(&state->workers[i].stream, memory_order_relaxed) == stream)
			return true;
	return false;
}

/* The lock is held. The call that has made this thread; NULL: it is not known. */
static struct open_call *find_maker(struct state *state)
{
	struct open_call *maker = NULL;
	for (uint32_t i = 0; i < state->open_end; i++) {
		struct open_call *call = &state->open[i];
		bool may_be_maker = call->caller && (call->stream == MR_HSA_OTHER_STREAMS ||
						     !has_worker(state, call->stream));
		if (may_be_maker && maker)
			return NULL;
		if (may_be_maker)
			maker = call;
	}
	return maker && maker->stream != MR_HSA_OTHER_STREAMS ? maker : NULL;
}

/* The lock is held. */
static struct mr_hsa_worker *new_worker(struct state *state)
{
	struct open_call *maker = find_maker(state);
	if (!maker || state->worker_count == WORKERS)
		return NULL;
	struct mr_hsa_worker *worker = &state->workers[state->worker_count++];
	atomic_store(&worker->stream, maker->stream);
	maker->worker = worker;
	return worker;
}

void mr_hsa_worker_note(void)
{
	if (mr_hsa_worker || !mr_hsa_has_workers())
		return;
	struct state *state = state_of();
	if (!state || !mr_lock(&state->lock))
		return;
	mr_hsa_worker = new_worker(state);
	mr_unlock(&state->lock);
}
