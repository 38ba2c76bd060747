/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine does for the actions of its threads, and they for it.
 */
#ifndef MR_TESTS_SIMULATOR_MACHINE_H
#define MR_TESTS_SIMULATOR_MACHINE_H

#include "world.h"

/* The thread, which has its core, runs for so long; NEVER: until it is released. Then its action is called again,
 * in the next phase. */
void machine_start_chunk(struct simulation *simulation, int who, int64_t ns);
void machine_start_short_chunk(struct simulation *simulation, int who);

/* The thread leaves its core. When it has it again its action is called again, in the next phase. */
void machine_leave_core(struct simulation *simulation, int who, struct stretch next,
			enum mr_switch_reason reason);
void machine_block(struct simulation *simulation, int who, const char *wait, uint32_t file,
		   enum mr_switch_reason reason);

/* A thread that is blocked is woken: now, by another; later, by what the event says. */
void machine_wake(struct simulation *simulation, int who, int waker);
void machine_wake_later(struct simulation *simulation, int who, int64_t in_ns, struct event event);

void machine_bear(struct simulation *simulation, int who, int maker);
void machine_bury(struct simulation *simulation, int who);

/* Place in the core's list of the thread that is to run next, in turn: nobody starves. NOBODY. */
int machine_find_next(const struct simulation *simulation, int core);

/* actions.c: the thread has its core, and acts until something takes time. */
void action_go_on(struct simulation *simulation, int who);

/* A system call begins; and the end of all waiting in one: true when it is over. */
void action_enter(struct simulation *simulation, int who, uint32_t number, uint32_t file);
void action_enter_word(struct simulation *simulation, int who, uint32_t word,
		       enum word_command command);
bool action_return_from_wait(struct simulation *simulation, int who);

/* launches.c: an action on the device; false while it takes time. */
bool launch_act(struct simulation *simulation, int who, const struct action *action);

#endif
