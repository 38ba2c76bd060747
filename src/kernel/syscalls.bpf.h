/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * System calls: one record at the end of each. Attached only if the user wants all calls, because that puts
 * every task of the machine on the slow path into the kernel.
 *
 * With --syscalls=auto a process that makes very many calls is reduced: from then on only its calls that block are
 * recorded, by scheduling.bpf.h. Threads count their own calls, and add them to the storage of their process's first
 * thread every CALLS_AT_ONCE calls; there they also learn that another thread has reduced the process.
 *
 * Where only reduced processes are left that make many calls, the collector detaches both programs: it sets
 * are_calls_ending, so that no call is begun any more, visits all tasks to write those that are open, and detaches.
 */
#ifndef MR_KERNEL_SYSCALLS_BPF_H
#define MR_KERNEL_SYSCALLS_BPF_H

#include "kernel/life.bpf.h"

enum {
	INTERRUPTED = -4,
	RESTART_FIRST = -516, /* results that no program sees: the kernel restarts the call */
	RESTART_LAST = -512,
	KILL = 9,
	CALLS_AT_ONCE = 64,
};

/* A call that was interrupted by the end of its thread and never returns a result. */
static __always_inline bool is_cut_short(struct task_struct *kernel_task, long result)
{
	bool is_interrupted =
		result == INTERRUPTED || (result >= RESTART_FIRST && result <= RESTART_LAST);
	return is_interrupted && kernel_task->pending.signal.sig[0] >> (KILL - 1) & 1;
}

/* NULL if its calls are not wanted. */
static __always_inline struct task *calling_task(struct task_struct *kernel_task)
{
	if (!is_set(shared.calling, kernel_task->pid))
		return NULL;
	return bpf_task_storage_get(&tasks, kernel_task, NULL, 0);
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long number)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task *task = calling_task(kernel_task);
	if (!task)
		return 0;
	bool is_other_abi = mr_regs_is_other_abi(regs);
	u8 kind = is_other_abi ? 0 : settings.syscall_kinds[number & (MR_BPF_SYSCALLS - 1)];
	task->entry_ns = 0;
	if (!shared.is_recording || shared.are_calls_ending || is_own_call(task, regs, kind))
		return 0;
	u64 argument = mr_regs_first_argument(regs);
	bool guarded = is_guarded(kernel_task, task);
	task->is_guarded = guarded;
	task->argument = guarded ? 0 : argument;
	task->file = 0;
	task->operation = 0;
	if (unlikely(is_other_abi)) {
		task->number = MR_BPF_OTHER_ABI | (u16)number;
	} else {
		u32 descriptor =
			kind & MR_SYSCALL_DESCRIPTOR ? argument : mr_regs_fifth_argument(regs);
		task->number = number;
		if (kind & (MR_SYSCALL_DESCRIPTOR | MR_SYSCALL_FIFTH_DESCRIPTOR) && !guarded)
			task->file = file_of(kernel_task, descriptor, task);
		else if (kind & MR_SYSCALL_FUTEX)
			task->operation = mr_regs_second_argument(regs) & 0x7f;
	}
	task->entry_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void put_syscall(struct task *task, u32 tid, long result)
{
	struct mr_record_syscall *record;
	if (!begin_record_of(record, MR_RECORD_SYSCALL, tid))
		return;
	record->head.number = task->number;
	record->head.detail = task->operation;
	record->duration_ns = record->head.time_ns - task->entry_ns;
	record->result = result;
	record->file = task->file;
	record->argument = task->argument;
	end_record(record);
}

__noinline int put_syscall_wide(struct task *task, u32 tid, long result)
{
	struct mr_record_syscall_wide *record;
	if (!task || !begin_record_of(record, MR_RECORD_SYSCALL_WIDE, tid))
		return 0;
	record->head.number = task->number;
	record->head.detail = task->operation;
	record->duration_ns = record->head.time_ns - task->entry_ns;
	record->result = result;
	record->argument = task->argument;
	record->file = task->file;
	end_record(record);
	return 0;
}

/* Without what may be an address. */
static __always_inline long guarded_result(const struct task *task, long result, u8 kind)
{
	bool may_be_address = kind & MR_SYSCALL_RETURNS_ADDRESS ||
			      task->number & MR_BPF_OTHER_ABI || (s32)result != result;
	return result > 0 && may_be_address ? 0 : result;
}

/* ---- too many calls ------------------------------------------------------------------------------------ */

static __always_inline void reduce(struct task_struct *leader, struct task *process, u64 now_ns)
{
	process->is_process_reduced = true;
	__sync_fetch_and_add(&shared.reduced_alive, 1);
	u32 index = __sync_fetch_and_add(&shared.reduced_count, 1);
	if (index >= MR_BPF_REDUCED)
		return;
	struct mr_bpf_reduced *reduced = &shared.reduced[index];
	reduced->pid = leader->pid;
	bpf_probe_read_kernel(reduced->name, sizeof reduced->name, leader->comm);
	reduced->since_ns = now_ns;
}

/* Two threads may begin the same window, or reduce the process at once: then it is reduced a little later, or named
 * twice. */
__noinline int add_up_calls(struct task *task)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task_struct *leader = kernel_task->group_leader;
	struct task *process = leader ? bpf_task_storage_get(&tasks, leader, NULL, 0) : NULL;
	if (!task || !process)
		return 0;
	u64 now_ns = bpf_ktime_get_ns();
	task->calls = 0;
	if (now_ns - process->window_ns > settings.calls_window_ns) {
		process->window_ns = now_ns;
		process->process_calls = 0;
	}
	u32 calls = __sync_fetch_and_add(&process->process_calls, CALLS_AT_ONCE);
	if (!process->is_process_reduced && calls > settings.calls_limit)
		reduce(leader, process, now_ns);
	if (process->is_process_reduced) {
		task->is_reduced = true;
		clear(shared.calling, kernel_task->pid);
	}
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task *task = calling_task(kernel_task);
	if (!task || task->entry_ns == 0)
		return 0;
	u8 kind = settings.syscall_kinds[task->number & (MR_BPF_SYSCALLS - 1)];
	/* The launcher becomes the program within its last call, which is the program's first. */
	if (unlikely(!shared.is_recording || task->is_launcher)) {
		task->entry_ns = 0;
		return 0;
	}
	if (unlikely(result < 0) && is_cut_short(kernel_task, result))
		return 0; /* written when the thread ends */
	if (unlikely(task->is_guarded))
		result = guarded_result(task, result, kind);
	bool returns_descriptor = kind & MR_SYSCALL_RETURNS_DESCRIPTOR && result >= 0;
	if ((returns_descriptor || kind & MR_SYSCALL_CHANGES_SOCKET) &&
	    task->number < MR_BPF_OTHER_ABI && !task->is_guarded)
		task->file =
			file_of(kernel_task, returns_descriptor ? result : task->argument, task);
	if (unlikely((s32)result != result))
		put_syscall_wide(task, kernel_task->pid, result);
	else
		put_syscall(task, kernel_task->pid, result);
	task->entry_ns = 0;
	if (settings.calls_limit && unlikely(++task->calls >= CALLS_AT_ONCE))
		add_up_calls(task);
	return 0;
}

#endif
