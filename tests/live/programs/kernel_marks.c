/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel_marks COUNT: executes a program that does not exist, again and again, for which millrace makes calls of its own
 * each time, until a timer's signal has come COUNT times. Its handler makes one call, with whatever is in the
 * registers that the call does not use. Prints pid, and how often the handler ran.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t count;

static void handle(int number)
{
	(void)number;
	getppid();
	count++;
}

int main(int argc, char **argv)
{
	int wanted = argc > 1 ? atoi(argv[1]) : 500;
	char *const arguments[] = {"nothing", NULL};
	struct itimerval often = {.it_interval = {.tv_usec = 300}, .it_value = {.tv_usec = 300}};
	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	while (count < wanted)
		execv("/nowhere/at/all/in/any/folder", arguments);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	printf("ran tid=%d count=%d\n", getpid(), (int)count);
	return 0;
}
