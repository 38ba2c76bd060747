/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads are for, by what they did: the column `role` of tracks.
 */
#ifndef MR_LOAD_ROLES_H
#define MR_LOAD_ROLES_H

#include "model/model.h"

/* 0 or -ENOMEM. */
int mr_roles_find(struct mr_model *model);

#endif
