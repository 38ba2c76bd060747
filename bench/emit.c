/* SPDX-License-Identifier: Apache-2.0
 *
 * emit ROUNDS BLOCK: measures what an event costs inside the library: mr_emit(), without the call through
 * the annotation table. Nobody writes the packets (arena.h).
 */
#include <stdio.h>

#include "arena.h"
#include "record/recorder.h"
#include "rounds.h"

static void run_clock(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		bench_keep(mr_ticks_of_counter());
}

static void run_emit(uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (mr_level_is_on(MR_LEVEL_dataflow))
			mr_emit(node_instant, .node = 1, .step = i);
		bench_keep(i);
	}
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock_loop = {"clock", run_clock};
	static const struct bench_loop emit_loop = {"emit", run_emit};
	const struct bench_loop *const loops[] = {&clock_loop, &clock_loop, &emit_loop};
	if (argc != 3 || !bench_arena_start(MR_LEVEL_dataflow)) {
		fputs("usage: emit ROUNDS BLOCK\n", stderr);
		return 2;
	}
	bench_rounds(loops, mr_countof(loops), bench_number(argv[1]), bench_number(argv[2]));
	uint64_t lost = bench_arena_end();
	if (lost)
		fprintf(stderr, "%llu events lost\n", (unsigned long long)lost);
	return lost != 0;
}
