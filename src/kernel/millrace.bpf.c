/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 *
 * The programs that run in the kernel. Each is attached to one tracepoint, by its type (tp_btf). If a kernel
 * lacks a tracepoint, the trace lacks only what that tracepoint reports.
 *
 *     tasks.bpf.h         who is traced; rings and records
 *     files.bpf.h         descriptors → files and sockets
 *     scheduling.bpf.h    switches, wakings, migrations
 *     life.bpf.h          fork, exec, exit, names
 *     syscalls.bpf.h      system calls
 *     interrupts.bpf.h    interrupts, softirqs, timers
 *     io.bpf.h            disks, page faults, sockets, signals, io_uring
 */
#include "kernel/io.bpf.h"

/* The kernel offers the helpers used here only to GPL programs. Hence the second licence of these files, and only these. */
char license_text[] SEC("license") = "GPL";
