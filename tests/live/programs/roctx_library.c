/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for libroctx64, which Debian does not have. It says what it was told.
 */
#include <stdint.h>
#include <stdio.h>

static int depth;

void roctxMarkA(const char *text)
{
	printf("mark %s\n", text);
}

int roctxRangePushA(const char *text)
{
	printf("push %s\n", text);
	return depth++;
}

int roctxRangePop(void)
{
	return depth > 0 ? --depth : -1;
}

uint64_t roctxRangeStartA(const char *text)
{
	printf("start %s\n", text);
	return 7;
}

void roctxRangeStop(uint64_t range)
{
	printf("stop %d\n", (int)range);
}
