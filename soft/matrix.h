/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix products, for MatMul and for convolution.
 */
#pragma once

#include "call.h"

/* c (height x width) = a (height x depth) b (depth x width), dense, in row-major order; a or b may
 * be stored transposed. */
struct mr_product {
	struct mr_tensor a, b, c;
	int64_t height, width, depth;
	bool transpose_a, transpose_b;
};

void mr_product_launch(struct mr_call *call, const struct mr_product *product);
