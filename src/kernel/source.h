/* SPDX-License-Identifier: Apache-2.0
 *
 * A source that the collector drives: the programs of bpf.c, or the perf events of perf.c. It is a struct
 * that begins with a struct mr_kernel_source.
 */
#ifndef MR_KERNEL_SOURCE_H
#define MR_KERNEL_SOURCE_H

#include "kernel/collector.h"

struct mr_kernel_source {
	const struct mr_kernel_source_operations *operations;
};

/* Like the functions of collector.h, which call these. */
struct mr_kernel_source_operations {
	int (*follow)(struct mr_kernel_source *source, pid_t child);
	void (*enable)(struct mr_kernel_source *source, bool on);
	/* NULL: it cannot tell. */
	bool (*are_all_gone)(const struct mr_kernel_source *source);
	uint32_t (*drain)(struct mr_kernel_source *source, struct mr_kernel_streams *streams);
	void (*finish)(struct mr_kernel_source *source, struct mr_kernel_streams *streams);
	/* Fills in what the source knows and the collector does not. */
	void (*describe)(const struct mr_kernel_source *source, struct mr_kernel_status *status);
	void (*close)(struct mr_kernel_source *source);
};

int mr_kernel_open_bpf(const struct mr_kernel_options *options,
		       struct mr_kernel_source **ret_source);
int mr_kernel_open_perf(const struct mr_kernel_options *options,
			struct mr_kernel_source **ret_source);

#endif
