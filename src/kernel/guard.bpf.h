/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the user for whom we record may not see. He may look into a task by the rules of ptrace(2): it runs as he does, and
 * the kernel has not made it undumpable, as it does with setuid programs, those with file capabilities, and those that he
 * may execute but not read. The others are guarded: when they ran, for what they waited and which system calls they
 * made is recorded, as `ps` and `top` would show most of it; not files, sockets and addresses. These never leave
 * the kernel. For root, nothing is guarded.
 */
#ifndef MR_KERNEL_GUARD_BPF_H
#define MR_KERNEL_GUARD_BPF_H

#include "kernel/tasks.bpf.h"

enum {
	DUMPABLE_MASK = 3,
	DUMPABLE_BY_USER = 1,
};

static __always_inline bool is_same_user(struct task_struct *kernel_task)
{
	const struct cred *cred = kernel_task->cred;
	u32 user = settings.user, group = settings.group;
	u32 difference = (cred->uid.val ^ user) | (cred->euid.val ^ user) |
			 (cred->suid.val ^ user) | (cred->gid.val ^ group) |
			 (cred->egid.val ^ group) | (cred->sgid.val ^ group);
	return difference == 0;
}

/* Since Linux 6.18 the flags are in an array. A task that ends has no memory any more. */
static __always_inline bool is_dumpable(struct task_struct *kernel_task)
{
	struct mm_struct *memory = kernel_task->mm;
	if (!memory)
		return true;
	struct mm_struct___array *same = (void *)memory;
	unsigned long flags = bpf_core_field_exists(same->flags.__mm_flags)
				      ? same->flags.__mm_flags[0]
				      : memory->flags;
	return (flags & DUMPABLE_MASK) == DUMPABLE_BY_USER;
}

static __always_inline bool is_guarded(struct task_struct *kernel_task, struct task *task)
{
	if (!settings.guards || (is_same_user(kernel_task) && is_dumpable(kernel_task)))
		return false;
	if (!task->was_guarded && !task->is_launcher) {
		task->was_guarded = true;
		__sync_fetch_and_add(&shared.guarded, 1);
	}
	return true;
}

#endif
