/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a recording: which have attached to the arena, which are gone, and how each ended.
 *
 * Record finds processes in the arena's table and watches them through pidfds, so that neither a reused pid nor a
 * pid namespace can mislead it. A process is dead if its pidfd says so, if it no longer exists, or if a newer
 * program has attached under the same pid (exec). A process that record may not inspect counts as alive: taking
 * its packets while it writes would be worse than waiting. If there are more processes than spare descriptors,
 * record checks the rest by pid until a pidfd is free.
 *
 * Record copies an entry of the table before it reads it, because the process can write there.
 */
#ifndef MR_LAUNCH_PROCESSES_H
#define MR_LAUNCH_PROCESSES_H

#include <sys/types.h>

#include "base/vector.h"
#include "launch/arena_file.h"

struct mr_process_info {
	uint32_t process;
	uint32_t parent_process;
	uint32_t pid;   /* as it sees itself */
	pid_t host_pid; /* as record sees it; 0: not known */
	int pidfd;      /* -1: not watched */
	int32_t slot;   /* in the arena's table; -1: no longer there */
	uint64_t registered_ticks;
	uint64_t gone_ticks; /* it was gone by then, and not long before; 0: not known yet */
	enum mr_untraced_reason reason; /* why it is not traced, or no longer */
	bool traced;
	bool dead;
	bool ended;        /* in an orderly way */
	bool alive_at_end; /* recording ended before it did */
	uint64_t lost[MR_LOSS_REASONS];
	char *program;
};

struct mr_processes {
	struct mr_arena *arena; /* borrowed, as is its path */
	const char *arena_path;
	uint64_t own_pid_namespace;
	uint64_t first_ticks; /* the user clock and CLOCK_BOOTTIME, when it began */
	uint64_t first_boottime_ns;
	mr_vec(struct mr_process_info) list; /* all that were ever seen */
	mr_vec(size_t) live; /* of these, the ones with a slot in the arena's table; oldest first */
	size_t pidfds, pidfds_max;
	bool is_taken[MR_ARENA_PROCESSES]; /* by a process of `live` */
	uint32_t unlisted;                 /* there were too many for the list */
};

void mr_processes_init(struct mr_processes *processes, const struct mr_arena_file *file);
void mr_processes_fini(struct mr_processes *processes);

/* Takes in processes that have attached, or were noted as untraced, since the last call. */
int mr_processes_discover(struct mr_processes *processes);

/* Marks those dead that are no longer there. Looking from time to time is cheaper for them than being
 * watched: a process that ends wakes nobody. */
void mr_processes_check(struct mr_processes *processes);

/* Takes a dead process out of the arena's table, once record has taken all its packets. */
void mr_processes_retire(struct mr_processes *processes, size_t index);

/* Number of traced processes that are alive, `except` not counted. */
uint32_t mr_processes_alive(const struct mr_processes *processes, uint32_t except);

/* True if some process was started to be traced and has not attached yet: a child that was forked or a
 * program that was executed a moment ago. Looks at all processes of the machine. */
bool mr_processes_is_one_coming(const struct mr_processes *processes);

/* Copies the loss counters of live processes out of the arena. */
void mr_processes_update_losses(struct mr_processes *processes);

/* When the last traced process but `except` was seen to be gone; `now_ticks` if one is not. */
uint64_t mr_processes_last_end(const struct mr_processes *processes, uint32_t except,
			       uint64_t now_ticks);

/* When all are retired: puts the list in order of process numbers. */
void mr_processes_sort(struct mr_processes *processes);

/* In a sorted list: true if this is but another program, executed by a process that is in the list. */
bool mr_processes_is_exec(const struct mr_processes *processes, const struct mr_process_info *info);

#endif
