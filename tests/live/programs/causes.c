/* SPDX-License-Identifier: Apache-2.0
 *
 * causes CAUSE [FILE | CPU]: a program on millrace.h whose device is a queue with a thread of its own. Each step gives
 * it something to do and waits for that; before, it loses time for a reason that is known:
 *
 *     sleep          sleeps
 *     disk FILE      reads FILE from its disk
 *     lock           waits for a mutex that a thread "holder" has
 *     preempt CPU    works on a CPU that somebody else takes away again and again: run "causes intrude CPU"
 *     launch         takes long to give the device its work
 *
 *     step        ├─ cause ─┤├ launch ┤├──── wait ────┤├─ cause ─┤
 *     device                           ├── work ───┤
 *
 * What the kernel says of the thread while it loses time (task_times.h) is printed for each step, in nanoseconds, and
 * what delay there was since the step before:
 *
 *     step number=.. wall=.. on_cpu=.. delay=.. delay_before=..
 *
 * "causes intrude CPU" calls itself "intruder" and takes the CPU for half of the time, until it is killed or its parent
 * dies. All threads are of the real-time class, if that is allowed: what else runs on the machine then matters less.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include <millrace.h>

#include "kernel_truth.h"
#include "task_times.h"

enum {
	STEPS = 30,
	WORK_MS = 3,
	CAUSE_MS = 15,
	READ_BYTES = 4 << 20,
	READS = 6, /* each step */
	INTRUDE_MS = 4,
	PRIORITY = 1,
};

/* The device. */
static sem_t given, done;
static uint32_t queue, work;
static uint64_t correlation; /* of the work that is given */

/* The lock. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, taken;

static int clock_fd; /* of the thread that makes the steps */

static void become_important(int priority)
{
	sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = priority});
}

static void start_thread(void *(*run)(void *))
{
	pthread_t thread;

	must(-pthread_create(&thread, NULL, run, NULL));
}

static void *run_device(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "device");
	for (;;) {
		struct millrace_operation operation = {
			.queue = queue, .name = work, .kind = MILLRACE_OPERATION_KERNEL};

		must(sem_wait(&given));
		operation.correlation = correlation;
		operation.start = millrace_now();
		sleep_ms(WORK_MS);
		operation.end = millrace_now();
		millrace_device_operation(&operation);
		must(sem_post(&done));
	}
	return NULL;
}

/* ---- causes --------------------------------------------------------------------------------------------- */

/* Without system calls, which would be recorded. */
static void work_ms(uint64_t ms)
{
	uint64_t end_ns = now_ns() + ms * 1000000;

	while (now_ns() < end_ns)
		;
}

static void read_file(const char *path)
{
	static int fd = -1;
	static void *buffer;

	if (!buffer) {
		fd = must(open(path, O_RDONLY | O_DIRECT));
		buffer = aligned_alloc(4096, READ_BYTES);
	}
	for (int i = 0; i < READS; i++)
		if (must(pread(fd, buffer, READ_BYTES, i * READ_BYTES)) != READ_BYTES)
			exit(1);
}

static void *hold(void *unused)
{
	(void)unused;
	pthread_setname_np(pthread_self(), "holder");
	for (;;) {
		must(sem_wait(&wanted));
		pthread_mutex_lock(&mutex);
		must(sem_post(&taken));
		sleep_ms(CAUSE_MS);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void stay_on(const char *cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(strtoul(cpu, NULL, 10), &set);
	must(sched_setaffinity(0, sizeof set, &set));
}

static _Noreturn void intrude(const char *cpu)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "intruder");
	stay_on(cpu);
	become_important(PRIORITY + 1);
	for (;;) {
		work_ms(INTRUDE_MS);
		sleep_ms(INTRUDE_MS);
	}
}

static void lose_time(const char *cause, const char *argument)
{
	if (strcmp(cause, "sleep") == 0)
		sleep_ms(CAUSE_MS);
	else if (strcmp(cause, "disk") == 0)
		read_file(argument);
	else if (strcmp(cause, "lock") == 0)
		pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
	else
		work_ms(CAUSE_MS);
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

static void print_times(int step, const struct task_times *before)
{
	static uint64_t last_delay_ns;
	struct task_times after = read_task_times(clock_fd);

	printf("step number=%d wall=%" PRIu64 " on_cpu=%" PRIu64 " delay=%" PRIu64
	       " delay_before=%" PRIu64 "\n",
	       step, after.wall_ns - before->wall_ns, after.on_cpu_ns - before->on_cpu_ns,
	       after.delay_ns - before->delay_ns, before->delay_ns - last_delay_ns);
	last_delay_ns = after.delay_ns;
}

static void run_step(int step, const char *cause, const char *argument)
{
	int is_in_launch = strcmp(cause, "launch") == 0;

	if (strcmp(cause, "lock") == 0) {
		must(sem_post(&wanted));
		must(sem_wait(&taken));
	}
	struct task_times before = read_task_times(clock_fd);
	if (!is_in_launch)
		lose_time(cause, argument);
	struct millrace_call launch =
		millrace_launch_begin(millrace_string("submit"), queue, MILLRACE_OPERATION_KERNEL);
	if (is_in_launch)
		lose_time(cause, argument);
	print_times(step, &before);
	correlation = launch.correlation;
	must(sem_post(&given));
	millrace_launch_end(&launch);

	struct millrace_call wait =
		millrace_wait_begin(millrace_string("finish"), queue, step % 2 ? correlation : 0);
	must(sem_wait(&done));
	millrace_wait_end(&wait);
}

int main(int argc, char **argv)
{
	const char *cause = argc > 1 ? argv[1] : "", *argument = argc > 2 ? argv[2] : "";

	if (strcmp(cause, "intrude") == 0)
		intrude(argument);
	queue = millrace_queue(millrace_device("wheel", MILLRACE_DEVICE_ACCELERATOR), "queue");
	work = millrace_string("grind");
	must(sem_init(&given, 0, 0));
	must(sem_init(&done, 0, 0));
	must(sem_init(&wanted, 0, 0));
	must(sem_init(&taken, 0, 0));
	clock_fd = open_task_clock(0);
	become_important(PRIORITY); /* and the threads, which inherit it */
	start_thread(run_device);
	start_thread(hold);
	if (strcmp(cause, "preempt") == 0)
		stay_on(argument);
	for (int step = 0; step < STEPS; step++) {
		struct millrace_span span = millrace_step_begin((uint64_t)step);

		run_step(step, cause, argument);
		millrace_step_end(&span);
	}
	return 0;
}
