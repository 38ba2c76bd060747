/* SPDX-License-Identifier: Apache-2.0
 *
 * Why the kernel refuses BPF, and what to do about it.
 */
#ifndef MR_KERNEL_PERMISSION_H
#define MR_KERNEL_PERMISSION_H

/* Fails with a cause for `error` (positive) of the attempt to do `what`. */
int mr_permission_explain(int error, const char *what);

#endif
