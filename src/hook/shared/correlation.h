/* SPDX-License-Identifier: Apache-2.0
 *
 * Correlations: numbers that join a call with what it launched, and a wait with what it waits for. All hooks of a
 * process share one counter, so that a number has one meaning. A forked child continues counting.
 */
#ifndef MR_HOOK_SHARED_CORRELATION_H
#define MR_HOOK_SHARED_CORRELATION_H

#include <stdatomic.h>
#include <stdint.h>

extern _Atomic uint64_t mr_last_correlation __attribute__((visibility("hidden")));

/* Never 0, which stands for none. */
static inline uint64_t mr_correlation_new(void)
{
	return atomic_fetch_add_explicit(&mr_last_correlation, 1, memory_order_relaxed) + 1;
}

#endif
