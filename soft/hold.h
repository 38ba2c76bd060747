/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables held by an op that changes them in place, where TensorFlow lacks the C functions for this: releases
 * 2.19 to 2.21 do not export them. Its C++ functions, which they do, and the layout of a variable in memory take
 * their place; both are known for 2.21.
 */
#pragma once

#include "call.h"

#define MR_HELD_MAX 3

struct mr_held {
	void *variables[MR_HELD_MAX]; /* in the order of their addresses */
	int count;
};

/* Whether this TensorFlow is one that is known here. */
bool mr_hold_possible(void);

/* Locks the variables that are the op's first inputs. Their values are nobody else's when it returns: what was
 * read from them before keeps its value. */
struct mr_held mr_hold(struct mr_call *call, int count, struct mr_tensor *ret_values);

/* Once the kernels that change them are enqueued. */
void mr_held_release(struct mr_held *held);
