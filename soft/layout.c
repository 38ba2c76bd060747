/* SPDX-License-Identifier: Apache-2.0 */
#include "layout.h"

/* Is one step along the last side of the layout the same as `extent` steps along the new
 * one? */
static bool continues(const struct mr_layout *layout, int64_t extent,
		      const int32_t strides[MR_OPERANDS])
{
	if (layout->rank == 0)
		return false;
	for (int i = 0; i < MR_OPERANDS; i++) {
		if (layout->strides[i][layout->rank - 1] != strides[i] * extent)
			return false;
	}
	return true;
}

bool mr_layout_add(struct mr_layout *layout, int64_t extent, const int32_t strides[MR_OPERANDS])
{
	layout->count *= (int32_t)extent;
	if (extent == 1)
		return true;
	if (continues(layout, extent, strides)) {
		layout->extents[layout->rank - 1] *= (int32_t)extent;
	} else {
		if (layout->rank == MR_RANK_MAX)
			return false;
		layout->extents[layout->rank++] = (int32_t)extent;
	}
	for (int i = 0; i < MR_OPERANDS; i++)
		layout->strides[i][layout->rank - 1] = strides[i];
	return true;
}

int mr_layout_tasks(const struct mr_layout *layout)
{
	int extent = layout->rank > 0 ? layout->extents[layout->rank - 1] : 1;

	return extent > 0 ? layout->count / extent * ((extent + MR_RUN - 1) / MR_RUN) : 0;
}

void mr_strides_dense(int rank, const int64_t *extents, int32_t *ret_strides)
{
	int32_t stride = 1;

	for (int i = rank - 1; i >= 0; i--) {
		ret_strides[i] = stride;
		stride *= (int32_t)extents[i];
	}
}
