/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution is a matrix product once each window of the image is a row. spread() makes these rows;
 * gather() adds them up to an image again, which computes gradients.
 * Images are batch x height x width x channels.
 */
long image_size(const struct mr_window *w)
{
	return (long)w->height * w->width * w->channels;
}

long window_size(const struct mr_window *w)
{
	return (long)w->rows * w->columns * w->channels;
}

/* One task per row of windows. */
__kernel void spread(TENSOR(image), TENSOR(rows), struct mr_window w)
{
	int task = get_global_id(0), y = task % w.output_height;
	__global const float *image = AT(float, image) + task / w.output_height * image_size(&w);
	__global float *to = AT(float, rows) + (long)task * w.output_width * window_size(&w);

	for (int x = 0; x < w.output_width; x++) {
		int top = y * w.row_stride - w.top, left = x * w.column_stride - w.left;

		for (int i = 0; i < w.rows * w.columns; i++) {
			int row = top + i / w.columns * w.row_dilation;
			int column = left + i % w.columns * w.column_dilation;
			long at = ((long)row * w.width + column) * w.channels;

			if (row >= 0 && row < w.height && column >= 0 && column < w.width) {
				for (int c = 0; c < w.channels; c++)
					to[c] = image[at + c];
			} else {
				for (int c = 0; c < w.channels; c++)
					to[c] = 0;
			}
			to += w.channels;
		}
	}
}

/* Number of the window that has `position` at its place `i`, or -1. */
int window_at(int position, int i, int dilation, int padding, int stride, int count)
{
	int begin = position + padding - i * dilation;

	if (begin < 0 || begin % stride != 0 || begin / stride >= count)
		return -1;
	return begin / stride;
}

/* Adds row `i` of all windows of a row of windows to a row of the image. */
void gather_row(__global const float *windows, __global float *to, int i, const struct mr_window *w)
{
	for (int column = 0; column < w->width; column++, to += w->channels) {
		for (int j = 0; j < w->columns; j++) {
			int x = window_at(column, j, w->column_dilation, w->left, w->column_stride,
					  w->output_width);
			long at = x * window_size(w) + (i * w->columns + j) * w->channels;

			for (int c = 0; x >= 0 && c < w->channels; c++)
				to[c] += windows[at + c];
		}
	}
}

/* One task per row of the image. */
__kernel void gather(TENSOR(rows), TENSOR(image), struct mr_window w)
{
	int task = get_global_id(0), row = task % w.height;
	__global const float *rows =
		AT(float, rows) +
		(long)(task / w.height) * w.output_height * w.output_width * window_size(&w);
	__global float *to = AT(float, image) + (long)task * w.width * w.channels;

	for (int i = 0; i < w.width * w.channels; i++)
		to[i] = 0;
	for (int i = 0; i < w.rows; i++) {
		int y = window_at(row, i, w.row_dilation, w.top, w.row_stride, w.output_height);

		if (y >= 0)
			gather_row(rows + y * w.output_width * window_size(&w), to, i, &w);
	}
}
