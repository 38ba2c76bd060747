/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of causes of an instant, as text, and what it is made of.
 */
#ifndef MR_TESTS_SIMULATOR_CAUSES_H
#define MR_TESTS_SIMULATOR_CAUSES_H

#include "world.h"

enum {
	TEXT_BYTES = 2048
};

/* What is known of a thread at an instant; NULL where there is nothing. */
struct view {
	const struct stretch *stretch;
	const struct call *call;      /* innermost */
	const struct call *launching; /* innermost */
	const struct call *waiting;   /* for the device: outermost */
	int awaited;                  /* operation, or NOBODY */
	const struct node_run *node;
	const struct interrupt *interrupt;
};
struct view cause_look(const struct simulation *simulation, int who, int64_t ns);

/* delay() and device() of an operation; of host() the first link alone, as a segment of the critical path, and
 * as if no call waited for the device if it is `ordinary`. */
void cause_delay_text(const struct simulation *simulation, int operation, int64_t ns,
		      char text[static TEXT_BYTES]);
void cause_device_text(const struct simulation *simulation, int operation, int64_t ns,
		       char text[static TEXT_BYTES]);
void cause_thread_text(const struct simulation *simulation, int who, int64_t ns, bool is_ordinary,
		       char text[static TEXT_BYTES]);

/* Words: is it a lock, which those give back who have waited for it? "lock", "hand-over", or what else it waits for. */
const char *cause_wait_name(const struct simulation *simulation, int who,
			    const struct stretch *stretch);

/* Timed waits that ran out and were repeated were ended by what ended the last of them. */
void words_unite(struct simulation *simulation);

/* Had the thread, when the other began to wait, the lock, and had it waited for it? */
bool words_got_by_waiting(const struct simulation *simulation, int who, int waiter,
			  const struct stretch *wait, int64_t begin_ns);

static inline const struct operation *operation_at(const struct simulation *simulation, int number)
{
	return &simulation->operations.items[number];
}

uint32_t operation_device(const struct simulation *simulation, int operation);

/* NULL if the trace does not hold it. */
const struct call *operation_launch(const struct simulation *simulation, int operation);

/* The last to end of what the operation waits for, according to the trace; or NOBODY. */
int operation_after(const struct simulation *simulation, int operation);

/* The end of the last busy instant of its device before the operation starts; INT64_MIN if there is none. */
int64_t operation_free_since_ns(const struct simulation *simulation, int operation);

/* A blocking launch ends too late to tell; of an operation whose launch is lost nobody knows: NEVER. */
int64_t operation_ready_ns(const struct simulation *simulation, int operation);

/* The operation that makes the device busy: that started first, and has the smallest correlation; NOBODY. */
int device_busy_with(const struct simulation *simulation, uint32_t device, int64_t ns);

#endif
