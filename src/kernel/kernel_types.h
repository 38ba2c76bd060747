/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The parts of the kernel's structs that the programs read. The real offset of each field is determined when
 * the programs are loaded (CO-RE); only names and types matter here, and unused fields are omitted. Interfaces, at the
 * end, do not change: they are as the kernel has them, up to the last field that is used.
 */
#ifndef MR_KERNEL_KERNEL_TYPES_H
#define MR_KERNEL_KERNEL_TYPES_H

#include <linux/types.h>

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
typedef _Bool bool;
#define true 1
#define false 0

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#ifdef __TARGET_ARCH_x86
struct pt_regs {
	unsigned long di, si, r8, r9, orig_ax, cs;
};
#define mr_regs_number(regs)          ((long)(regs)->orig_ax)
#define mr_regs_first_argument(regs)  ((regs)->di)
#define mr_regs_second_argument(regs) ((regs)->si)
#define mr_regs_fifth_argument(regs)  ((regs)->r8)
#define mr_regs_sixth_argument(regs)  ((regs)->r9)
/* 32-bit programs have different system call numbers; their code segment identifies them. */
#define mr_regs_is_other_abi(regs) ((regs)->cs == 0x23)
#else
struct pt_regs {
	u64 regs[31];
	s32 syscallno;
	u64 pstate;
};
#define mr_regs_number(regs)          ((long)(regs)->syscallno)
#define mr_regs_first_argument(regs)  ((regs)->regs[0])
#define mr_regs_second_argument(regs) ((regs)->regs[1])
#define mr_regs_fifth_argument(regs)  ((regs)->regs[4])
#define mr_regs_sixth_argument(regs)  ((regs)->regs[5])
#define mr_regs_is_other_abi(regs)    (((regs)->pstate & 0x10) != 0)
#endif

struct qstr {
	u64 hash_len;
	const unsigned char *name;
};

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
};

struct vfsmount {
	struct dentry *mnt_root;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct super_block {
	u32 s_dev;
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
	unsigned long i_ino;
	u32 i_generation;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	const void *f_op;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct upid {
	int nr;
	void *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct thread_info {
	u32 cpu;
};

struct mm_struct {
	unsigned long arg_start, arg_end;
	unsigned long flags;
};

typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct___array {
	mm_flags_t flags;
};

typedef struct {
	u32 val;
} kuid_t;

typedef struct {
	u32 val;
} kgid_t;

struct cred {
	kuid_t uid, suid, euid;
	kgid_t gid, sgid, egid;
};

struct sigaction {
	void *sa_handler;
};

struct k_sigaction {
	struct sigaction sa;
};

struct task_struct;

struct signal_struct {
	struct task_struct *group_exec_task;
};

typedef struct {
	unsigned long sig[1];
} sigset_t;

struct sigpending {
	sigset_t signal;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int cpu;
	unsigned int flags;
	int on_cpu;
	int pid;
	int tgid;
	int exit_code;
	unsigned in_iowait : 1;
	bool throttled;
	char comm[16];
	unsigned long min_flt;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct mm_struct *mm;
	const struct cred *cred;
	struct files_struct *files;
	struct signal_struct *signal;
	struct sigpending pending;
};

struct linux_binprm {
	const char *filename;
};

struct hrtimer {
	void *function;
};

struct timer_list {
	void *function;
};

struct irqaction {
	const char *name;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	u64 __sector;
};

struct in6_addr {
	u8 bytes[16]; /* read as a whole, so the kernel's member names do not matter */
};

struct sock_common {
	u32 skc_daddr;
	u32 skc_rcv_saddr;
	u16 skc_dport;
	u16 skc_num;
	u16 skc_family;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct socket {
	short type;
	struct file *file;
	struct sock *sk;
};

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	u16 sk_type;
	struct socket *sk_socket;
};

struct sockaddr_un {
	u16 sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[1];
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

struct kernel_siginfo {
	int si_code;
};

struct io_cqe {
	u64 user_data;
	int fd;
};

struct io_kiocb {
	struct file *file;
	u8 opcode;
	u64 flags;
	struct io_cqe cqe;
};

struct bpf_perf_event_data {
	u64 addr;
};

#pragma clang attribute pop

/* Not looked for among the kernel's types, which takes a while for each struct. */

struct io_uring_cqe {
	u64 user_data;
	s32 res;
};

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

#endif
