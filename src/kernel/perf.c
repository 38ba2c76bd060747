/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel level without privileges: perf events of the program's own tasks.
 *
 *     for each CPU   dummy event ──┐ switches in and out, fork, exit, names
 *                                  ├──► ring ──┐
 *                    major faults ─┘           ├── by time ──► events of the CPU's stream
 *     next CPU       ...              ──► ring ┘
 *
 * The events are opened on the child, which waits before its exec, and all its descendants inherit them.
 * They show when a thread is on a CPU and whether it was preempted. They do not show who ran instead, why a
 * thread blocked and who woke it.
 *
 * The kernel counts records for which a ring had no room. The rings are locked memory, of which a user gets
 * 516 KiB per CPU by default.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "kernel/source.h"
#include "record/ticks.h"
#include "schema/schema.h"

enum {
	RING_BYTES = 512 << 10,
	RING_MIN_BYTES = 32 << 10,
	TASK_NAMES = 4096, /* remembered */
	NAME_BYTES = 16,   /* the kernel's limit */
};

static const uint32_t unknown_tid = UINT32_MAX;

/* The requested records, as the kernel writes them. */
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint32_t pid, parent_pid, tid, parent_tid;
			uint64_t time_ns;
		} task; /* fork and exit */
		struct {
			uint32_t pid, tid;
			char name[NAME_BYTES];
		} comm;
		struct {
			uint64_t id, count;
		} lost;
		struct {
			uint32_t pid, tid;
			uint64_t time_ns, address;
		} fault;
	};
	/* At the end of every record except a fault; its offset varies, so it is separate. */
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct ring {
	uint32_t cpu;
	int fd;       /* of the dummy event */
	int fault_fd; /* -1: major faults are not recorded */
	struct perf_event_mmap_page *page;
	uint64_t data_bytes;
	uint64_t at, end; /* the part that this drain has yet to read */
	struct record next;
	bool has_next;
	uint64_t lost_told; /* lost records, according to loss records */
};

/* Remembers a task's name, because its children inherit it. */
struct task_name {
	uint32_t tid;
	char name[NAME_BYTES];
};

struct perf {
	struct mr_kernel_source source;
	uint64_t ring_bytes;
	uint64_t on_ns; /* events from here to off_ns are recorded */
	uint64_t off_ns;
	pid_t child; /* its creation is yet to be recorded; 0: it has been */
	uint64_t child_ns;
	uint32_t cpu_count;
	struct ring *rings; /* one per CPU; fd -1: the CPU is offline */
	uint64_t *lost_by_cpu;
	struct mr_kernel_off off;
	struct task_name names[TASK_NAMES];
};

/* ---- opening --------------------------------------------------------------------------------------- */

static int open_event(uint64_t config, pid_t pid, int cpu)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attributes,
		.config = config,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
		.read_format = PERF_FORMAT_LOST,
		.inherit = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	if (config == PERF_COUNT_SW_DUMMY)
		attributes.context_switch = attributes.task = attributes.comm =
			attributes.comm_exec = 1;
	else
		attributes.sample_period = 1;
	long fd = syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL) { /* before Linux 6.0 */
		attributes.read_format = 0;
		fd = syscall(SYS_perf_event_open, &attributes, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return (int)fd;
}

static int explain_refusal(int error)
{
	int paranoid = 0;
	mr_auto(close_file) FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (!file)
		return mr_fail(error, "the kernel has no perf events");
	if (fscanf(file, "%d", &paranoid) == 1 && paranoid > 2)
		return mr_fail(error,
			       "kernel.perf_event_paranoid is %d, which forbids perf events: `sudo "
			       "sysctl kernel.perf_event_paranoid=2` allows them",
			       paranoid);
	return mr_fail_errno(error,
			     "perf_event_open is refused (by a container's seccomp profile?)");
}

/* As large as requested (a power of two), or as large as permitted. */
static int map_ring(struct ring *ring, uint64_t bytes)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t size = RING_MIN_BYTES;
	while (size * 2 <= bytes)
		size *= 2;
	for (; size >= RING_MIN_BYTES; size /= 2) {
		void *memory = mmap(NULL, page_bytes + size, PROT_READ | PROT_WRITE, MAP_SHARED,
				    ring->fd, 0);
		if (memory == MAP_FAILED)
			continue;
		ring->page = memory;
		ring->data_bytes = size;
		return 0;
	}
	return mr_fail_errno(errno, "cannot map a ring of perf events");
}

