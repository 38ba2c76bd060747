/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds variables for an op that changes them in place. TensorFlow has C functions for this, but releases 2.19 to
 * 2.21 do not export them. Instead, this file uses C++ functions that they do export, and the memory layout of a
 * variable; both are known for 2.21.
 */
#pragma once

#include "call.h"

#define MR_HELD_MAX 3

struct mr_held {
	void *variables[MR_HELD_MAX]; /* in the order of their addresses */
	int count;
};

/* Is this a TensorFlow whose layout is known here? */
bool mr_hold_possible(void);

/* Locks the variables that are the op's first inputs. When it returns, nobody else shares their values: tensors
 * read from them before keep the old value. */
struct mr_held mr_hold(struct mr_call *call, int count, struct mr_tensor *ret_values);

/* Call it once the device kernels that change them are enqueued. */
void mr_held_release(struct mr_held *held);
