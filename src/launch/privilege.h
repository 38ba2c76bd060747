/* SPDX-License-Identifier: Apache-2.0
 *
 * The user as whom record runs, and its privileges.
 *
 *     started by                 kernel level    program, files     powers left
 *     user                       perf events     user's             none
 *     user, millrace has CAP_BPF
 *     and CAP_PERFMON (setcap)   BPF             user's             those two, in record alone
 *     user through sudo          BPF             user's             those two, in record alone
 *     sudo with --as-root, root  BPF             root's             all
 *
 * Under sudo, record opens the kernel level as root and then permanently becomes the user who ran sudo, before it
 * touches a file or starts a process. The two capabilities are neither inheritable nor ambient: an exec ends them.
 */
#ifndef MR_LAUNCH_PRIVILEGE_H
#define MR_LAUNCH_PRIVILEGE_H

/* Becomes the user who ran sudo, if record was started through sudo. -EINVAL if that user is not known:
 * nothing has been done, and nothing should be done as root. */
int mr_privilege_leave_sudo(void);

/* The environment as we were started with it. Where the program file has capabilities, the dynamic linker
 * takes variables like LD_PRELOAD away from us, but the traced program, which gets no capabilities, is to have
 * them. Valid for ever; NULL without memory. */
char **mr_privilege_environment(void);

#endif
