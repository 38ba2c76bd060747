/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MR_LOAD_MESSAGES_H
#define MR_LOAD_MESSAGES_H

#include "model/model.h"

/* When messages are sorted: finds the other end of each. -ENOMEM. */
int mr_messages_link(struct mr_model *model);

#endif
