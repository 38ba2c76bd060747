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

/* Likewise; if `step_range` is not NULL, ranges of that name are the steps (step_range.h), and -ENOENT says that there are
 * none. It must live as long as the model. */
int mr_model_load_steps(const char *path, const char *step_range, struct mr_model **ret_model);

/* Likewise, but the tables stay empty: cheap also where there are many events. */
int mr_model_load_head(const char *path, struct mr_model **ret_model);

/* Of a trace that is open already, which becomes the model's or, after a failure, is closed. No index is used. */
int mr_model_load_trace(struct mr_trace *trace, struct mr_model **ret_model);

#endif
