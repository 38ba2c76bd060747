/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

/* One direction: the number of windows, and the padding before the image. */
struct slide {
	int32_t count;
	int32_t before;
};

static struct slide slide_along(const struct mr_attributes *attributes, int side, int64_t extent,
				int64_t window)
{
	int64_t stride = attributes->strides[side];
	int64_t reach = (window - 1) * attributes->dilations[side] + 1;
	int64_t before = 0, after = 0;

	if (attributes->padding_same) {
		int64_t count = (extent + stride - 1) / stride;
		int64_t padding = (count - 1) * stride + reach - extent;

		before = padding > 0 ? padding / 2 : 0;
		return (struct slide){(int32_t)count, (int32_t)before};
	}
	if (attributes->padding_explicit) {
		before = attributes->explicit_paddings[2 * side];
		after = attributes->explicit_paddings[2 * side + 1];
	}
	int64_t room = extent + before + after - reach;
	return (struct slide){room < 0 ? 0 : (int32_t)(room / stride + 1), (int32_t)before};
}

struct mr_window mr_window_make(struct mr_call *call, const int64_t image[4], int64_t rows,
				int64_t columns)
{
	const struct mr_attributes *attributes = call->attributes;

	if (attributes->channels_first)
		mr_call_fail(call, TF_UNIMPLEMENTED, "images with channels first");
	mr_call_require(call, attributes->strides[1] > 0 && attributes->strides[2] > 0,
			"strides must be positive");
	if (attributes->strides[0] != 1 || attributes->strides[3] != 1)
		mr_call_fail(call, TF_UNIMPLEMENTED, "strides over images or channels");
	if (mr_call_failed(call))
		return (struct mr_window){0};
	struct slide down = slide_along(attributes, 1, image[1], rows);
	struct slide across = slide_along(attributes, 2, image[2], columns);

	return (struct mr_window){
		.batch = (int32_t)image[0],
		.height = (int32_t)image[1],
		.width = (int32_t)image[2],
		.channels = (int32_t)image[3],
		.rows = (int32_t)rows,
		.columns = (int32_t)columns,
		.output_height = down.count,
		.output_width = across.count,
		.row_stride = (int32_t)attributes->strides[1],
		.column_stride = (int32_t)attributes->strides[2],
		.row_dilation = (int32_t)attributes->dilations[1],
		.column_dilation = (int32_t)attributes->dilations[2],
		.top = down.before,
		.left = across.before,
	};
}

void mr_window_require(struct mr_call *call, const struct mr_window *window, int64_t channels,
		       const struct mr_tensor *gradient)
{
	const int64_t extents[4] = {window->batch, window->output_height, window->output_width,
				    channels};

	mr_call_require(call, mr_tensor_has_shape(gradient, 4, extents),
			"a gradient's shape differs from that of its tensor");
}
