/* SPDX-License-Identifier: Apache-2.0
 *
 * CPUs by their place among those that this program may use, as their numbers need not begin with 0.
 */
#ifndef MR_TESTS_LIVE_CPUS_H
#define MR_TESTS_LIVE_CPUS_H

#include <sched.h>

/* The number of the CPU at that place; of the last, if there are fewer; -1 if none is known. */
static inline int cpu_at(const cpu_set_t *allowed, unsigned int place)
{
	int found = -1;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, allowed))
			continue;
		found = cpu;
		if (place-- == 0)
			break;
	}
	return found;
}

static inline int stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof set, &set);
}

#endif