/* Faults go into the same ring. Without them the rest still works. */
static void open_faults(struct perf *perf, struct ring *ring, pid_t child)
{
	ring->fault_fd = open_event(PERF_COUNT_SW_PAGE_FAULTS_MAJ, child, (int)ring->cpu);
	if (ring->fault_fd >= 0 && ioctl(ring->fault_fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) == 0)
		return;
	perf->off = (struct mr_kernel_off){"major faults", "the kernel rejects such a perf event"};
	if (ring->fault_fd >= 0)
		close(ring->fault_fd);
	ring->fault_fd = -1;
}

static int open_ring(struct perf *perf, struct ring *ring, pid_t child)
{
	ring->fd = open_event(PERF_COUNT_SW_DUMMY, child, (int)ring->cpu);
	if (ring->fd < 0 && (errno == ENODEV || errno == EINVAL))
		return 0; /* a CPU that is not online */
	if (ring->fd < 0)
		return mr_fail_errno(errno, "cannot open a perf event");
	int result = map_ring(ring, perf->ring_bytes);
	if (result == 0)
		open_faults(perf, ring, child);
	return result;
}

static int follow(struct mr_kernel_source *source, pid_t child)
{
	struct perf *perf = (struct perf *)source;
	uint32_t count = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	perf->rings = calloc(count, sizeof *perf->rings);
	perf->lost_by_cpu = calloc(count, sizeof *perf->lost_by_cpu);
	if (!perf->rings || !perf->lost_by_cpu)
		return mr_fail(ENOMEM, "no memory for perf events");
	perf->cpu_count = count;
	for (uint32_t i = 0; i < count; i++)
		perf->rings[i] = (struct ring){.cpu = i, .fd = -1, .fault_fd = -1};
	int result = 0;
	for (uint32_t i = 0; i < count && result == 0; i++)
		result = open_ring(perf, &perf->rings[i], child);
	perf->child = child;
	perf->child_ns = mr_ticks_of_system(CLOCK_MONOTONIC);
	return result;
}

static void close_perf(struct mr_kernel_source *source)
{
	struct perf *perf = (struct perf *)source;
	for (uint32_t i = 0; i < perf->cpu_count; i++) {
		struct ring *ring = &perf->rings[i];
		if (ring->page)
			munmap(ring->page, (uint64_t)sysconf(_SC_PAGESIZE) + ring->data_bytes);
		if (ring->fault_fd >= 0)
			close(ring->fault_fd);
		if (ring->fd >= 0)
			close(ring->fd);
	}
	free(perf->rings);
	free(perf->lost_by_cpu);
	free(perf);
}

/* ---- reading a ring ---------------------------------------------------------------------------------- */

/* Copies data from position `at` of the ring, around its end if necessary. */
static void copy_out(const struct ring *ring, uint64_t at, void *to, uint64_t bytes)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	uint64_t from = at & (ring->data_bytes - 1);
	uint64_t first = mr_min(bytes, ring->data_bytes - from);
	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, bytes - first);
}

/* Takes the next record out of the ring. */
static void advance(struct ring *ring)
{
	struct record *record = &ring->next;
	ring->has_next = ring->at < ring->end;
	if (!ring->has_next)
		return;
	memset(record, 0, sizeof *record);
	copy_out(ring, ring->at, &record->header, sizeof record->header);
	uint64_t bytes = mr_max(record->header.size, (uint16_t)sizeof record->header);
	copy_out(ring, ring->at, record, mr_min(bytes, offsetof(struct record, pid)));
	if (record->header.type == PERF_RECORD_SAMPLE)
		record->time_ns = record->fault.time_ns;
	else
		copy_out(ring, ring->at + bytes - 16, &record->pid, 16);
	ring->at += bytes;
}

static void begin_reading(struct ring *ring)
{
	if (!ring->page)
		return;
	ring->at = ring->page->data_tail;
	ring->end =
		atomic_load_explicit((_Atomic __u64 *)&ring->page->data_head, memory_order_acquire);
	advance(ring);
}

static void end_reading(struct ring *ring)
{
	if (ring->page)
		atomic_store_explicit((_Atomic __u64 *)&ring->page->data_tail, ring->at,
				      memory_order_release);
}

static struct ring *earliest(const struct perf *perf)
{
	struct ring *found = NULL;
	for (uint32_t i = 0; i < perf->cpu_count; i++) {
		struct ring *ring = &perf->rings[i];
		if (ring->has_next && (!found || ring->next.time_ns < found->next.time_ns))
			found = ring;
	}
	return found;
}

