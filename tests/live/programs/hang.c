/* SPDX-License-Identifier: Apache-2.0
 *
 * hang SITUATION: begins a step, does nothing for a while and ends without ending it.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <millrace.h>

enum {
	OPEN_US = 200000,
	LATER_US = 2000000,
};

static void hang(void)
{
	millrace_step_begin(1);
	usleep(OPEN_US);
}

static int killed(void)
{
	hang();
	raise(SIGKILL);
	return 1;
}

/* What is executed goes on, the step does not. */
static int executed(void)
{
	hang();
	execl("/bin/sleep", "sleep", "2", NULL);
	return 1;
}

static void *hang_in_thread(void *unused)
{
	hang();
	return unused;
}

static int thread_ended(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, hang_in_thread, NULL);
	pthread_join(thread, NULL);
	usleep(LATER_US);
	return 0;
}

static int left(void)
{
	hang();
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} situations[] = {
		{"killed", killed},
		{"executed", executed},
		{"thread_ended", thread_ended},
		{"left", left},
	};
	for (size_t i = 0; i < sizeof situations / sizeof situations[0]; i++)
		if (argc > 1 && strcmp(situations[i].name, argv[1]) == 0)
			return situations[i].run();
	return 2;
}
