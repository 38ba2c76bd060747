/* SPDX-License-Identifier: Apache-2.0
 *
 * Explains why the kernel refuses BPF, and what to do about it.
 */
#ifndef MR_KERNEL_PERMISSION_H
#define MR_KERNEL_PERMISSION_H

/* Fails with a cause that explains `error` (positive), with which the attempt to do `what` failed. */
int mr_permission_explain(int error, const char *what);

#endif
