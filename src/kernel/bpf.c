/* SPDX-License-Identifier: Apache-2.0
 *
 * The source that records everything: BPF programs, a ring for each CPU, and the encoder behind it.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/encode.h"
#include "kernel/object.h"
#include "kernel/permission.h"
#include "kernel/ring.h"
#include "kernel/source.h"
#include "record/ticks.h"
#include "schema/schema.h"

enum {
	RING_MAX_BYTES = 16 << 20,
	RING_MIN_BYTES = 256 << 10,
	RING_OFFLINE_BYTES = 64 << 10, /* for a CPU that is offline: it may come back */
	DEFINITION_RING_BYTES = 512 << 10,
	MEMORY_SHARE = 32, /* all rings together get 1/32 of the machine's memory */
	BATCHES = 64,      /* from one CPU at a time, because the arena must be drained too */
	RINGS_AT_ONCE = 64,
	STRAGGLERS_NS = 2000000,
};

struct bpf_source {
	struct mr_kernel_source base;
	struct mr_object object;
	struct mr_encoder encoder;
	struct mr_ring_batch batch;
	uint64_t nested;
	uint32_t cpu_count;
	uint64_t *lost_by_cpu;
	struct mr_ring *events, *definitions; /* one for each CPU */
};

static struct bpf_source *source_of(struct mr_kernel_source *base)
{
	return (struct bpf_source *)base;
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	while (bytes < at_least)
		bytes *= 2;
	return bytes;
}

static uint64_t default_ring_bytes(void)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t share = memory / MEMORY_SHARE / (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t bytes = RING_MAX_BYTES;
	while (bytes > mr_max(share, (uint64_t)RING_MIN_BYTES))
		bytes /= 2;
	return bytes;
}

static bool is_online(uint32_t cpu)
{
	char path[64];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	return !file || fgetc(file) != '0'; /* a CPU that cannot go offline has no such file */
}

/* Returns its descriptor. */
static int make_ring(uint64_t bytes, struct mr_ring *ret_ring)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "millrace_ring", 0, 0, (uint32_t)bytes, NULL);
	if (fd < 0)
		return mr_permission_explain(errno, "make a ring buffer");
	int result = mr_ring_map(fd, bytes, ret_ring);
	if (result == 0)
		return fd;
	close(fd);
	return result;
}

/* Puts rings into the map that the programs use. All at once, because each update makes the kernel wait for running
 * programs: once is enough, instead of once for every CPU of a large machine. */
static int install(int rings_fd, uint32_t first_cpu, uint32_t count, const int *fds)
{
	uint32_t cpus[RINGS_AT_ONCE] = {0}, done = count;
	for (uint32_t i = 0; i < count; i++)
		cpus[i] = first_cpu + i;
	if (bpf_map_update_batch(rings_fd, cpus, fds, &done, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) /* before Linux 5.19 */
		if (bpf_map_update_elem(rings_fd, &cpus[i], &fds[i], BPF_ANY) < 0)
			return mr_permission_explain(errno, "install a ring buffer");
	return 0;
}

/* For `count` CPUs, at most RINGS_AT_ONCE: descriptors are scarce. */
static int make_some_rings(int rings_fd, uint32_t first_cpu, uint32_t count, uint64_t bytes,
			   struct mr_ring *rings)
{
	int fds[RINGS_AT_ONCE] = {0}, result = 0;
	uint32_t made = 0;
	for (; made < count && result >= 0; made += result >= 0) {
		uint64_t most = is_online(first_cpu + made) ? UINT64_MAX : RING_OFFLINE_BYTES;
		result = fds[made] = make_ring(mr_min(bytes, most), &rings[first_cpu + made]);
	}
	if (result >= 0)
		result = install(rings_fd, first_cpu, count, fds);
	while (made > 0)
		close(fds[--made]);
	return result;
}

static int make_rings(int rings_fd, uint32_t cpu_count, uint64_t bytes, struct mr_ring *rings)
{
	int result = 0;
	for (uint32_t cpu = 0; cpu < cpu_count && result == 0; cpu += RINGS_AT_ONCE)
		result = make_some_rings(rings_fd, cpu,
					 mr_min(cpu_count - cpu, (uint32_t)RINGS_AT_ONCE), bytes,
					 rings);
	return result;
}

static int make_all_rings(struct bpf_source *source, uint64_t wanted_bytes)
{
	const struct mr_object *object = &source->object;
	uint64_t bytes = wanted_bytes ? power_of_two(wanted_bytes) : default_ring_bytes();
	if (bytes > UINT32_C(1) << 30)
		return mr_fail(EINVAL,
			       "the kernel level's buffers are too large: the maximum is 1 GiB");
	int result = make_rings(object->event_rings_fd, source->cpu_count, bytes, source->events);
	return result < 0 ? result
			  : make_rings(object->definition_rings_fd, source->cpu_count,
				       DEFINITION_RING_BYTES, source->definitions);
}

static void close_source(struct mr_kernel_source *base)
{
	struct bpf_source *source = source_of(base);
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++) {
		mr_ring_unmap(&source->events[cpu]);
		mr_ring_unmap(&source->definitions[cpu]);
	}
	mr_object_close(&source->object);
	mr_encoder_free(&source->encoder);
	free(source->events);
	free(source->definitions);
	free(source->lost_by_cpu);
	free(source);
}

