/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Life of tasks. Their records are written even while events are switched off.
 */
#ifndef MR_KERNEL_LIFE_BPF_H
#define MR_KERNEL_LIFE_BPF_H

#include "kernel/scheduling.bpf.h"

static __always_inline u32 level_of(struct pid *pid)
{
	return BPF_CORE_READ(pid, level) & 31;
}

/* The number that a pid has in a namespace of this level. */
static __always_inline u32 pid_at(struct pid *pid, u32 level)
{
	struct upid number = {};
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	bpf_probe_read_kernel(&number, sizeof number, numbers + level * sizeof number);
	return number.nr;
}

static __always_inline u32 inner_pid(struct pid *pid)
{
	return pid_at(pid, level_of(pid));
}

static __always_inline void announce(struct task_struct *kernel_task, struct task *task,
				     u32 parent_tid)
{
	__sync_fetch_and_add(&shared.alive, 1);
	task->minor_faults = kernel_task->min_flt;
	mark(kernel_task->pid);
	struct mr_record_fork *record;
	if (!begin_record_of(record, MR_RECORD_FORK, kernel_task->pid))
		return;
	record->parent_tid = parent_tid;
	record->pid = kernel_task->tgid;
	record->inner_tid = inner_pid(BPF_CORE_READ(kernel_task, thread_pid));
	record->inner_pid = inner_pid(BPF_CORE_READ(kernel_task, group_leader, thread_pid));
	bpf_probe_read_kernel(record->name, sizeof record->name, kernel_task->comm);
	end_record(record);
}

static __always_inline void follow(struct task_struct *kernel_task, u32 parent_tid)
{
	struct task *task =
		bpf_task_storage_get(&tasks, kernel_task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (task)
		announce(kernel_task, task, parent_tid);
	else
		__sync_fetch_and_add(&shared.not_followed, 1);
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	if (task_of(parent))
		follow(child, parent->pid);
	return 0;
}

/* Workers of an io_uring are not created by a fork; they are first seen here. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *born)
{
	struct task *task = task_of(born);
	struct task_struct *leader = !task && may_be_traced(born->tgid) ? born->group_leader : NULL;
	if (leader && bpf_task_storage_get(&tasks, leader, NULL, 0)) {
		follow(born, current_tid());
		task = task_of(born);
	}
	if (task)
		wait_for_own_cpu(born, task);
	return 0;
}

static __always_inline void end_reduction(struct task *process)
{
	if (process->is_process_reduced)
		__sync_fetch_and_add(&shared.reduced_alive, -1);
	process->is_process_reduced = false;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *kernel_task, int old_tid, struct linux_binprm *program)
{
	/* Another thread may have had this pid before; its end has cleared the bit. */
	struct task *task = bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
	if (!task)
		return 0;
	mark(kernel_task->pid);
	task->is_launcher = false;
	end_reduction(task);
	task->is_reduced = false; /* another program: it may be quieter */
	task->window_ns = 0;
	struct scratch *scratch = take_scratch();
	if (!scratch)
		return 0;
	struct mr_record_exec *record = (struct mr_record_exec *)scratch->room;
	__builtin_memset(record, 0, sizeof *record);
	record->head.time_ns = bpf_ktime_get_ns();
	record->head.type = MR_RECORD_EXEC;
	record->head.tid = kernel_task->pid;
	record->old_tid = old_tid;
	u64 begin = BPF_CORE_READ(kernel_task, mm, arg_start);
	u64 bytes = BPF_CORE_READ(kernel_task, mm, arg_end) - begin;
	if (bytes > MR_BPF_ARGUMENT_BYTES)
		bytes = MR_BPF_ARGUMENT_BYTES;
	if (settings.no_arguments || bytes == 0 ||
	    bpf_probe_read_user(record->text, bytes, (void *)begin) < 0) {
		long length = bpf_probe_read_kernel_str(record->text, MR_BPF_ARGUMENT_BYTES,
							BPF_CORE_READ(program, filename));
		bytes = length > 0 ? length : 0;
	}
	record->text_bytes = bytes;
	bytes = (sizeof *record + bytes + 7) & (2 * MR_BPF_ARGUMENT_BYTES - 1) & ~7ull;
	if (bytes <= sizeof scratch->room)
		put_definition(&record->head, bytes);
	release_scratch(scratch);
	return 0;
}

