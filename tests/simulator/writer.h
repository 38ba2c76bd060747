/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what happens in the simulated machine as a trace of all levels: one user stream for each thread
 * that has events, one kernel stream for each core.
 *
 * The user clock ticks once per nanosecond of CLOCK_MONOTONIC. Each device's clock has an offset and a rate of
 * its own, such that its times come back to the nanosecond; with jitter, its samples are as far off as their
 * brackets are wide.
 */
#ifndef MR_TESTS_SIMULATOR_WRITER_H
#define MR_TESTS_SIMULATOR_WRITER_H

#include "world.h"

struct writer *writer_start(const struct simulation *simulation);

/* All of these do nothing without a writer, or if the level is not to be written. */
void writer_switch(struct simulation *simulation, int core, int previous, int next,
		   enum mr_switch_reason reason);
void writer_waking(struct simulation *simulation, int core, int who, enum waker waker,
		   const char *source);
void writer_migration(struct simulation *simulation, int who, int from_core, int to_core);
void writer_birth(struct simulation *simulation, int who, int maker);
void writer_death(struct simulation *simulation, int who);

/* The system call in which the thread is ends; so does the last interrupt it remembers. */
void writer_system_call(struct simulation *simulation, int who);
void writer_interrupt(struct simulation *simulation, int who);

void writer_call(struct simulation *simulation, int who, const struct call *call);
void writer_waits(struct simulation *simulation, int who, const struct call *call,
		  const uint32_t *operations, uint32_t count);
void writer_node(struct simulation *simulation, int who, const struct node_run *node);
void writer_step(struct simulation *simulation, int who);

/* Writes the files. */
void writer_finish(struct simulation *simulation, const char *directory);
void writer_free(struct writer *writer);

#endif
