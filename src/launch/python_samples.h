/* SPDX-License-Identifier: Apache-2.0
 *
 * Where threads are in Python between events, seen from outside. Many times a second record reads the frames of those
 * threads that have run since it last looked. It stops nobody, sends no signal, and starts no thread:
 *
 *     process ──► has it run? ──► threads of the interpreter ──► which of them have run? ──► frames ──► python_sample
 *                 a clock         process_vm_readv               schedstat                   process_vm_readv, twice
 *
 * The process itself says where its interpreter is (struct mr_interpreter_place). It may lie: then nothing comes of it.
 * Times between samples vary at random, as programs do things at regular intervals.
 */
#ifndef MR_LAUNCH_PYTHON_SAMPLES_H
#define MR_LAUNCH_PYTHON_SAMPLES_H

#include "launch/processes.h"
#include "launch/python_sites.h"
#include "launch/python_threads.h"

enum {
	MR_PYTHON_SAMPLES = 200, /* a second, unless the user wants another number */
	MR_PYTHON_SAMPLES_MAX = 1000,
};

/* A process with an interpreter. */
struct mr_python_process {
	uint32_t process;
	struct mr_python python;
	struct mr_python_threads threads;
	struct mr_python_sites sites;
	uint64_t ran_ns;
	uint32_t failures; /* to read it, one after the other */
	bool is_given_up;
	bool is_there; /* still */
};

struct mr_python_samples {
	const struct mr_processes *processes; /* borrowed */
	uint32_t rate;                        /* samples a second; 0: none */
	uint64_t next_ns;
	uint64_t random;
	mr_vec(struct mr_python_process) list;
	struct mr_python_defined defined;
	struct mr_python_memory *memory;
	uint64_t samples, torn;
};

void mr_python_samples_init(struct mr_python_samples *samples, uint32_t rate,
			    const struct mr_processes *processes);

/* How long to wait for the next one, at most `most`; CLOCK_MONOTONIC. */
int mr_python_samples_wait_ms(const struct mr_python_samples *samples, uint64_t now_ns, int most);

/* To be called again and again: takes samples when it is time. With `is_on` false, time passes without any. */
void mr_python_samples_take(struct mr_python_samples *samples, uint64_t now_ns, bool is_on);

/* Says how many there were. */
void mr_python_samples_finish(const struct mr_python_samples *samples);

void mr_python_samples_free(struct mr_python_samples *samples);

#endif
