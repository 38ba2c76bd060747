/* SPDX-License-Identifier: Apache-2.0
 *
 * The user as whom record runs, and its privileges.
 *
 *     started by                 kernel level    program, files     capabilities left
 *     user                       perf events     user's             none
 *     user, millrace has CAP_BPF
 *     and CAP_PERFMON (setcap)   BPF             user's             none
 *     user through sudo          BPF             user's             none
 *     sudo with --as-root, root  BPF             root's             to write files, signal and inspect processes
 *
 *     find     who he is for whom we record
 *     ...      the kernel level is opened, with all privileges
 *     leave    becomes the user who ran sudo; gives up everything that the program is not to inherit
 *     ...      the program's process is forked; it executes the program later
 *     drop     gives up the rest. Only now something is read that others have written: events, and files of /proc
 *
 * The program gets what it would have alone: record never takes from its process, and what was record's own (file
 * capabilities, the power of sudo) is gone before that process is forked. Capabilities are those of the one thread that
 * record has then.
 */
#ifndef MR_LAUNCH_PRIVILEGE_H
#define MR_LAUNCH_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

struct mr_privilege {
	uid_t user; /* for whom we record */
	gid_t group;
	bool is_left; /* becomes that user, who ran sudo */
};

/* -EINVAL if it is not known who ran sudo: nothing should be done as root. */
int mr_privilege_find(bool as_root, struct mr_privilege *ret_privilege);

/* With `needs_perf`, perf events are yet to be opened: CAP_PERFMON stays until all is dropped. */
int mr_privilege_leave(const struct mr_privilege *privilege, bool needs_perf);

int mr_privilege_drop(void);

/* For commands that need no privilege: gives up the capabilities of the program file. */
int mr_privilege_drop_of_file(void);

/* The environment as we were started with it. Where the program file has capabilities, the dynamic linker
 * takes variables like LD_PRELOAD away from us, but the traced program, which gets no capabilities, is to have
 * them. Valid for ever; NULL without memory. */
char **mr_privilege_environment(void);

#endif
