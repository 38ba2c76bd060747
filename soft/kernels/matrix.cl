/* SPDX-License-Identifier: Apache-2.0
 *
 * c = a b, dense and in row-major order, for a of height x depth and b of depth x width. The element of a
 * at (i, k) is at i * row_stride + k * depth_stride, so that a may be stored transposed.
 *
 * Each work-item computes a tile of c, which it keeps in vector registers:
 *
 *                            columns of b
 *                      ┌───────────┬───────────┐
 *              rows of │ 8 floats  │ 8 floats  │  += a[row][k] * b[k][...]   for each k
 *                    a │    ...    │    ...    │
 *                      └───────────┴───────────┘
 */
void full_tile(__global const float *a, __global const float *b, __global float *c, int width,
	       int depth, int row_stride, int depth_stride)
{
	float8 left[MR_TILE_HEIGHT], right[MR_TILE_HEIGHT];

#pragma unroll
	for (int row = 0; row < MR_TILE_HEIGHT; row++)
		left[row] = right[row] = 0;
	for (int k = 0; k < depth; k++) {
		float8 b_left = vload8(0, b), b_right = vload8(1, b);

#pragma unroll
		for (int row = 0; row < MR_TILE_HEIGHT; row++) {
			float value = a[(long)row * row_stride];
			left[row] += value * b_left;
			right[row] += value * b_right;
		}
		a += depth_stride;
		b += width;
	}
#pragma unroll
	for (int row = 0; row < MR_TILE_HEIGHT; row++) {
		vstore8(left[row], 0, c + (long)row * width);
		vstore8(right[row], 1, c + (long)row * width);
	}
}

/* At the right and lower edges of c. */
void partial_tile(__global const float *a, __global const float *b, __global float *c, int rows,
		  int columns, int width, int depth, int row_stride, int depth_stride)
{
	for (int row = 0; row < rows; row++) {
		float sums[MR_TILE_WIDTH];

		for (int column = 0; column < columns; column++)
			sums[column] = 0;
		for (int k = 0; k < depth; k++) {
			float value = a[(long)row * row_stride + (long)k * depth_stride];

			for (int column = 0; column < columns; column++)
				sums[column] += value * b[(long)k * width + column];
		}
		for (int column = 0; column < columns; column++)
			c[(long)row * width + column] = sums[column];
	}
}

__kernel void sgemm(TENSOR(a), TENSOR(b), TENSOR(c), int height, int width, int depth,
		    int row_stride, int depth_stride)
{
	int column = get_global_id(0) * MR_TILE_WIDTH, row = get_global_id(1) * MR_TILE_HEIGHT;
	__global const float *a_tile = AT(float, a) + (long)row * row_stride;
	__global const float *b_tile = AT(float, b) + column;
	__global float *c_tile = AT(float, c) + (long)row * width + column;

	if (column + MR_TILE_WIDTH <= width && row + MR_TILE_HEIGHT <= height)
		full_tile(a_tile, b_tile, c_tile, width, depth, row_stride, depth_stride);
	else
		partial_tile(a_tile, b_tile, c_tile, min(MR_TILE_HEIGHT, height - row),
			     min(MR_TILE_WIDTH, width - column), width, depth, row_stride,
			     depth_stride);
}

/* Works in squares, so that accesses stay local in both matrices. */
__kernel void transpose(TENSOR(x), TENSOR(y), int height, int width)
{
	int left = get_global_id(0) * MR_SQUARE, top = get_global_id(1) * MR_SQUARE;
	__global const float *x = AT(float, x);
	__global float *y = AT(float, y);

	for (int column = left; column < min(left + MR_SQUARE, width); column++)
		for (int row = top; row < min(top + MR_SQUARE, height); row++)
			y[(long)column * height + row] = x[(long)row * width + column];
}
