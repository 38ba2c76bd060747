/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/progress_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/thread.h"

#define ERASE "\r\033[K"

enum {
	PATIENCE_MS = 500,
	PERIOD_MS = 100,
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	pthread_t thread;
	bool is_running; /* guarded, because the thread reads it */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void print(void)
{
	struct mr_progress now = mr_progress_now();

	fprintf(stderr, ERASE "millrace: %s", now.what);
	if (now.total > 0)
		fprintf(stderr, " %d%%", (int)(100 * (double)now.done / (double)now.total));
}

/* Waits that long, or until the line is stopped; false: it is stopped. */
static bool wait_ms(int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += ms * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	int error = 0;
	while (line.is_running && error == 0)
		error = pthread_cond_timedwait(&line.ended, &line.lock, &until);
	return line.is_running;
}

static void *show(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&line.lock);
	if (wait_ms(PATIENCE_MS)) {
		do
			print();
		while (wait_ms(PERIOD_MS));
		fputs(ERASE, stderr);
	}
	pthread_mutex_unlock(&line.lock);
	return NULL;
}

static bool is_wanted(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

void mr_progress_line_start(void)
{
	if (!is_wanted())
		return;
	line.is_running = true; /* the thread ends when it is not */
	if (!mr_thread_start(show, NULL, &line.thread))
		line.is_running = false;
}

void mr_progress_line_stop(void)
{
	pthread_mutex_lock(&line.lock);
	bool was_running = line.is_running;
	line.is_running = false;
	pthread_cond_signal(&line.ended);
	pthread_mutex_unlock(&line.lock);
	if (was_running)
		pthread_join(line.thread, NULL);
}
