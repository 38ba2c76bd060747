/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of libmillrace.so that run inside the traced program share.
 */
#ifndef MR_HOOK_HOOK_H
#define MR_HOOK_HOOK_H

/* Attaches the process if it is to be traced; only the first call does anything. Constructors of other
 * libraries run before ours, so everything they may call calls this first. (init.c) */
void mr_hook_start(void);

/* Looks up the functions that the exec and spawn wrappers stand in front of, while it is still safe to
 * do so: the wrappers themselves may run in signal handlers. (exec.c) */
void mr_exec_prepare(void);

/* Writes runtime_seen for each framework and GPU runtime found in the process, once for each. (seen.c) */
void mr_seen_note(void);

/* Writes what OpenCL devices had not finished when the process ends. (opencl/operations.c) */
void mr_opencl_write_unfinished(void);

#endif
