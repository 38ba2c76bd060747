/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts the signals it gets, and prints each as it comes:
 *
 *     signals [SECONDS]
 *
 * First it prints "ready PID", then "signal N" for each. It ends when its standard input does, or after
 * SECONDS, with status 3.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void on_signal(int number)
{
	char line[] = "signal 00\n";
	line[7] = (char)('0' + number / 10);
	line[8] = (char)('0' + number % 10);
	(void)!write(STDOUT_FILENO, line, strlen(line));
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	static const int kept[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
	for (int number = 1; number < 65; number++) {
		struct sigaction action;
		int is_kept = sigaction(number, NULL, &action) < 0 || action.sa_handler == SIG_IGN;
		for (unsigned i = 0; i < sizeof kept / sizeof *kept; i++)
			is_kept |= number == kept[i];
		if (!is_kept)
			signal(number, on_signal);
	}
	printf("ready %d\n", getpid());
	fflush(stdout);
	double end = now() + (argc > 1 ? atof(argv[1]) : 60);
	while (now() < end) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		char byte;
		if (poll(&input, 1, 50) == 1 && read(STDIN_FILENO, &byte, 1) == 0)
			break;
	}
	return 3;
}
