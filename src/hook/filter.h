/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a seccomp filter before the program installs it: which of our own system calls would it not allow?
 *
 * A filter is a small program that gets the number and the arguments of a system call, and returns what is to be done.
 * It is run here for each of our calls, with the arguments as far as they are always the same. Where the outcome depends
 * on another argument, or is anything but "allow", the call counts as not allowed.
 */
#ifndef MR_HOOK_FILTER_H
#define MR_HOOK_FILTER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MR_FILTER_MOST = BPF_MAXINSNS, /* instructions: the kernel takes no more */
};

/* As bits of mr_forbidden_calls (record/own_call.h). */
uint32_t mr_filter_forbids(const struct sock_filter *code, size_t count);

#endif
