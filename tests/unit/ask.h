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

#endif
