/* SPDX-License-Identifier: Apache-2.0
 *
 * corners SITUATION: places where there is little room: a sandbox, a small stack, no descriptor left, a lock
 * that nobody will release.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

#define ALLOW(number)                                      \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* After this only a handful of system calls is allowed, up to and including exit(). */
static int sandboxed(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_read),
		ALLOW(SYS_write),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_brk),
		ALLOW(SYS_mmap),
		ALLOW(SYS_munmap),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
	emit(10);
	emit_report();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		return 77;
	return 3;
}

static int pause_in_list(struct dl_phdr_info *library, size_t bytes, void *data)
{
	(void)library;
	(void)bytes;
	(void)data;
	usleep(200);
	return 0;
}

static void *walk_libraries(void *data)
{
	for (;;)
		dl_iterate_phdr(pause_in_list, data);
	return NULL;
}

/* Children that exit while a thread of their parent holds the dynamic linker's lock. */
static int linker_is_busy(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, walk_libraries, NULL);
	usleep(10000);
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		if (child == 0) {
			alarm(20); /* rather than hang */
			emit(10);
			exit(7);
		}
		int status;
		waitpid(child, &status, 0);
		printf("child ended with %x\n", (unsigned)status);
	}
	emit_report();
	_exit(0);
}

static void *spawn_something(void *data)
{
	pid_t child;
	char *arguments[] = {"true", NULL};
	int error = posix_spawnp(&child, "true", NULL, NULL, arguments, environ);
	int status = -1;
	if (error == 0)
		waitpid(child, &status, 0);
	printf("spawn %d, status %d\n", error, status);
	return data;
}

/* A thread with the smallest stack there is, and a large environment. */
static int small_stack(void)
{
	for (int i = 0; i < 1500; i++) {
		char name[32];
		snprintf(name, sizeof name, "VARIABLE_%d", i);
		setenv(name, "some value of a usual length", 1);
	}
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_t thread;
	pthread_create(&thread, &attributes, spawn_something, NULL);
	pthread_join(thread, NULL);
	emit(10);
	emit_report();
	return 0;
}

static void on_crash(int number)
{
	(void)number;
	pid_t child = fork();
	if (child == 0) {
		execlp("echo", "echo", "backtrace", NULL);
		_exit(1);
	}
	int status;
	waitpid(child, &status, 0);
	_exit(status == 0 ? 5 : 6);
}

/* What crash reporters do, on the stack they do it on. */
static int signal_stack(void)
{
	static char memory[8192];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	sigaltstack(&stack, NULL);
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
	sigaction(SIGSEGV, &action, NULL);
	emit(10);
	emit_report();
	raise(SIGSEGV);
	return 0;
}

/* A child that no atfork handler has seen starts a program by vfork, and only then records. */
static int vfork_in_bare_child(void)
{
	pid_t child = _Fork();
	if (child == 0) {
		pid_t program = vfork();
		if (program == 0) {
			execl("/bin/sleep", "sleep", "0.3", NULL);
			_exit(9);
		}
		for (int i = 0; i < 40; i++) {
			emit(100);
			usleep(10000);
		}
		waitpid(program, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	emit_report();
	return 0;
}

/* Executes a program that the library would harm, when it cannot be looked at. */
static int no_descriptors(void)
{
	emit(10);
	emit_report();
	while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
		;
	execl(getenv("SANITIZED_PROGRAM"), "program", NULL);
	return 100 + errno;
}

int main(int argc, char **argv)
{
	static const struct situation situations[] = {
		{"sandboxed", sandboxed},
		{"linker_is_busy", linker_is_busy},
		{"small_stack", small_stack},
		{"signal_stack", signal_stack},
		{"vfork_in_bare_child", vfork_in_bare_child},
		{"no_descriptors", no_descriptors},
		{NULL, NULL},
	};
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
