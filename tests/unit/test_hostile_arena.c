/* SPDX-License-Identifier: Apache-2.0
 *
 * A traced process that writes anything anywhere into the arena, while record drains it.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "drained_arena.h"
#include "record/recorder.h"

enum {
	SLOTS = 64,
	MANY_SLOTS = 1024, /* more than have their memory from the beginning */
	SCRIBBLERS = 2,
	PASS_COUNT = 300,
	FEWEST_PASSES = 30, /* where the machine is so busy that ... */
	LONGEST_S = 20,     /* ... it takes so long */
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 17;
}

/* A word that may pass for something. */
static uint64_t likely_word(uint64_t *seed)
{
	uint64_t word = next_random(seed);
	switch (next_random(seed) % 6) {
	case 0:
		return mr_slot_word((enum mr_slot_state)(word % 4), MR_PACKET_EVENTS,
				    (uint32_t)(word >> 8) % MR_ARENA_PROCESSES, 7);
	case 1:
		return mr_slot_progress((uint32_t)word % (MR_ARENA_SLOT_BYTES + 100),
					(uint32_t)(word >> 20) % 64);
	case 2:
		return word % 4;
	case 3:
		return UINT64_MAX << (word % 64);
	case 4:
		return MR_CTF_MAGIC;
	default:
		return word << 20;
	}
}

/* Mostly where something stands. */
static uint64_t likely_offset(uint64_t *seed, uint64_t bytes)
{
	uint64_t random = next_random(seed);
	uint64_t slot = MR_ARENA_SLOTS_OFFSET + random % SLOTS * MR_ARENA_SLOT_BYTES;
	switch (next_random(seed) % 6) {
	case 0:
		return random % sizeof(struct mr_control);
	case 1:
		return MR_ARENA_TABLES_OFFSET + random % 8192;
	case 2:
		return MR_ARENA_TABLES_OFFSET + offsetof(struct mr_tables, states) +
		       random % (SLOTS * 8);
	case 3:
		return slot + (random >> 8) % sizeof(struct mr_slot);
	case 4:
		return slot + sizeof(struct mr_slot) + (random >> 8) % 256;
	default:
		return random % bytes;
	}
}

static _Noreturn void scribble(const struct mr_arena_file *file, uint64_t seed)
{
	uint64_t bytes = mr_arena_file_bytes(file->slot_capacity);
	char *memory = file->memory; /* shared, and inherited */
	for (;;) {
		uint64_t word = likely_word(&seed);
		uint64_t at = likely_offset(&seed, bytes - sizeof word) & ~UINT64_C(3);
		memcpy(memory + at, &word, sizeof word);
	}
}

static void test_scribblers(void **state)
{
	struct drained_arena drained;
	pid_t scribblers[SCRIBBLERS];
	(void)state;
	drained_arena_init(&drained, SLOTS, false);
	drained_arena_begin(&drained);
	for (int i = 0; i < SCRIBBLERS; i++) {
		scribblers[i] = fork();
		if (scribblers[i] == 0)
			scribble(&drained.file, (uint64_t)i);
	}
	uint64_t began_ns = mr_ticks_of_system(CLOCK_MONOTONIC);
	for (int i = 0; i < PASS_COUNT; i++) {
		uint64_t took_ns = mr_ticks_of_system(CLOCK_MONOTONIC) - began_ns;
		if (i >= FEWEST_PASSES && took_ns > LONGEST_S * UINT64_C(1000000000))
			break;
		mr_drain_pass(&drained.drain);
		mr_drain_list(&drained.drain);
		mr_processes_update_losses(&drained.processes);
		mr_emit(node_instant, .node = 1);
		mr_define_string("text");
		mr_arena_file_complete(&drained.file);
		usleep(500);
	}
	drained_arena_end(&drained);
	for (int i = 0; i < SCRIBBLERS; i++) {
		kill(scribblers[i], SIGKILL);
		waitpid(scribblers[i], NULL, 0);
	}
	drained_arena_fini(&drained);
}

/* One who says that it is every process at once cannot make record grow. */
static void test_flood_of_processes(void **state)
{
	struct drained_arena drained;
	(void)state;
	drained_arena_init(&drained, SLOTS, true);
	drained_arena_begin(&drained);
	struct mr_process_entry *entry = mr_arena_process(drained.file.arena, 5);
	for (uint32_t number = 1000; number < 1100; number++) {
		drained.file.arena->tables->next_process = number;
		entry->process = number;
		entry->pid = (uint32_t)getpid();
		entry->pid_namespace = drained.processes.own_pid_namespace;
		entry->state = MR_PROCESS_LIVE;
		mr_drain_pass(&drained.drain);
	}
	assert_true(drained.processes.live.count <= 2);
	drained_arena_end(&drained);
	drained_arena_fini(&drained);
}

static blkcnt_t allocated_blocks(const struct mr_arena_file *file)
{
	struct stat status;
	assert_int_equal(fstat(file->fd, &status), 0);
	return status.st_blocks;
}

/* Slots that nobody has claimed have no memory yet. To read there would take some, or end record where none is left. */
static void test_slots_without_memory(void **state)
{
	struct drained_arena drained;
	(void)state;
	drained_arena_init(&drained, MANY_SLOTS, false);
	drained_arena_begin(&drained);
	assert_true(drained.file.slot_count < MANY_SLOTS);
	blkcnt_t before = allocated_blocks(&drained.file);
	drained.file.arena->tables->highest_slot = MANY_SLOTS - 1;
	mr_drain_list(&drained.drain);
	assert_int_equal(allocated_blocks(&drained.file), before);
	drained_arena_end(&drained);
	drained_arena_fini(&drained);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scribblers),
		cmocka_unit_test(test_flood_of_processes),
		cmocka_unit_test(test_slots_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
