/* SPDX-License-Identifier: Apache-2.0 */
#include "record/stack.h"

#include <signal.h>

#include "base/macros.h"
#include "record/own_call.h"
#include "record/peek.h"

enum {
	/* A mark is made by a function, or by one that has inlined it; who compares with it is a few calls further down.
	 * A signal's frame alone is larger than those. */
	CALLS_BYTES = 512,
	STACK_MOST_BYTES = 8 << 20,
};

static bool is_within(uintptr_t position, const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) &&
	       position - (uintptr_t)stack->ss_sp <= stack->ss_size;
}

/* Whether there is memory all the way. */
static bool is_one_stack(uintptr_t mark, uintptr_t now)
{
	struct mr_peek peek = {.count = 0};
	uintptr_t low = mr_min(mark, now), high = mr_max(mark, now);
	return high - low <= STACK_MOST_BYTES && mr_peek_is_possible() &&
	       mr_peek_bytes(&peek, (const void *)low, high - low);
}

bool mr_stack_is_left(uintptr_t mark)
{
	const uintptr_t now = (uintptr_t)__builtin_frame_address(0);
	stack_t signal_stack;
	if (mr_own_call(SYS_sigaltstack, NULL, &signal_stack) != 0)
		return false;
	bool was_there = is_within(mark, &signal_stack), is_there = is_within(now, &signal_stack);
	if (was_there != is_there)
		return was_there; /* a handler was left; or it is running */
	return now + CALLS_BYTES >= mark && is_one_stack(mark, now);
}
