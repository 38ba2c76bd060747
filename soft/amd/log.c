/* SPDX-License-Identifier: Apache-2.0
 *
 * What the device has executed, as the device knows it: tests compare traces with it.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device.h"

static int log_file = -1;

void soft_log_open(void)
{
	const char *path = getenv("SOFT_AMD_LOG");
	if (path && log_file < 0)
		log_file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

void soft_log(const char *what, const struct soft_queue *queue, uint64_t start, uint64_t end,
	      uint64_t amount, const char *name)
{
	if (log_file >= 0)
		dprintf(log_file, "%s %d %u %u %lu %lu %lu %s\n", what, (int)getpid(), queue->node,
			queue->id, start, end, amount, name);
}
