/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling: one task per row of windows; for gradients, where windows may overlap, one task per image.
 */

/* Clips a window to the image: rows and columns from `begin` up to, but not including, `end`. */
struct part {
	int2 begin, end;
};

struct part inside(const struct mr_window *w, int y, int x)
{
	int2 begin = (int2)(y * w->row_stride - w->top, x * w->column_stride - w->left);
	int2 end = begin + (int2)(w->rows, w->columns);
	struct part part = {max(begin, (int2)(0, 0)), min(end, (int2)(w->height, w->width))};

	return part;
}

__kernel void max_pool(TENSOR(image), TENSOR(result), struct mr_window w)
{
	int task = get_global_id(0);
	__global const float *image = AT(float, image) + task / w.output_height * image_size(&w);
	__global float *to = AT(float, result) + (long)task * w.output_width * w.channels;

	for (int x = 0; x < w.output_width; x++, to += w.channels) {
		struct part part = inside(&w, task % w.output_height, x);

		for (int c = 0; c < w.channels; c++)
			to[c] = -INFINITY;
		for (int row = part.begin.x; row < part.end.x; row++) {
			for (int column = part.begin.y; column < part.end.y; column++) {
				int at = (row * w.width + column) * w.channels;

				for (int c = 0; c < w.channels; c++)
					to[c] = image[at + c] > to[c] ? image[at + c] : to[c];
			}
		}
	}
}

__kernel void average_pool(TENSOR(image), TENSOR(result), struct mr_window w)
{
	int task = get_global_id(0);
	__global const float *image = AT(float, image) + task / w.output_height * image_size(&w);
	__global float *to = AT(float, result) + (long)task * w.output_width * w.channels;

	for (int x = 0; x < w.output_width; x++, to += w.channels) {
		struct part part = inside(&w, task % w.output_height, x);
		int2 size = part.end - part.begin;

		for (int c = 0; c < w.channels; c++)
			to[c] = 0;
		for (int row = part.begin.x; row < part.end.x; row++) {
			for (int column = part.begin.y; column < part.end.y; column++) {
				int at = (row * w.width + column) * w.channels;

				for (int c = 0; c < w.channels; c++)
					to[c] += image[at + c];
			}
		}
		for (int c = 0; c < w.channels; c++)
			to[c] /= size.x * size.y;
	}
}

void clear(__global float *image, int count)
{
	for (int i = 0; i < count; i++)
		image[i] = 0;
}

/* The gradient goes to the first of the largest elements, as on TensorFlow's CPU device. */
__kernel void max_pool_gradient(TENSOR(image), TENSOR(gradient), TENSOR(result), struct mr_window w)
{
	int task = get_global_id(0);
	int size = w.height * w.width * w.channels;
	__global const float *image = AT(float, image) + (long)task * size;
	__global float *to = AT(float, result) + (long)task * size;
	__global const float *gradient =
		AT(float, gradient) + (long)task * w.output_height * w.output_width * w.channels;

	clear(to, size);
	for (int i = 0; i < w.output_height * w.output_width; i++, gradient += w.channels) {
		struct part part = inside(&w, i / w.output_width, i % w.output_width);

		for (int c = 0; c < w.channels; c++) {
			int best = (part.begin.x * w.width + part.begin.y) * w.channels + c;

			for (int row = part.begin.x; row < part.end.x; row++) {
				for (int column = part.begin.y; column < part.end.y; column++) {
					int at = (row * w.width + column) * w.channels + c;
					best = image[at] > image[best] ? at : best;
				}
			}
			to[best] += gradient[c];
		}
	}
}

__kernel void average_pool_gradient(TENSOR(gradient), TENSOR(result), struct mr_window w)
{
	int task = get_global_id(0);
	int size = w.height * w.width * w.channels;
	__global float *to = AT(float, result) + (long)task * size;
	__global const float *gradient =
		AT(float, gradient) + (long)task * w.output_height * w.output_width * w.channels;

	clear(to, size);
	for (int i = 0; i < w.output_height * w.output_width; i++, gradient += w.channels) {
		struct part part = inside(&w, i / w.output_width, i % w.output_width);
		int2 extent = part.end - part.begin;
		float share = 1.0f / (extent.x * extent.y);

		for (int row = part.begin.x; row < part.end.x; row++) {
			for (int column = part.begin.y; column < part.end.y; column++) {
				int at = (row * w.width + column) * w.channels;

				for (int c = 0; c < w.channels; c++)
					to[at + c] += share * gradient[c];
			}
		}
	}
}
