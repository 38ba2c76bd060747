/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads the BPF programs as two objects at once, in half the time. Both are instances of the same object; each
 * loads some of the programs:
 *
 *     caller    share maps ─── load the first half ─────── wait ───
 *     thread         └──────── load the second half ───────┘
 *
 * They have all maps in common, except constants, of which each has equal ones. Nothing here is for a kernel that
 * lacks something: then one object is loaded instead, feature by feature (object.c).
 */
#ifndef MR_KERNEL_HALVES_H
#define MR_KERNEL_HALVES_H

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Whether there are two CPUs for it. */
bool mr_halves_are_faster(void);

/* Loads two objects that are open and prepared alike: each program that both shall load is loaded by one of them. Maps
 * that they have already stay as they are. On failure, a negative errno, the objects can only be closed. */
int mr_halves_load(struct bpf_object *first, struct bpf_object *second);

#endif
