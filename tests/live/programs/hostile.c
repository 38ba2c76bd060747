/* SPDX-License-Identifier: Apache-2.0
 *
 * Things programs do to their threads, children, signals, descriptors and limits: hostile SITUATION
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emit.h"

/* ---- threads ----------------------------------------------------------------------------------- */

static void *emit_five(void *unused)
{
	(void)unused;
	emit(5);
	return NULL;
}

static int short_threads(void)
{
	for (int round = 0; round < 50; round++) {
		pthread_t threads[40];
		for (int i = 0; i < 40; i++)
			if (pthread_create(&threads[i], NULL, emit_five, NULL) != 0)
				return 1;
		for (int i = 0; i < 40; i++)
			pthread_join(threads[i], NULL);
	}
	emit_report();
	return 0;
}

static void *exit_process(void *unused)
{
	(void)unused;
	emit(5);
	emit_report();
	exit(3);
}

static int exit_in_thread(void)
{
	pthread_t thread;
	emit(5);
	pthread_create(&thread, NULL, exit_process, NULL);
	pause();
	return 1;
}

static void *outlive_main(void *main_thread)
{
	pthread_join(*(pthread_t *)main_thread, NULL);
	emit(5);
	emit_report();
	return NULL;
}

static int end_of_main(void)
{
	static pthread_t self;
	pthread_t thread;
	self = pthread_self();
	emit(5);
	pthread_create(&thread, NULL, outlive_main, &self);
	pthread_exit(NULL);
}

/* ---- children ---------------------------------------------------------------------------------- */

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static int make_children(pid_t (*make)(void))
{
	for (int i = 0; i < 20; i++) {
		emit(1);
		pid_t child = make();
		if (child == 0) {
			emit(10);
			_exit(i);
		}
		int status;
		if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != i)
			return 1;
	}
	emit_report();
	return 0;
}

static int children_by_fork(void)
{
	return make_children(fork);
}

static int children_by_bare_fork(void)
{
	return make_children(_Fork);
}

static int children_by_clone(void)
{
	return make_children(raw_clone);
}

