/* SPDX-License-Identifier: Apache-2.0
 *
 * What files, sockets and system calls are called.
 */
#include "kernel/file_text.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <setjmp.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kernel/syscalls.h"

static void expect_file_text(struct mr_record_file head, const void *text, size_t bytes,
			     const char *expected)
{
	static char found[MR_KERNEL_FILE_TEXT_BYTES];
	struct mr_record_file *record = calloc(1, sizeof *record + bytes);
	*record = head;
	record->text_bytes = (uint32_t)bytes;
	if (bytes)
		memcpy(record->text, text, bytes);
	mr_kernel_file_text(record, found);
	assert_string_equal(found, expected);
	free(record);
}

#define FILE_OF(kind, ...) ((struct mr_record_file){.head.detail = (kind), __VA_ARGS__})

static void paths_are_turned_round(void **state)
{
	(void)state;
	static const char parts[] = "train.bin\0data\0mnt";
	expect_file_text(FILE_OF(MR_FILE_PATH), parts, sizeof parts, "/mnt/data/train.bin");
	expect_file_text(FILE_OF(MR_FILE_PATH, .head.number = 1), "x", 2, "/x (deleted)");
	expect_file_text(FILE_OF(MR_FILE_PATH), NULL, 0, "/");
	expect_file_text(FILE_OF(MR_FILE_PIPE, .inode = 4711), NULL, 0, "pipe:[4711]");
	expect_file_text(FILE_OF(MR_FILE_ANONYMOUS), "[eventpoll]", 12, "anon_inode:[eventpoll]");
}

static void sockets_show_their_addresses(void **state)
{
	(void)state;
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET, .protocol = 6,
				 .local_address = {127, 0, 0, 1}, .local_port = 40000,
				 .remote_address = {10, 0, 0, 2}, .remote_port = 80 << 8),
			 NULL, 0, "TCP:[127.0.0.1:40000->10.0.0.2:80]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET6, .protocol = 17, .local_address[15] = 1,
				 .local_port = 53),
			 NULL, 0, "UDPv6:[[::1]:53]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_INET, .protocol = 6, .inode = 99), NULL, 0,
			 "TCP:[99]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_UNIX, .protocol = SOCK_STREAM, .inode = 5,
				 .remote_address[0] = 6),
			 "/run/x", 6, "UNIX-STREAM:[5->6,\"/run/x\"]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET_UNIX, .protocol = SOCK_DGRAM, .inode = 5), "\0ab",
			 3, "UNIX-DGRAM:[5,\"@ab\"]");
	expect_file_text(FILE_OF(MR_FILE_SOCKET, .inode = 23), NULL, 0, "socket:[23]");
}

static void calls_are_known(void **state)
{
	(void)state;
	assert_string_equal(mr_syscall_name(SYS_read), "read");
	assert_string_equal(mr_syscall_name(SYS_clone3), "clone3");
	assert_null(mr_syscall_name(100000));
	assert_int_equal(mr_syscall_number("openat"), SYS_openat);
	assert_int_equal(mr_syscall_number("no such call"), -1);
	assert_int_equal(mr_syscall_kind(SYS_read), MR_SYSCALL_DESCRIPTOR);
	assert_int_equal(mr_syscall_kind(SYS_openat),
			 MR_SYSCALL_DESCRIPTOR | MR_SYSCALL_RETURNS_DESCRIPTOR);
	assert_int_equal(mr_syscall_kind(SYS_mmap),
			 MR_SYSCALL_FIFTH_DESCRIPTOR | MR_SYSCALL_RETURNS_ADDRESS);
	assert_int_equal(mr_syscall_kind(SYS_brk), MR_SYSCALL_RETURNS_ADDRESS);
	assert_int_equal(mr_syscall_kind(SYS_rt_sigreturn), MR_SYSCALL_ENDS_HANDLER);
	assert_int_equal(mr_syscall_kind(SYS_getppid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_turned_round),
		cmocka_unit_test(sockets_show_their_addresses),
		cmocka_unit_test(calls_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
