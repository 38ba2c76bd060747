/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_LOAD_OPERATIONS_H
#define MR_LOAD_OPERATIONS_H

#include "model/model.h"

/* When calls lead to their executions, and steps are known: in which execution and which step each device operation was
 * launched. Of one whose launch is not in the trace, the step is the one in which it began. -ENOMEM. */
int mr_operations_link(struct mr_model *model);

#endif