static void make_child_by_vfork(void)
{
	pid_t child = vfork();
	if (child == 0) {
		emit(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static int children_by_vfork(void)
{
	for (int i = 0; i < 20; i++)
		make_child_by_vfork();
	emit_report();
	return 0;
}

static _Atomic int stop;

static void *emit_until_stopped(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		emit(1);
		usleep(20);
	}
	return NULL;
}

static int children_of_threads(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, emit_until_stopped, NULL);
	for (int i = 0; i < 40; i++) {
		pid_t child = i % 2 ? fork() : _Fork();
		if (child == 0) {
			emit(10);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	emit_report_aside();
	return 0;
}

static int killed_child(void)
{
	emit(7);
	pid_t child = fork();
	if (child == 0) {
		emit(1000);
		raise(SIGKILL);
	}
	waitpid(child, NULL, 0);
	emit_report();
	return 0;
}

/* ---- signals ----------------------------------------------------------------------------------- */

static _Atomic int handler_runs;

static void on_signal(int number)
{
	(void)number;
	int saved_errno = errno;
	emit(1);
	atomic_fetch_add(&handler_runs, 1);
	errno = saved_errno;
}

/* Signals at any moment of a recording, and errno never changes. */
static int signals(void)
{
	_Atomic int *done =
		mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	pid_t child = fork();
	if (child == 0) {
		while (!atomic_load(done) && getppid() != 1)
			kill(getppid(), SIGALRM);
		_exit(0);
	}
	errno = 77;
	uint64_t own = 0;
	while (own < 100000 || (own < 1000000 && atomic_load(&handler_runs) < 1000)) {
		emit(100);
		own += 100;
	}
	if (errno != 77)
		return 1;
	atomic_store(done, 1);
	while (waitpid(child, NULL, 0) != child)
		;
	emit_report_aside();
	return atomic_load(emitted) == own + (uint64_t)atomic_load(&handler_runs) ? 0 : 2;
}

static volatile sig_atomic_t is_child, forks, failures;

static void on_fork_signal(int number)
{
	(void)number;
	int status;
	pid_t child = is_child ? -1 : _Fork();
	if (child == 0)
		is_child = 1;
	if (child <= 0)
		return;
	while (waitpid(child, &status, 0) != child)
		;
	forks++;
	failures += status != 0;
}

/* Handlers fork while definitions and events are being written; their children come back into them. */
static int fork_in_handler(void)
{
	struct sigaction action = {.sa_handler = on_fork_signal, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &action, NULL);
	for (uint32_t i = 0; forks < 500 && i < 10000000; i++) {
		struct itimerval soon = {.it_value = {0, 1 + i % 59}};
		if (i % 20 == 0)
			setitimer(ITIMER_REAL, &soon, NULL);
		millrace_graph("a graph");
		millrace_node_instant(emitting_node, i);
		if (is_child) {
			millrace_node_instant(emitting_node, i);
			_exit(0);
		}
	}
	return failures != 0;
}

static int crash(void)
{
	emit(5);
	emit_report();
	raise(SIGSEGV);
	return 0;
}

/* ---- ends, libraries, descriptors ---------------------------------------------------------------- */

static int end_without_exit(void)
{
	emit(5);
	emit_report();
	_exit(4);
}

static int unload_libraries(void)
{
	const char *preload = getenv("LD_PRELOAD");
	for (int i = 0; i < 10; i++) {
		void *library = dlopen(getenv("USER_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
		if (!library)
			return 1;
		void (*emit_there)(uint32_t) =
			(void (*)(uint32_t))dlsym(library, "emit_in_library");
		emit_there(10);
		atomic_fetch_add(emitted, 10);
		dlclose(library);
		void *tracer = preload ? dlopen(preload, RTLD_NOW) : NULL;
		if (tracer) {
			dlclose(tracer);
			dlclose(tracer);
		}
		emit(1);
	}
	emit_report();
	return 0;
}

static int close_everything(void)
{
	emit(5);
	atomic_fetch_add(emitted, 10);
	emit_report();
	closefrom(0);
	emit(5);
	/* Descriptors come as to any program with nothing open. */
	for (int expected = 0; expected < 5; expected++)
		if (open("/dev/null", O_RDWR) != expected)
			return 10 + expected;
	syscall(SYS_close_range, 0, ~0U, 0);
	pid_t child = fork();
	if (child == 0) {
		emit(5);
		_exit(open("/dev/null", O_RDWR));
	}
	int status;
	waitpid(child, &status, 0);
	return status;
}

/* ---- privileges and limits ----------------------------------------------------------------------- */

static int change_root(void)
{
	emit(5);
	if (chroot(getenv("NEW_ROOT")) != 0 || chdir("/") != 0)
		return 1;
	emit(5);
	pid_t child = fork();
	if (child == 0) {
		emit(5);
		execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
		_exit(errno == ENOENT ? 0 : 1);
	}
	int status;
	waitpid(child, &status, 0);
	emit_report();
	return status;
}

static int change_user(void)
{
	emit(5);
	if (setgid(65534) != 0 || setuid(65534) != 0)
		return 1;
	emit(5);
	pid_t child = fork();
	if (child == 0) {
		emit(5);
		_exit(0);
	}
	int status;
	waitpid(child, &status, 0);
	emit_report();
	execl("/bin/echo", "echo", "as nobody", (char *)NULL);
	return 1;
}

static int limit_file_size(void)
{
	struct rlimit limit = {4096, 4096};
	setrlimit(RLIMIT_FSIZE, &limit);
	for (int i = 0; i < 50; i++) {
		emit(1000);
		usleep(100);
	}
	emit_report();
	return 0;
}

static int limit_memory(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};
	setrlimit(RLIMIT_AS, &limit);
	for (int i = 0; i < 5000; i++) {
		char text[64];
		snprintf(text, sizeof text, "a text that needs memory, number %d", i);
		millrace_string(text); /* has to fail at some time */
		emit(1);
	}
	emit_report();
	return 0;
}

static int flood(void)
{
	emit(400000);
	emit_report();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct situation situations[] = {
		{"short_threads", short_threads},
		{"exit_in_thread", exit_in_thread},
		{"end_of_main", end_of_main},
		{"children_by_fork", children_by_fork},
		{"children_by_bare_fork", children_by_bare_fork},
		{"children_by_clone", children_by_clone},
		{"children_by_vfork", children_by_vfork},
		{"children_of_threads", children_of_threads},
		{"killed_child", killed_child},
		{"signals", signals},
		{"fork_in_handler", fork_in_handler},
		{"crash", crash},
		{"end_without_exit", end_without_exit},
		{"unload_libraries", unload_libraries},
		{"close_everything", close_everything},
		{"change_root", change_root},
		{"change_user", change_user},
		{"limit_file_size", limit_file_size},
		{"limit_memory", limit_memory},
		{"flood", flood},
		{NULL, NULL},
	};
	return run_situation(situations, argc > 1 ? argv[1] : "");
}
