/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_calls ROUNDS BLOCK: measures one of CUDA's cheapest calls, and one read of the clock, which is also compared with
 * itself. rounds.h describes the output.
 */
#include <cuda.h>
#include <stdio.h>

#include "record/ticks.h"
#include "rounds.h"

static void run_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(mr_ticks_of_counter());
}

static void run_call(uint32_t count)
{
	int devices;
	for (uint32_t i = 0; i < count; i++)
		bench_keep(cuDeviceGetCount(&devices));
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock = {"clock", run_clock}, call = {"call", run_call};
	const struct bench_loop *const loops[] = {&clock, &clock, &call};
	if (argc != 3) {
		fputs("usage: cuda_calls ROUNDS BLOCK\n", stderr);
		return 2;
	}
	if (cuInit(0) != CUDA_SUCCESS)
		return 1;
	bench_rounds(loops, sizeof loops / sizeof loops[0], bench_number(argv[1]),
		     bench_number(argv[2]));
	return 0;
}
