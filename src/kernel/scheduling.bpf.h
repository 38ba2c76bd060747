/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Scheduling: who runs, who waits for a CPU, who wakes whom.
 *
 * A switch is recorded if one of the two threads is traced, or if a traced thread waits for that CPU. So the
 * trace contains every thread that kept it waiting. For this, each CPU counts the traced threads that are
 * runnable and wait for it, and each task remembers where it is counted.
 */
#ifndef MR_KERNEL_SCHEDULING_BPF_H
#define MR_KERNEL_SCHEDULING_BPF_H

#include "kernel/files.bpf.h"
#include "record/own_mark.h"

enum {
	STATE_MASK = 0xff,
	STATE_INTERRUPTIBLE = 1,
	STATE_UNINTERRUPTIBLE = 2,
	STATE_STOPPED = 4 | 8,
	STATE_PARKED = 0x40,
	STATE_DEAD = 0x80,
	NOT_IN_A_CALL = -1,
	FLAG_IO_WORKER = 0x10, /* a worker of an io_uring: its registers are not its own */
};

/* ---- names of tasks that are not traced ---------------------------------------------------------- */

struct task_name {
	char name[MR_BPF_COMM_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct task_name);
} names SEC(".maps");

/* False: the record is lost. */
static __always_inline bool put_name(u32 tid, u32 pid, const struct task_name *name)
{
	struct mr_record_task_name *record;
	if (!begin_record_of(record, MR_RECORD_TASK_NAME, tid))
		return false;
	record->pid = pid;
	__builtin_memcpy(record->name, name, sizeof *name);
	end_record(record);
	return true;
}

__noinline int put_new_name(u32 tid, u32 pid, struct task_name *name)
{
	if (!name)
		return 0;
	struct task_name *known = bpf_map_lookup_elem(&names, &tid);
	if (known && ((u64 *)known)[0] == ((u64 *)name)[0] && ((u64 *)known)[1] == ((u64 *)name)[1])
		return 0;
	if (put_name(tid, pid, name))
		bpf_map_update_elem(&names, &tid, name, BPF_ANY);
	return 0;
}

/* Records the name of a task that is not traced, if it is new. */
static __always_inline void introduce(struct task_struct *stranger)
{
	struct task_name name;
	if (stranger->pid == 0)
		return;
	bpf_probe_read_kernel(&name, sizeof name, stranger->comm);
	put_new_name(stranger->pid, stranger->tgid, &name);
}

/* ---- waiting for a CPU ---------------------------------------------------------------------------- */

/* Counts the task as waiting for a CPU (its number plus 1), or for none (0). */
static __always_inline void set_waits_for(struct task *task, u32 cpu)
{
	u32 before = __sync_lock_test_and_set(&task->waits_for, cpu);
	if (before == cpu)
		return;
	if (before)
		__sync_fetch_and_add(&shared.cpus[(before - 1) & (MR_BPF_CPUS - 1)].waiting, -1);
	if (cpu)
		__sync_fetch_and_add(&shared.cpus[(cpu - 1) & (MR_BPF_CPUS - 1)].waiting, 1);
}

static __always_inline u32 cpu_of(struct task_struct *kernel_task)
{
	return bpf_core_field_exists(kernel_task->thread_info.cpu) ? kernel_task->thread_info.cpu
								   : kernel_task->cpu;
}

/* A task that is woken before it has left its CPU does not wait: it continues. */
static __always_inline void wait_for_own_cpu(struct task_struct *kernel_task, struct task *task)
{
	if (!kernel_task->on_cpu)
		set_waits_for(task, cpu_of(kernel_task) + 1);
}

/* ---- switches ------------------------------------------------------------------------------------- */

static __always_inline long call_of(struct task_struct *kernel_task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(kernel_task);
	return regs ? mr_regs_number(regs) : NOT_IN_A_CALL;
}

static __always_inline bool is_throttled(struct task_struct *kernel_task)
{
	return bpf_core_field_exists(kernel_task->throttled) && kernel_task->throttled;
}

/* Why the current task leaves its CPU. A function of its own, so that the verifier does not go through what follows for
 * each reason. */
