/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether threads of the program sleep. One that a busy machine keeps from running does not: so it is known without
 * guessing how long things take.
 */
#ifndef THREAD_STATE_H
#define THREAD_STATE_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	THREAD_STATE_US = 20000, /* between two looks */
};

static inline bool is_thread_asleep(int tid)
{
	char path[64], state = 'S';
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *file = fopen(path, "r");
	if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'S'; /* it has ended */
	if (file)
		fclose(file);
	return state == 'S';
}

/* Until the thread sleeps, and has had time to come to where it does. */
static inline void wait_for_thread(int tid)
{
	do
		usleep(THREAD_STATE_US);
	while (!is_thread_asleep(tid));
}

static inline bool do_others_sleep(void)
{
	DIR *folder = opendir("/proc/self/task");
	bool do_sleep = true;
	if (!folder)
		exit(1);
	for (struct dirent *entry; (entry = readdir(folder));) {
		int tid = atoi(entry->d_name);
		if (tid > 0 && tid != (int)syscall(SYS_gettid))
			do_sleep &= is_thread_asleep(tid);
	}
	closedir(folder);
	return do_sleep;
}

/* Until a runtime's threads have let go of what is done, and wait for something to do. */
static inline void wait_for_other_threads(void)
{
	do
		usleep(THREAD_STATE_US);
	while (!do_others_sleep());
}

#endif
