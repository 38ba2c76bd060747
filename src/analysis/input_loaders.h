/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaders in processes of their own: processes that a program has started, and that hand its steps what they wait for,
 * through a pipe, a socket or a queue.
 *
 *     step thread     ─run─┤ waits ──────────────┤─run─┤ waits ...       a wait counts for the process that ended it,
 *     its own thread       │ waits ──────┤─reads─┘                       also through a thread of the program that
 *     loader          ─runs, blocked, ...┘ waits for the program         reads what the loader sends
 *
 * Waits for the end of a process are none. What a loader does is what its main thread does.
 *
 * Owns its memory; any thread may make one.
 */
#ifndef MR_ANALYSIS_INPUT_LOADERS_H
#define MR_ANALYSIS_INPUT_LOADERS_H

#include "analysis/cause/waiting.h"
#include "base/vector.h"
#include "model/model.h"

/* How the main thread of a loader spends its time. */
enum mr_loader_time {
	MR_LOADER_RUNS,     /* on a CPU */
	MR_LOADER_RUNNABLE, /* waits for a CPU */
	MR_LOADER_DISK,
	MR_LOADER_FOR_PROGRAM, /* waits until the program gives it work or takes what it has */
	MR_LOADER_BLOCKED,     /* waits for something else: a sleep, a lock, the network */
	MR_LOADER_UNKNOWN,
	MR_LOADER_TIMES,
};

struct mr_input_loader {
	uint32_t process;
	uint64_t given;    /* waits of the step thread that it ended */
	int64_t waited_ns; /* that the step thread waited for it */
	int64_t ns[MR_LOADER_TIMES];
};

/* What hands over to one process. */
struct mr_loader_team {
	uint32_t process; /* the program's */
	uint32_t thread;  /* its step thread; its main thread if it has no steps */
	int64_t whole_ns; /* of the steps, or that the thread is known */
	int64_t wait_ns;  /* of it, for loaders */
	bool has_steps;
	int64_t blocked_ns[MR_WAIT_COUNT];      /* MR_LOADER_BLOCKED of all, by what for */
	mr_vec(struct mr_input_loader) loaders; /* by process */
};

struct mr_input_loaders {
	mr_vec(struct mr_loader_team) teams; /* by process */
};

/* Of the window of the model. -ENOMEM. */
int mr_input_loaders_make(const struct mr_model *model, struct mr_input_loaders *ret_loaders);
void mr_input_loaders_free(struct mr_input_loaders *loaders);

/* Sentences and a table, if there are any loaders. -ENOMEM. */
int mr_input_loaders_tell(const struct mr_model *model, struct mr_findings *findings,
			  struct mr_finding *finding, const struct mr_input_loaders *loaders);

static inline void mr_cleanup_input_loaders(struct mr_input_loaders *loaders)
{
	mr_input_loaders_free(loaders);
}

#endif
