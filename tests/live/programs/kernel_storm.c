/* SPDX-License-Identifier: Apache-2.0
 *
 * storm FILE COUNT: makes tasks in every way there is, COUNT of each. Every task appends a line to FILE:
 *
 *     task kind=vfork tid=.. pid=.. inner_tid=.. inner_pid=.. parent=..
 *     exec tid=.. command=leaf          (by what was executed, about itself)
 *     end tid=.. status=..              (what its parent learned)
 *
 * Ids without "inner" are those of the pid namespace in which /proc was mounted; a task in a namespace of
 * its own finds them there. `storm leaf FILE` is what is executed.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "kernel_truth.h"

enum {
	AT_ONCE = 8
};

static int output; /* opened for appending: a line is one write */
static const char *output_name;
static int count;

struct ids {
	int tid, pid;
};

/* As the namespace of /proc sees them, which is not the caller's after unshare(). */
static struct ids outer_ids(void)
{
	struct ids ids = {0, 0};
	char link[64];
	ssize_t length = must(readlink("/proc/thread-self", link, sizeof link - 1));
	link[length] = '\0';
	if (sscanf(link, "%d/task/%d", &ids.pid, &ids.tid) != 2)
		exit(1);
	return ids;
}

static void tell(const char *kind, int parent)
{
	char line[160];
	struct ids ids = outer_ids();
	int length = snprintf(line, sizeof line,
			      "task kind=%s tid=%d pid=%d inner_tid=%d inner_pid=%d parent=%d\n",
			      kind, ids.tid, ids.pid, own_tid(), getpid(), parent);
	must(write(output, line, (size_t)length));
}

static void tell_end(int tid, int status)
{
	char line[64];
	int length = snprintf(line, sizeof line, "end tid=%d status=%d\n", tid, status);
	must(write(output, line, (size_t)length));
}

static void reap(pid_t child)
{
	int status;
	must(waitpid(child, &status, 0));
	tell_end(child, status);
}

/* ---- the ways to make a task ---------------------------------------------------------------------- */

static void *run_thread(void *parent)
{
	tell("thread", (int)(intptr_t)parent);
	return NULL;
}

static void make_threads(int how_many)
{
	pthread_t threads[AT_ONCE];
	for (int i = 0; i < how_many; i++)
		must(-pthread_create(&threads[i], NULL, run_thread, (void *)(intptr_t)own_tid()));
	for (int i = 0; i < how_many; i++)
		pthread_join(threads[i], NULL);
}

static void make_fork(int number)
{
	int parent = own_tid();
	pid_t child = must(fork());
	if (child == 0) {
		tell("fork", parent);
		_exit(number % 128);
	}
	reap(child);
}

static void make_killed(int number)
{
	(void)number;
	int parent = own_tid();
	pid_t child = must(fork());
	if (child == 0) {
		tell("killed", parent);
		raise(SIGKILL);
	}
	reap(child);
}

static void make_vfork(int number)
{
	(void)number;
	volatile int parent = own_tid();
	pid_t child = must(vfork());
	if (child == 0) {
		tell("vfork", parent);
		execl("/proc/self/exe", "leaf", "leaf", output_name, NULL);
		_exit(1);
	}
	reap(child);
}

static void make_spawn(int number)
{
	(void)number;
	char *arguments[] = {"leaf", "leaf", (char *)output_name, NULL};
	pid_t child;
	must(-posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ));
	char line[96];
	int length = snprintf(line, sizeof line,
			      "task kind=spawn tid=%d pid=%d inner_tid=%d inner_pid=%d parent=%d\n",
			      child, child, child, child, own_tid());
	must(write(output, line, (size_t)length));
	reap(child);
}

static void make_clone3(int number)
{
	int parent = own_tid();
	struct clone_args arguments = {.exit_signal = SIGCHLD};
	pid_t child = (pid_t)must(syscall(SYS_clone3, &arguments, sizeof arguments));
	if (child == 0) {
		tell("clone3", parent);
		_exit(number % 128);
	}
	reap(child);
}

/* The grandchild is an orphan when it tells; its parent is gone, but made it. */
static void make_daemon(int number)
{
	(void)number;
	int orphaned[2], done[2];
	char byte;
	must(pipe(orphaned));
	must(pipe(done));
	int parent = own_tid();
	pid_t child = must(fork());
	if (child == 0) {
		tell("intermediate", parent);
		parent = own_tid();
		setsid();
		if (must(fork()) == 0) {
			close(orphaned[1]);
			must(read(orphaned[0], &byte, 1));
			tell("daemon", parent);
		}
		_exit(0);
	}
	reap(child);
	close(orphaned[1]);
	close(done[1]);
	must(read(done[0], &byte, 1)); /* until the grandchild has ended */
	close(orphaned[0]);
	close(done[0]);
}

/* Threads and children of the first process of a new namespace, which is number 1 there. */
static void make_namespace(int number)
{
	int parent = own_tid();
	pid_t child = must(fork());
	if (child == 0) {
		tell("unsharing", parent);
		must(unshare(CLONE_NEWPID));
		parent = own_tid();
		pid_t first = must(fork());
		if (first == 0) {
			tell("namespace", parent);
			parent = outer_ids().tid;
			pthread_t thread;
			must(-pthread_create(&thread, NULL, run_thread, (void *)(intptr_t)parent));
			pthread_join(thread, NULL);
			pid_t second = must(fork());
			if (second == 0) {
				tell("nested", parent);
				_exit(0);
			}
			must(waitpid(second, NULL, 0));
			_exit(number % 128);
		}
		reap(first);
		_exit(0);
	}
	reap(child);
}

static void *execute(void *parent)
{
	tell("thread", (int)(intptr_t)parent);
	execl("/proc/self/exe", "leaf", "leaf", output_name, NULL);
	exit(1);
}

/* A thread that is not the first one executes a program: it gets the first one's tid. */
static void make_thread_exec(int number)
{
	(void)number;
	int parent = own_tid();
	pid_t child = must(fork());
	if (child == 0) {
		pthread_t thread;
		tell("executing", parent);
		must(-pthread_create(&thread, NULL, execute, (void *)(intptr_t)own_tid()));
		pause();
	}
	reap(child);
}

static void be_leaf(void)
{
	char line[64];
	int length = snprintf(line, sizeof line, "exec tid=%d command=leaf\n", own_tid());
	must(write(output, line, (size_t)length));
}

int main(int argc, char **argv)
{
	static void (*const ways[])(int) = {make_fork,      make_killed,     make_vfork,
					    make_spawn,     make_clone3,     make_daemon,
					    make_namespace, make_thread_exec};
	if (argc != 3) {
		fputs("usage: storm FILE COUNT\n", stderr);
		return 2;
	}
	int is_leaf = strcmp(argv[1], "leaf") == 0;
	output_name = argv[is_leaf ? 2 : 1];
	output = must(open(output_name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
	if (is_leaf) {
		be_leaf();
		return 7;
	}
	count = atoi(argv[2]);
	for (int i = 0; i < count; i++)
		for (size_t way = 0; way < sizeof ways / sizeof *ways; way++)
			ways[way](i);
	for (int made = 0; made < count; made += AT_ONCE)
		make_threads(count - made < AT_ONCE ? count - made : AT_ONCE);
	return 0;
}
