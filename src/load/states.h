/* SPDX-License-Identifier: Apache-2.0
 *
 * The states of each traced thread, from the switches and wake-ups of all CPUs in order of time.
 *
 *                  ┌───────────── switched in ─────────────┐
 *                  ▼                                       │
 *     born ──► RUNNABLE ◄─────────── woken ──────────── BLOCKED
 *                  │ ▲                                     ▲
 *      switched in │ │ preempted, yielded, throttled       │ blocks
 *                  ▼ │                                     │
 *                  RUN ────────────────────────────────────┘──► exited
 *
 * Every event also implies the state of the thread before it. If that differs from the state so far, or if records
 * are missing in between (gaps.h), the time in doubt becomes UNKNOWN. Two things look odd but are correct, because
 * each CPU stamps its own events: a thread may be woken before it is seen to block, and may be seen on its next CPU a
 * little before it leaves the last one.
 *
 * Some kernels do not report every switch. A thread whose switch-in is missing is found by what it does next
 * (mr_states_see()), one whose switch-out is missing by the thread found in its place (mr_states_miss()). Only the
 * time since the last record of who had the CPU is in doubt.
 *
 * In traces without wake-ups (perf events) a thread that is not preempted is BLOCKED until it runs again.
 */
#ifndef MR_LOAD_STATES_H
#define MR_LOAD_STATES_H

#include "load/gaps.h"
#include "model/model.h"

struct mr_life;

struct mr_states_maker {
	struct mr_model *model;
	struct mr_gaps gaps;
	struct mr_life *lives; /* by task */
	uint32_t begun;        /* tasks: in order of birth */
	bool has_wakings;
};

int mr_states_start(struct mr_states_maker *maker, struct mr_model *model);
void mr_states_free(struct mr_states_maker *maker);

/* Begins the lives of the tasks that are born until then; to be called before each event. */
int mr_states_advance(struct mr_states_maker *maker, int64_t ns);

/* True once the task was switched out for the last time. */
bool mr_states_is_over(const struct mr_states_maker *maker, uint32_t task);

/* Somewhere at some time. */
struct mr_place {
	uint32_t cpu;
	int64_t ns;
	int64_t known_ns; /* who had the CPU was known then, for the last time before */
};

/* Switched in; switched out; does something, so it runs; another one has its CPU, so it does not. */
int mr_states_run(struct mr_states_maker *maker, uint32_t task, struct mr_place place);
int mr_states_stop(struct mr_states_maker *maker, uint32_t task, struct mr_place place,
		   const struct mr_event_kernel_switch *event);
int mr_states_see(struct mr_states_maker *maker, uint32_t task, struct mr_place place);
int mr_states_miss(struct mr_states_maker *maker, uint32_t task, struct mr_place place);

int mr_states_wake(struct mr_states_maker *maker, uint32_t task, int64_t ns);
int mr_states_migrate(struct mr_states_maker *maker, uint32_t task, uint32_t from_cpu, int64_t ns);

/* The task, which has just stopped, is blocked in this call. */
void mr_states_block_in(struct mr_states_maker *maker, uint32_t task,
			struct mr_system_calls_row call);

/* Ends all lives; to be called last. */
int mr_states_finish(struct mr_states_maker *maker);

#endif