/* ---- records to events ------------------------------------------------------------------------------- */

static const char *name_of(const struct perf *perf, uint32_t tid)
{
	const struct task_name *entry = &perf->names[tid % TASK_NAMES];
	return entry->tid == tid ? entry->name : "";
}

static void remember_name(struct perf *perf, uint32_t tid, const char *name)
{
	struct task_name *entry = &perf->names[tid % TASK_NAMES];
	struct task_name fresh = {.tid = tid};
	memcpy(fresh.name, name, strnlen(name, NAME_BYTES - 1)); /* may be another task's entry */
	*entry = fresh;
}

static void put_birth(struct perf *perf, struct mr_kernel_stream *stream, uint64_t ns,
		      uint32_t parent_tid, uint32_t tid, uint32_t pid)
{
	const struct mr_event_kernel_fork event = {.parent_tid = parent_tid,
						   .tid = tid,
						   .pid = pid,
						   .inner_tid = tid,
						   .inner_pid = pid};
	mr_kernel_put(stream, ns, MR_EVENT_kernel_fork, &event, sizeof event, name_of(perf, tid));
}

/* The child was forked before perf events were open. It still has our name. */
static void put_child(struct perf *perf, struct mr_kernel_stream *stream)
{
	char name[NAME_BYTES] = "";
	uint32_t tid = (uint32_t)perf->child;
	prctl(PR_GET_NAME, name);
	remember_name(perf, tid, name);
	put_birth(perf, stream, perf->child_ns, (uint32_t)getpid(), tid, tid);
	perf->child = 0;
}

static void put_switch(struct mr_kernel_stream *stream, const struct record *record)
{
	bool is_out = record->header.misc & PERF_RECORD_MISC_SWITCH_OUT;
	bool is_preempted = record->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	const struct mr_event_kernel_switch event = {
		.previous_tid = is_out ? record->tid : unknown_tid,
		.next_tid = is_out ? unknown_tid : record->tid,
		.reason = is_preempted ? MR_switch_reason_preempted : MR_switch_reason_unknown};
	mr_kernel_put(stream, record->time_ns, MR_EVENT_kernel_switch, &event, sizeof event, NULL);
}

static void put_name(struct perf *perf, struct mr_kernel_stream *stream,
		     const struct record *record)
{
	const struct mr_event_kernel_task_name name = {.tid = record->comm.tid,
						       .pid = record->comm.pid};
	const struct mr_event_kernel_exec exec = {.tid = record->comm.tid,
						  .old_tid = record->comm.tid};
	remember_name(perf, record->comm.tid, record->comm.name);
	const char *text = name_of(perf, record->comm.tid);
	mr_kernel_put(stream, record->time_ns, MR_EVENT_kernel_task_name, &name, sizeof name, text);
	if (record->header.misc & PERF_RECORD_MISC_COMM_EXEC)
		mr_kernel_put(stream, record->time_ns, MR_EVENT_kernel_exec, &exec, sizeof exec,
			      text);
}

static void put_loss(struct perf *perf, struct mr_kernel_stream *stream, uint64_t ns,
		     uint64_t count)
{
	perf->lost_by_cpu[stream->cpu] += count;
	mr_kernel_put_loss(stream, ns, count, MR_loss_reason_kernel_buffer_full);
}

static void put_fork(struct perf *perf, struct mr_kernel_stream *stream,
		     const struct record *record)
{
	uint32_t tid = record->task.tid, parent_tid = record->task.parent_tid;
	remember_name(perf, tid, name_of(perf, parent_tid));
	put_birth(perf, stream, record->time_ns, parent_tid, tid, record->task.pid);
}

static void put_exit(struct mr_kernel_stream *stream, const struct record *record)
{
	const struct mr_event_kernel_exit event = {.tid = record->task.tid, .status = -1};
	mr_kernel_put(stream, record->time_ns, MR_EVENT_kernel_exit, &event, sizeof event, NULL);
}

static void put_fault(struct mr_kernel_stream *stream, const struct record *record)
{
	const struct mr_event_kernel_major_fault event = {.tid = record->fault.tid,
							  .address = record->fault.address};
	mr_kernel_put(stream, record->time_ns, MR_EVENT_kernel_major_fault, &event, sizeof event,
		      NULL);
}

/* Records are read some time after they were made. */
static bool is_on(const struct perf *perf, const struct record *record)
{
	return record->time_ns >= perf->on_ns && record->time_ns < perf->off_ns;
}

