/* SPDX-License-Identifier: Apache-2.0
 *
 * trust SITUATION: what a traced program has mapped of the recording, and what it can do to it. Each prints the same
 * alone, except for lines that begin with "mapped".
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "millrace.h"

enum {
	OTHER_USER = 65534,
	WORKERS = 64,
	THOUSANDS = 5000,
};

static uint32_t node;

static void emit(int count)
{
	for (int i = 0; i < count; i++)
		millrace_node_instant(node, 1);
}

struct mapping {
	char *begin;
	size_t bytes;
	bool is_writable;
};

/* The parts of the arena that are mapped: their number. */
static int find_mappings(struct mapping *ret_mappings, int most)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4096], mode[8];
	int count = 0;
	while (maps && fgets(line, sizeof line, maps) && count < most) {
		unsigned long begin, end;
		if (!strstr(line, "millrace-arena-") ||
		    sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3)
			continue;
		ret_mappings[count++] =
			(struct mapping){(char *)begin, end - begin, mode[1] == 'w'};
	}
	if (maps)
		fclose(maps);
	return count;
}

static void print_mapped(const char *when)
{
	struct mapping mappings[256];
	size_t bytes = 0;
	int count = find_mappings(mappings, 256);
	for (int i = 0; i < count; i++)
		bytes += mappings[i].bytes;
	printf("mapped %s %zu\n", when, bytes);
	fflush(stdout);
}

static void *work(void *data)
{
	emit(100);
	return data;
}

static int run_workers(int count)
{
	pthread_t threads[WORKERS];
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* ---- what is mapped ------------------------------------------------------------------------------ */

static int show(void)
{
	emit(5);
	print_mapped("now");
	return 0;
}

static int crowd(void)
{
	int result = run_workers(WORKERS);
	print_mapped("afterwards");
	printf("workers %d\n", result);
	return result;
}

static pthread_barrier_t all_have_begun;

static void *begin_with_others(void *data)
{
	emit(10);
	pthread_barrier_wait(&all_have_begun);
	return data;
}

static int thousands(void)
{
	static pthread_t threads[THOUSANDS];
	pthread_attr_t attributes;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 64 << 10);
	pthread_barrier_init(&all_have_begun, NULL, THOUSANDS);
	for (int i = 0; i < THOUSANDS; i++)
		if (pthread_create(&threads[i], &attributes, begin_with_others, NULL) != 0) {
			printf("only %d threads\n", i);
			exit(0);
		}
	for (int i = 0; i < THOUSANDS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* The limit is as low as the program alone needs it, and a few MiB: argument 2. */
static int lock_memory(int flags)
{
	emit(5);
	printf("locked %d\n", mlockall(flags) == 0 ? 0 : errno);
	emit(5);
	int result = run_workers(8);
	printf("unlocked %d\n", munlockall());
	return result;
}

/* ---- users --------------------------------------------------------------------------------------- */

static void wait_for(pid_t child)
{
	int status = -1;
	waitpid(child, &status, 0);
	printf("child %d\n", status);
	fflush(stdout);
}

static int change_user(void)
{
	emit(5);
	print_mapped("before");
	pid_t child = fork();
	if (child == 0) {
		emit(3);
		int result = setresuid(OTHER_USER, OTHER_USER, OTHER_USER);
		print_mapped("after");
		emit(1000);
		_exit(result != 0 || run_workers(4) != 0);
	}
	wait_for(child);
	emit(5);
	return 0;
}

static rlim_t locked_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	unsigned long kib = 0;
	while (status && fgets(line, sizeof line, status) && sscanf(line, "VmLck: %lu", &kib) != 1)
		;
	if (status)
		fclose(status);
	return (rlim_t)kib << 10;
}

/* As daemons do that keep the time: another user may lock as much as is locked already. */
static int change_user_with_locked_memory(void)
{
	emit(5);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
		return 1;
	rlim_t bytes = locked_bytes();
	const struct rlimit limit = {bytes, bytes};
	if (bytes == 0 || setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || setuid(OTHER_USER) != 0)
		return 1;
	print_mapped("after");
	return 0;
}

static int change_user_and_back(void)
{
	emit(5);
	if (seteuid(OTHER_USER) != 0)
		return 1;
	print_mapped("meanwhile");
	emit(5);
	if (seteuid(0) != 0)
		return 1;
	emit(5);
	return 0;
}

static int change_user_in_steps(void)
{
	emit(5);
	if (seteuid(OTHER_USER) != 0 || setresuid(OTHER_USER, OTHER_USER, OTHER_USER) == 0)
		return 1;
	if (seteuid(0) != 0 || setreuid(OTHER_USER, OTHER_USER) != 0)
		return 1;
	print_mapped("after");
	emit(5);
	return 0;
}

static int change_user_after_vfork(void)
{
	emit(5);
	pid_t child = vfork();
	if (child == 0) {
		if (setuid(OTHER_USER) != 0)
			_exit(1);
		execl("/bin/echo", "echo", "as another", (char *)NULL);
		_exit(1);
	}
	wait_for(child);
	print_mapped("after");
	emit(5);
	return 0;
}

static volatile bool is_over;

static void *keep_emitting(void *data)
{
	while (!is_over)
		emit(1);
	return data;
}

/* While other threads write events. */
static int change_user_among_threads(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, keep_emitting, NULL);
	usleep(20000);
	int result = setuid(OTHER_USER);
	usleep(20000);
	is_over = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	print_mapped("after");
	return result;
}

