/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU time of the whole machine since it booted, as the kernel accounts for it: all CPU time, busy and idle, and the
 * steal time in it, in which the host of a virtual machine ran something else. A thread counts as running meanwhile.
 */
#ifndef MR_LAUNCH_CPU_TIME_H
#define MR_LAUNCH_CPU_TIME_H

#include <stdint.h>

struct mr_cpu_time {
	uint64_t all_ns;
	uint64_t stolen_ns; /* of it */
};

/* 0, or -EIO if /proc/stat does not contain it. */
int mr_cpu_time_read(struct mr_cpu_time *ret_time);

#endif
