/* SPDX-License-Identifier: Apache-2.0
 *
 * The inputs of an operator, as Kineto writes them, in the form in which millrace keeps shapes (model/shapes.h):
 *
 *     "Input Dims": [[8, 64], [], []], "Input type": ["c10::Half", "Scalar", ""], "Concrete Inputs": ["", "0.5", ""]
 *     (half[8,64];=0.5;)
 */
#ifndef MR_IMPORT_CHROME_KINETO_SHAPES_H
#define MR_IMPORT_CHROME_KINETO_SHAPES_H

#include "import/chrome/kineto.h"

/* The string of the inputs; 0 if the event does not say. 0 or -ENOMEM. */
int mr_kineto_shapes(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     uint32_t *ret_string);

#endif
