/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * What the programs in the kernel and the collector share: memory, settings, and the records in the rings.
 *
 * Each CPU has a ring. A record begins with its time and type; all records are naturally aligned and a multiple
 * of eight bytes long. BPF programs include this file, so it uses no libc header.
 *
 *      0         8      9        10       12     16
 *      ┌─────────┬──────┬────────┬────────┬──────┬───────────── ─ ─
 *      │ time_ns │ type │ detail │ number │ tid  │ what the type needs
 *      └─────────┴──────┴────────┴────────┴──────┴───────────── ─ ─
 */
#ifndef MR_KERNEL_RECORDS_H
#define MR_KERNEL_RECORDS_H

#include <linux/types.h>

enum {
	MR_BPF_CPUS = 1024,
	MR_BPF_PIDS = 1 << 22, /* the kernel's own limit */
	MR_BPF_SYSCALLS = 512,
	MR_BPF_OTHER_ABI = 0x8000, /* added to the number of a call of a 32-bit program */
	MR_BPF_CONTEXTS = 8,       /* interrupts within interrupts */
	MR_BPF_PATH_BYTES = 4096,
	MR_BPF_ARGUMENT_BYTES = 4096,
	MR_BPF_NAME_BYTES = 48,
	MR_BPF_COMM_BYTES = 16,
	MR_BPF_REDUCED =
		64, /* processes whose calls are no longer all recorded: so many are named */
	MR_BPF_CAST = 0x6d69, /* stands for the number of the kernel's bpf_rdonly_cast() */
};

enum mr_record_type {
	MR_RECORD_SWITCH = 1,
	MR_RECORD_WAKING,
	MR_RECORD_SYSCALL,
	MR_RECORD_SYSCALL_WIDE,
	MR_RECORD_UNFINISHED,
	MR_RECORD_BLOCKED_CALL,
	MR_RECORD_FORK,
	MR_RECORD_EXEC,
	MR_RECORD_EXIT,
	MR_RECORD_TASK_NAME,
	MR_RECORD_MIGRATE,
	MR_RECORD_BLOCK_IO,
	MR_RECORD_MAJOR_FAULT,
	MR_RECORD_INTERRUPT,
	MR_RECORD_SOCKET,
	MR_RECORD_SIGNAL,
	MR_RECORD_URING_SUBMIT,
	MR_RECORD_URING_COMPLETE,
	MR_RECORD_LOSS,   /* records were lost before this one */
	MR_RECORD_FILE,   /* assigns a number to a file */
	MR_RECORD_SOURCE, /* names the source of a waking */
};

/* The comment after each struct explains `detail` and `number`. */
struct mr_record {
	__u64 time_ns;
	__u8 type;
	__u8 detail;
	__u16 number;
	__u32 tid;
};

struct mr_record_switch {      /* detail: enum mr_switch_reason */
	struct mr_record head; /* tid: of the thread that stops */
	__u32 next_tid;
	__u32 minor_faults;
};

struct mr_record_waking { /* detail: enum mr_wake_context */
	struct mr_record head;
	__u32 waker_tid;
	__u32 unused;
	__u64 source; /* function, irq, softirq or enum mr_vector_source */
};

struct mr_record_syscall { /* detail: of a futex call its command; number: of the call */
	struct mr_record head;
	__u64 duration_ns;
	__s32 result;
	__u32 file; /* number assigned by a file record; 0: none */
	__u64 argument;
};

struct mr_record_syscall_wide {
	struct mr_record head;
	__u64 duration_ns;
	__s64 result;
	__u64 argument;
	__u32 file;
	__u32 reason; /* of an unfinished one: enum mr_unfinished_reason */
};

struct mr_record_fork {
	struct mr_record head;
	__u32 parent_tid;
	__u32 pid;
	__u32 inner_tid;
	__u32 inner_pid;
	char name[MR_BPF_COMM_BYTES];
};

struct mr_record_exec {
	struct mr_record head;
	__u32 old_tid;
	__u32 text_bytes;
	char text[]; /* words, each terminated by a zero byte */
};

struct mr_record_exit {
	struct mr_record head;
	__s32 status;
	__u32 unused;
};

struct mr_record_task_name {
	struct mr_record head;
	__u32 pid;
	__u32 unused;
	char name[MR_BPF_COMM_BYTES];
};

struct mr_record_migrate {
	struct mr_record head;
	__u32 from_cpu;
	__u32 to_cpu;
};

struct mr_record_block_io { /* detail: enum mr_block_operation */
	struct mr_record head;
	__u32 device;
	__u32 bytes;
	__u64 sector;
	__u64 queue_ns;
	__u64 service_ns;
	__s32 error;
	__u32 unused;
};

struct mr_record_major_fault {
	struct mr_record head;
	__u64 address;
	__u64 duration_ns;
};

struct mr_record_interrupt { /* detail: enum mr_interrupt_kind */
	struct mr_record head;
	__u64 duration_ns;
	__u32 interrupt;
	__u32 unused;
};

struct mr_record_socket { /* detail: enum mr_direction */
	struct mr_record head;
	__u32 file;
	__u32 bytes;
};

struct mr_record_signal { /* detail: enum mr_signal_stage; number: of the signal */
	struct mr_record head;
	__u32 sender_tid;
	__s32 code;
};

struct mr_record_uring_submit { /* detail: opcode */
	struct mr_record head;
	__u64 user_data;
	__u64 request;
	__u32 file;
	__u32 unused;
};