__noinline u32 switch_reason(u32 is_preempted, u32 state)
{
	struct task_struct *previous = bpf_get_current_task_btf();
	state &= STATE_MASK;
	if (is_throttled(previous))
		return MR_switch_reason_throttled;
	if (is_preempted)
		return MR_switch_reason_preempted;
	if (state == 0)
		return call_of(previous) == settings.yield_number ? MR_switch_reason_yielded
								  : MR_switch_reason_preempted;
	if (state & STATE_DEAD)
		return MR_switch_reason_exited;
	if (state & (STATE_STOPPED | STATE_PARKED))
		return MR_switch_reason_stopped;
	if (BPF_CORE_READ_BITFIELD(previous, in_iowait))
		return MR_switch_reason_disk;
	return state & STATE_INTERRUPTIBLE ? MR_switch_reason_interruptible
					   : MR_switch_reason_uninterruptible;
}

static __always_inline bool is_runnable(u8 reason)
{
	return reason == MR_switch_reason_preempted || reason == MR_switch_reason_yielded ||
	       reason == MR_switch_reason_throttled;
}

static __always_inline bool are_blocked_calls_wanted(const struct task *task)
{
	if (!settings.calls_limit)
		return settings.record_blocked_calls;
	return task->is_reduced || (shared.are_calls_ending && task->entry_ns == 0);
}

/* A call that millrace's library makes. Where a signal interrupts it, the handler begins with the mark in the
 * register: then it is none, until the register changes or the handler ends. */
static __always_inline bool is_own_call(struct task *task, struct pt_regs *regs, u8 kind)
{
	bool is_marked = mr_regs_sixth_argument(regs) == MR_OWN_MARK;
	if (is_marked && !unlikely(task->has_stale_mark))
		return true;
	if (unlikely(task->has_stale_mark) && (!is_marked || kind & MR_SYSCALL_ENDS_HANDLER))
		task->has_stale_mark = false;
	return false;
}

/* The call in which the current task is about to sleep. */
__noinline int put_blocked_call(struct task *task)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(kernel_task);
	if (!task || !regs || mr_regs_is_other_abi(regs) || kernel_task->flags & FLAG_IO_WORKER)
		return 0;
	long number = mr_regs_number(regs);
	if (number < 0 || number >= MR_BPF_SYSCALLS)
		return 0;
	u8 kind = settings.syscall_kinds[number];
	if (is_own_call(task, regs, kind))
		return 0;
	u64 argument = is_guarded(kernel_task, task) ? 0 : mr_regs_first_argument(regs);
	u32 file = 0;
	if (kind & MR_SYSCALL_DESCRIPTOR && !is_guarded(kernel_task, task))
		file = file_of(kernel_task, argument, task);
	struct mr_record_syscall *record;
	if (!begin_record_of(record, MR_RECORD_BLOCKED_CALL, kernel_task->pid))
		return 0;
	record->head.number = number;
	record->head.detail = kind & MR_SYSCALL_FUTEX ? mr_regs_second_argument(regs) & 0x7f : 0;
	record->file = file;
	record->argument = argument;
	end_record(record);
	return 0;
}

/* Minor faults since the last switch. */
static __always_inline u32 take_minor_faults(struct task_struct *kernel_task, struct task *task)
{
	u64 before = task->minor_faults;
	task->minor_faults = kernel_task->min_flt;
	return task->minor_faults - before;
}

static __always_inline void put_switch(struct task_struct *previous, u32 minor_faults, u32 next_tid,
				       u8 reason)
{
	struct mr_record_switch *record;
	if (!begin_record_of(record, MR_RECORD_SWITCH, previous->pid))
		return;
	record->head.detail = reason;
	record->next_tid = next_tid;
	record->minor_faults = minor_faults;
	end_record(record);
}

