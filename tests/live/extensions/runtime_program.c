/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls a runtime that does not exist, and ends in one of three ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void example(void);

int main(int count, char **arguments)
{
	const char *variable = getenv("EXAMPLE_INJECTION_PATH");
	example();
	printf("%s\n", variable ? variable : "not set");
	fflush(stdout);
	if (count > 1 && strcmp(arguments[1], "exec") == 0)
		execl(arguments[0], arguments[0], "_exit", NULL);
	if (count > 1)
		_exit(0);
	return 0;
}
