/* SPDX-License-Identifier: Apache-2.0
 *
 * How a device kernel walks over tensors: a box of elements, and for each tensor the distance between
 * neighbours along each side of the box. Broadcasting, transposing, tiling, slicing and reducing all
 * work this way; they differ only in the distances. For [2,3] + [3]:
 *
 *     extents   2  3
 *     strides   3  1     first operand
 *               0  1     second operand: the same row again
 *
 * Sides are added from the outermost to the innermost. Neighbouring sides that can be walked as one
 * are merged, and sides of one element are dropped, so that device kernels divide as little as possible.
 */
#pragma once

#include "kernels/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* A box of one element. */
static inline struct mr_layout mr_layout_empty(void)
{
	return (struct mr_layout){.count = 1};
}

/* False if the box has too many sides. */
bool mr_layout_add(struct mr_layout *layout, int64_t extent, const int32_t strides[MR_OPERANDS]);

/* The number of work-items that walk over it, each along one row or a part of one. */
int mr_layout_tasks(const struct mr_layout *layout);

/* Distances in a dense tensor. */
void mr_strides_dense(int rank, const int64_t *extents, int32_t *ret_strides);
