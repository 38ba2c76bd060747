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
#include "kernel/records.h"
#include "kernel/rings.h"

struct mr_object {
	struct bpf_object *object;      /* all programs, or a half of them */
	struct bpf_object *second_half; /* NULL: there is none */
	mr_vec(struct bpf_link *) links;
	mr_vec(struct mr_kernel_off) off;
	struct mr_region texts; /* of off */
	struct mr_bpf_shared *shared;
	uint32_t cpu_count;
	int tasks_fd;
};

/* Loads programs that write into the rings, which may not be there yet; nothing is attached. The cause of a failure
 * says what to do. */
int mr_object_load(const struct mr_kernel_options *options, const struct mr_rings *rings,
		   struct mr_object *ret_object);

/* Attaches all programs except the one that the collector runs itself. */
int mr_object_attach(struct mr_object *object);

/* Runs the program that visits each task. */
int mr_object_visit_tasks(struct mr_object *object);

void mr_object_detach(struct mr_object *object);

/* How often a program was skipped because it was already running on the CPU. */
uint64_t mr_object_nested(const struct mr_object *object);

void mr_object_close(struct mr_object *object);

#endif
