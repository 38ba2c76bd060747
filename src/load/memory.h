/* SPDX-License-Identifier: Apache-2.0
 *
 * Links the rows of memory: the allocation that each free releases, the live bytes, and the node an allocation is for.
 */
#ifndef MR_LOAD_MEMORY_H
#define MR_LOAD_MEMORY_H

#include "model/model.h"

/* When all tables are sorted: finds what each free gives back, and the bytes that are live. */
int mr_memory_join(struct mr_model *model);

/* When executions are nested: what a framework's memory was allocated for, the node around it on its thread. -ENOMEM. */
int mr_memory_link(struct mr_model *model);

#endif
