/* SPDX-License-Identifier: Apache-2.0 */
#include "rounds.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	PAUSE_NS = 3000000
};

static double measure(const struct bench_loop *loop, uint32_t block)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	nanosleep(&pause, NULL);
	uint64_t start_ns = bench_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	loop->run(block);
	return (double)(bench_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / block;
}

void bench_rounds(const struct bench_loop *const *loops, size_t loop_count, uint32_t rounds,
		  uint32_t block)
{
	double cost_ns[loop_count];
	for (size_t i = 0; i < loop_count; i++)
		printf("%s%c", loops[i]->name, i + 1 < loop_count ? ' ' : '\n');
	for (uint32_t round = 0; round <= rounds; round++) {
		for (size_t i = 0; i < loop_count; i++) {
			size_t which = round % 2 ? i : loop_count - 1 - i;
			cost_ns[which] = measure(loops[which], block);
		}
		for (size_t i = 0; i < loop_count && round > 0; i++)
			printf("%.4f%c", cost_ns[i], i + 1 < loop_count ? ' ' : '\n');
	}
}

uint32_t bench_number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);
	if (end == text || *end || value == 0 || value > UINT32_MAX) {
		fprintf(stderr, "not a number above 0: %s\n", text);
		exit(2);
	}
	return (uint32_t)value;
}

uint64_t bench_random(void)
{
	static uint64_t state = 1;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

uint64_t bench_median(uint64_t *values, size_t count)
{
	qsort(values, count, sizeof *values, compare);
	return values[count / 2];
}
