/* SPDX-License-Identifier: Apache-2.0
 *
 * Which process and thread this is, without a system call wherever that is possible: a program may be confined such
 * that asking would kill it, and a forked child has no time to lose.
 *
 * The C library keeps a thread's id in its descriptor of the thread, and tells debuggers where. fork() and
 * pthread_create() set it. Raw clones do not: their children keep the id of the thread that made them, so that
 * a child asks the kernel unless it knows that fork() has made it.
 */
#ifndef MR_RECORD_IDENTITY_H
#define MR_RECORD_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Finds the place in the descriptor. Once, while the process attaches. */
void mr_identity_prepare(void);

/* The id of the calling thread as the C library has it; 0 if that is not known. */
uint32_t mr_libc_tid(void);

/* The calling thread's id; of a process that is attached. */
uint32_t mr_own_tid(void);

/* The pid of a forked child in which nothing has been recorded; 0 if it cannot be found. `is_by_fork`: fork() has made
 * it, and the calling thread is its first. */
uint32_t mr_child_pid(bool is_by_fork);

/* The pid of the calling process; of the parent in the child of a vfork that may not ask. */
uint32_t mr_own_pid(void);

/* False in the child of a vfork, which uses the memory and the place in the arena of its parent; in a forked child that
 * has recorded nothing; and where the question is not allowed. */
bool mr_is_own_process(void);

#endif
