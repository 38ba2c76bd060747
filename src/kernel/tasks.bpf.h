/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Which tasks are followed, what is kept about each, and how records get into the rings.
 *
 * The filter has two steps. One bit per pid, in memory, rejects nearly all untraced tasks within a few
 * nanoseconds. A set bit may be stale, so a task is traced only if it has task storage.
 */
#ifndef MR_KERNEL_TASKS_BPF_H
#define MR_KERNEL_TASKS_BPF_H

#include <linux/bpf.h>

#include "kernel/kernel_types.h"

/* These need the types above. */
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel/records.h"

/* Only the enumerations of the schema. */
#define MR_FIELD(type, name, doc)
#define MR_EVENT(id, name, level, doc, ...)
#define MR_VALUE(enumeration, name, number) MR_##enumeration##_##name = number,
#define MR_ENUM(enumeration, ...)           enum mr_##enumeration{__VA_ARGS__};
#include "schema/events.def"
#undef MR_ENUM
#undef MR_VALUE
#undef MR_EVENT
#undef MR_FIELD

#define unlikely(x) __builtin_expect(!!(x), 0)

struct mr_bpf_shared shared;
const volatile struct mr_bpf_settings settings SEC(".rodata.settings");

/* The loader fills in the kernel's function, and in the settings the kernel's types. */
static void *(*const rdonly_cast)(void *pointer, u32 type) = (void *)MR_BPF_CAST;

/* Reads a field through a pointer loaded from memory: directly if the kernel permits it. */
#define peek(pointer, field) (settings.has_cast ? (pointer)->field : BPF_CORE_READ(pointer, field))
#define cast(pointer, kernel_type)                                                              \
	(settings.has_cast                                                                      \
		 ? (struct kernel_type *)rdonly_cast((pointer), settings.type_of_##kernel_type) \
		 : (struct kernel_type *)(pointer))

/* For reading a pointer that is in it, and needs not be trusted: the verifier takes long to find out whether it may trust
 * what lies behind a task that it trusts. */
#define plain_task(kernel_task) cast(kernel_task, task_struct)

/* Identifies a file. A dentry alone is not enough, as it may have been freed and reused for another file; the
 * hash of the name changes when the file is renamed. */
struct file_key {
	u64 object; /* dentry */
	u64 inode;
	u64 name; /* hash and length, highest bit: deleted; for a socket a value that changes with its
		   * addresses; for a file without a hash its operations */
	u32 device;
	u32 generation;
};

struct task {
	u64 entry_ns; /* of the system call it is in; 0: none that we saw begin */
	u64 argument;
	u32 number;
	u32 file;
	u64 minor_faults; /* at the last switch */
	u64 fault_ns;     /* start of the page fault it is in */
	u32 waits_for;    /* CPU it is counted as waiting for, plus 1 */
	u32 last_file;    /* number of last_key */
	u8 operation;
	u8 is_launcher;    /* has not executed the program yet: its system calls are record's */
	u8 is_reduced;     /* of its system calls only those that block are recorded */
	u8 calls;          /* not yet counted in process_calls */
	u8 is_guarded;     /* during the call it is in */
	u8 was_guarded;    /* at some time */
	u8 has_stale_mark; /* a handler runs with the mark of the call that its signal interrupted */
	u8 is_process_reduced;    /* in a process's first thread, as the next two */
	u32 process_calls;        /* by all its threads in the window */
	u64 window_ns;            /* when the window began */
	struct file_key last_key; /* most calls use the same file as the previous call */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task);
} tasks SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/* Per CPU. The life of tasks and the names of files have separate rings, so that a flood of events does not
 * crowd them out. */
struct ring_of_cpu {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, u32);
	__array(values, struct ring);
};
struct ring_of_cpu event_rings SEC(".maps");
struct ring_of_cpu definition_rings SEC(".maps");

/* ---- filter ------------------------------------------------------------------------------------- */

static __always_inline bool is_set(const u64 *bits, u32 pid)
{
	pid &= MR_BPF_PIDS - 1;
	return bits[pid / 64] >> (pid % 64) & 1;
}

static __always_inline void set(u64 *bits, u32 pid)
{
	pid &= MR_BPF_PIDS - 1;
	__sync_fetch_and_or(&bits[pid / 64], 1ull << (pid % 64));
}

static __always_inline void clear(u64 *bits, u32 pid)
{
	pid &= MR_BPF_PIDS - 1;
	__sync_fetch_and_and(&bits[pid / 64], ~(1ull << (pid % 64)));
}

static __always_inline bool may_be_traced(u32 pid)
{
	return is_set(shared.traced, pid);
}

static __always_inline void mark(u32 pid)
{
	set(shared.traced, pid);
	set(shared.calling, pid);
}

