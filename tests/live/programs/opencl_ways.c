/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_ways SITUATION [NUMBER]: ways in which programs that use OpenCL live and end. Unless its
 * comment says otherwise a situation launches NUMBER kernels (100 if not given), all of which have
 * been done.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "opencl_world.h"
#include "thread_state.h"

enum {
	KERNELS = 100,
	LONG_US = 300000,       /* far longer than what is waited for takes */
	VERY_LONG_US = 1000000, /* even where others are busy */
	LONG_TURNS = 30000000,
	MEDIUM_TURNS = 10000000,
};

static struct world world;
static unsigned kernel_count = KERNELS;
static const char *self;
static int waiting_tid; /* of the thread that waits for the queue */

static void launch(const struct world *where, cl_command_queue queue, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		world_spin(where, queue, 1, 0, NULL, NULL);
}

static void work(void)
{
	world = world_make();
	launch(&world, world.queue, kernel_count);
	MUST(clFinish, world.queue);
}

/* One more kernel, which waits for an event that never comes. */
static void hang(void)
{
	cl_event gate = MUST_MAKE(clCreateUserEvent, world.context);
	world_spin(&world, world.queue, 1, 1, &gate, NULL);
	MUST(clFlush, world.queue);
}

static int released(void)
{
	work();
	world_release(&world);
	return 0;
}

static int left(void)
{
	work();
	return 3;
}

/* As many kernels again, for whose end nobody waits, but which have ended. */
static void work_unwatched(void)
{
	work();
	launch(&world, world.queue, kernel_count);
	MUST(clFlush, world.queue);
	usleep(VERY_LONG_US);
	wait_for_other_threads();
}

static int left_unwatched(void)
{
	work_unwatched();
	return 11;
}

static int left_quickly(void)
{
	work_unwatched();
	quick_exit(12);
}

/* ... and one more, which has not. */
static void work_unwatched_and_hang(void)
{
	work();
	launch(&world, world.queue, kernel_count);
	hang();
	usleep(VERY_LONG_US);
	wait_for_other_threads();
}

static int unwatched_left_at_once(void)
{
	work_unwatched_and_hang();
	_exit(13);
}

static int unwatched_aborted(void)
{
	work_unwatched_and_hang();
	abort();
}

static int unwatched_crashed(void)
{
	work_unwatched_and_hang();
	__builtin_trap();
}

static int unwatched_killed(void)
{
	work_unwatched_and_hang();
	raise(SIGKILL);
	return 1;
}

/* The kernels of the program that is executed come on top. */
static int unwatched_executed(void)
{
	work_unwatched_and_hang();
	execl(self, self, "released", NULL);
	return 1;
}

