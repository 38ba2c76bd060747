/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's clock: 100 MHz, from a zero of its own, fast by SOFT_AMD_PPM.
 */
#include <stdlib.h>
#include <time.h>

#include "device.h"

#define ZERO_TICKS UINT64_C(777000000)

struct soft_settings soft_settings = {.gpu_count = 1};

static uint64_t parts_per_million;

static uint64_t read_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 0) : otherwise;
}

void soft_settings_read(void)
{
	uint64_t count = read_number("SOFT_AMD_COUNT", 1);
	soft_settings.gpu_count = count < SOFT_GPUS ? (uint32_t)count : SOFT_GPUS;
	soft_settings.kernel_ns = read_number("SOFT_AMD_KERNEL_US", 0) * 1000;
	soft_settings.copy_mbps = read_number("SOFT_AMD_COPY_MBPS", 0);
	parts_per_million = read_number("SOFT_AMD_PPM", 0);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t soft_now_ns(void)
{
	return read_clock(CLOCK_MONOTONIC_RAW);
}

uint64_t soft_ticks(void)
{
	uint64_t now_ns = soft_now_ns();
	return ZERO_TICKS + now_ns / 10 + now_ns / 10000000 * parts_per_million +
	       now_ns % 10000000 * parts_per_million / 10000000;
}

void soft_pace(uint64_t start_ns, uint64_t duration_ns)
{
	for (uint64_t now; (now = soft_now_ns()) - start_ns < duration_ns;) {
		uint64_t left_ns = duration_ns - (now - start_ns);
		uint64_t sleep_ns =
			left_ns > 100000 ? left_ns / 2 : 0; /* sleeps last longer than asked */
		if (sleep_ns)
			nanosleep(&(struct timespec){.tv_sec = (time_t)(sleep_ns / 1000000000),
						     .tv_nsec = (long)(sleep_ns % 1000000000)},
				  NULL);
	}
}

SOFT_EXPORT HSAKMT_STATUS hsaKmtGetClockCounters(HSAuint32 node, HsaClockCounters *counters)
{
	(void)node;
	counters->GPUClockCounter = soft_ticks();
	counters->CPUClockCounter = soft_now_ns();
	counters->SystemClockCounter = read_clock(CLOCK_BOOTTIME);
	counters->SystemClockFrequencyHz = 1000000000;
	return HSAKMT_STATUS_SUCCESS;
}