/* ---- recording -------------------------------------------------------------------------------------- */

static int follow(struct mr_kernel_source *base, pid_t child)
{
	struct bpf_source *source = source_of(base);
	mr_auto(close_fd) int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
	if (pidfd < 0)
		return mr_fail_errno(errno, "cannot open the program's process");
	mr_auto(free) void *nothing_yet = calloc(
		1,
		bpf_map__value_size(bpf_object__find_map_by_name(source->object.object, "tasks")));
	if (!nothing_yet)
		return mr_fail(ENOMEM, "no memory for a task");
	if (bpf_map_update_elem(source->object.tasks_fd, &pidfd, nothing_yet, BPF_NOEXIST) < 0)
		return mr_permission_explain(errno, "follow the program");
	return mr_object_visit_tasks(&source->object);
}

static void enable(struct mr_kernel_source *base, bool on)
{
	__atomic_store_n(&source_of(base)->object.shared->is_recording, on, __ATOMIC_RELAXED);
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

static uint32_t drain(struct mr_kernel_source *base, struct mr_kernel_streams *streams)
{
	struct bpf_source *source = source_of(base);
	uint32_t taken = 0;
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++) {
		struct mr_kernel_stream *stream = &streams->of_cpu[cpu];
		taken += drain_ring(source, &source->definitions[cpu], stream);
		taken += drain_ring(source, &source->events[cpu], stream);
	}
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

static void describe(const struct mr_kernel_source *base, struct mr_kernel_status *status)
{
	const struct bpf_source *source = (const struct bpf_source *)base;
	const struct mr_bpf_shared *shared = source->object.shared;
	for (uint32_t cpu = 0; cpu < source->cpu_count; cpu++) {
		source->lost_by_cpu[cpu] = shared->cpus[cpu].lost;
		status->lost_syscalls += shared->cpus[cpu].lost_syscalls;
	}
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
	int result = mr_object_load(options, source->cpu_count, &source->object);
	if (result == 0)
		result = make_all_rings(source, options->ring_bytes);
	if (is_known)
		setrlimit(RLIMIT_MEMLOCK, &limit);
	if (result < 0)
		return result;
	source->object.shared->is_recording = 1;
	return mr_object_attach(&source->object);
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
	(void)!getrandom(&source->encoder.mask, sizeof source->encoder.mask, 0);
	source->lost_by_cpu = calloc(cpu_count, sizeof *source->lost_by_cpu);
	source->events = calloc(cpu_count, sizeof *source->events);
	source->definitions = calloc(cpu_count, sizeof *source->definitions);
	bool has_memory = source->lost_by_cpu && source->events && source->definitions;
	source->cpu_count = has_memory ? cpu_count : 0;
	int result = has_memory ? open_source(source, options)
				: mr_fail(ENOMEM, "no memory for the kernel level");
	if (result < 0)
		close_source(&source->base);
	else
		*ret_source = &source->base;
	return result;
}
