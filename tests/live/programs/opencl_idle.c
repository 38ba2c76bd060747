/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_idle CAUSE [FILE]: keeps a device idle for a known reason. Each round lets the device work, waits for that,
 * and then does something that takes long before it gives the device more to do:
 *
 *     sleep        sleeps
 *     disk         reads FILE from its disk
 *     lock         waits for a lock that a thread "holder" has, and sleeps with
 *     preempted    works on a CPU on which a process "hog" works, too
 *     call         has the runtime compile a program
 *
 * Prints what the kernel says of its thread in these times (task_times.h), and how long the hog had a CPU:
 * "truth wall=NS on_cpu=NS delay=NS hog=NS".
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpus.h"
#include "opencl_world.h"
#include "task_times.h"

enum {
	ROUNDS = 12,
	TURNS = 100000,
	CAUSE_NS = 20000000,
	READ_BYTES = 4 << 20,
	READS = 8, /* each round */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t wanted, taken;

static void sleep_ns(long ns)
{
	nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

static void read_file(const char *path)
{
	static int fd;
	static void *buffer;

	if (!buffer) {
		buffer = aligned_alloc(4096, READ_BYTES);
		fd = open(path, O_RDONLY | O_DIRECT);
	}
	for (int i = 0; i < READS; i++)
		if (read(fd, buffer, READ_BYTES) != READ_BYTES)
			exit(1);
}

static void *hold(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "holder");
	for (;;) {
		sem_wait(&wanted);
		pthread_mutex_lock(&mutex);
		sem_post(&taken);
		sleep_ns(CAUSE_NS);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void start_holder(void)
{
	pthread_t holder;

	sem_init(&wanted, 0, 0);
	sem_init(&taken, 0, 0);
	if (pthread_create(&holder, NULL, hold, NULL) != 0)
		exit(1);
}

static void stay_on_first_cpu(void)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
	    stay_on(cpu_at(&allowed, 0)) != 0)
		exit(1);
}

/* Ends with its parent. */
static pid_t start_hog(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "hog");
	stay_on_first_cpu();
	for (;;)
		;
}

static void work_ns(uint64_t ns)
{
	uint64_t end_ns = world_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (world_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

/* With an option that was never given before, lest the runtime has kept the result. */
static void compile(const struct world *world)
{
	const char *source = world_source;
	char options[64];

	snprintf(options, sizeof options, "-DSALT=%lu", world_clock_ns(CLOCK_REALTIME));
	cl_program program = MUST_MAKE(clCreateProgramWithSource, world->context, 1, &source, NULL);

	MUST(clBuildProgram, program, 1, &world->device, options, NULL, NULL);
	MUST(clReleaseProgram, program);
}

static void cause(const struct world *world, const char *which, const char *path)
{
	if (strcmp(which, "sleep") == 0)
		sleep_ns(CAUSE_NS);
	else if (strcmp(which, "disk") == 0)
		read_file(path);
	else if (strcmp(which, "preempted") == 0)
		work_ns(CAUSE_NS);
	else if (strcmp(which, "call") == 0)
		compile(world);
	else
		pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
}

int main(int count, char **arguments)
{
	const char *which = count > 1 ? arguments[1] : "", *path = count > 2 ? arguments[2] : "";
	bool needs_lock = strcmp(which, "lock") == 0, needs_hog = strcmp(which, "preempted") == 0;
	pid_t hog = needs_hog ? start_hog() : 0;
	struct world world = world_make();
	int clock_fd = open_task_clock(0), hog_clock_fd = hog ? open_task_clock(hog) : -1;
	struct task_times sum = {0};
	uint64_t hog_ns = 0;

	if (needs_lock)
		start_holder();
	if (needs_hog)
		stay_on_first_cpu();
	for (int round = 0; round < ROUNDS; round++) {
		world_spin(&world, world.queue, TURNS, 0, NULL, NULL);
		MUST(clFinish, world.queue);
		if (needs_lock)
			sem_post(&wanted), sem_wait(&taken);
		uint64_t hog_before_ns = hog ? read_task_clock(hog_clock_fd) : 0;
		struct task_times before = read_task_times(clock_fd);
		if (round < ROUNDS - 1)
			cause(&world, which, path);
		struct task_times after = read_task_times(clock_fd);
		sum.wall_ns += after.wall_ns - before.wall_ns;
		sum.on_cpu_ns += after.on_cpu_ns - before.on_cpu_ns;
		sum.delay_ns += after.delay_ns - before.delay_ns;
		hog_ns += hog ? read_task_clock(hog_clock_fd) - hog_before_ns : 0;
	}
	if (needs_hog) {
		kill(hog, SIGKILL);
		waitpid(hog, NULL, 0);
	}
	world_release(&world);
	printf("truth wall=%lu on_cpu=%lu delay=%lu hog=%lu\n", sum.wall_ns, sum.on_cpu_ns,
	       sum.delay_ns, hog_ns);
	return 0;
}