/* Written without the macro, because older kernels lack the last argument. */
SEC("tp_btf/sched_switch")
int on_switch(u64 *ctx)
{
	bool is_preempted = ctx[0];
	struct task_struct *previous = (struct task_struct *)ctx[1];
	struct task_struct *next = (struct task_struct *)ctx[2];
	struct task *leaving = task_of(previous);
	struct task *coming = task_of(next);
	struct mr_bpf_cpu *cpu = this_cpu();
	/* No interrupt work is in progress here, although the end of some may not have been seen. */
	if (unlikely(cpu->depth))
		cpu->depth = 0;
	if (!leaving) {
		barrier(); /* otherwise the compiler combines the two pointers, which the verifier rejects */
		if (!coming && cpu->waiting == 0)
			return 0;
	}
	u32 state = settings.has_switch_state ? ctx[3] : previous->__state;
	u8 reason = switch_reason(is_preempted, state);
	if (leaving)
		set_waits_for(leaving, is_runnable(reason) ? bpf_get_smp_processor_id() + 1 : 0);
	if (coming)
		set_waits_for(coming, 0);
	/* A thread that executes another program may take over the leader's pid. */
	if (leaving && reason == MR_switch_reason_exited && previous->pid != previous->tgid)
		unmark(previous->pid);
	u32 minor_faults = leaving ? take_minor_faults(previous, leaving) : 0;
	if (!shared.is_recording)
		return 0;
	if (!leaving)
		introduce(previous);
	if (!coming)
		introduce(next);
	put_switch(previous, minor_faults, next->pid, reason);
	if (leaving && are_blocked_calls_wanted(leaving) && !is_runnable(reason) &&
	    reason != MR_switch_reason_exited)
		put_blocked_call(leaving);
	return 0;
}

/* ---- wakings -------------------------------------------------------------------------------------- */

struct source_key {
	u64 source;
	u64 kind;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct source_key);
	__type(value, u32);
} sources SEC(".maps");

/* Names a timer function or an irq, once on each CPU, for the reader of that CPU's ring. */
__noinline int name_source(struct mr_bpf_context *context)
{
	if (!context ||
	    (context->kind != MR_wake_context_hrtimer && context->kind != MR_wake_context_timer &&
	     context->kind != MR_wake_context_irq))
		return 0;
	struct source_key key = {.source = context->source, .kind = context->kind};
	u32 *is_named = bpf_map_lookup_elem(&sources, &key);
	if (is_named && *is_named)
		return 0;
	u32 one = 1;
	struct mr_record_source *record;
	if (!begin_record_of(record, MR_RECORD_SOURCE, 0))
		return 0;
	u64 address = context->source ^ settings.address_mask;
	record->head.detail = context->kind;
	record->source = context->source;
	if (context->kind == MR_wake_context_irq)
		bpf_probe_read_kernel_str(record->name, sizeof record->name, (void *)context->name);
	else
		bpf_snprintf(record->name, sizeof record->name, "%ps", &address, sizeof address);
	if (record->name[0] == '0') /* no symbol: its address */
		__builtin_memcpy(record->name, "unknown", sizeof "unknown");
	end_record(record);
	bpf_map_update_elem(&sources, &key, &one, BPF_ANY);
	return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *woken)
{
	if (!task_of(woken) || !shared.is_recording)
		return 0;
	struct mr_bpf_cpu *cpu = this_cpu();
	struct task_struct *waker = bpf_get_current_task_btf();
	struct mr_bpf_context context = {.kind = MR_wake_context_task};
	if (cpu->depth > 0)
		context = cpu->contexts[(cpu->depth - 1) & (MR_BPF_CONTEXTS - 1)];
	if (context.kind != MR_wake_context_task)
		name_source(&context);
	if (!may_be_traced(waker->pid))
		introduce(waker);
	struct mr_record_waking *record;
	if (!begin_record_of(record, MR_RECORD_WAKING, woken->pid))
		return 0;
	record->head.detail = context.kind;
	record->waker_tid = waker->pid;
	record->source = context.source;
	end_record(record);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *woken)
{
	struct task *task = task_of(woken);
	if (task)
		wait_for_own_cpu(woken, task);
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_migrate, struct task_struct *kernel_task, int to_cpu)
{
	struct task *task = task_of(kernel_task);
	if (!task)
		return 0;
	u32 from_cpu = cpu_of(kernel_task);
	if (task->waits_for)
		set_waits_for(task, to_cpu + 1);
	struct mr_record_migrate *record;
	if (!shared.is_recording || !begin_record_of(record, MR_RECORD_MIGRATE, kernel_task->pid))
		return 0;
	record->from_cpu = from_cpu;
	record->to_cpu = to_cpu;
	end_record(record);
	return 0;
}

#endif
