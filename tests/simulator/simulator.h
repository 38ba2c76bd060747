/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulator that knows the truth: random programs of threads, locks, disks, pipes, devices and queues
 * run in virtual time, leave a trace in the real format, and the causes that doc/causes.md asks for.
 *
 *     seed ──► program.c ──► machine.c, device.c ──► writer.c     a trace directory
 *              what is to    what happens     └────► truth.c      why each device was idle, instant by instant
 *              be done       and why          └────► path.c       the critical path
 *                                             └────► replay.c     the same, with one thing made shorter
 *
 * The truth comes from what the machine knew while it ran. It shares no code with src/analysis and does not
 * look at the trace. Failures (no memory, no disk) end the test.
 *
 *     struct simulation *simulation = simulate(seed, &(struct simulation_options){0}, directory);
 *     const struct truth *truth = simulation_truth(simulation);
 *     ...
 *     simulation_free(simulation);
 */
#ifndef MR_TESTS_SIMULATOR_H
#define MR_TESTS_SIMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct simulation_options {
	bool no_kernel_level; /* is written */
	bool no_dataflow_level;
	bool is_coarse; /* all durations are whole microseconds: many things happen at once */
	/* There is a CPU for every thread, a disk for every request and room for every operation, and calls begin
	 * and end where what they do begins and ends: all that is waited for stands in the trace. */
	bool is_calm;
	uint32_t jitter_ns; /* samples of devices' clocks are off by up to this, as they say */
	uint32_t size;      /* about so many actions of each thread; 0: random */
};

/* A stretch of time with one answer: "lock(thread 1003) > disk(/data/a)". */
struct truth_piece {
	int64_t begin_ns;
	int64_t end_ns;
	char *text;
};

struct truth_pieces {
	struct truth_piece *items; /* in order; equal neighbours are one */
	size_t count;
	size_t capacity;
};

struct truth_device {
	char name[16];
	int64_t first_ns; /* of its operations */
	int64_t last_ns;
	int64_t idle_ns;
	int64_t threshold_ns;       /* of dispatch */
	struct truth_pieces pieces; /* of its idle time */
};

struct truth {
	int64_t first_ns; /* of the trace */
	int64_t last_ns;
	struct truth_device *devices;
	size_t device_count;
	struct truth_pieces path; /* the critical path: tiles the trace */
};

/* Runs the program of that seed, and writes its trace into the directory, which has a ctf/ folder; NULL:
 * writes nothing. */
struct simulation *simulate(uint64_t seed, const struct simulation_options *options,
			    const char *directory);
const struct truth *simulation_truth(const struct simulation *simulation);

/* The times of the operation of that process; it must exist. */
void simulation_operation(const struct simulation *simulation, uint32_t pid, uint64_t correlation,
			  int64_t *ret_start_ns, int64_t *ret_end_ns);

/* Something that took time: a thread ran, slept or was to be woken; an operation ran, or was to start. */
struct part {
	int64_t begin_ns;
	int64_t end_ns;
	uint32_t tid;         /* of the thread; 0: an operation's */
	uint32_t pid;         /* of the process */
	uint64_t correlation; /* of the operation */
	uint32_t point;       /* as world.h calls it: its end */
};

/* All of them, to be freed by the caller. */
struct part *simulation_parts(const struct simulation *simulation, size_t *ret_count);

/* When the program would have ended, had that part been so much shorter, and all happened in the same order. */
int64_t simulation_replay(const struct simulation *simulation, const struct part *part,
			  int64_t shorter_ns);

/* Is there but one chain of parts that is as long as the whole program? */
bool simulation_is_unique(const struct simulation *simulation);
void simulation_free(struct simulation *simulation);

#endif