static __always_inline void put_unfinished(struct task_struct *kernel_task, struct task *task,
					   u8 reason)
{
	u64 entry_ns = task->entry_ns;
	struct mr_record_syscall_wide *record;
	task->entry_ns = 0;
	if (entry_ns == 0 || !shared.is_recording || task->is_launcher ||
	    !begin_record_of(record, MR_RECORD_UNFINISHED, kernel_task->pid))
		return;
	record->head.number = task->number;
	record->head.detail = task->operation;
	record->duration_ns = record->head.time_ns - entry_ns;
	record->result = 0;
	record->argument = task->argument;
	record->file = task->file;
	record->reason = reason;
	end_record(record);
}

/* Another thread of the process executes a program. */
static __always_inline bool is_ended_by_exec(struct task_struct *kernel_task)
{
	struct signal_struct *signal = plain_task(kernel_task)->signal;
	return bpf_core_field_exists(signal->group_exec_task) && signal && signal->group_exec_task;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *kernel_task)
{
	struct task *task = task_of(kernel_task);
	if (!task)
		return 0;
	__sync_fetch_and_add(&shared.alive, -1);
	end_reduction(task);
	put_unfinished(kernel_task, task,
		       is_ended_by_exec(kernel_task) ? MR_unfinished_reason_exec
						     : MR_unfinished_reason_exit);
	struct mr_record_exit *record;
	if (!begin_record_of(record, MR_RECORD_EXIT, kernel_task->pid))
		return 0;
	record->status = kernel_task->exit_code;
	end_record(record);
	return 0;
}

SEC("tp_btf/sched_process_free")
int BPF_PROG(on_free, struct task_struct *kernel_task)
{
	if (may_be_traced(kernel_task->pid))
		unmark(kernel_task->pid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(on_rename, struct task_struct *kernel_task, const char *name)
{
	struct task_name copy = {};
	if (!task_of(kernel_task))
		return 0;
	bpf_probe_read_kernel_str(&copy, sizeof copy, name);
	put_name(kernel_task->pid, kernel_task->tgid, &copy);
	return 0;
}

static __always_inline bool is_blocked(struct task_struct *kernel_task)
{
	return !kernel_task->on_cpu &&
	       kernel_task->__state & (STATE_INTERRUPTIBLE | STATE_UNINTERRUPTIBLE);
}

/* The call in which a task sleeps, of whose end we will not learn, as if it had just begun to. */
static __always_inline void put_open_call(struct task_struct *kernel_task, struct task *task)
{
	u64 entry_ns = task->entry_ns;
	struct mr_record_syscall *record;
	task->entry_ns = 0;
	if (entry_ns == 0 || !shared.is_recording || task->is_launcher ||
	    !begin_record_of(record, MR_RECORD_BLOCKED_CALL, kernel_task->pid))
		return;
	record->head.number = task->number;
	record->head.detail = task->operation;
	record->file = task->file;
	record->argument = task->argument;
	end_record(record);
}

/* The child that the collector, which is the current task, wants to be followed. */
static __always_inline bool is_child(struct task_struct *kernel_task)
{
	struct task_struct *collector = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(kernel_task, thread_pid);
	u32 level = level_of(BPF_CORE_READ(collector, thread_pid));
	return kernel_task->pid == kernel_task->tgid && level <= level_of(pid) &&
	       pid_at(pid, level) == shared.child &&
	       BPF_CORE_READ(kernel_task, real_parent, tgid) == collector->tgid;
}

/* The collector runs it: at the beginning to follow its child, and when calls are no longer recorded, or nothing any more,
 * to write those that are still open. */
SEC("iter/task")
int on_each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *kernel_task = ctx->task;
	if (!kernel_task)
		return 0;
	bool is_new = shared.child && !shared.is_followed && is_child(kernel_task);
	if (is_new) {
		follow(kernel_task, BPF_CORE_READ(kernel_task, real_parent, pid));
		shared.is_followed = true;
	}
	struct task *task = bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
	if (!task)
		return 0;
	if (is_new)
		task->is_launcher = true;
	if (shared.are_calls_ending && is_blocked(kernel_task))
		put_open_call(kernel_task, task);
	else if (shared.is_finishing || shared.are_calls_ending)
		put_unfinished(kernel_task, task, MR_unfinished_reason_recording_ended);
	return 0;
}

#endif
