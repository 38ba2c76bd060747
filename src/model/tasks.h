/* SPDX-License-Identifier: Apache-2.0
 *
 * The lives of tasks (threads, as the kernel calls them), from the kernel level's definitions.
 *
 *     tid 100 ──fork──┬───── task 0 ─────exec┬──── task 2 ──────────exit
 *     tid 101         └fork── task 1 ──exit  │     another program: another task
 *     tid 100 (again)                        └                          fork── task 3 ──
 *
 * A task is one thread in one program: an exec ends it and begins another, because in the user streams it
 * becomes another process. A tid belongs to its host and is reused; a task is therefore found by host, tid and
 * time. For threads that are not traced only the names are known.
 *
 * Filled by survey.c: mr_tasks_note() for each event, then mr_tasks_build(). Read-only afterwards, but for
 * `track` (task_tracks.h) and `end_ns`, which kernel.c moves to the last switch.
 */
#ifndef MR_MODEL_TASKS_H
#define MR_MODEL_TASKS_H

#include <stdbool.h>

#include "base/strings.h"
#include "base/vector.h"
#include "trace/trace.h"

#define MR_NO_TASK UINT32_MAX

enum mr_task_end {
	MR_TASK_RUNNING, /* when the recording ended */
	MR_TASK_EXIT,
	MR_TASK_EXEC,
	MR_TASK_LOST, /* its tid began another life, and its end was not recorded */
};

struct mr_task {
	uint32_t host;
	uint32_t tid; /* in the initial pid namespace */
	uint32_t inner_tid;
	uint32_t program;  /* of mr_tasks.programs */
	uint32_t previous; /* task of the same thread before its exec, or MR_NO_TASK */
	uint32_t parent;   /* task that made it, or MR_NO_TASK */
	uint32_t name;     /* string: what it was called for most of its life */
	uint32_t track;
	int64_t begin_ns;
	int64_t end_ns;
	enum mr_task_end end;
	int32_t status; /* of an exit: as wait() would give it */
};

/* A process, from its fork or exec to its next exec or its end. */
struct mr_program {
	uint32_t host;
	uint32_t pid; /* in the initial pid namespace */
	uint32_t inner_pid;
	uint32_t parent;   /* program that forked it; its own if not known */
	uint32_t previous; /* program that it replaced; its own if none */
	uint32_t command;  /* string; 0 if it is that of its parent */
	int64_t begin_ns;  /* span of its tasks */
	int64_t end_ns;
	uint32_t process; /* of the survey */
};

struct mr_task_name {
	uint32_t host;
	uint32_t tid;
	uint32_t name; /* string */
	int64_t ns;    /* from when on */
};

/* Members of a list by host and tid: those at place p, which mr_tasks_place() gives, are order[first[p]] ...
 * order[first[p + 1] - 1]. */
struct mr_by_tid {
	uint32_t *first;
	uint32_t *order;
};

struct mr_tasks {
	mr_vec(struct mr_task) list; /* in order of birth */
	mr_vec(struct mr_program) programs;
	mr_vec(struct mr_task_name) names; /* in order of time */
	mr_vec(struct mr_task_record) records;
	uint32_t tid_limit;  /* no tid is that large */
	uint32_t host_limit; /* and no host has that number */
	struct mr_by_tid tasks_by_tid;
	struct mr_by_tid names_by_tid;
};

/* How many places there are, and which is that of a tid: one host after the other. */
static inline size_t mr_tasks_places(const struct mr_tasks *tasks)
{
	return (size_t)tasks->host_limit * tasks->tid_limit;
}

static inline size_t mr_tasks_place(const struct mr_tasks *tasks, uint32_t host, uint32_t tid)
{
	return (size_t)host * tasks->tid_limit + tid;
}

static inline bool mr_tasks_has_place(const struct mr_tasks *tasks, uint32_t host, uint32_t tid)
{
	return host < tasks->host_limit && tid < tasks->tid_limit;
}

/* Takes note of kernel_fork, _exec, _exit and _task_name of a host; texts go to `strings`. -ENOMEM. */
int mr_tasks_note(struct mr_tasks *tasks, uint32_t host, struct mr_strings *strings,
		  const struct mr_event *event);
int mr_tasks_build(struct mr_tasks *tasks);
void mr_tasks_free(struct mr_tasks *tasks);

/* The task that had the tid then; MR_NO_TASK if that was none of the traced ones. An ended task has its tid
 * until the next is born. */
uint32_t mr_task_find(const struct mr_tasks *tasks, uint32_t host, uint32_t tid, int64_t ns);

/* What the thread of that tid, traced or not, was called then: a string, 0 if not known. */
uint32_t mr_task_name_at(const struct mr_tasks *tasks, uint32_t host, uint32_t tid, int64_t ns);

#endif
