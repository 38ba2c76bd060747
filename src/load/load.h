/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a model (model/model.h) from a trace: events become rows of its tables, and relations between rows become
 * columns. All code that depends on the source of the events is in this folder.
 */
#ifndef MR_LOAD_LOAD_H
#define MR_LOAD_LOAD_H

#include "model/model.h"

/* PATH as mr_import_open() takes it. */
int mr_model_load(const char *path, struct mr_model **ret_model);

/* Likewise, but the tables stay empty: cheap also where there are many events. */
int mr_model_load_head(const char *path, struct mr_model **ret_model);

#endif
