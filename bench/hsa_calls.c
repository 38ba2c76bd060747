/* SPDX-License-Identifier: Apache-2.0
 *
 * hsa_calls ROUNDS BLOCK: measures one of HSA's cheapest calls, and one read of the clock, which is also compared with
 * itself. rounds.h describes the output.
 */
#include <hsa/hsa.h>
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
	uint16_t major;
	for (uint32_t i = 0; i < count; i++)
		bench_keep(hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major));
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock = {"clock", run_clock}, call = {"call", run_call};
	const struct bench_loop *const loops[] = {&clock, &clock, &call};
	if (argc != 3) {
		fputs("usage: hsa_calls ROUNDS BLOCK\n", stderr);
		return 2;
	}
	if (hsa_init() != HSA_STATUS_SUCCESS)
		return 1;
	bench_rounds(loops, sizeof loops / sizeof loops[0], bench_number(argv[1]),
		     bench_number(argv[2]));
	return 0;
}
