/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with a time that can be changed, for predictions of what that would gain:
 *
 *     whatif pipeline SLEEP_US WORK_US      the thread "loader" sleeps so long for each item, main works so long on it
 *     whatif lock HELD_US 0 | 1             main and the thread "holder" work so long on each item; 1: under one lock
 *
 * Prints how long it took, in nanoseconds.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	ITEMS = 80,
};

static sem_t ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t first_us, second_us;

static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void work(int64_t us)
{
	int64_t end_ns = now(CLOCK_THREAD_CPUTIME_ID) + us * 1000;

	while (now(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void sleep_for(int64_t us)
{
	const struct timespec time = {us / 1000000, us % 1000000 * 1000};

	if (us > 0)
		nanosleep(&time, NULL);
}

static void *load(void *unused)
{
	for (int i = 0; i < ITEMS; i++) {
		sleep_for(first_us);
		sem_post(&ready);
	}
	return unused;
}

static void work_under_lock(void)
{
	for (int i = 0; i < ITEMS; i++) {
		if (second_us)
			pthread_mutex_lock(&lock);
		work(first_us);
		if (second_us)
			pthread_mutex_unlock(&lock);
		sleep_for(200); /* so that the other gets it */
	}
}

static void *hold(void *unused)
{
	work_under_lock();
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t thread;

	if (count != 4)
		return 2;
	int is_lock = strcmp(arguments[1], "lock") == 0;
	first_us = atoll(arguments[2]);
	second_us = atoll(arguments[3]);
	sem_init(&ready, 0, 0);
	int64_t begin_ns = now(CLOCK_MONOTONIC);
	if (pthread_create(&thread, NULL, is_lock ? hold : load, NULL) != 0)
		return 1;
	pthread_setname_np(thread, is_lock ? "holder" : "loader");
	if (is_lock)
		work_under_lock();
	for (int i = 0; !is_lock && i < ITEMS; i++) {
		while (sem_wait(&ready) != 0)
			;
		work(second_us);
	}
	pthread_join(thread, NULL);
	printf("%lld\n", (long long)(now(CLOCK_MONOTONIC) - begin_ns));
	return 0;
}
