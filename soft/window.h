/* SPDX-License-Identifier: Apache-2.0
 *
 * The window of an op that slides one over images, from its attributes.
 */
#pragma once

#include "call.h"

/* What slides over the images must give that shape: of outputs, and so of gradients. */
void mr_window_require(struct mr_call *call, const struct mr_window *window, int64_t channels,
		       const struct mr_tensor *gradient);

/* For images of those extents. Fails the call where the device cannot do it. */
struct mr_window mr_window_make(struct mr_call *call, const int64_t image[4], int64_t rows,
				int64_t columns);
