/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks a view (ask.h) and takes the JSON apart that it answers.
 *
 *     json_t *answer = ask_json(view, "row?table=calls&row=%u", 3);
 *     assert_int_equal(number_of(answer, "from"), 100);
 *     json_decref(answer);
 *
 * Failures end the test.
 */
#ifndef MR_TESTS_UNIT_ASK_JSON_H
#define MR_TESTS_UNIT_ASK_JSON_H

#include <jansson.h>

#include "timeline/view.h"

json_t *ask_json(struct mr_view *view, const char *format, ...) mr_printf_format(2, 3);

/* What a question is refused with: a negative errno; 0 if it is answered. */
int ask_in_vain(struct mr_view *view, const char *target);

/* A member that must be there. */
json_int_t number_of(const json_t *object, const char *name);
const char *text_of(const json_t *object, const char *name);

#endif
