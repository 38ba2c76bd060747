/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/macros.h"
#include "kernel/permission.h"

enum {
	RING_MAX_BYTES = 16 << 20,
	RING_MIN_BYTES = 256 << 10,
	RING_OFFLINE_BYTES = 64 << 10, /* of a CPU that is switched off: it may come back */
	DEFINITION_RING_BYTES = 512 << 10,
	MEMORY_SHARE = 32, /* of the machine's memory for all rings: one part in so many */
	RINGS_AT_ONCE = 64,
};

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

static int make_all(int outer_fd, uint32_t cpu_count, uint64_t bytes, struct mr_ring *rings)
{
	int result = 0;
	for (uint32_t cpu = 0; cpu < cpu_count && result == 0; cpu += RINGS_AT_ONCE)
		result = make_some(outer_fd, cpu, mr_min(cpu_count - cpu, (uint32_t)RINGS_AT_ONCE),
				   bytes, rings);
	return result;
}

static void *run(void *data)
{
	struct mr_rings *rings = data;
	rings->result =
		make_all(rings->events_fd, rings->cpu_count, rings->event_bytes, rings->events);
	if (rings->result == 0)
		rings->result = make_all(rings->definitions_fd, rings->cpu_count,
					 DEFINITION_RING_BYTES, rings->definitions);
	if (rings->result < 0)
		snprintf(rings->why, sizeof rings->why, "%s", mr_error_text());
	return NULL;
}

/* ---- for the caller ----------------------------------------------------------------------------------- */

/* Returns its descriptor. What will be in it need only be of the same kind as the ring behind `pattern_fd`. */
static int make_outer(const char *name, uint32_t cpu_count, int pattern_fd)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = (uint32_t)pattern_fd);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, name, sizeof(uint32_t),
				sizeof(uint32_t), cpu_count, &options);
	return fd >= 0 ? fd : mr_permission_explain(errno, "make a map of ring buffers");
}

static int make_outers(struct mr_rings *rings)
{
	mr_auto(close_fd) int pattern = make_map((uint64_t)sysconf(_SC_PAGESIZE));
	if (pattern < 0)
		return pattern;
	rings->events_fd = make_outer("event_rings", rings->cpu_count, pattern);
	if (rings->events_fd < 0)
		return rings->events_fd;
	rings->definitions_fd = make_outer("definition_rings", rings->cpu_count, pattern);
	return rings->definitions_fd < 0 ? rings->definitions_fd : 0;
}

/* It takes no signal that is meant for the others. */
static void start_thread(struct mr_rings *rings)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rings->is_running = pthread_create(&rings->thread, NULL, run, rings) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!rings->is_running)
		run(rings);
}

int mr_rings_begin(struct mr_rings *rings, uint32_t cpu_count, uint64_t bytes)
{
	*rings = (struct mr_rings){.events_fd = -1, .definitions_fd = -1};
	rings->event_bytes = bytes ? power_of_two(bytes) : default_ring_bytes();
	if (rings->event_bytes > UINT32_C(1) << 30)
		return mr_fail(EINVAL, "the kernel level's buffers are too large: 1 GiB at most");
	rings->events = calloc(cpu_count, sizeof *rings->events);
	rings->definitions = calloc(cpu_count, sizeof *rings->definitions);
	if (!rings->events || !rings->definitions)
		return mr_fail(ENOMEM, "no memory for the kernel level");
	rings->cpu_count = cpu_count;
	int result = make_outers(rings);
	if (result == 0)
		start_thread(rings);
	return result;
}

static void join(struct mr_rings *rings)
{
	if (rings->is_running)
		pthread_join(rings->thread, NULL);
	rings->is_running = false;
}

int mr_rings_end(struct mr_rings *rings)
{
	join(rings);
	return rings->result < 0 ? mr_fail(-rings->result, "%s", rings->why) : 0;
}

void mr_rings_free(struct mr_rings *rings)
{
	join(rings);
	for (uint32_t cpu = 0; cpu < rings->cpu_count; cpu++) {
		mr_ring_unmap(&rings->events[cpu]);
		mr_ring_unmap(&rings->definitions[cpu]);
	}
	if (rings->events_fd > 0)
		close(rings->events_fd);
	if (rings->definitions_fd > 0)
		close(rings->definitions_fd);
	free(rings->events);
	free(rings->definitions);
	*rings = (struct mr_rings){0};
}
