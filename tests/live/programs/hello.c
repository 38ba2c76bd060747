/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is built in ways in which the library cannot be loaded.
 */
#include <stdio.h>

int main(int argc, char **argv)
{
	printf("hello %s\n", argc > 1 ? argv[1] : "world");
	return 5;
}