/* Of a queue that never becomes empty: does not return. */
static void finish_in_vain(void)
{
	__atomic_store_n(&waiting_tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	clFinish(world.queue);
}

/* Until another thread is in finish_in_vain(), and nothing goes on there any more. */
static void wait_for_finisher(void)
{
	while (!__atomic_load_n(&waiting_tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(LONG_US);
	wait_for_thread(waiting_tid);
}

static void leave_at_once(int number)
{
	(void)number;
	_exit(14);
}

static void *interrupt(void *thread)
{
	wait_for_finisher();
	pthread_kill(*(pthread_t *)thread, SIGALRM);
	return NULL;
}

/* The handler interrupts the runtime in the middle of a call that never returns. */
static int left_by_handler(void)
{
	work();
	hang();
	signal(SIGALRM, leave_at_once);
	pthread_t self_thread = pthread_self(), thread;
	pthread_create(&thread, NULL, interrupt, &self_thread);
	finish_in_vain();
	return 1;
}

/* The child of a vfork has the memory of its parent, but not its threads. */
static int vforks(void)
{
	int status = -1;
	work();
	launch(&world, world.queue, kernel_count);
	pid_t child = vfork();
	if (child == 0)
		_exit(15);
	waitpid(child, &status, 0);
	printf("child: %x\n", (unsigned)status);
	MUST(clFinish, world.queue);
	return 0;
}

static unsigned done_count;

static void CL_CALLBACK count_done(cl_event event, cl_int status, void *data)
{
	(void)event;
	(void)status;
	(void)data;
	__atomic_fetch_add(&done_count, 1, __ATOMIC_RELEASE);
}

static void *kill_self(void *data)
{
	(void)data;
	while (__atomic_load_n(&done_count, __ATOMIC_ACQUIRE) < kernel_count / 10)
		usleep(1000);
	printf("done %u\n", __atomic_load_n(&done_count, __ATOMIC_ACQUIRE));
	fflush(stdout);
	usleep(LONG_US); /* for who else was called back and may have been kept from running */
	raise(SIGKILL);
	return NULL;
}

/* NUMBER long kernels, in whose midst the program is killed while it waits. How many had ended a while before is
 * counted by callbacks, and printed. The second half never begins, however late that is. */
static int killed_in_midst(void)
{
	pthread_t thread;
	world = world_make();
	cl_event gate = MUST_MAKE(clCreateUserEvent, world.context);
	for (unsigned i = 0; i < kernel_count; i++) {
		bool is_gated = i == kernel_count / 2;
		cl_event event;
		world_spin(&world, world.queue, MEDIUM_TURNS, is_gated, is_gated ? &gate : NULL,
			   &event);
		MUST(clSetEventCallback, event, CL_COMPLETE, count_done, NULL);
	}
	pthread_create(&thread, NULL, kill_self, NULL);
	clFinish(world.queue);
	pthread_join(thread, NULL);
	return 1;
}

static bool is_context_gone;

static void CL_CALLBACK on_context_gone(cl_context context, void *data)
{
	(void)context;
	(void)data;
	__atomic_store_n(&is_context_gone, true, __ATOMIC_RELEASE);
}

/* Everything is released while the device works; only then is the context gone. One kernel more. */
static int released_in_flight(void)
{
	work();
	MUST(clSetContextDestructorCallback, world.context, on_context_gone, NULL);
	world_spin(&world, world.queue, LONG_TURNS, 0, NULL, NULL);
	MUST(clFlush, world.queue);
	world_release(&world);
	for (int i = 0; i < 30000 && !__atomic_load_n(&is_context_gone, __ATOMIC_ACQUIRE); i++)
		usleep(1000);
	printf("the context is %s\n", is_context_gone ? "gone" : "still there");
	return 0;
}

static int left_hanging(void)
{
	work();
	hang();
	return 3;
}

static int left_at_once(void)
{
	work();
	_exit(4);
}

static int aborted(void)
{
	work();
	abort();
}

static int crashed(void)
{
	work();
	__builtin_trap(); /* PoCL has a handler for SIGSEGV */
}

static int killed(void)
{
	work();
	raise(SIGKILL);
	return 1;
}

static void *finish_hanging_queue(void *data)
{
	(void)data;
	finish_in_vain();
	return NULL;
}

/* The main thread waits for good; another one ends the program. */
static void *leave(void *data)
{
	(void)data;
	wait_for_finisher();
	exit(5);
}

static int left_by_thread(void)
{
	pthread_t thread;
	work();
	hang();
	pthread_create(&thread, NULL, leave, NULL);
	finish_in_vain();
	return 1;
}

static int left_by_main(void)
{
	pthread_t thread;
	work();
	hang();
	pthread_create(&thread, NULL, finish_hanging_queue, NULL);
	wait_for_finisher();
	return 6;
}

static int killed_waiting(void)
{
	pthread_t thread;
	work();
	hang();
	pthread_create(&thread, NULL, finish_hanging_queue, NULL);
	wait_for_finisher();
	raise(SIGKILL);
	return 1;
}

/* ---- children --------------------------------------------------------------------------------- */

static void print_status(int status)
{
	printf("child: %x\n", (unsigned)status);
}

static void wait_for(pid_t child)
{
	int status = -1;
	waitpid(child, &status, 0);
	print_status(status);
}

/* Children that leave in several ways, while the parent's queue is not empty; then it goes on. */
static int forks(void)
{
	work();
	launch(&world, world.queue, kernel_count);
	for (int i = 0; i < 3; i++) {
		fflush(stdout);
		pid_t child = fork();
		if (child == 0 && i == 0)
			_exit(7);
		if (child == 0 && i == 1)
			exit(8);
		if (child == 0)
			raise(SIGKILL);
		wait_for(child);
	}
	MUST(clFinish, world.queue);
	world_release(&world);
	return 0;
}

/* The parent, and one program each by execve(), system() and posix_spawn(). */
static int programs(void)
{
	char command[4096];
	work();
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		execl(self, self, "released", NULL);
		_exit(1);
	}
	wait_for(child);
	snprintf(command, sizeof command, "'%s' left", self);
	print_status(system(command));
	FILE *output = popen(command, "r");
	print_status(pclose(output));
	world_release(&world);
	return 0;
}

/* The same program is executed after OpenCL was used: two times the kernels. */
static int executed(void)
{
	work();
	execl(self, self, "released", NULL);
	return 1;
}

/* OPENCL_LAYERS, as the program and its children see it after the loader has read it. */
static int environment(void)
{
	work();
	const char *layers = getenv("OPENCL_LAYERS");
	printf("%s\n", layers ? layers : "(none)");
	fflush(stdout);
	return system("echo \"${OPENCL_LAYERS-(none)}\"");
}

/* The process is forked before either half uses OpenCL; each launches NUMBER kernels. */
static int forked_first(void)
{
	pid_t child = fork();
	work();
	if (child != 0)
		wait_for(child);
	world_release(&world);
	return 0;
}

static const struct situation {
	const char *name;
	int (*run)(void);
} situations[] = {
	{"released", released},
	{"left", left},
	{"left_unwatched", left_unwatched},
	{"left_quickly", left_quickly},
	{"unwatched_left_at_once", unwatched_left_at_once},
	{"unwatched_aborted", unwatched_aborted},
	{"unwatched_crashed", unwatched_crashed},
	{"unwatched_killed", unwatched_killed},
	{"unwatched_executed", unwatched_executed},
	{"left_by_handler", left_by_handler},
	{"vforks", vforks},
	{"killed_in_midst", killed_in_midst},
	{"released_in_flight", released_in_flight},
	{"left_hanging", left_hanging},
	{"left_at_once", left_at_once},
	{"aborted", aborted},
	{"crashed", crashed},
	{"killed", killed},
	{"left_by_thread", left_by_thread},
	{"left_by_main", left_by_main},
	{"killed_waiting", killed_waiting},
	{"forks", forks},
	{"programs", programs},
	{"executed", executed},
	{"forked_first", forked_first},
	{"environment", environment},
};

int main(int argc, char **argv)
{
	self = argv[0];
	if (argc > 2)
		kernel_count = (unsigned)strtoul(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof situations / sizeof situations[0]; i++)
		if (strcmp(argv[1], situations[i].name) == 0)
			return situations[i].run();
	fputs("usage: opencl_ways SITUATION [NUMBER]\n", stderr);
	return 2;
}
