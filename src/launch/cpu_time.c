/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/cpu_time.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/macros.h"

enum {
	STOLEN = 7, /* after user, nice, system, idle, iowait, irq, softirq */
	KINDS
};

int mr_cpu_time_read(struct mr_cpu_time *ret_time)
{
	mr_auto(close_file) FILE *file = fopen("/proc/stat", "re");
	const uint64_t tick_ns = UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t ticks[KINDS], all = 0;

	if (!file || fscanf(file, "cpu") != 0)
		return -EIO;
	for (int kind = 0; kind < KINDS; kind++) {
		if (fscanf(file, "%" SCNu64, &ticks[kind]) != 1)
			return -EIO;
		all += ticks[kind];
	}
	*ret_time = (struct mr_cpu_time){all * tick_ns, ticks[STOLEN] * tick_ns};
	return 0;
}
