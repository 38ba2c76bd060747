/* SPDX-License-Identifier: Apache-2.0
 *
 * The BPF object: loading it, and attaching its programs.
 *
 * Programs belong to features. If the kernel lacks a tracepoint or a field, or its verifier rejects a program, that
 * feature is switched off, with a reason, and the rest still works. Only scheduling and the life of tasks are
 * indispensable. Only descriptors hold the programs: nothing is pinned, so nothing outlives the process.
 */
#ifndef MR_KERNEL_OBJECT_H
#define MR_KERNEL_OBJECT_H

#include <bpf/libbpf.h>

#include "base/region.h"
#include "base/vector.h"
#include "kernel/collector.h"
#include "kernel/feature.h"
#include "kernel/records.h"
#include "kernel/rings.h"

enum {
	MR_OBJECT_VISITS = 3, /* to follow the child, at the end of calls, and at the end of all */
};

struct mr_object_link {
	struct bpf_link *link;
	bool is_of_calls; /* of system calls */
};

struct mr_object {
	struct bpf_object *object;      /* all programs, or a half of them */
	struct bpf_object *second_half; /* NULL: there is none */
	mr_vec(struct mr_object_link) links;
	bool is_off[MR_FEATURE_COUNT];
	mr_vec(struct mr_kernel_off) off; /* the same, with reasons */
	struct mr_region texts;           /* of off */
	struct mr_bpf_shared *shared;
	uint32_t cpu_count;
	struct bpf_link *visitor;
	int visits[MR_OBJECT_VISITS]; /* descriptors; each visits all tasks once, when it is read */
	uint32_t visit_count;         /* that are left */
};

/* Loads programs that write into the rings, which may not be there yet; nothing is attached. The cause of a failure
 * says what to do. Tables have one entry in `table_parts` of those that they could have. */
int mr_object_load(const struct mr_kernel_options *options, const struct mr_rings *rings,
		   uint32_t table_parts, struct mr_object *ret_object);

/* Switches a feature off; fails if it is indispensable. */
int mr_object_switch_off(struct mr_object *object, const struct mr_feature *feature,
			 const char *why);

/* Attaches all programs except the one that the collector runs itself, and prepares its runs. Nothing after this needs
 * privileges, nor the system call bpf(). */
int mr_object_attach(struct mr_object *object);

/* Runs the program that visits each task, at most MR_OBJECT_VISITS times. */
int mr_object_visit_tasks(struct mr_object *object);

/* Of system calls, from now on only those that block are recorded. */
void mr_object_end_calls(struct mr_object *object);

void mr_object_detach(struct mr_object *object);

/* How often a program was skipped because it was already running on the CPU. */
uint64_t mr_object_nested(const struct mr_object *object);

void mr_object_close(struct mr_object *object);

#endif
