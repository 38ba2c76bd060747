/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that a program calls, and the graphs that a framework made of each. A function whose calls make it
 * trace and prepare graphs again and again spends its time on that, not on executing them:
 *
 *     train_step   ├ trace ┤├ prepare ┤├ execute ┤   ├ trace ┤├ prepare ┤├ execute ┤        2 calls, 2 graphs
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_FUNCTION_USES_H
#define MR_ANALYSIS_FUNCTION_USES_H

#include "base/vector.h"
#include "model/model.h"

struct mr_function_use {
	uint32_t process;
	uint32_t function; /* string */
	uint32_t call_count;
	uint32_t graph_count;   /* graphs that were called first in the window */
	int64_t call_ns;        /* of all calls, clipped to the window */
	int64_t preparation_ns; /* of it, before a graph was executed for the first time */
};

struct mr_function_uses {
	mr_vec(struct mr_function_use) list; /* those with most graphs first */
};

/* Of the window of the model, and of the processes that are looked at. -ENOMEM. */
int mr_function_uses_make(const struct mr_model *model, struct mr_function_uses *ret_uses);
void mr_function_uses_free(struct mr_function_uses *uses);

#endif
