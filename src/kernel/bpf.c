/* SPDX-License-Identifier: Apache-2.0
 *
 * The source that records everything: BPF programs, a ring for each CPU, and the encoder behind it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/encode.h"
#include "kernel/object.h"
#include "kernel/permission.h"
#include "kernel/rings.h"
#include "kernel/source.h"
#include "record/ticks.h"
#include "schema/schema.h"

enum {
	BATCHES = 64, /* from one CPU at a time: the arena must be drained, too */
	STRAGGLERS_NS = 2000000,
	LOOK_NS = 50000000,                   /* between two looks at how many calls are made */
	FEW_CALLS = MR_KERNEL_CALLS_MAX / 10, /* a second, by all processes that are not reduced */
};

struct bpf_source {
	struct mr_kernel_source base;
	struct mr_object object;
	struct mr_encoder encoder;
	struct mr_ring_batch batch;
	uint64_t nested;
	uint64_t look_ns, look_calls; /* the last look, and how many calls had been recorded */
	uint64_t
		calls_ended_ns; /* since when only calls that block are recorded; 0: they all are */
	uint32_t cpu_count;
	uint64_t *lost_by_cpu;
	struct mr_rings rings;
};

static struct bpf_source *source_of(struct mr_kernel_source *base)
{
	return (struct bpf_source *)base;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static void close_source(struct mr_kernel_source *base)
{
	struct bpf_source *source = source_of(base);
	mr_rings_free(&source->rings);
	mr_object_close(&source->object);
	mr_encoder_free(&source->encoder);
	free(source->lost_by_cpu);
	free(source);
}

/* ---- recording -------------------------------------------------------------------------------------- */

static int follow(struct mr_kernel_source *base, pid_t child)
{
	struct mr_object *object = &source_of(base)->object;
	object->shared->child = (uint32_t)child;
	int result = mr_object_visit_tasks(object);
	if (result == 0 && !object->shared->is_followed)
		result = mr_fail(ESRCH, "the kernel level cannot find the program's process");
	return result;
}

static void enable(struct mr_kernel_source *base, bool on)
{
	__atomic_store_n(&source_of(base)->object.shared->is_recording, on, __ATOMIC_RELAXED);
}

static bool are_all_gone(const struct mr_kernel_source *base)
{
	const struct mr_bpf_shared *shared = ((const struct bpf_source *)base)->object.shared;
	return __atomic_load_n(&shared->alive, __ATOMIC_SEQ_CST) == 0 && !shared->not_followed;
}

static uint32_t drain_ring(struct bpf_source *source, struct mr_ring *ring,
			   struct mr_kernel_stream *stream)
{
	struct mr_ring_batch *batch = &source->batch;
	uint32_t taken = 0;
	for (int i = 0; i < BATCHES; i++) {
		mr_ring_read(ring, batch);
		for (uint32_t k = 0; k < batch->count; k++)
			mr_encoder_put(&source->encoder, stream, batch->records[k]);
		mr_ring_release(ring, batch);
		taken += batch->count;
		if (batch->count < MR_RING_BATCH)
			break;
	}
	return taken;
}

/* As long as the programs of system calls are attached, the kernel takes all tasks of the machine a slower way. Where
 * those that make many calls are reduced, and the others make few, that costs more than it tells. */
static void reconsider_calls(struct bpf_source *source)
{
	struct mr_bpf_shared *shared = source->object.shared;
	if (source->calls_ended_ns || shared->reduced_alive == 0) {
		source->look_ns = 0;
		return;
	}
	uint64_t now_ns = mr_ticks_of_system(CLOCK_MONOTONIC), calls = source->encoder.calls;
	uint64_t before_ns = source->look_ns, made = calls - source->look_calls;
	if (before_ns && now_ns - before_ns < LOOK_NS)
		return;
	source->look_ns = now_ns;
	source->look_calls = calls;
	if (before_ns == 0 || made * 1000000000 > FEW_CALLS * (now_ns - before_ns))
		return;
	source->calls_ended_ns = now_ns;
	mr_object_end_calls(&source->object);
}

static uint32_t drain(struct mr_kernel_source *base, struct mr_kernel_streams *streams)
{
	struct bpf_source *source = source_of(base);
	uint32_t taken = 0;
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++) {
		struct mr_kernel_stream *stream = &streams->of_cpu[cpu];
		taken += drain_ring(source, &source->rings.definitions.of_cpu[cpu], stream);
		taken += drain_ring(source, &source->rings.events.of_cpu[cpu], stream);
	}
	reconsider_calls(source);
	return taken;
}

