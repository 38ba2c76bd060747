/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/syscalls.h"

#include <asm/unistd.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "kernel/records.h"

/* [__NR_read] = "read", ..., generated from <asm/unistd.h>. */
static const char *const names[] = {
#include <syscall_names.inc>
};

enum {
	FIRST = MR_SYSCALL_DESCRIPTOR,
	FIFTH = MR_SYSCALL_FIFTH_DESCRIPTOR,
	RETURNS = MR_SYSCALL_RETURNS_DESCRIPTOR,
	SOCKET = MR_SYSCALL_DESCRIPTOR | MR_SYSCALL_CHANGES_SOCKET,
};

static const struct {
	uint8_t kind;
	const char *names; /* each followed by a space */
} kinds[] = {
	{FIRST,
	 "read write close fstat lseek pread64 pwrite64 readv writev preadv pwritev preadv2 "
	 "pwritev2 ioctl fcntl flock fsync fdatasync sync_file_range syncfs ftruncate "
	 "fallocate fadvise64 readahead getdents getdents64 fchdir fchmod fchown fstatfs "
	 "fgetxattr fsetxattr flistxattr fremovexattr "
	 "sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown listen getsockname "
	 "getpeername setsockopt getsockopt "
	 "epoll_wait epoll_pwait epoll_pwait2 epoll_ctl timerfd_settime timerfd_gettime "
	 "inotify_add_watch inotify_rm_watch sendfile splice tee vmsplice copy_file_range "
	 "newfstatat fstatat64 statx faccessat faccessat2 readlinkat unlinkat mkdirat mknodat "
	 "linkat renameat renameat2 symlinkat fchmodat fchmodat2 fchownat utimensat futimesat "
	 "execveat name_to_handle_at io_uring_enter io_uring_register finit_module "
	 "setns quotactl_fd landlock_add_rule landlock_restrict_self process_madvise "
	 "pidfd_send_signal mq_timedsend mq_timedreceive mq_notify mq_getsetattr "
	 "cachestat fspick move_mount fsconfig fsmount "},
	{RETURNS, "open creat socket epoll_create epoll_create1 eventfd eventfd2 signalfd "
		  "signalfd4 timerfd_create inotify_init inotify_init1 memfd_create "
		  "memfd_secret perf_event_open fanotify_init userfaultfd pidfd_open "
		  "io_uring_setup mq_open fsopen open_tree "},
	{FIRST | RETURNS, "openat openat2 dup dup2 dup3 accept accept4 pidfd_getfd "
			  "open_by_handle_at "},
	{SOCKET, "connect bind "},
	{FIFTH | MR_SYSCALL_RETURNS_ADDRESS, "mmap mmap2 "},
	{MR_SYSCALL_RETURNS_ADDRESS, "brk mremap shmat "},
	{MR_SYSCALL_ENDS_HANDLER, "rt_sigreturn "},
	{MR_SYSCALL_FUTEX, "futex "},
};

const char *mr_syscall_name(uint32_t number)
{
	return number < mr_countof(names) ? names[number] : NULL;
}

int mr_syscall_number(const char *name)
{
	for (size_t i = 0; i < mr_countof(names); i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (const char *at = list; *at; at = strchr(at, ' ') + 1)
		if (strncmp(at, name, length) == 0 && at[length] == ' ')
			return true;
	return false;
}

uint8_t mr_syscall_kind(uint32_t number)
{
	const char *name = mr_syscall_name(number);
	for (size_t i = 0; name && i < mr_countof(kinds); i++)
		if (is_listed(kinds[i].names, name))
			return kinds[i].kind;
	return 0;
}
