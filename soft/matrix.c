/* SPDX-License-Identifier: Apache-2.0 */
#include "matrix.h"

#include "ops.h"

static int divide_up(int64_t number, int64_t divisor)
{
	return (int)((number + divisor - 1) / divisor);
}

/* The device kernel reads vectors along the rows of b, so a transposed b is transposed back first; a may be
 * read in any order. */
static struct mr_tensor turn(struct mr_call *call, const struct mr_tensor *x, int64_t height,
			     int64_t width)
{
	struct mr_tensor turned = mr_call_temporary(call, height * width);

	mr_call_launch(call, "transpose",
		       mr_range_tasks(divide_up(width, MR_SQUARE), divide_up(height, MR_SQUARE)),
		       MR_BUFFER(*x), MR_BUFFER(turned), MR_INT(height), MR_INT(width));
	return turned;
}

void mr_product_launch(struct mr_call *call, const struct mr_product *product)
{
	int64_t height = product->height, width = product->width, depth = product->depth;
	struct mr_tensor b = product->b;

	if (product->transpose_b)
		b = turn(call, &b, width, depth);
	mr_call_launch(
		call, "sgemm",
		mr_range_tasks(divide_up(width, MR_TILE_WIDTH), divide_up(height, MR_TILE_HEIGHT)),
		MR_BUFFER(product->a), MR_BUFFER(b), MR_BUFFER(product->c), MR_INT(height),
		MR_INT(width), MR_INT(depth), MR_INT(product->transpose_a ? 1 : depth),
		MR_INT(product->transpose_a ? height : 1));
}

void mr_run_matmul(struct mr_call *call)
{
	bool transpose_a = call->attributes->transpose_a,
	     transpose_b = call->attributes->transpose_b;
	struct mr_tensor a = mr_call_input(call, 0), b = mr_call_input(call, 1);
	int64_t depth = a.extents[transpose_a ? 0 : 1];

	if (a.rank != 2 || b.rank != 2 || b.extents[transpose_b ? 1 : 0] != depth) {
		mr_call_fail(call, TF_INVALID_ARGUMENT, "Matrix size-incompatible");
		return;
	}
	int64_t extents[2] = {a.extents[transpose_a ? 1 : 0], b.extents[transpose_b ? 0 : 1]};
	struct mr_tensor c = mr_call_output(call, 0, TF_FLOAT, 2, extents);
	mr_product_launch(call, &(struct mr_product){a, b, c, extents[0], extents[1], depth,
						     transpose_a, transpose_b});
}
