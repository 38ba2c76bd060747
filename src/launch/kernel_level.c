/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/kernel_level.h"

#include <string.h>

#include "base/error.h"
#include "launch/descriptors.h"
#include "launch/manifest.h"

/* Where perf events fail in the place of BPF, both reasons are worth knowing. */
static void give_up(struct mr_kernel_level *level)
{
	mr_auto(free) char *before = mr_take(level->why);
	if (asprintf(&level->why, "%s%s%s", before ? before : "", before ? "; " : "",
		     mr_error_text()) < 0)
		level->why = NULL;
	mr_kernel_close(mr_take(level->kernel));
	level->mode = MR_KERNEL_OFF;
}

void mr_kernel_level_open(struct mr_kernel_level *level, const struct mr_kernel_options *options)
{
	struct mr_kernel_status status;
	if (mr_kernel_open(options, &level->kernel) < 0 || mr_descriptors_check() < 0) {
		give_up(level);
		return;
	}
	mr_kernel_describe(level->kernel, &status);
	level->mode = status.mode;
	if (status.why_not_bpf)
		level->why = strdup(status.why_not_bpf);
}

static int append(void *context, struct mr_packet *packet, uint32_t content_bytes, uint64_t end_ns,
		  uint64_t discarded_events)
{
	return mr_drain_append(context, packet, content_bytes, end_ns, discarded_events, false);
}

/* Off at first: what the child does until it is released is not the program's. */
void mr_kernel_level_start(struct mr_kernel_level *level, pid_t child, struct mr_drain *drain)
{
	const struct mr_kernel_sink sink = {.context = drain, .append = append};
	level->drain = drain;
	if (level->kernel && (mr_kernel_follow(level->kernel, child) < 0 ||
			      mr_kernel_start(level->kernel, &sink) < 0))
		give_up(level);
	mr_kernel_level_enable(level, false);
}

void mr_kernel_level_enable(struct mr_kernel_level *level, bool on)
{
	if (level->kernel)
		mr_kernel_enable(level->kernel, on);
}

uint32_t mr_kernel_level_drain(struct mr_kernel_level *level)
{
	return level->kernel ? mr_kernel_drain(level->kernel) : 0;
}

bool mr_kernel_level_are_all_gone(const struct mr_kernel_level *level)
{
	return level->kernel && mr_kernel_are_all_gone(level->kernel);
}

uint32_t mr_kernel_level_reductions(const struct mr_kernel_level *level)
{
	struct mr_kernel_status status = {0};
	if (level->kernel)
		mr_kernel_describe(level->kernel, &status);
	return status.reduced_count + (status.calls_ended_ns != 0);
}

void mr_kernel_level_finish(struct mr_kernel_level *level)
{
	if (level->kernel)
		mr_kernel_finish(level->kernel);
}

void mr_kernel_level_flush(struct mr_kernel_level *level)
{
	if (level->kernel)
		mr_kernel_flush(level->kernel);
}

void mr_kernel_level_tell(const struct mr_kernel_level *level, json_t *manifest)
{
	struct mr_kernel_status status;
	if (!level->kernel) {
		mr_manifest_set_kernel(manifest, NULL, level->why);
		return;
	}
	mr_kernel_describe(level->kernel, &status);
	mr_manifest_set_kernel(manifest, &status, level->why);
	uint64_t *lost = level->drain->lost_by_kernel;
	lost[MR_loss_reason_kernel_buffer_full] = 0;
	for (uint32_t cpu = 0; status.lost_by_cpu && cpu < status.cpu_count; cpu++)
		lost[MR_loss_reason_kernel_buffer_full] += status.lost_by_cpu[cpu];
	lost[MR_loss_reason_kernel_task_not_followed] = status.not_followed;
	lost[MR_loss_reason_kernel_nesting] = status.nested;
}

void mr_kernel_level_close(struct mr_kernel_level *level)
{
	mr_kernel_close(mr_take(level->kernel));
	free(mr_take(level->why));
}
