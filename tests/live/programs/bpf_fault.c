/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes calls of bpf() fail, by what they load or make. Which of its thread's calls that is differs from run to run: two
 * threads share the calls with which libbpf probes the kernel. It is preloaded and controlled by environment variables:
 *
 *     BPF_FAULT_LOG       gets a line for each call: the name of the program or map, or "-", and its errno, or 0
 *     BPF_FAULT_NAME      only calls that load or make what has this name; may be missing
 *     BPF_FAULT_FIRST     which of these fails first, from 1; 0: none does
 *     BPF_FAULT_COUNT     how many in a row fail
 *     BPF_FAULT_ERROR     with which errno, a number
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *log_file;
static atomic_long calls;

static long number_of(const char *variable)
{
	const char *text = getenv(variable);
	return text ? atol(text) : 0;
}

static const char *name_of(long command, const union bpf_attr *attributes)
{
	const char *name = "";
	if (command == BPF_PROG_LOAD)
		name = attributes->prog_name;
	else if (command == BPF_MAP_CREATE)
		name = attributes->map_name;
	return *name ? name : "-";
}

static bool must_fail(const char *name)
{
	const char *wanted = getenv("BPF_FAULT_NAME");
	long first = number_of("BPF_FAULT_FIRST");
	if (wanted && strcmp(wanted, name) != 0)
		return false;
	long number = atomic_fetch_add(&calls, 1) + 1;
	return first && number >= first && number < first + number_of("BPF_FAULT_COUNT");
}

/* One write, as two threads do it at once. */
static void write_line(const char *name, int error)
{
	char line[64];
	int length = snprintf(line, sizeof line, "%.*s %d\n", BPF_OBJ_NAME_LEN, name, error);
	int fd = open(log_file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		abort();
	close(fd);
}

long syscall(long number, ...)
{
	static __typeof__(&syscall) next;
	long arguments[6];
	va_list list;
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	if (!next)
		next = (__typeof__(&syscall))dlsym(RTLD_NEXT, "syscall");
	const char *name = NULL;
	bool fails = false;
	if (log_file && number == SYS_bpf) {
		name = name_of(arguments[0], (const union bpf_attr *)arguments[1]);
		fails = must_fail(name);
	}
	errno = fails ? (int)number_of("BPF_FAULT_ERROR") : errno;
	long result = fails ? -1
			    : next(number, arguments[0], arguments[1], arguments[2], arguments[3],
				   arguments[4], arguments[5]);
	int saved_errno = errno;
	if (name)
		write_line(name, result < 0 ? saved_errno : 0);
	errno = saved_errno;
	return result;
}

__attribute__((constructor)) static void prepare(void)
{
	if (strcmp(program_invocation_short_name, "millrace") == 0)
		log_file = getenv("BPF_FAULT_LOG");
}
