/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks why a device was idle, of models made by hand (hand_model.h), and compares the answer with a text.
 *
 *     idle_work_around_gap();                          // gpu0 is idle in [100, 3000)
 *     hand_run(0, 100, 500);                           // what thread 0 does in [100, 2000) is the cause
 *     idle_expect_gap("100-500 cpu; ...");
 *
 * One model at a time. Failures end the test.
 */
#ifndef MR_TESTS_UNIT_IDLE_ANSWER_H
#define MR_TESTS_UNIT_IDLE_ANSWER_H

#include "analysis/cause/idle.h"
#include "hand_model.h"

/* That of the test that runs. */
extern struct mr_model *idle_model;

/* Set-up and tear-down of each test. */
int idle_start(void **state);
int idle_end(void **state);

/* The pieces of a device as text: "10-20 dispatch; 20-30 device unknown". To be freed. */
char *idle_print(const struct mr_idle *idle, const char *name);

/* Loads the model; then these are the pieces of the device. */
void idle_expect(const char *name, const char *wanted);

/* Work of gpu0 in [0, 100) and, launched in [2000, 2100) by thread 0, in [3000, 3100). What thread 0 does in
 * [100, 2000) is the gap's cause then. */
void idle_work_around_gap(void);

/* Of that gap: what stands before its launch and dispatch. */
void idle_expect_gap(const char *wanted);

#endif
