/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/collector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/source.h"
#include "record/recorder.h"

/* Also how much a killed recorder loses, and the granularity with which a flight recorder drops events. */
static const uint64_t hand_over_ns = 250000000;

struct mr_kernel {
	enum mr_kernel_mode mode;
	struct mr_kernel_options options;
	struct mr_kernel_source *source;
	struct mr_kernel_streams *streams; /* NULL: not started */
	char *why_not_bpf;
};

int mr_kernel_open(const struct mr_kernel_options *options, struct mr_kernel **ret_kernel)
{
	struct mr_kernel *kernel = calloc(1, sizeof *kernel);
	if (!kernel)
		return mr_fail(ENOMEM, "no memory for the kernel level");
	kernel->options = *options;
	kernel->mode = MR_KERNEL_BPF;
	int result = mr_kernel_open_bpf(options, &kernel->source);
	if (result < 0) {
		kernel->why_not_bpf = strdup(mr_error_text());
		kernel->mode = MR_KERNEL_PERF;
		result = mr_kernel_open_perf(options, &kernel->source);
	}
	if (result < 0) {
		result = mr_fail_more(result, "%s; nor perf events",
				      kernel->why_not_bpf ? kernel->why_not_bpf : "");
		mr_kernel_close(kernel);
		return result;
	}
	*ret_kernel = kernel;
	return 0;
}

int mr_kernel_follow(struct mr_kernel *kernel, pid_t child)
{
	return kernel->source->operations->follow(kernel->source, child);
}

int mr_kernel_start(struct mr_kernel *kernel, const struct mr_kernel_sink *sink)
{
	struct mr_kernel_status status;
	mr_kernel_describe(kernel, &status);
	return mr_kernel_streams_new(sink, mr_arena->trace_uuid, getpid(), status.cpu_count,
				     &kernel->streams);
}

void mr_kernel_enable(struct mr_kernel *kernel, bool on)
{
	kernel->source->operations->enable(kernel->source, on);
}

bool mr_kernel_are_all_gone(const struct mr_kernel *kernel)
{
	const struct mr_kernel_source_operations *operations = kernel->source->operations;
	return operations->are_all_gone && operations->are_all_gone(kernel->source);
}

uint32_t mr_kernel_drain(struct mr_kernel *kernel)
{
	if (!kernel->streams)
		return 0;
	uint32_t taken = kernel->source->operations->drain(kernel->source, kernel->streams);
	mr_kernel_streams_flush(kernel->streams,
				mr_ticks_of_system(CLOCK_MONOTONIC) - hand_over_ns);
	return taken;
}

void mr_kernel_flush(struct mr_kernel *kernel)
{
	if (!kernel->streams)
		return;
	kernel->source->operations->drain(kernel->source, kernel->streams);
	mr_kernel_streams_flush(kernel->streams, UINT64_MAX);
}

void mr_kernel_finish(struct mr_kernel *kernel)
{
	if (!kernel->streams)
		return;
	kernel->source->operations->finish(kernel->source, kernel->streams);
	mr_kernel_streams_flush(kernel->streams, UINT64_MAX);
}

void mr_kernel_describe(const struct mr_kernel *kernel, struct mr_kernel_status *ret_status)
{
	*ret_status = (struct mr_kernel_status){.mode = kernel->mode,
						.syscalls = kernel->options.syscalls,
						.why_not_bpf = kernel->why_not_bpf};
	for (uint32_t i = 0; kernel->streams && i < kernel->streams->cpu_count; i++)
		ret_status->events += kernel->streams->of_cpu[i].events;
	kernel->source->operations->describe(kernel->source, ret_status);
}

void mr_kernel_close(struct mr_kernel *kernel)
{
	if (!kernel)
		return;
	if (kernel->source)
		kernel->source->operations->close(kernel->source);
	mr_kernel_streams_free(kernel->streams);
	free(kernel->why_not_bpf);
	free(kernel);
}
