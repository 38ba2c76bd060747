/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations and scopes are for (enum mr_purpose), and which framework a process uses, by the names that frameworks
 * give to what they do. Each framework lists its names in a purposes.def of its own; analyses know purposes, no names.
 */
#ifndef MR_LOAD_PURPOSES_H
#define MR_LOAD_PURPOSES_H

#include "model/model.h"

/* -ENOMEM. */
int mr_purposes_find(struct mr_model *model);

#endif