static void put_record(struct perf *perf, struct ring *ring, struct mr_kernel_stream *stream)
{
	const struct record *record = &ring->next;
	switch (record->header.type) {
	case PERF_RECORD_SWITCH:
		if (is_on(perf, record))
			put_switch(stream, record);
		break;
	case PERF_RECORD_FORK:
		put_fork(perf, stream, record);
		break;
	case PERF_RECORD_EXIT:
		put_exit(stream, record);
		break;
	case PERF_RECORD_COMM:
		put_name(perf, stream, record);
		break;
	case PERF_RECORD_SAMPLE:
		if (is_on(perf, record))
			put_fault(stream, record);
		break;
	case PERF_RECORD_LOST:
		ring->lost_told += record->lost.count;
		put_loss(perf, stream, record->time_ns, record->lost.count);
		break;
	}
}

/* ---- the source ---------------------------------------------------------------------------------------- */

static void enable(struct mr_kernel_source *source, bool on)
{
	struct perf *perf = (struct perf *)source;
	uint64_t now_ns = mr_ticks_of_system(CLOCK_MONOTONIC);
	perf->on_ns = on ? now_ns : perf->on_ns;
	perf->off_ns = on ? UINT64_MAX : now_ns;
}

static uint32_t drain(struct mr_kernel_source *source, struct mr_kernel_streams *streams)
{
	struct perf *perf = (struct perf *)source;
	uint32_t taken = 0;
	if (perf->child)
		put_child(perf, &streams->of_cpu[0]);
	for (uint32_t i = 0; i < perf->cpu_count; i++)
		begin_reading(&perf->rings[i]);
	for (struct ring *ring; (ring = earliest(perf)); taken++) {
		put_record(perf, ring, &streams->of_cpu[ring->cpu]);
		advance(ring);
	}
	for (uint32_t i = 0; i < perf->cpu_count; i++)
		end_reading(&perf->rings[i]);
	return taken;
}

/* How much one event lost, by its own count; 0 if the kernel does not provide it. */
static uint64_t lost_of(int fd)
{
	struct {
		uint64_t value, lost;
	} count = {0};
	return fd >= 0 && read(fd, &count, sizeof count) == sizeof count ? count.lost : 0;
}

/* No record reports losses after the last record that found room. */
static void finish(struct mr_kernel_source *source, struct mr_kernel_streams *streams)
{
	struct perf *perf = (struct perf *)source;
	for (uint32_t i = 0; i < perf->cpu_count; i++) {
		if (perf->rings[i].fd >= 0)
			ioctl(perf->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
		if (perf->rings[i].fault_fd >= 0)
			ioctl(perf->rings[i].fault_fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	drain(source, streams);
	for (uint32_t i = 0; i < perf->cpu_count; i++) {
		struct ring *ring = &perf->rings[i];
		uint64_t lost = lost_of(ring->fd) + lost_of(ring->fault_fd);
		if (lost > ring->lost_told)
			put_loss(perf, &streams->of_cpu[i], mr_ticks_of_system(CLOCK_MONOTONIC),
				 lost - ring->lost_told);
	}
}

static void describe(const struct mr_kernel_source *source, struct mr_kernel_status *status)
{
	const struct perf *perf = (const struct perf *)source;
	status->syscalls = MR_KERNEL_SYSCALLS_NONE;
	status->cpu_count = perf->cpu_count;
	status->lost_by_cpu = perf->lost_by_cpu;
	status->off = perf->off.what ? &perf->off : NULL;
	status->off_count = perf->off.what != NULL;
}

int mr_kernel_open_perf(const struct mr_kernel_options *options,
			struct mr_kernel_source **ret_source)
{
	static const struct mr_kernel_source_operations operations = {
		.follow = follow,
		.enable = enable,
		.drain = drain,
		.finish = finish,
		.describe = describe,
		.close = close_perf,
	};
	int trial = open_event(PERF_COUNT_SW_DUMMY, 0, -1);
	if (trial < 0)
		return explain_refusal(errno);
	close(trial);
	struct perf *perf = calloc(1, sizeof *perf);
	if (!perf)
		return mr_fail(ENOMEM, "no memory for perf events");
	perf->source.operations = &operations;
	perf->ring_bytes = options->ring_bytes ? options->ring_bytes : RING_BYTES;
	perf->off_ns = UINT64_MAX;
	*ret_source = &perf->source;
	return 0;
}
