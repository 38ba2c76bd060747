/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel calls COUNT       one thread calls getppid() COUNT times
 * kernel pingpong COUNT    two processes pass a byte back and forth through pipes COUNT times: two switches, two
 *                          wake-ups and four system calls each time
 *
 * Everything runs on the first CPU. Prints wall and CPU time (of both processes) per iteration, in seconds.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rounds.h"

static void call(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		syscall(SYS_getppid);
}

static void exchange(int in, int out, uint32_t count)
{
	char byte = 0;
	for (uint32_t i = 0; i < count; i++)
		if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
			exit(1);
}

static void play(uint32_t count)
{
	int to[2], from[2], status;
	if (pipe(to) != 0 || pipe(from) != 0)
		exit(1);
	pid_t child = fork();
	if (child == 0) {
		exchange(to[0], from[1], count);
		_exit(0);
	}
	if (child < 0 || write(to[1], "", 1) != 1) /* the byte that goes back and forth */
		exit(1);
	exchange(from[0], to[1], count - 1);
	if (waitpid(child, &status, 0) != child || status != 0)
		exit(1);
}

static double cpu_seconds(int who)
{
	struct rusage usage;
	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	if (argc != 3 || (strcmp(argv[1], "calls") != 0 && strcmp(argv[1], "pingpong") != 0)) {
		fputs("usage: kernel calls|pingpong COUNT\n", stderr);
		return 2;
	}
	uint32_t count = bench_number(argv[2]);
	cpu_set_t first;
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof first, &first);
	double cpu = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN);
	uint64_t start_ns = bench_clock_ns(CLOCK_MONOTONIC);
	if (argv[1][0] == 'c')
		call(count);
	else
		play(count);
	double wall = (double)(bench_clock_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
	cpu = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN) - cpu;
	printf("%.12f %.12f\n", wall / count, cpu / count);
	return 0;
}
