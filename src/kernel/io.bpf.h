/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * Disks, page faults, sockets, signals, io_uring.
 */
#ifndef MR_KERNEL_IO_BPF_H
#define MR_KERNEL_IO_BPF_H

#include "kernel/interrupts.bpf.h"

/* ---- requests to disks ----------------------------------------------------------------------------- */

struct request_state {
	u32 tid;
	u64 submitted_ns;
	u64 issued_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16 << 10);
	__type(key, u64); /* address of the request */
	__type(value, struct request_state);
} requests SEC(".maps");

SEC("tp_btf/block_io_start")
int BPF_PROG(on_block_start, struct request *request)
{
	if (!recorded_current())
		return 0;
	u64 key = (u64)request;
	struct request_state state = {.tid = current_tid(), .submitted_ns = bpf_ktime_get_ns()};
	bpf_map_update_elem(&requests, &key, &state, BPF_ANY);
	return 0;
}

/* The last issue counts: a request may be requeued and issued again, even by another task. */
SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *request)
{
	u64 key = (u64)request;
	struct request_state *state = bpf_map_lookup_elem(&requests, &key);
	if (state)
		state->issued_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline u8 block_operation(u32 flags)
{
	switch (flags & 0xff) {
	case 0:
		return MR_block_operation_read;
	case 1:
		return MR_block_operation_write;
	case 2:
		return MR_block_operation_flush;
	case 3:
		return MR_block_operation_discard;
	}
	return MR_block_operation_other;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_complete, struct request *request, u8 error, unsigned int bytes)
{
	u64 key = (u64)request;
	struct request_state *state = bpf_map_lookup_elem(&requests, &key);
	if (!state || (!error && bytes < request->__data_len))
		return 0; /* a partial completion: the rest follows */
	struct gendisk *disk = BPF_CORE_READ(request, q, disk);
	struct mr_record_block_io *record;
	if (shared.is_recording && begin_record_of(record, MR_RECORD_BLOCK_IO, state->tid)) {
		u64 issued_ns = state->issued_ns ? state->issued_ns : state->submitted_ns;
		record->head.detail = block_operation(request->cmd_flags);
		record->device =
			BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor);
		record->bytes = request->__data_len;
		record->sector = request->__sector;
		record->queue_ns = issued_ns - state->submitted_ns;
		record->service_ns = record->head.time_ns - issued_ns;
		record->error =
			error ? -5
			      : 0; /* the status is internal to the kernel; user space sees EIO */
		end_record(record);
	}
	bpf_map_delete_elem(&requests, &key);
	return 0;
}

/* ---- page faults ------------------------------------------------------------------------------------ */

static __always_inline int begin_fault(void)
{
	struct task *task = recorded_current();
	if (task)
		task->fault_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_user_fault)
{
	return begin_fault();
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_kernel_fault)
{
	return begin_fault();
}

/* Runs when the page has been loaded. */
SEC("perf_event")
int on_major_fault(struct bpf_perf_event_data *ctx)
{
	struct task *task = recorded_current();
	struct mr_record_major_fault *record;
	if (!task || !begin_record_of(record, MR_RECORD_MAJOR_FAULT, current_tid()))
		return 0;
	record->address = is_guarded(bpf_get_current_task_btf(), task) ? 0 : ctx->addr;
	record->duration_ns = task->fault_ns ? record->head.time_ns - task->fault_ns : 0;
	task->fault_ns = 0;
	end_record(record);
	return 0;
}

/* ---- sockets ------------------------------------------------------------------------------------------ */

/* The number of a socket's file. Kept with the socket, as servers have many and use them in turn. */
struct known_socket {
	u64 state;
	u32 file;
	u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct known_socket);
} sockets SEC(".maps");

