/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * System calls: one record at the end of each. Attached only if the user wants all calls, because that puts
 * every task of the machine on the slow path into the kernel.
 */
#ifndef MR_KERNEL_SYSCALLS_BPF_H
#define MR_KERNEL_SYSCALLS_BPF_H

#include "kernel/life.bpf.h"
#include "record/own_mark.h"

enum {
	INTERRUPTED = -4,
	RESTART_FIRST = -516, /* results that no program sees: the kernel restarts the call */
	RESTART_LAST = -512,
	KILL = 9,
};

/* A call that was interrupted by the end of its thread and never returns a result. */
static __always_inline bool is_cut_short(struct task_struct *kernel_task, long result)
{
	bool is_interrupted =
		result == INTERRUPTED || (result >= RESTART_FIRST && result <= RESTART_LAST);
	return is_interrupted && kernel_task->pending.signal.sig[0] >> (KILL - 1) & 1;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long number)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task *task = task_of(kernel_task);
	if (!task)
		return 0;
	if (!shared.is_recording || mr_regs_sixth_argument(regs) == MR_OWN_MARK) {
		task->entry_ns = 0;
		return 0;
	}
	u64 argument = mr_regs_first_argument(regs);
	task->argument = argument;
	task->file = 0;
	task->operation = 0;
	if (unlikely(mr_regs_is_other_abi(regs))) {
		task->number = MR_BPF_OTHER_ABI | (u16)number;
	} else {
		u8 kind = settings.syscall_kinds[number & (MR_BPF_SYSCALLS - 1)];
		u32 descriptor =
			kind & MR_SYSCALL_DESCRIPTOR ? argument : mr_regs_fifth_argument(regs);
		task->number = number;
		if (kind & (MR_SYSCALL_DESCRIPTOR | MR_SYSCALL_FIFTH_DESCRIPTOR))
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

static __noinline int put_syscall_wide(struct task *task, u32 tid, long result)
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

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long result)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task *task = task_of(kernel_task);
	if (!task || task->entry_ns == 0)
		return 0;
	u8 kind = settings.syscall_kinds[task->number & (MR_BPF_SYSCALLS - 1)];
	if (unlikely(!shared.is_recording)) {
		task->entry_ns = 0;
		return 0;
	}
	if (unlikely(result < 0) && is_cut_short(kernel_task, result))
		return 0; /* written when the thread ends */
	bool returns_descriptor = kind & MR_SYSCALL_RETURNS_DESCRIPTOR && result >= 0;
	if ((returns_descriptor || kind & MR_SYSCALL_CHANGES_SOCKET) &&
	    task->number < MR_BPF_OTHER_ABI)
		task->file =
			file_of(kernel_task, returns_descriptor ? result : task->argument, task);
	if (unlikely((s32)result != result))
		put_syscall_wide(task, kernel_task->pid, result);
	else
		put_syscall(task, kernel_task->pid, result);
	task->entry_ns = 0;
	return 0;
}

#endif
