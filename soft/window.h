/* SPDX-License-Identifier: Apache-2.0
 *
 * The window that an op slides over images, computed from its attributes.
 */
#pragma once

#include "call.h"

/* Fails the call unless the window gives that shape to the outputs, and so to the gradients. */
void mr_window_require(struct mr_call *call, const struct mr_window *window, int64_t channels,
		       const struct mr_tensor *gradient);

/* For images with these extents. Fails the call if the device does not support it. */
struct mr_window mr_window_make(struct mr_call *call, const int64_t image[4], int64_t rows,
				int64_t columns);
