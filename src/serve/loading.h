/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace that a separate thread loads, so that the viewer's page appears at once and shows the progress.
 *
 *     LOADING ──► READY      the view stays until mr_loading_free()
 *        └──────► FAILED     with the chain of causes
 *
 * Any thread may call these functions. Loading cannot be cancelled: mr_loading_free() waits until it ends.
 */
#ifndef MR_SERVE_LOADING_H
#define MR_SERVE_LOADING_H

#include <stdio.h>

#include "timeline/view.h"

struct mr_loading;

int mr_loading_start(const char *path, struct mr_loading **ret_loading);
void mr_loading_free(struct mr_loading *loading);

/* 0 once the trace is loaded, -ETIMEDOUT if it is not after `patience_ms`, or what it failed with, and the causes. */
int mr_loading_wait(struct mr_loading *loading, int patience_ms);

/* -EAGAIN with a cause if it is not loaded. */
int mr_loading_view(struct mr_loading *loading, struct mr_view **ret_view);

/* The state as JSON: {"state", "what", "done", "total", "error"}. */
int mr_loading_print(struct mr_loading *loading, FILE *file);

#endif
