/* SPDX-License-Identifier: Apache-2.0
 *
 * sharing SITUATION: executes programs in processes that share their memory, and in signal handlers that interrupt
 * another execution.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

enum {
	CHILDREN = 20,
	STACK_BYTES = 64 << 10,
};

extern char **environ;
static char *arguments[] = {"true", NULL};
static volatile sig_atomic_t handled;

static int execute_true(void *unused)
{
	(void)unused;
	execve("/bin/true", arguments, environ);
	return 99;
}

static int fail_to_execute(void *unused)
{
	(void)unused;
	int failed = 0;
	for (int i = 0; i < 500; i++)
		failed += execve("/bin/true/no-program", arguments, environ) == -1;
	_exit(failed != 500);
}

/* Children that run at the same time as their parent, in its memory, with its thread's data. */
static int clones_by(int (*body)(void *))
{
	static char stacks[CHILDREN][STACK_BYTES];
	int failures = 0;
	for (int i = 0; i < CHILDREN; i++)
		if (clone(body, stacks[i] + STACK_BYTES, CLONE_VM | SIGCHLD, NULL) < 0)
			return 1;
	for (int ended = 0; ended < CHILDREN;) {
		int status;
		execve("/bin/true/no-program", arguments, environ);
		if (waitpid(-1, &status, WNOHANG) > 0) {
			ended++;
			failures += status != 0;
		}
	}
	emit(10);
	emit_report();
	return failures;
}

static int clones_execute(void)
{
	return clones_by(execute_true);
}

static int clones_fail(void)
{
	return clones_by(fail_to_execute);
}

static void on_signal(int number)
{
	(void)number;
	int saved_errno = errno;
	execve("/no/such/program", arguments, environ);
	execvp("no-such-program", arguments);
	handled++;
	errno = saved_errno;
}

/* A handler that tries to execute something while the child of a vfork does. */
static int handler_in_vfork(void)
{
	signal(SIGUSR1, on_signal);
	for (volatile int i = 0; i < CHILDREN; i++) {
		pid_t child = vfork();
		if (child == 0) {
			raise(SIGUSR1);
			execve("/bin/true", arguments, environ);
			_exit(99);
		}
		raise(SIGUSR1);
		int status;
		if (waitpid(child, &status, 0) != child || status != 0)
			return 1;
	}
	emit(10);
	emit_report();
	return handled == 2 * CHILDREN ? 0 : 2;
}

static void start_timer(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct itimerval often = {.it_interval = {0, 300}, .it_value = {0, 300}};
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void stop_timer(void)
{
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
}

/* ... and while its parent and its children do, again and again, in every way. */
static int handlers_everywhere(void)
{
	start_timer();
	for (int i = 0; i < 300; i++) {
		pid_t child = i % 3 == 0 ? fork() : i % 3 == 1 ? vfork() : -1;
		if (child == 0) {
			execvp("true", arguments);
			_exit(99);
		}
		if (i % 3 == 2 && posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0)
			return 1;
		execve("/no/such/program", arguments, environ);
		int status = 1;
		while (waitpid(child, &status, 0) != child)
			;
		if (status != 0)
			return 2;
	}
	stop_timer();
	emit(10);
	emit_report();
	return 0;
}

static void *spawn_many(void *failures)
{
	for (int i = 0; i < 50; i++) {
		pid_t child;
		int status = 1;
		if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0 ||
		    waitpid(child, &status, 0) != child || status != 0)
			atomic_fetch_add((_Atomic int *)failures, 1);
	}
	return NULL;
}

/* Threads that start programs at the same time, while signals arrive. */
static int threads_spawn(void)
{
	static _Atomic int failures;
	pthread_t threads[4];
	start_timer();
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, spawn_many, &failures);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	stop_timer();
	emit(10);
	emit_report();
	return atomic_load(&failures);
}

/* A parent whose children execute programs with an environment of their own stays as large as it is. */
static int vfork_leaves_nothing(void)
{
	static char *none[] = {NULL};
	void *volatile before = NULL;
	for (volatile int i = 0; i < 200; i++) {
		pid_t child = vfork();
		if (child == 0) {
			execve("/bin/true", arguments, none);
			_exit(99);
		}
		waitpid(child, NULL, 0);
		if (i == 100)
			before = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	void *after = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	emit(10);
	emit_report();
	return (char *)before - (char *)after == 1 << 20 ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct situation situations[] = {
		{"clones_execute", clones_execute},
		{"clones_fail", clones_fail},
		{"handler_in_vfork", handler_in_vfork},
		{"handlers_everywhere", handlers_everywhere},
		{"threads_spawn", threads_spawn},
		{"vfork_leaves_nothing", vfork_leaves_nothing},
		{NULL, NULL},
	};
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
