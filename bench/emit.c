/* SPDX-License-Identifier: Apache-2.0
 *
 * emit ROUNDS BLOCK: measures what an event costs inside the library: mr_emit(), without the call through
 * the annotation table. The arena is private memory; a thread frees full packets without writing them.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "record/recorder.h"
#include "rounds.h"

enum {
	SLOTS = 256
};

static atomic_bool stop;

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

static struct mr_arena *make_arena(void)
{
	struct mr_arena layout = {.magic = MR_ARENA_MAGIC,
				  .version = MR_ARENA_VERSION,
				  .schema_check = mr_schema_check(),
				  .user_clock = MR_trace_clock_tsc,
				  .levels = MR_LEVEL_core | MR_LEVEL_dataflow,
				  .slot_capacity = SLOTS,
				  .slot_count = SLOTS,
				  .reserved_slots = 1};
	struct mr_arena *arena = mmap(NULL, mr_arena_file_bytes(SLOTS), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		return NULL;
	*arena = layout;
	return arena;
}

static void *drain(void *data)
{
	struct mr_arena *arena = data;
	const struct timespec pause = {.tv_nsec = 200000};
	while (!atomic_load(&stop)) {
		for (uint32_t i = 0; i < SLOTS; i++) {
			uint64_t word = atomic_load_explicit(mr_arena_state(arena, i),
							     memory_order_acquire);
			if (mr_slot_word_state(word) == MR_SLOT_FULL)
				mr_arena_free(arena, i);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct bench_loop clock_loop = {"clock", run_clock};
	static const struct bench_loop emit_loop = {"emit", run_emit};
	const struct bench_loop *const loops[] = {&clock_loop, &clock_loop, &emit_loop};
	struct mr_arena *arena = make_arena();
	pthread_t thread;
	if (argc != 3 || !arena || pthread_create(&thread, NULL, drain, arena) != 0) {
		fputs("usage: emit ROUNDS BLOCK\n", stderr);
		return 2;
	}
	mr_process_attach_mapped(arena);
	bench_rounds(loops, mr_countof(loops), bench_number(argv[1]), bench_number(argv[2]));
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	uint64_t lost = 0;
	for (uint32_t i = 0; i < MR_LOSS_REASONS; i++)
		lost += atomic_load(&mr_arena_process(arena, 0)->lost[i]);
	if (lost)
		fprintf(stderr, "%llu events lost\n", (unsigned long long)lost);
	return lost != 0;
}
