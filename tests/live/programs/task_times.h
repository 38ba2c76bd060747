/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a thread had a CPU, and how long it wanted one, by accounts of the kernel that the tracer does not use.
 *
 *     wall     ├──────────────────────────────────────────────┤
 *     on CPU   ├────┤                 ├──────────────┤         perf's clock of the task
 *     delay                     ├─────┤                        schedstat
 *
 * Where a hypervisor takes the CPU away, perf's clock goes on, as the thread seems to have it; CLOCK_THREAD_CPUTIME_ID
 * and schedstat's run time stand still and are no measure of that. A thread that is woken for another CPU counts in
 * delay from when that CPU puts it into its queue, which is late if the CPU was taken away just then.
 */
#ifndef TASK_TIMES_H
#define TASK_TIMES_H

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct task_times {
	uint64_t wall_ns;
	uint64_t on_cpu_ns;
	uint64_t delay_ns;
};

/* Of a thread, 0 for the own: a descriptor. Ends the program if the kernel refuses. */
static inline int open_task_clock(pid_t tid)
{
	struct perf_event_attr clock = {.type = PERF_TYPE_SOFTWARE,
					.size = sizeof clock,
					.config = PERF_COUNT_SW_TASK_CLOCK};
	int fd = (int)syscall(SYS_perf_event_open, &clock, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		perror("perf_event_open");
		exit(1);
	}
	return fd;
}

static inline uint64_t read_task_clock(int fd)
{
	uint64_t ns;

	if (read(fd, &ns, sizeof ns) != sizeof ns)
		exit(1);
	return ns;
}

/* Of the thread that calls, with the clock that it opened. */
static inline struct task_times read_task_times(int fd)
{
	struct timespec now;
	struct task_times times;

	clock_gettime(CLOCK_MONOTONIC, &now);
	times.wall_ns = (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
	times.on_cpu_ns = read_task_clock(fd);
	FILE *file = fopen("/proc/thread-self/schedstat", "r");
	if (!file || fscanf(file, "%*s %" SCNu64, &times.delay_ns) != 1)
		exit(1);
	fclose(file);
	return times;
}

#endif
