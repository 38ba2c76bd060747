/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Life of tasks. Their records are written even while events are switched off.
 */
#ifndef MR_KERNEL_LIFE_BPF_H
#define MR_KERNEL_LIFE_BPF_H

#include "kernel/scheduling.bpf.h"

static __always_inline u32 inner_pid(struct pid *pid)
{
	struct upid inner = {};
	u32 level = BPF_CORE_READ(pid, level) & 31;
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	bpf_probe_read_kernel(&inner, sizeof inner, numbers + level * sizeof inner);
	return inner.nr;
}

static __always_inline void announce(struct task_struct *kernel_task, struct task *task,
				     u32 parent_tid)
{
	task->is_announced = true;
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

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *kernel_task, int old_tid, struct linux_binprm *program)
{
	/* Another thread may have had this pid before; its end has cleared the bit. */
	struct task *task = bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
	if (!task)
		return 0;
	mark(kernel_task->pid);
	task->is_launcher = false;
	task->is_reduced = task->is_process_reduced =
		false; /* another program: it may be quieter */
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

/* The collector runs it: it announces the child for which the collector has just made storage, and at the end
 * writes the calls that are still open. */
SEC("iter/task")
int on_each_task(struct bpf_iter__task *ctx)
{
	struct task_struct *kernel_task = ctx->task;
	if (!kernel_task)
		return 0;
	struct task *task = bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
	if (!task)
		return 0;
	if (!task->is_announced) {
		task->is_launcher = true;
		announce(kernel_task, task, BPF_CORE_READ(kernel_task, real_parent, pid));
	}
	if (shared.is_finishing)
		put_unfinished(kernel_task, task, MR_unfinished_reason_recording_ended);
	return 0;
}

#endif
