/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include <stdatomic.h>

#include "base/macros.h"

static const char *_Atomic what_now = "";
static _Atomic uint64_t done_now, total_now;

void mr_progress_begin(const char *what, uint64_t total)
{
	atomic_store_explicit(&done_now, 0, memory_order_relaxed);
	atomic_store_explicit(&total_now, total, memory_order_relaxed);
	atomic_store_explicit(&what_now, what, memory_order_relaxed);
}

void mr_progress_advance(uint64_t done)
{
	atomic_fetch_add_explicit(&done_now, done, memory_order_relaxed);
}

struct mr_progress mr_progress_now(void)
{
	struct mr_progress now = {
		.what = atomic_load_explicit(&what_now, memory_order_relaxed),
		.done = atomic_load_explicit(&done_now, memory_order_relaxed),
		.total = atomic_load_explicit(&total_now, memory_order_relaxed),
	};

	now.done = mr_min(now.done, now.total);
	return now;
}