static __always_inline void unmark(u32 pid)
{
	clear(shared.traced, pid);
	clear(shared.calling, pid);
}

/* NULL if it is not traced. */
static __always_inline struct task *task_of(struct task_struct *kernel_task)
{
	if (!may_be_traced(kernel_task->pid))
		return NULL;
	return bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
}

/* The current task, if it is traced and events are wanted. */
static __always_inline struct task *recorded_current(void)
{
	struct task *task = task_of(bpf_get_current_task_btf());
	return task && shared.is_recording ? task : NULL;
}

static __always_inline struct mr_bpf_cpu *this_cpu(void)
{
	return &shared.cpus[bpf_get_smp_processor_id() & (MR_BPF_CPUS - 1)];
}

static __always_inline u32 current_tid(void)
{
	return (u32)bpf_get_current_pid_tgid();
}

/* ---- records ------------------------------------------------------------------------------------ */

static __always_inline void count_loss(struct mr_bpf_cpu *cpu, u8 type)
{
	__sync_fetch_and_add(&cpu->lost, 1);
	if (type == MR_RECORD_SYSCALL || type == MR_RECORD_SYSCALL_WIDE)
		__sync_fetch_and_add(&cpu->lost_syscalls, 1);
}

/* Records how many records were lost before this position of the ring. The number counts from the beginning, so
 * that it does no harm if an interrupt records it too. */
static __always_inline void report_loss(void *ring, struct mr_bpf_cpu *cpu)
{
	u64 lost = cpu->lost;
	if (!unlikely(lost != cpu->lost_reported))
		return;
	struct mr_record_loss *record = bpf_ringbuf_reserve(ring, sizeof *record, 0);
	if (!record)
		return;
	record->head.time_ns = bpf_ktime_get_ns();
	record->head.type = MR_RECORD_LOSS;
	record->lost = lost;
	cpu->lost_reported = lost;
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __always_inline bool is_definition(u8 type)
{
	return type == MR_RECORD_FORK || type == MR_RECORD_EXEC || type == MR_RECORD_EXIT ||
	       type == MR_RECORD_TASK_NAME || type == MR_RECORD_FILE;
}

/* This CPU's ring for such records; NULL: there is none. */
static __always_inline void *find_ring(u8 type, struct mr_bpf_cpu **ret_cpu)
{
	u32 number = bpf_get_smp_processor_id();
	*ret_cpu = &shared.cpus[number & (MR_BPF_CPUS - 1)];
	if (is_definition(type))
		return bpf_map_lookup_elem(&definition_rings, &number);
	void *ring = bpf_map_lookup_elem(&event_rings, &number);
	if (ring)
		report_loss(ring, *ret_cpu);
	return ring;
}

/* Reserves a record in the CPU's ring and fills in its head; NULL: it is lost. It reserves room first and then
 * reads the time: what an interrupt writes in between follows it, and the collector sees both or none. */
static __always_inline void *begin_record(u8 type, u64 bytes, u32 tid)
{
	struct mr_bpf_cpu *cpu;
	void *ring = find_ring(type, &cpu);
	struct mr_record *record = ring ? bpf_ringbuf_reserve(ring, bytes, 0) : NULL;
	if (!record) {
		count_loss(cpu, type);
		return NULL;
	}
	record->time_ns = bpf_ktime_get_ns();
	record->type = type;
	record->detail = 0;
	record->number = 0;
	record->tid = tid;
	return record;
}

#define begin_record_of(record, type, tid) \
	((record) = begin_record((type), sizeof *(record), (tid)))

static __always_inline void end_record(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Writes a definition of any size, prepared elsewhere; false: it is lost. */
static __always_inline bool put_definition(struct mr_record *record, u64 bytes)
{
	struct mr_bpf_cpu *cpu;
	void *ring = find_ring(MR_RECORD_FILE, &cpu);
	if (ring && bpf_ringbuf_output(ring, record, bytes, BPF_RB_NO_WAKEUP) == 0)
		return true;
	count_loss(cpu, record->type);
	return false;
}

/* Where records without a fixed size are prepared: too large for the stack. */
struct scratch {
	u64 is_taken;
	u64 room[(MR_BPF_PATH_BYTES + 512) / sizeof(u64)];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* The CPU's scratch buffer, until it is released. NULL: a preempted program holds it, and the record is lost.
 * Most kernels do not preempt programs. */
static __always_inline struct scratch *take_scratch(void)
{
	u32 zero = 0;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &zero);
	if (!scratch || !__sync_lock_test_and_set(&scratch->is_taken, 1))
		return scratch;
	count_loss(this_cpu(), MR_RECORD_FILE);
	return NULL;
}

static __always_inline void release_scratch(struct scratch *scratch)
{
	__sync_lock_test_and_set(&scratch->is_taken, 0);
}

#endif