/* ---- harm ---------------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 17;
}

/* Overwrites what is mapped of the arena with anything, now and then all of it. */
static void scribble(uint64_t seed, int rounds)
{
	struct mapping mappings[256];
	int count = find_mappings(mappings, 256);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < count; i++) {
			if (!mappings[i].is_writable)
				continue;
			size_t words = mappings[i].bytes / sizeof(uint64_t);
			for (int n = 0; n < 2000; n++)
				((volatile uint64_t *)mappings[i]
					 .begin)[next_random(&seed) % words] =
					n % 3 ? next_random(&seed) : next_random(&seed) << 47;
		}
	}
}

/* The same by its path, the control page too. */
static void scribble_by_path(uint64_t seed, int rounds)
{
	const char *path = getenv("MILLRACE_ARENA");
	int file = path ? open(path, O_RDWR) : -1;
	struct stat status;
	if (file < 0 || fstat(file, &status) < 0)
		return;
	for (int i = 0; i < rounds * 1000; i++) {
		uint64_t word = next_random(&seed);
		off_t limit = i % 4 ? status.st_size : i % 8 ? 64 << 10 : 2 << 20;
		(void)!pwrite(file, &word, sizeof word,
			      (off_t)(next_random(&seed) % (uint64_t)limit));
	}
	close(file);
}

static int harm(void)
{
	pid_t child = fork();
	if (child == 0) {
		emit(100);
		for (uint64_t seed = 1; seed < 30; seed++) {
			scribble(seed, 3);
			scribble_by_path(seed, 3);
		}
		_exit(0);
	}
	for (int i = 0; i < 200; i++) {
		pid_t other = fork();
		if (other == 0) {
			emit(1000);
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		waitpid(other, NULL, 0);
	}
	wait_for(child);
	return 0;
}

/* Can the control page, which is not writable, be made so? */
static int make_writable(void)
{
	struct mapping mappings[256];
	int count = find_mappings(mappings, 256), read_only = 0, made = 0;
	for (int i = 0; i < count; i++)
		if (!mappings[i].is_writable) {
			read_only++;
			made += mprotect(mappings[i].begin, mappings[i].bytes,
					 PROT_READ | PROT_WRITE) == 0;
		}
	printf("mapped read-only %d, made writable %d\n", read_only, made);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	static const struct {
		const char *name;
		int (*run)(void);
	} situations[] = {
		{"show", show},
		{"crowd", crowd},
		{"thousands", thousands},
		{"change_user", change_user},
		{"change_user_with_locked_memory", change_user_with_locked_memory},
		{"change_user_and_back", change_user_and_back},
		{"change_user_in_steps", change_user_in_steps},
		{"change_user_after_vfork", change_user_after_vfork},
		{"change_user_among_threads", change_user_among_threads},
		{"harm", harm},
		{"make_writable", make_writable},
	};
	node = millrace_node(0, "node", "type", 0);
	if (strcmp(name, "lock_now") == 0)
		return lock_memory(MCL_CURRENT);
	if (strcmp(name, "lock_future") == 0)
		return lock_memory(MCL_CURRENT | MCL_FUTURE);
	for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++)
		if (strcmp(name, situations[i].name) == 0)
			return situations[i].run();
	return 2;
}
