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

enum simulation_shape {
	SHAPE_NONE,
	SHAPE_HEARTBEAT, /* main computes; another thread sleeps, and now and then takes main's lock */
	SHAPE_SLOW_PRODUCER, /* main waits for what another computes all the time */
	SHAPE_SLOW_CONSUMER,
	SHAPE_PACED_PRODUCER, /* who sleeps before each piece */
	SHAPE_PIPELINE,       /* of three threads */
	SHAPE_CROWDED_LOCK,   /* which is never free */
	SHAPE_HELD_LOCK,      /* over a sleep */
	SHAPE_INTERPRETER,    /* two threads take turns at a lock with timed waits */
	SHAPE_POOL,           /* workers wait for work, main for results */
	SHAPE_BATCHER,        /* main asks a thread that looks for work at times */
	SHAPE_BLOCKING_COPY,  /* after each device kernel */
	SHAPE_COUNT
};

enum simulation_work {
	WORK_RUN,
	WORK_SLEEP,
	WORK_DEVICE, /* operations that the thread launches */
	WORK_COUNT
};

struct simulation_options {
	bool no_kernel_level; /* is written */
	bool no_dataflow_level;
	bool is_coarse; /* all durations are whole microseconds: many things happen at once */
	/* There is a CPU for every thread, a disk for every request and room for every operation; nobody wants a lock
	 * that another has, or waits for a time; and calls begin and end where what they do begins and ends. So all
	 * that is waited for stands in the trace, and things happen in the same order if one is made shorter. */
	bool is_calm;
	/* Queues are streams of CUDA, with events and default streams; copies from and to memory that can be paged out block,
	 * which only their names tell. */
	bool is_cuda;
	/* Not a random program but a random one of this shape (shapes.c), with a CPU for every thread. */
	enum simulation_shape shape;
	/* One kind of work of a thread takes so many percent less time, wherever the thread does it. */
	uint32_t shorter_tid;
	enum simulation_work shorter_work;
	uint32_t shorter_percent;
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
