/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of libmillrace.so that run inside the traced program share.
 */
#ifndef MR_HOOK_HOOK_H
#define MR_HOOK_HOOK_H

#include <stdbool.h>

/* Attaches the process if it is to be traced; only the first call does anything. Constructors of other
 * libraries run before ours, so everything they may call calls this first. (init.c) */
void mr_hook_start(void);

/* Looks up the functions that the exec and spawn wrappers stand in front of, while it is still safe to
 * do so: the wrappers themselves may run in signal handlers. (exec.c) */
void mr_exec_prepare(void);

/* Likewise for _exit(). (exit.c) */
void mr_exit_prepare(void);

/* Writes runtime_seen for each framework and GPU runtime found in the process, once for each. (seen.c) */
void mr_seen_note(void);

/* False in the child of a vfork, which uses the memory and the place in the arena of its parent, and in a
 * forked child that has recorded nothing: to end is no reason to attach. (exit.c) */
bool mr_exit_is_own_process(void);

/* Before the process ends (`is_end`) or tries to execute another program, by a function that may be called
 * anywhere: writes what OpenCL devices have done and, at the end, what not, if it is safe to ask their
 * drivers. (opencl/end.c) */
void mr_opencl_leave_program(bool is_end);

/* Writes what OpenCL devices had not finished when the process ends. (opencl/operations.c) */
void mr_opencl_write_unfinished(void);

#endif
