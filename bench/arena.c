/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#include "record/recorder.h"

enum {
	SLOTS = 256
};

static struct mr_arena arena;
static pthread_t thread;
static atomic_bool stop;
static _Atomic uint64_t freed_bytes;

static bool make_arena(uint32_t levels)
{
	const struct mr_control control = {.magic = MR_ARENA_MAGIC,
					   .version = MR_ARENA_VERSION,
					   .schema_check = mr_schema_check(),
					   .user_clock = MR_trace_clock_tsc,
					   .levels = MR_LEVEL_core | levels,
					   .slot_count = SLOTS};
	void *memory = mmap(NULL, mr_arena_file_bytes(SLOTS), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	memcpy(memory, &control, sizeof control);
	mr_arena_use_whole(&arena, memory, SLOTS);
	return true;
}

static void *drain(void *unused)
{
	const struct timespec pause = {.tv_nsec = 200000};
	(void)unused;
	while (!atomic_load(&stop)) {
		for (uint32_t i = 0; i < SLOTS; i++) {
			uint64_t word = atomic_load_explicit(mr_arena_state(&arena, i),
							     memory_order_acquire);
			if (mr_slot_word_state(word) == MR_SLOT_FULL) {
				mr_arena_free(&arena, i);
				atomic_fetch_add(&freed_bytes, MR_ARENA_PACKET_BYTES);
			}
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

bool bench_arena_start(uint32_t levels)
{
	if (!make_arena(levels) || pthread_create(&thread, NULL, drain, NULL) != 0)
		return false;
	mr_process_attach_mapped(&arena);
	return true;
}

uint64_t bench_arena_end(void)
{
	uint64_t lost = 0;
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	for (uint32_t i = 0; i < MR_LOSS_REASONS; i++)
		lost += atomic_load(&mr_arena_process(&arena, 0)->lost[i]);
	return lost;
}

uint64_t bench_arena_bytes(void)
{
	return atomic_load(&freed_bytes);
}
