/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "base/thread.h"
#include "kernel/permission.h"

enum {
	RING_OFFLINE_BYTES = 64 << 10, /* of a CPU that is switched off: it may come back */
	RINGS_AT_ONCE = 64,
};

static uint64_t power_of_two(uint64_t at_least)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	while (bytes < at_least)
		bytes *= 2;
	return bytes;
}

static bool is_online(uint32_t cpu)
{
	char path[64];
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/online", cpu);
	mr_auto(close_file) FILE *file = fopen(path, "re");
	return !file || fgetc(file) != '0'; /* one that cannot be switched off has no such file */
}

/* ---- making and installing ---------------------------------------------------------------------------- */

/* Returns its descriptor. */
static int make_map(uint64_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "millrace_ring", 0, 0, (uint32_t)bytes, NULL);
	return fd >= 0 ? fd : mr_permission_explain(errno, "make a ring buffer");
}

/* Returns its descriptor. */
static int make_ring(uint64_t bytes, struct mr_ring *ret_ring)
{
	int fd = make_map(bytes);
	int result = fd < 0 ? fd : mr_ring_map(fd, bytes, ret_ring);
	if (result == 0 || fd < 0)
		return fd;
	close(fd);
	return result;
}

/* Puts rings into an outer map. Together, because the kernel then waits for programs that run: once, and not for
 * every CPU of a large machine. */
static int install(int outer_fd, uint32_t first_cpu, uint32_t count, const int *fds)
{
	uint32_t cpus[RINGS_AT_ONCE] = {0}, done = count;
	for (uint32_t i = 0; i < count; i++)
		cpus[i] = first_cpu + i;
	if (bpf_map_update_batch(outer_fd, cpus, fds, &done, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < count; i++) /* before Linux 5.19 */
		if (bpf_map_update_elem(outer_fd, &cpus[i], &fds[i], BPF_ANY) < 0)
			return mr_permission_explain(errno, "install a ring buffer");
	return 0;
}

/* For `count` CPUs, at most RINGS_AT_ONCE: descriptors are scarce. */
static int make_some(int outer_fd, uint32_t first_cpu, uint32_t count, uint64_t bytes,
		     struct mr_ring *rings)
{
	int fds[RINGS_AT_ONCE] = {0}, result = 0;
	uint32_t made = 0;
	for (; made < count && result >= 0; made += result >= 0) {
		uint64_t most = is_online(first_cpu + made) ? UINT64_MAX : RING_OFFLINE_BYTES;
		result = fds[made] = make_ring(mr_min(bytes, most), &rings[first_cpu + made]);
	}
	if (result >= 0)
		result = install(outer_fd, first_cpu, count, fds);
	while (made > 0)
		close(fds[--made]);
	return result;
}

static int make_all(const struct mr_ring_set *set)
{
	int result = 0;
	for (uint32_t cpu = 0; cpu < set->cpu_count && result == 0; cpu += RINGS_AT_ONCE)
		result = make_some(set->fd, cpu,
				   mr_min(set->cpu_count - cpu, (uint32_t)RINGS_AT_ONCE),
				   set->bytes, set->of_cpu);
	return result;
}

static void *run(void *data)
{
	struct mr_ring_set *set = data;
	set->result = make_all(set);
	if (set->result < 0)
		snprintf(set->why, sizeof set->why, "%s", mr_error_text());
	return NULL;
}

/* ---- sets --------------------------------------------------------------------------------------------- */

/* What will be in the outer map need only be of the same kind as the ring behind `pattern_fd`. */
static int make_set(const char *name, uint32_t cpu_count, uint64_t bytes, int pattern_fd,
		    struct mr_ring_set *set)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = (uint32_t)pattern_fd);
	set->of_cpu = calloc(cpu_count, sizeof *set->of_cpu);
	if (!set->of_cpu)
		return mr_fail(ENOMEM, "no memory for the kernel level");
	set->cpu_count = cpu_count;
	set->bytes = bytes;
	set->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, name, sizeof(uint32_t),
				 sizeof(uint32_t), cpu_count, &options);
	return set->fd >= 0 ? 0 : mr_permission_explain(errno, "make a map of ring buffers");
}

static void begin_set(struct mr_ring_set *set)
{
	set->is_running = mr_thread_start(run, set, &set->thread);
	if (!set->is_running)
		run(set);
}

static void join(struct mr_ring_set *set)
{
	if (set->is_running)
		pthread_join(set->thread, NULL);
	set->is_running = false;
}

static int end_set(struct mr_ring_set *set)
{
	join(set);
	return set->result < 0 ? mr_fail(-set->result, "%s", set->why) : 0;
}

static void free_set(struct mr_ring_set *set)
{
	join(set);
	for (uint32_t cpu = 0; cpu < set->cpu_count; cpu++)
		mr_ring_unmap(&set->of_cpu[cpu]);
	if (set->fd > 0)
		close(set->fd);
	free(set->of_cpu);
	*set = (struct mr_ring_set){0};
}

/* ---- for the caller ----------------------------------------------------------------------------------- */

int mr_rings_begin(struct mr_rings *rings, uint32_t cpu_count, const struct mr_kernel_sizes *sizes)
{
	*rings = (struct mr_rings){0};
	uint64_t event_bytes = power_of_two(sizes->event_ring_bytes);
	if (event_bytes > UINT32_C(1) << 30)
		return mr_fail(EINVAL, "the kernel level's buffers are too large: 1 GiB at most");
	mr_auto(close_fd) int pattern = make_map((uint64_t)sysconf(_SC_PAGESIZE));
	if (pattern < 0)
		return pattern;
	int result = make_set("event_rings", cpu_count, event_bytes, pattern, &rings->events);
	if (result == 0)
		result = make_set("definition_rings", cpu_count, sizes->definition_ring_bytes,
				  pattern, &rings->definitions);
	if (result < 0)
		return result;
	begin_set(&rings->events);
	begin_set(&rings->definitions);
	return 0;
}

int mr_rings_end(struct mr_rings *rings)
{
	int result = end_set(&rings->events);
	return result < 0 ? result : end_set(&rings->definitions);
}

void mr_rings_free(struct mr_rings *rings)
{
	free_set(&rings->events);
	free_set(&rings->definitions);
}
