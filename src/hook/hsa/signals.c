/* SPDX-License-Identifier: Apache-2.0
 *
 * The signals that the hook gives to operations: made when they are first needed, then used again and again. Nobody waits
 * for plain ones, so they are reset and looked at in memory, which is one line of the cache for each. A lock that cannot be
 * taken costs signals: they are not used again.
 */
#include "hook/hsa/hsa.h"

enum {
	DEVICE_ONLY = 1, /* attribute of a signal without an interrupt */
};

static uint64_t make(uint64_t attributes)
{
	uint64_t handle = 0;
	return mr_hsa_is_success(mr_hsa_call_next(hsa_amd_signal_create, 1, 0, 0, attributes,
						  (uintptr_t)&handle))
		       ? handle
		       : 0;
}

/* ---- plain ones -------------------------------------------------------------------------------------- */

static void reset(uint64_t handle)
{
	struct mr_hsa_signal_memory *memory = (struct mr_hsa_signal_memory *)handle;
	memory->start_ticks = 0;
	memory->end_ticks = 0;
	atomic_store_explicit(&memory->value, 1, memory_order_release);
}

/* The lock is held: HSA has none of ours. */
static uint64_t make_plain(void)
{
	uint64_t handle = mr_hsa->used_plain < MR_HSA_PLAIN_SIGNALS ? make(DEVICE_ONLY) : 0;
	if (handle)
		mr_hsa->plain[mr_hsa->used_plain++] = handle;
	return handle;
}

uint64_t mr_hsa_plain_take(void)
{
	if (!mr_lock(&mr_hsa->signal_lock))
		return 0;
	uint64_t handle = mr_hsa->free_plain_count > 0
				  ? mr_hsa->free_plain[--mr_hsa->free_plain_count]
				  : make_plain();
	mr_unlock(&mr_hsa->signal_lock);
	if (handle)
		reset(handle);
	return handle;
}

void mr_hsa_plain_give_back(const uint64_t *handles, uint32_t count)
{
	if (!mr_lock(&mr_hsa->signal_lock))
		return;
	memcpy(&mr_hsa->free_plain[mr_hsa->free_plain_count], handles, count * sizeof *handles);
	mr_hsa->free_plain_count += count;
	mr_unlock(&mr_hsa->signal_lock);
}

/* ---- watched ones ------------------------------------------------------------------------------------ */

/* The lock is held. */
static struct mr_hsa_signal *take_watched(void)
{
	struct mr_hsa_signal *signal = mr_hsa->free_watched;
	if (signal)
		mr_hsa->free_watched = signal->next;
	else if (mr_hsa->used_watched < MR_HSA_WATCHED_SIGNALS)
		signal = &mr_hsa->watched[mr_hsa->used_watched++];
	return signal;
}

struct mr_hsa_signal *mr_hsa_watched_take(void)
{
	if (!mr_lock(&mr_hsa->signal_lock))
		return NULL;
	struct mr_hsa_signal *signal = take_watched();
	mr_unlock(&mr_hsa->signal_lock);
	if (!signal)
		return NULL;
	if (signal->handle) {
		mr_hsa_call_next(hsa_signal_store_relaxed, signal->handle, 1);
	} else if (!(signal->handle = make(0))) {
		mr_hsa_watched_give_back(signal);
		return NULL;
	}
	return signal;
}

void mr_hsa_watched_give_back(struct mr_hsa_signal *signal)
{
	if (!mr_lock(&mr_hsa->signal_lock))
		return;
	signal->next = mr_hsa->free_watched;
	mr_hsa->free_watched = signal;
	mr_unlock(&mr_hsa->signal_lock);
}

/* HSA complains on standard error about signals that are left when it is shut down. */
void mr_hsa_signals_destroy(void)
{
	for (uint32_t i = 0; i < mr_hsa->used_plain; i++)
		mr_hsa_call_next(hsa_signal_destroy, mr_hsa->plain[i]);
	for (uint32_t i = 0; i < mr_hsa->used_watched; i++)
		if (mr_hsa->watched[i].handle)
			mr_hsa_call_next(hsa_signal_destroy, mr_hsa->watched[i].handle);
}
