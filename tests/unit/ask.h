/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks a view as the viewer's page does, without the server between.
 */
#ifndef MR_TESTS_UNIT_ASK_H
#define MR_TESTS_UNIT_ASK_H

#include "serve/endpoints.h"

/* What was answered, followed by a NUL, for the caller to free; NULL if it was refused: then *ret_result says
 * with what. `target` as in "slices?bands=0&from=0". Any thread. */
char *ask(struct mr_view *view, const char *target, size_t *ret_bytes, int *ret_result);

/* A view of the hand model (hand_model.h), which is as long as said and is loaded by this; and the end of both. */
struct mr_view *view_start(struct mr_model *model, int64_t first_ns, int64_t last_ns);
void view_end(struct mr_model *model, struct mr_view *view);

#endif
