/* SPDX-License-Identifier: Apache-2.0
 *
 * confined WAY ACTION VERDICT: confines itself by a seccomp filter and then does something.
 *
 *     WAY       none, prctl, raw_prctl (through syscall()), seccomp, tsync, strict
 *     VERDICT   what the filter says of calls that are not in ALLOWED (numbers): kill, trap, errno
 *
 * The filter is in force after a write to descriptor -1, so that strace can see what has to be allowed.
 */
#include <errno.h>
#include <fcntl.h>
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

enum {
	MOST_ALLOWED = 600,
};

extern char **environ;
static char *arguments[] = {"hello", "again", NULL};
static const char *hello; /* path of a program */

static void say(const char *text)
{
	(void)!syscall(SYS_write, STDOUT_FILENO, text, strlen(text));
}

/* Without stdio, which may make any system call. */
static void report(void)
{
	char text[] = "emitted 00\n";
	uint64_t count = atomic_load(emitted);
	text[8] = (char)('0' + count / 10);
	text[9] = (char)('0' + count % 10);
	say(text);
}

/* ---- what it does ------------------------------------------------------------------------------- */

static int nothing(void)
{
	return 3;
}

static int leave(void)
{
	_exit(4);
}

static int leave_thread(void)
{
	say("still here\n");
	return (int)syscall(SYS_exit, 5); /* all that the strict mode allows */
}

static int events(void)
{
	emit(20);
	report();
	_exit(0);
}

static int definitions(void)
{
	for (int i = 0; i < 20000; i++) {
		char text[] = "a text of some length, and its number: 00000";
		for (int digit = 0, rest = i; digit < 5; digit++, rest /= 10)
			text[sizeof text - 2 - (size_t)digit] = (char)('0' + rest % 10);
		millrace_string(text);
	}
	emit(20);
	report();
	return 0;
}

static void *in_thread(void *unused)
{
	emit(20);
	return unused;
}

static int thread(void)
{
	pthread_t made;
	if (pthread_create(&made, NULL, in_thread, NULL) != 0)
		return 1;
	pthread_join(made, NULL);
	report();
	return 0;
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int child_by(pid_t (*make)(void))
{
	pid_t child = make();
	if (child == 0) {
		emit(20);
		_exit(7);
	}
	int status = 0;
	waitpid(child, &status, 0);
	report();
	return status >> 8;
}

static int child(void)
{
	return child_by(fork);
}

static int bare_child(void)
{
	return child_by(_Fork);
}

static int raw_child(void)
{
	return child_by(raw_clone);
}

static int vfork_child(void)
{
	pid_t made = vfork();
	if (made == 0) {
		emit(20);
		_exit(7);
	}
	waitpid(made, NULL, 0);
	report();
	return 0;
}

static int execute(void)
{
	execve(hello, arguments, environ);
	return 99;
}

static int execute_along_path(void)
{
	execvp("hello", arguments);
	return 99;
}

static int execute_in_vfork(void)
{
	pid_t made = vfork();
	if (made == 0) {
		execve(hello, arguments, environ);
		_exit(99);
	}
	int status = 0;
	waitpid(made, &status, 0);
	return status >> 8;
}

static int spawn(void)
{
	pid_t made;
	int status = 0;
	if (posix_spawn(&made, hello, NULL, NULL, arguments, environ) != 0)
		return 98;
	waitpid(made, &status, 0);
	return status >> 8;
}

static int by_shell(void)
{
	return WEXITSTATUS(system("hello again"));
}

static int fail_to_execute(void)
{
	execve("/no/such/program", arguments, environ);
	return errno;
}

/* ---- how it is confined ------------------------------------------------------------------------- */

static uint32_t verdict_of(const char *name)
{
	if (strcmp(name, "errno") == 0)
		return SECCOMP_RET_ERRNO | ENOSYS;
	return strcmp(name, "trap") == 0 ? SECCOMP_RET_TRAP : SECCOMP_RET_KILL_PROCESS;
}

/* A list of calls that are allowed. */
static struct sock_fprog make_filter(const char *verdict)
{
	static struct sock_filter code[2 * MOST_ALLOWED + 2];
	unsigned short count = 0;
	code[count++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						     offsetof(struct seccomp_data, nr));
	const char *list = getenv("ALLOWED");
	for (char *rest = (char *)list; rest && *rest && count < 2 * MOST_ALLOWED;) {
		uint32_t number = (uint32_t)strtoul(rest, &rest, 10);
		rest += *rest == ',';
		code[count++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1);
		code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict_of(verdict));
	return (struct sock_fprog){.len = count, .filter = code};
}

static long confine(const char *way, const char *verdict)
{
	const struct sock_fprog filter = make_filter(verdict);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)!syscall(SYS_write, -1, "confined", 8);
	if (strcmp(way, "prctl") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
	if (strcmp(way, "raw_prctl") == 0)
		return syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
	if (strcmp(way, "seccomp") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
	if (strcmp(way, "tsync") == 0)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			       &filter);
	if (strcmp(way, "strict") == 0)
		return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct situation actions[] = {
		{"nothing", nothing},
		{"leave", leave},
		{"leave_thread", leave_thread},
		{"events", events},
		{"definitions", definitions},
		{"thread", thread},
		{"child", child},
		{"bare_child", bare_child},
		{"raw_child", raw_child},
		{"vfork_child", vfork_child},
		{"execute", execute},
		{"execute_along_path", execute_along_path},
		{"execute_in_vfork", execute_in_vfork},
		{"spawn", spawn},
		{"by_shell", by_shell},
		{"fail_to_execute", fail_to_execute},
		{NULL, NULL},
	};
	if (argc < 4)
		return 100;
	hello = getenv("HELLO");
	emit_prepare();
	/* The C library prepares its heap now, whether annotations work or not. */
	void *volatile memory = malloc(1);
	free(memory);
	emit(10);
	report();
	atomic_store(emitted, 0);
	if (confine(argv[1], argv[3]) != 0)
		return 77;
	for (const struct situation *action = actions; action->name; action++)
		if (strcmp(action->name, argv[2]) == 0)
			return action->run();
	return 100;
}
