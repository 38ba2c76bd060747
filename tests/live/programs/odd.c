/* SPDX-License-Identifier: Apache-2.0
 *
 * odd SITUATION: single things that programs do to themselves.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

extern char **environ;

/* What setproctitle() does: the memory of arguments and environment becomes a title. */
static int title(void)
{
	char *last = environ[0];
	for (char **entry = environ; *entry; entry++)
		last = *entry + strlen(*entry);
	memset(environ[0], 'x', (size_t)(last - environ[0]));
	static char *none[] = {NULL};
	environ = none;
	emit(10);
	emit_report();
	return system("echo title");
}

static int no_arguments(void)
{
	emit(10);
	emit_report();
	static char *none[] = {NULL};
	execve(getenv("HELLO"), none, environ);
	return 99;
}

static void on_overflow(int number)
{
	(void)number;
	emit(10);
	emit_report();
	_exit(9);
}

static __attribute__((noinline)) int overflow(int depth)
{
	volatile char frame[4096];
	frame[0] = (char)depth;
	return depth < 1 << 30 ? overflow(depth + 1) + frame[0] : 0;
}

static int stack_overflow(void)
{
	static char memory[16384];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
	sigaltstack(&stack, NULL);
	struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
	sigaction(SIGSEGV, &action, NULL);
	return overflow(0);
}

static void *execute(void *unused)
{
	(void)unused;
	char *arguments[] = {"hello", "from a thread", NULL};
	emit(10);
	emit_report();
	execv(getenv("HELLO"), arguments);
	return NULL;
}

static int execute_in_thread(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, execute, NULL);
	pthread_join(thread, NULL);
	return 99;
}

static int aborts(void)
{
	emit(10);
	emit_report();
	abort();
}

static int ignored_children(void)
{
	signal(SIGCHLD, SIG_IGN);
	emit(5);
	if (fork() == 0) {
		emit(5);
		_exit(3);
	}
	int status = 0;
	int result = (int)wait(&status);
	printf("%d %s\n", result, strerror(errno));
	emit_report();
	return 0;
}

static int by_signalfd(void)
{
	sigset_t children;
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
	int file = signalfd(-1, &children, 0);
	if (fork() == 0) {
		emit(10);
		_exit(3);
	}
	struct signalfd_siginfo info = {0};
	ssize_t bytes = read(file, &info, sizeof info);
	printf("%zd bytes, status %d\n", bytes, info.ssi_status);
	wait(NULL);
	emit_report();
	return 0;
}

static int stopped_child(void)
{
	pid_t child = fork();
	if (child == 0) {
		emit(5);
		raise(SIGSTOP);
		emit(5);
		_exit(3);
	}
	int status;
	waitpid(child, &status, WUNTRACED);
	printf("stopped %x\n", (unsigned)status);
	kill(child, SIGCONT);
	waitpid(child, &status, 0);
	printf("ended %x\n", (unsigned)status);
	emit_report();
	return 0;
}

static int other_namespace(void)
{
	void *library = dlmopen(LM_ID_NEWLM, getenv("USER_LIBRARY"), RTLD_NOW);
	printf("%s\n", library ? "loaded" : "not loaded");
	if (library)
		dlclose(library);
	emit(10);
	emit_report();
	return 0;
}

static int without_counter(void)
{
	emit(10);
	emit_report();
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	millrace_node_instant(emitting_node, 0);
	pid_t child = fork();
	if (child == 0) {
		millrace_node_instant(emitting_node, 0);
		_exit(3);
	}
	int status;
	waitpid(child, &status, 0);
	return status >> 8;
}

static int chain_of_forks(void)
{
	for (int i = 0; i < 50; i++) {
		pid_t child = fork();
		if (child != 0) {
			int status;
			waitpid(child, &status, 0);
			_exit(status ? 1 : 0);
		}
		emit(1);
	}
	emit_report();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct situation situations[] = {
		{"title", title},
		{"no_arguments", no_arguments},
		{"stack_overflow", stack_overflow},
		{"execute_in_thread", execute_in_thread},
		{"aborts", aborts},
		{"ignored_children", ignored_children},
		{"by_signalfd", by_signalfd},
		{"stopped_child", stopped_child},
		{"other_namespace", other_namespace},
		{"without_counter", without_counter},
		{"chain_of_forks", chain_of_forks},
		{NULL, NULL},
	};
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
