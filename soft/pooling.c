/* SPDX-License-Identifier: Apache-2.0
 *
 * Pooling over height and width.
 */
#include "ops.h"
#include "window.h"

static struct mr_window window_of(struct mr_call *call, const int64_t image[4])
{
	const int64_t *window = call->attributes->window;

	mr_call_require(call, window[1] > 0 && window[2] > 0, "windows must be positive");
	if (window[0] != 1 || window[3] != 1)
		mr_call_fail(call, TF_UNIMPLEMENTED, "pooling over images or channels");
	return mr_window_make(call, image, window[1], window[2]);
}

static void pool(struct mr_call *call, const char *kernel)
{
	struct mr_tensor image = mr_call_input(call, 0);
	struct mr_window window = window_of(call, image.extents);
	int64_t extents[4] = {window.batch, window.output_height, window.output_width,
			      window.channels};
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, 4, extents);

	mr_call_launch(call, kernel, mr_range_tasks(window.batch * window.output_height, 1),
		       MR_BUFFER(image), MR_BUFFER(result), MR_STRUCT(window));
}

void mr_run_max_pool(struct mr_call *call)
{
	pool(call, "max_pool");
}

void mr_run_average_pool(struct mr_call *call)
{
	pool(call, "average_pool");
}

void mr_run_max_pool_gradient(struct mr_call *call)
{
	struct mr_tensor image = mr_call_input(call, 0), gradient = mr_call_input(call, 2);
	struct mr_window window = window_of(call, image.extents);
	mr_window_require(call, &window, window.channels, &gradient);
	struct mr_tensor result = mr_call_output_like(call, 0, &image);

	mr_call_launch(call, "max_pool_gradient", mr_range_tasks(window.batch, 1), MR_BUFFER(image),
		       MR_BUFFER(gradient), MR_BUFFER(result), MR_STRUCT(window));
}

void mr_run_average_pool_gradient(struct mr_call *call)
{
	struct mr_tensor shape = mr_call_input(call, 0), gradient = mr_call_input(call, 1);
	int64_t extents[4];

	if (mr_call_failed(call) || shape.count != 4) {
		mr_call_fail(call, TF_INVALID_ARGUMENT,
			     "AvgPoolGrad requires a shape with four dimensions");
		return;
	}
	for (int i = 0; i < 4; i++)
		extents[i] = mr_tensor_integer(&shape, i);
	struct mr_window window = window_of(call, extents);
	mr_window_require(call, &window, window.channels, &gradient);
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, 4, extents);

	mr_call_launch(call, "average_pool_gradient", mr_range_tasks(window.batch, 1),
		       MR_BUFFER(gradient), MR_BUFFER(result), MR_STRUCT(window));
}