struct mr_record_uring_complete {
	struct mr_record head;
	__u64 user_data;
	__u64 request;
	__s32 result;
	__u32 unused;
};

struct mr_record_loss {
	struct mr_record head;
	__u64 lost; /* of this CPU, since the beginning */
};

enum mr_file_kind {
	MR_FILE_PATH,
	MR_FILE_PIPE,
	MR_FILE_ANONYMOUS,
	MR_FILE_SOCKET,       /* of a family without further description */
	MR_FILE_SOCKET_INET,  /* addresses and ports */
	MR_FILE_SOCKET_INET6, /* likewise */
	MR_FILE_SOCKET_UNIX,  /* the text is its own address, and that of its peer */
};

struct mr_record_file { /* detail: enum mr_file_kind; number: 1 if the file is deleted */
	struct mr_record head;
	__u32 file;
	__u32 text_bytes;
	__u64 device;
	__u64 inode;
	__u8 local_address[16];
	__u8 remote_address[16];
	__u16 local_port;
	__u16 remote_port; /* in network byte order */
	__u16 protocol;    /* of the internet, or type of a unix socket */
	__u16 unused;
	char text
		[]; /* parts of the path from the last to the first, each terminated by a zero byte */
};

struct mr_record_source { /* detail: enum mr_wake_context */
	struct mr_record head;
	__u64 source;
	char name[MR_BPF_NAME_BYTES];
};

/* Interrupt vectors that have a tracepoint. */
enum mr_vector_source {
	MR_VECTOR_LOCAL_TIMER = 1,
	MR_VECTOR_RESCHEDULE,
	MR_VECTOR_CALL_FUNCTION,
	MR_VECTOR_CALL_FUNCTION_SINGLE,
	MR_VECTOR_IRQ_WORK,
};

/* ---- shared memory ------------------------------------------------------------------------------ */

/* Interrupt work in progress on a CPU, innermost last. */
struct mr_bpf_context {
	__u64 begin_ns;
	__u64 source;
	__u64 name; /* of an irq: address of its name */
	__u32 number;
	__u32 kind; /* enum mr_wake_context */
};

struct mr_bpf_cpu {
	__u64 lost;          /* records for which the ring had no room */
	__u64 lost_reported; /* of these, reported by a loss record */
	__u64 lost_syscalls; /* of these, system calls */
	__u32 waiting;       /* traced threads that are runnable and wait for this CPU */
	__u32 depth;         /* of contexts */
	struct mr_bpf_context contexts[MR_BPF_CONTEXTS];
} __attribute__((aligned(64)));

/* A process that made so many system calls that only those which block are recorded since then. */
struct mr_bpf_reduced {
	__u64 since_ns; /* 0: being filled in */
	__u32 pid;
	__u32 unused;
	char name[MR_BPF_COMM_BYTES];
};

struct mr_bpf_shared {
	__u32 is_recording; /* written by the collector */
	__u32 is_finishing; /* likewise */
	__u32 files;        /* numbers assigned */
	__u32 alive;        /* tasks that are followed and have not exited */
	__u64 not_followed;
	__u32 child; /* written by the collector: whom to follow, by its pid there; 0: nobody */
	__u32 is_followed;      /* the child was found */
	__u32 reduced_count;    /* may exceed MR_BPF_REDUCED */
	__u32 reduced_alive;    /* reduced processes that have not ended */
	__u32 are_calls_ending; /* written by the collector: from now on only calls that block */
	__u32 guarded;          /* tasks of which the user may not see everything */
	struct mr_bpf_reduced reduced[MR_BPF_REDUCED];
	struct mr_bpf_cpu cpus[MR_BPF_CPUS];
	__u64 traced[MR_BPF_PIDS / 64];  /* bit set: maybe traced; not set: certainly not */
	__u64 calling[MR_BPF_PIDS / 64]; /* likewise: traced, and all its system calls are wanted */
};

/* Where a system call has a file descriptor. */
enum mr_syscall_kind {
	MR_SYSCALL_DESCRIPTOR = 1 << 0,       /* its first argument */
	MR_SYSCALL_FIFTH_DESCRIPTOR = 1 << 1, /* its fifth */
	MR_SYSCALL_RETURNS_DESCRIPTOR = 1 << 2,
	MR_SYSCALL_CHANGES_SOCKET = 1 << 3, /* sets the socket's address or peer */
	MR_SYSCALL_FUTEX = 1 << 4,
	MR_SYSCALL_RETURNS_ADDRESS = 1 << 5,
	MR_SYSCALL_ENDS_HANDLER = 1 << 6, /* of a signal */
};

/* Fixed before the programs are loaded. */
struct mr_bpf_settings {
	__u8 record_blocked_calls; /* of all tasks */
	__u8 no_arguments;
	__u8 has_cast;         /* the kernel has bpf_rdonly_cast() */
	__u8 has_switch_state; /* sched_switch passes the state */
	__u8 guards;           /* hide what this user may not see: */
	__u32 user;
	__u32 group;
	__u32 yield_number; /* of the system call sched_yield */
	__u32 calls_limit; /* a process that makes more in calls_window_ns is reduced; 0: none is */
	__u32 type_of_task_struct; /* the kernel's number of this type, as the next four */
	__u32 type_of_file;
	__u32 type_of_sock;
	__u32 type_of_socket;
	__u32 type_of_unix_sock; /* 0 where the kernel has none */
	__u64 calls_window_ns;
	__u64 address_mask; /* obscures kernel addresses that serve as names */
	__u8 syscall_kinds[MR_BPF_SYSCALLS];
};

#endif
