/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's types, as far as the programs need them.
 *
 * The kernel describes itself in /sys/kernel/btf/vmlinux: some hundred thousand types in 5 MB. libbpf copies it and
 * searches all of it for every struct and every tracepoint, which takes longer than all the rest of loading. Here it is
 * read once, in place:
 *
 *     vmlinux ──one pass──┬─► numbers of tracepoints and functions, by name
 *                         └─► the structs that the programs name, with the members that they name ──► a small file in
 *                             memory, which libbpf takes in the place of the kernel's to find members (CO-RE)
 *
 * In that file types have other numbers than in the kernel's: what the kernel is to know by number is looked up here.
 */
#ifndef MR_KERNEL_TYPES_H
#define MR_KERNEL_TYPES_H

#include <bpf/libbpf.h>
#include <stdint.h>

struct mr_kernel_types;

/* At first there are none; but it has the path that an object is opened with. */
int mr_kernel_types_new(struct mr_kernel_types **ret_types);

/* Where libbpf finds them, once they are read. */
const char *mr_kernel_types_path(const struct mr_kernel_types *types);

/* Reads what the programs of the object need. -ENOTSUP: the kernel does not describe its types. */
int mr_kernel_types_read(struct mr_kernel_types *types, const struct bpf_object *object);

/* Its number, 0: there is none. */
uint32_t mr_kernel_types_struct(const struct mr_kernel_types *types, const char *name);
uint32_t mr_kernel_types_function(const struct mr_kernel_types *types, const char *name);
uint32_t mr_kernel_types_tracepoint(const struct mr_kernel_types *types, const char *tracepoint);

/* How many arguments a tracepoint has; -1: the kernel has no such tracepoint. */
int mr_kernel_types_tracepoint_arguments(const struct mr_kernel_types *types,
					 const char *tracepoint);

void mr_kernel_types_free(struct mr_kernel_types *types);

#endif