/* Adds losses that no record in the rings reports. */
static void put_losses(struct bpf_source *source, struct mr_kernel_streams *streams)
{
	uint64_t now = mr_ticks_of_system(CLOCK_MONOTONIC);
	const struct mr_bpf_shared *shared = source->object.shared;
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++)
		mr_encoder_put_loss(&source->encoder, &streams->of_cpu[cpu], now,
				    shared->cpus[cpu].lost);
	if (shared->not_followed)
		mr_kernel_put_loss(&streams->of_cpu[0], now, shared->not_followed,
				   MR_loss_reason_kernel_task_not_followed);
	if (source->nested)
		mr_kernel_put_loss(&streams->of_cpu[0], now, source->nested,
				   MR_loss_reason_kernel_nesting);
}

static void finish(struct mr_kernel_source *base, struct mr_kernel_streams *streams)
{
	struct bpf_source *source = source_of(base);
	__atomic_store_n(&source->object.shared->is_finishing, 1, __ATOMIC_SEQ_CST);
	mr_object_visit_tasks(&source->object);
	enable(base, false);
	mr_object_detach(&source->object);
	/* Programs that are still running end within a moment. */
	nanosleep(&(struct timespec){.tv_nsec = STRAGGLERS_NS}, NULL);
	while (drain(base, streams) > 0)
		;
	source->nested = mr_object_nested(&source->object);
	put_losses(source, streams);
}

_Static_assert((int)MR_KERNEL_REDUCED_MAX == MR_BPF_REDUCED, "all that are known are named");

static void describe_reduced(const struct mr_bpf_shared *shared, struct mr_kernel_status *status)
{
	status->reduced_count = shared->reduced_count;
	uint32_t named = mr_min(status->reduced_count, (uint32_t)MR_BPF_REDUCED);
	for (uint32_t i = 0; i < named; i++) {
		const struct mr_bpf_reduced *from = &shared->reduced[i];
		struct mr_kernel_reduced *to = &status->reduced[i];
		*to = (struct mr_kernel_reduced){.pid = from->pid, .since_ns = from->since_ns};
		memcpy(to->name, from->name, sizeof to->name - 1);
	}
}

static void describe(const struct mr_kernel_source *base, struct mr_kernel_status *status)
{
	const struct bpf_source *source = (const struct bpf_source *)base;
	const struct mr_bpf_shared *shared = source->object.shared;
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++) {
		source->lost_by_cpu[cpu] = shared->cpus[cpu].lost;
		status->lost_syscalls += shared->cpus[cpu].lost_syscalls;
	}
	describe_reduced(shared, status);
	status->calls_ended_ns = source->calls_ended_ns;
	status->guarded = shared->guarded;
	status->files = source->encoder.files;
	status->cpu_count = source->cpu_count;
	status->lost_by_cpu = source->lost_by_cpu;
	status->not_followed = shared->not_followed;
	status->nested = source->nested;
	status->off = source->object.off.items;
	status->off_count = source->object.off.count;
}

static const struct mr_kernel_source_operations operations = {
	.follow = follow,
	.enable = enable,
	.are_all_gone = are_all_gone,
	.drain = drain,
	.finish = finish,
	.describe = describe,
	.close = close_source,
};

static int open_source(struct bpf_source *source, const struct mr_kernel_options *options)
{
	/* Before Linux 5.11 the memory of BPF counts as locked, and libbpf raises the limit. The traced program
	 * must still get its original limit. */
	struct rlimit limit;
	bool is_known = getrlimit(RLIMIT_MEMLOCK, &limit) == 0;
	const struct mr_memory_room room = mr_memory_room("");
	struct mr_kernel_sizes sizes =
		mr_kernel_sizes(&room, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (options->ring_bytes)
		sizes.event_ring_bytes = options->ring_bytes;
	int result = mr_rings_begin(&source->rings, source->cpu_count, &sizes);
	if (result == 0)
		result =
			mr_object_load(options, &source->rings, sizes.table_parts, &source->object);
	if (result == 0) {
		source->object.shared->is_recording = 1;
		result = mr_object_attach(&source->object);
	}
	if (result == 0)
		result = mr_rings_end(&source->rings);
	if (is_known)
		setrlimit(RLIMIT_MEMLOCK, &limit);
	return result;
}

int mr_kernel_open_bpf(const struct mr_kernel_options *options,
		       struct mr_kernel_source **ret_source)
{
	int possible = libbpf_num_possible_cpus();
	uint32_t cpu_count = (uint32_t)mr_min(mr_max(possible, 1), (int)MR_BPF_CPUS);
	struct bpf_source *source = calloc(1, sizeof *source);
	if (!source)
		return mr_fail(ENOMEM, "no memory for the kernel level");
	source->base.operations = &operations;
	source->lost_by_cpu = calloc(cpu_count, sizeof *source->lost_by_cpu);
	source->cpu_count = cpu_count;
	int result = source->lost_by_cpu ? open_source(source, options)
					 : mr_fail(ENOMEM, "no memory for the kernel level");
	if (result < 0)
		close_source(&source->base);
	else
		*ret_source = &source->base;
	return result;
}
