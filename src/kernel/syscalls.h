/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of the machine's architecture: their names, and which argument is a file descriptor.
 */
#ifndef MR_KERNEL_SYSCALLS_H
#define MR_KERNEL_SYSCALLS_H

#include <stdint.h>

/* NULL if there is no such call. */
const char *mr_syscall_name(uint32_t number);

/* The number of a call, or -1. */
int mr_syscall_number(const char *name);

/* Bits of enum mr_syscall_kind. */
uint8_t mr_syscall_kind(uint32_t number);

#endif
