/* SPDX-License-Identifier: Apache-2.0
 *
 * opencl_calls ROUNDS BLOCK: measures OpenCL's cheapest call, clRetainMemObject(), and one read of
 * the clock, which is also compared with itself. rounds.h describes the output.
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "opencl_device.h"
#include "record/ticks.h"
#include "rounds.h"

static cl_mem buffer;

static void run_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(mr_ticks_of_counter());
}

static void run_retain(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(clRetainMemObject(buffer));
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock = {"clock", run_clock},
				       retain = {"retain", run_retain};
	const struct bench_loop *const loops[] = {&clock, &clock, &retain};
	if (argc != 3) {
		fputs("usage: opencl_calls ROUNDS BLOCK\n", stderr);
		return 2;
	}
	struct bench_device device = bench_device();
	buffer = bench_buffer(&device, 64);
	bench_rounds(loops, sizeof loops / sizeof loops[0], bench_number(argv[1]),
		     bench_number(argv[2]));
	return 0;
}
