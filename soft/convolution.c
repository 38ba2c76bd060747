/* SPDX-License-Identifier: Apache-2.0
 *
 * Convolution as a matrix product. With P windows, each of K = rows x columns x channels
 * elements, and F filters:
 *
 *     result (P x F)          = spread image (P x K) · filter (K x F)
 *     filter gradient (K x F) = spread image transposed · gradient (P x F)
 *     image gradient          = gather of: gradient (P x F) · filter transposed (F x K)
 *
 * TensorFlow stores filters as rows x columns x channels x F, which already is the K x F matrix.
 */
#include "matrix.h"
#include "ops.h"
#include "window.h"

static int64_t windows_of(const struct mr_window *window)
{
	return (int64_t)window->batch * window->output_height * window->output_width;
}

static int64_t elements_of(const struct mr_window *window)
{
	return (int64_t)window->rows * window->columns * window->channels;
}

static bool is_pointwise(const struct mr_window *window)
{
	return window->rows == 1 && window->columns == 1 && window->row_stride == 1 &&
	       window->column_stride == 1 && window->top == 0 && window->left == 0 &&
	       window->output_height == window->height && window->output_width == window->width;
}

/* The image with one row per window; the image itself if it already has that shape. */
static struct mr_tensor spread(struct mr_call *call, const struct mr_tensor *image,
			       const struct mr_window *window)
{
	if (is_pointwise(window))
		return *image;
	struct mr_tensor rows = mr_call_temporary(call, windows_of(window) * elements_of(window));
	mr_call_launch(call, "spread", mr_range_tasks(window->batch * window->output_height, 1),
		       MR_BUFFER(*image), MR_BUFFER(rows), MR_STRUCT(*window));
	return rows;
}

static struct mr_window window_of(struct mr_call *call, const int64_t image[4],
				  const int64_t filter[4])
{
	if (!mr_call_failed(call) && image[3] != filter[2])
		mr_call_fail(call, TF_UNIMPLEMENTED, "convolution in groups of channels");
	return mr_window_make(call, image, filter[0], filter[1]);
}

/* Reads sizes from a tensor on the host: all four, or only height and width. */
static void read_sizes(struct mr_call *call, int index, const int64_t otherwise[4],
		       int64_t ret_extents[4])
{
	struct mr_tensor sizes = mr_call_input(call, index);

	if (mr_call_failed(call))
		return;
	for (int i = 0; i < 4; i++)
		ret_extents[i] = otherwise[i];
	for (int i = 0; i < sizes.count && i < 4; i++)
		ret_extents[i + (sizes.count == 2)] = mr_tensor_integer(&sizes, i);
}

void mr_run_convolution(struct mr_call *call)
{
	struct mr_tensor image = mr_call_input(call, 0), filter = mr_call_input(call, 1);
	struct mr_window window = window_of(call, image.extents, filter.extents);
	int64_t extents[4] = {window.batch, window.output_height, window.output_width,
			      filter.extents[3]};
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, 4, extents);
	struct mr_tensor rows = spread(call, &image, &window);

	mr_product_launch(call, &(struct mr_product){
					.a = rows,
					.b = filter,
					.c = result,
					.height = windows_of(&window),
					.width = filter.extents[3],
					.depth = elements_of(&window),
				});
}

void mr_run_convolution_filter_gradient(struct mr_call *call)
{
	struct mr_tensor image = mr_call_input(call, 0), gradient = mr_call_input(call, 2);
	int64_t filter[4] = {0};

	read_sizes(call, 1, (const int64_t[4]){0, 0, image.extents[3], gradient.extents[3]},
		   filter);
	struct mr_window window = window_of(call, image.extents, filter);
	mr_window_require(call, &window, filter[3], &gradient);
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, 4, filter);
	struct mr_tensor rows = spread(call, &image, &window);

	mr_product_launch(call, &(struct mr_product){
					.a = rows,
					.b = gradient,
					.c = result,
					.height = elements_of(&window),
					.width = filter[3],
					.depth = windows_of(&window),
					.transpose_a = true,
				});
}

void mr_run_convolution_input_gradient(struct mr_call *call)
{
	struct mr_tensor filter = mr_call_input(call, 1), gradient = mr_call_input(call, 2);
	int64_t image[4] = {0};

	read_sizes(call, 0, (const int64_t[4]){gradient.extents[0], 0, 0, filter.extents[2]},
		   image);
	struct mr_window window = window_of(call, image, filter.extents);
	mr_window_require(call, &window, filter.extents[3], &gradient);
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, 4, image);
	bool pointwise = is_pointwise(&window);
	struct mr_tensor rows =
		pointwise ? result
			  : mr_call_temporary(call, windows_of(&window) * elements_of(&window));

	mr_product_launch(call, &(struct mr_product){
					.a = gradient,
					.b = filter,
					.c = rows,
					.height = windows_of(&window),
					.width = elements_of(&window),
					.depth = filter.extents[3],
					.transpose_b = true,
				});
	if (!pointwise)
		mr_call_launch(call, "gather", mr_range_tasks(window.batch * window.height, 1),
			       MR_BUFFER(rows), MR_BUFFER(result), MR_STRUCT(window));
}
