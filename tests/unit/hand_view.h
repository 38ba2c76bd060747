/* SPDX-License-Identifier: Apache-2.0
 *
 * A viewer's view of a model made by hand (hand_model.h).
 */
#ifndef MR_TESTS_UNIT_HAND_VIEW_H
#define MR_TESTS_UNIT_HAND_VIEW_H

#include "hand_model.h"
#include "timeline/view.h"

extern struct mr_model *hand_made; /* of the test that runs */
extern struct mr_view *hand_view;

/* For cmocka: before and after each test. */
int hand_view_start(void **state);
int hand_view_end(void **state);

/* When the model is made. */
void hand_view_look(void);

/* The row that begins then. */
uint32_t row_at(const struct mr_table *table, int64_t ns);

#endif
