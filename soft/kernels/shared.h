/* SPDX-License-Identifier: Apache-2.0
 *
 * Definitions shared by the host and the device kernels. The host compiles this file as C; it is also
 * the beginning of the OpenCL C program.
 */
#ifndef MR_SOFT_SHARED_H
#define MR_SOFT_SHARED_H

#define MR_RANK_MAX    8    /* dimensions of a tensor */
#define MR_OPERANDS    3    /* tensors in a layout */
#define MR_RUN         1024 /* maximum elements of a layout per work-item */
#define MR_TILE_HEIGHT 4    /* of a matrix product, per work-item */
#define MR_TILE_WIDTH  16
#define MR_SQUARE      16 /* of a matrix to be transposed, per work-item */
#define MR_COLUMNS     16 /* of a matrix whose columns are summed, per work-item */

/* See soft/layout.h. */
struct mr_layout {
	int rank;
	int count; /* elements in the box */
	int extents[MR_RANK_MAX];
	int strides[MR_OPERANDS][MR_RANK_MAX];
};

/* How convolution and pooling slide a window over images of batch x height x width x channels. */
struct mr_window {
	int batch, height, width, channels;
	int rows, columns; /* of the window */
	int output_height, output_width;
	int row_stride, column_stride;     /* from window to window */
	int row_dilation, column_dilation; /* within a window */
	int top, left;                     /* padding */
};

#endif
