/* SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a Python interpreter in another process, and how long each has run. The interpreter lists those that
 * have run Python; the kernel says how much CPU time each has had (/proc/PID/task/TID/schedstat).
 *
 * A thread has two numbers: that of its own pid namespace, which the trace uses, and that by which we find it.
 */
#ifndef MR_LAUNCH_PYTHON_THREADS_H
#define MR_LAUNCH_PYTHON_THREADS_H

#include "base/vector.h"
#include "hook/python/code.h"
#include "launch/python_memory.h"

enum {
	MR_PYTHON_THREAD_NAME_BYTES = 128, /* longer ones are cut */
};

struct mr_python_thread {
	uintptr_t state;              /* of the interpreter */
	uint32_t tid;                 /* as its process calls it */
	pid_t host_tid;               /* as we do; 0: not found */
	int fd;                       /* of its schedstat; -1: not open */
	uint64_t ran_ns;              /* when it was last asked */
	bool is_measured;             /* ran_ns is known */
	bool is_listed;               /* still */
	uint32_t name_wait_ns;        /* how long until its name is read again (python_names.h) */
	uint64_t name_next_ns;        /* when that is */
	struct mr_python_pages pages; /* that hold its frames, when it was last looked at */
	char name[MR_PYTHON_THREAD_NAME_BYTES]; /* empty: it has none that is known */
};

/* Of one process. */
struct mr_python_threads {
	pid_t pid;      /* as we call it */
	bool is_inside; /* in another pid namespace: its numbers are not ours */
	mr_vec(struct mr_python_thread) list;
	uintptr_t interpreter; /* the first one, when the list was made */
	uintptr_t head;        /* its newest thread then */
	uint64_t made_ns;
	bool is_stale; /* a thread of the list is gone */
	struct mr_python_thread
		main; /* if the interpreter no longer lists it; host_tid 0: it does */
};

/* Brings the list up to date; false if the interpreter cannot be read. A thread that begins comes first in the
 * interpreter's list, so it is enough to look there; all is read again from time to time. */
bool mr_python_threads_update(struct mr_python_threads *threads, const struct mr_python *python,
			      struct mr_python_memory *memory, uint64_t now_ns);

/* Whether it has run since it was last asked; then also for how long (UINT64_MAX: not known). */
bool mr_python_thread_has_run(struct mr_python_threads *threads, struct mr_python_thread *thread,
			      uint64_t *ret_ns);

/* The first thread of the process, also when the interpreter has ended; NULL if it was never listed. */
struct mr_python_thread *mr_python_threads_main(struct mr_python_threads *threads);

void mr_python_threads_free(struct mr_python_threads *threads);

#endif