static __always_inline u32 number_of_socket(struct sock *sock, struct task *task)
{
	u64 state = state_of_socket(sock);
	struct known_socket *known = bpf_sk_storage_get(&sockets, sock, NULL, 0);
	if (known && known->file && known->state == state)
		return known->file;
	struct file *file = NULL;
	struct socket *socket = BPF_CORE_READ(sock, sk_socket);
	bpf_probe_read_kernel(&file, sizeof file, &socket->file);
	u32 number = file ? number_of(file, task) : 0;
	known = bpf_sk_storage_get(&sockets, sock, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (known) {
		known->file = 0; /* between the two, another CPU must not take one for the other */
		barrier();
		known->state = state;
		barrier();
		known->file = number;
	}
	return number;
}

static __always_inline int put_socket(struct sock *sock, int bytes, u8 direction)
{
	struct task *task = bytes > 0 ? recorded_current() : NULL;
	if (!task)
		return 0;
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	u32 number = is_guarded(kernel_task, task) ? 0 : number_of_socket(sock, task);
	struct mr_record_socket *record;
	if (!begin_record_of(record, MR_RECORD_SOCKET, kernel_task->pid))
		return 0;
	record->head.detail = direction;
	record->file = number;
	record->bytes = bytes;
	end_record(record);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_socket_send, struct sock *sock, int bytes)
{
	return put_socket(sock, bytes, MR_direction_send);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_socket_receive, struct sock *sock, int bytes)
{
	return put_socket(sock, bytes, MR_direction_receive);
}

/* ---- signals ------------------------------------------------------------------------------------------ */

enum {
	SIGNAL_DELIVERED = 0,
	SIGNAL_LOSES_INFO = 4,
	SIGNAL_IGNORED = 1, /* the handler that stands for this; 0 is the default's */
	CODE_OF_KERNEL = 0x80,
};

/* Instead of a pointer the kernel may pass 0 (sent by a user) or 1 (sent by the kernel). */
static __always_inline int signal_code(struct kernel_siginfo *info)
{
	if ((u64)info <= 1)
		return info ? CODE_OF_KERNEL : 0;
	return BPF_CORE_READ(info, si_code);
}

static __always_inline void put_signal(u32 tid, u32 sender, int signal, int code, u8 stage)
{
	struct mr_record_signal *record;
	if (!begin_record_of(record, MR_RECORD_SIGNAL, tid))
		return;
	record->head.detail = stage;
	record->head.number = signal;
	record->sender_tid = sender;
	record->code = code;
	end_record(record);
}

SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal_sent, int signal, struct kernel_siginfo *info, struct task_struct *target,
	     int is_for_group, int result)
{
	if (!task_of(target) || !shared.is_recording ||
	    (result != SIGNAL_DELIVERED && result != SIGNAL_LOSES_INFO))
		return 0;
	struct task_struct *sender = bpf_get_current_task_btf();
	if (!may_be_traced(sender->pid))
		introduce(sender);
	put_signal(target->pid, sender->pid, signal, signal_code(info), MR_signal_stage_sent);
	return 0;
}

SEC("tp_btf/signal_deliver")
int BPF_PROG(on_signal_delivered, int signal, struct kernel_siginfo *info,
	     struct k_sigaction *action)
{
	struct task_struct *kernel_task = bpf_get_current_task_btf();
	struct task *task = task_of(kernel_task);
	if (!task)
		return 0;
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(kernel_task);
	bool has_handler = (u64)action->sa.sa_handler > SIGNAL_IGNORED;
	if (has_handler && regs && mr_regs_sixth_argument(regs) == MR_OWN_MARK)
		task->has_stale_mark = true;
	if (shared.is_recording)
		put_signal(kernel_task->pid, 0, signal, signal_code(info),
			   MR_signal_stage_delivered);
	return 0;
}

/* ---- io_uring ----------------------------------------------------------------------------------------- */

enum {
	URING_FIXED_FILE = 1, /* the descriptor is an index into the ring's own table */
};

#define BIT(number) (1ull << (number))

/* Opcodes whose descriptor is a file: reads, writes, syncs, polls, sockets ... */
static const u64 uring_opcodes_on_files =
	BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(8) | BIT(9) | BIT(10) | BIT(13) |
	BIT(16) | BIT(17) | BIT(22) | BIT(23) | BIT(26) | BIT(27) | BIT(30) | BIT(33) | BIT(34) |
	BIT(41) | BIT(43) | BIT(46) | BIT(47) | BIT(48) | BIT(49) | BIT(55) | BIT(56) | BIT(57) |
	BIT(58) | BIT(59) | BIT(60) | BIT(61);

/* Newer kernels look the file up only after this tracepoint. */
static __always_inline u32 uring_file(struct io_kiocb *request, struct task *task)
{
	struct file *file = BPF_CORE_READ(request, file);
	if (!file && bpf_core_field_exists(request->cqe.fd) &&
	    !(request->flags & URING_FIXED_FILE) &&
	    uring_opcodes_on_files >> (request->opcode & 63) & 1)
		file = file_behind(bpf_get_current_task_btf(), request->cqe.fd);
	return file ? number_of(file, task) : 0;
}

/* A kernel address, obscured. It is written and changed there, as the verifier permits no arithmetic on a pointer. */
static __always_inline void put_request(u64 *room, void *request)
{
	*(volatile u64 *)room = (u64)request;
	*(volatile u64 *)room ^= settings.address_mask;
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(on_uring_submit, struct io_kiocb *request)
{
	struct task *task = recorded_current();
	if (!task)
		return 0;
	bool guarded = is_guarded(bpf_get_current_task_btf(), task);
	u32 number = guarded ? 0 : uring_file(request, task);
	struct mr_record_uring_submit *record;
	if (!begin_record_of(record, MR_RECORD_URING_SUBMIT, current_tid()))
		return 0;
	record->head.detail = request->opcode;
	record->user_data = guarded ? 0 : request->cqe.user_data;
	put_request(&record->request, request);
	record->file = number;
	end_record(record);
	return 0;
}

/* In older kernels the third argument is a number. It is read as what it is declared to be, without a helper, so that
 * the verifier refuses the program there. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(on_uring_complete, void *ring, void *request, struct io_uring_cqe *completion)
{
	struct task *task = recorded_current();
	struct mr_record_uring_complete *record;
	if (!task || !begin_record_of(record, MR_RECORD_URING_COMPLETE, current_tid()))
		return 0;
	bool guarded = is_guarded(bpf_get_current_task_btf(), task);
	record->user_data = guarded ? 0 : completion->user_data;
	put_request(&record->request, request);
	record->result = completion->res;
	end_record(record);
	return 0;
}

#endif
