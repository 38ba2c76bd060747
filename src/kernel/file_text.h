/* SPDX-License-Identifier: Apache-2.0
 *
 * The name of a file in a trace: as /proc/PID/fd shows it, and for sockets as `strace -yy` does.
 *
 *     /data/train.bin   /tmp/gone (deleted)   pipe:[4711]   anon_inode:[eventpoll]
 *     TCP:[127.0.0.1:40000->127.0.0.1:80]   UDPv6:[[::1]:53]   UNIX-STREAM:[815->816,"/run/x"]   socket:[23]
 */
#ifndef MR_KERNEL_FILE_TEXT_H
#define MR_KERNEL_FILE_TEXT_H

#include "kernel/records.h"

enum {
	MR_KERNEL_FILE_TEXT_BYTES = 2 * MR_BPF_PATH_BYTES,
};

void mr_kernel_file_text(const struct mr_record_file *record,
			 char ret_text[MR_KERNEL_FILE_TEXT_BYTES]);

#endif
