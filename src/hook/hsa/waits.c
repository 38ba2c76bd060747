/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that wait for signals. What a signal stands for is known from the launch that it was given to. Inside of HIP's calls
 * the waiting is HIP's.
 */
#include "hook/hsa/hsa.h"

/* The correlation of a new call that waits for one of these signals; 0: nothing is known of them. */
static uint64_t note_awaited(const uint64_t *signals, uint64_t count)
{
	uint64_t correlation = 0;
	for (uint64_t i = 0; !mr_hsa_caller && i < count; i++) {
		struct mr_handle entry;
		if (!mr_handle_get(&mr_hsa->signal_map, (const void *)signals[i], &entry))
			continue;
		if (!correlation)
			correlation = mr_correlation_new();
		mr_emit(runtime_wait, .correlation = correlation, .awaited = entry.value);
	}
	return correlation;
}

static uint64_t wait_for(enum mr_hsa_number function, const uint64_t *signals, uint64_t count,
			 MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	if (!mr_level_is_on(MR_LEVEL_runtime))
		return mr_hsa_next[function](MR_HSA_ARGUMENTS);
	uint64_t correlation = note_awaited(signals, count);
	mr_hsa_begin(&call, function, correlation);
	uint64_t result = mr_hsa_next[function](MR_HSA_ARGUMENTS);
	mr_hsa_end_about(&call, (int64_t)result,
			 &(struct mr_hsa_about){.object = count > 0 ? signals[0] : 0});
	mr_hsa_harvest_all();
	return result;
}

uint64_t mr_hsa_own_hsa_signal_wait_relaxed(MR_HSA_PARAMETERS)
{
	return wait_for(MR_HSA_hsa_signal_wait_relaxed, &a0, 1, MR_HSA_ARGUMENTS);
}

uint64_t mr_hsa_own_hsa_signal_wait_scacquire(MR_HSA_PARAMETERS)
{
	return wait_for(MR_HSA_hsa_signal_wait_scacquire, &a0, 1, MR_HSA_ARGUMENTS);
}

/* Arguments: how many, the signals ... */
uint64_t mr_hsa_own_hsa_amd_signal_wait_any(MR_HSA_PARAMETERS)
{
	return wait_for(MR_HSA_hsa_amd_signal_wait_any, (const uint64_t *)a1, (uint32_t)a0,
			MR_HSA_ARGUMENTS);
}

/* What is known of the signal goes first: the handle may at once be another's. */
uint64_t mr_hsa_own_hsa_signal_destroy(MR_HSA_PARAMETERS)
{
	struct mr_hsa_call call;
	struct mr_handle unused;
	mr_hsa_begin(&call, MR_HSA_hsa_signal_destroy, 0);
	mr_handle_change(&mr_hsa->signal_map, (const void *)a0, -1, 0, &unused);
	mr_handle_change(&mr_hsa->time_map, (const void *)a0, -1, 0, &unused);
	uint64_t result = mr_hsa_next[MR_HSA_hsa_signal_destroy](MR_HSA_ARGUMENTS);
	mr_hsa_end_about(&call, (int32_t)result, &(struct mr_hsa_about){.object = a0});
	return result;
}
