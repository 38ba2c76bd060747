/* SPDX-License-Identifier: Apache-2.0
 *
 * The arena: slots claimed and freed by many at once, also by those who die in between.
 */
#include "record/arena.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#include "launch/arena_file.h"
#include "launch/arena_room.h"
#include "memory_arena.h"

enum {
	SLOTS = 64,
	RESERVED = 8,
	THREADS = 8,
	CLAIMS = 20000,
	KILLS = 30
};

static int32_t claim(struct mr_arena *arena, enum mr_packet_kind kind)
{
	return mr_arena_claim(arena, kind, mr_slot_word(MR_SLOT_FILLING, kind, 1, 1),
			      mr_arena_slot_count(arena));
}

static uint32_t claim_all(struct mr_arena *arena, enum mr_packet_kind kind)
{
	uint32_t claimed = 0;
	while (claimed <= SLOTS && claim(arena, kind) != MR_ARENA_NO_SLOT)
		claimed++;
	return claimed;
}

static void test_reserved_slots(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	assert_int_equal(claim_all(arena, MR_PACKET_EVENTS), SLOTS - RESERVED);
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), RESERVED);
	mr_arena_free(arena, SLOTS - 1); /* a reserved one */
	assert_int_equal(claim(arena, MR_PACKET_EVENTS), MR_ARENA_NO_SLOT);
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), SLOTS - 1);
	mr_arena_free(arena, 5);
	assert_int_equal(claim(arena, MR_PACKET_EVENTS), 5);
	test_arena_destroy(arena);
}

static void test_slot_word(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	int32_t slot = mr_arena_claim(
		arena, MR_PACKET_DEFINITIONS,
		mr_slot_word(MR_SLOT_FILLING, MR_PACKET_DEFINITIONS, 4095, UINT32_MAX), SLOTS);
	uint64_t word = *mr_arena_state(arena, (uint32_t)slot);
	assert_int_equal(mr_slot_word_state(word), MR_SLOT_FILLING);
	assert_int_equal(mr_slot_word_process_slot(word), 4095);
	assert_int_equal((uint32_t)word, UINT32_MAX);
	uint32_t freed = arena->control->freed;
	mr_arena_free(arena, (uint32_t)slot);
	assert_int_equal(*mr_arena_state(arena, (uint32_t)slot), 0);
	assert_int_equal(arena->control->freed, freed + 1);
	test_arena_destroy(arena);
}

static _Atomic int holders[SLOTS];
static _Atomic int collisions;
static _Atomic uint64_t successes;

/* Claims, checks that nobody else holds the slot, frees. */
static void *claim_and_free(void *argument)
{
	struct mr_arena *arena = argument;
	for (int i = 0; i < CLAIMS; i++) {
		int32_t slot = claim(arena, i % 4 ? MR_PACKET_EVENTS : MR_PACKET_DEFINITIONS);
		if (slot == MR_ARENA_NO_SLOT)
			continue;
		successes++;
		collisions += holders[slot]++ != 0;
		collisions += --holders[slot] != 0;
		mr_arena_free(arena, (uint32_t)slot);
	}
	return NULL;
}

static void test_threads(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, claim_and_free, arena), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(collisions, 0);
	assert_int_equal(successes, THREADS * CLAIMS); /* there were enough for all */
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), SLOTS);
	test_arena_destroy(arena);
}

static _Noreturn void claim_until_killed(struct mr_arena *arena, uint32_t self)
{
	for (;;) {
		int32_t slot = mr_arena_claim(
			arena, MR_PACKET_EVENTS,
			mr_slot_word(MR_SLOT_FILLING, MR_PACKET_EVENTS, self, self), SLOTS);
		if (slot >= 0)
			mr_arena_free(arena, (uint32_t)slot);
	}
}

/* Whoever is killed leaves slots that name it, and no other trace. */
static void test_claim_while_killed(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	for (uint32_t victim = 1; victim <= KILLS; victim++) {
		pid_t pid = fork();
		if (pid == 0)
			claim_until_killed(arena, victim);
		nanosleep(&(struct timespec){.tv_nsec = 1000000 + victim * 37000}, NULL);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		uint32_t left = 0;
		for (uint32_t i = 0; i < SLOTS; i++) {
			uint64_t word = *mr_arena_state(arena, i);
			if (word == 0)
				continue;
			assert_int_equal(word, mr_slot_word(MR_SLOT_FILLING, MR_PACKET_EVENTS,
							    victim, victim));
			mr_arena_free(arena, i);
			left++;
		}
		assert_true(left <= 1);
	}
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), SLOTS);
	test_arena_destroy(arena);
}

static void test_process_table(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	for (int32_t i = 0; i < MR_ARENA_PROCESSES; i++)
		assert_int_equal(mr_arena_claim_process(arena), i);
	assert_int_equal(mr_arena_claim_process(arena), -1);
	assert_int_equal(arena->tables->processes_refused, 1);
	mr_arena_process(arena, 77)->state = MR_PROCESS_FREE;
	assert_int_equal(mr_arena_claim_process(arena), 77);
	test_arena_destroy(arena);
}

/* Every field of the control page that a foreign file could have otherwise. */
static void test_validity(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	struct mr_control bad[3] = {*arena->control, *arena->control, *arena->control};
	assert_true(mr_control_is_valid(arena->control));
	bad[0].magic++;
	bad[1].version++;
	bad[2].schema_check++;
	for (int i = 0; i < 3; i++)
		assert_false(mr_control_is_valid(&bad[i]));
	test_arena_destroy(arena);
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(mr_arena_slots_of(0), 0);
	assert_int_equal(mr_arena_slots_of(mr_arena_file_bytes(0)), 0);
	assert_int_equal(mr_arena_slots_of(mr_arena_file_bytes(SLOTS)), SLOTS);
	assert_int_equal(mr_arena_slots_of(mr_arena_file_bytes(SLOTS) - 1), SLOTS - 1);
	assert_int_equal(mr_arena_slots_of(UINT64_MAX), MR_ARENA_SLOTS_MAX);
}

/* Whatever others write into the arena, no index leads out of what is mapped. */
static void test_hostile_counts(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	arena->control->slot_count = UINT32_MAX;
	arena->last_window = UINT32_MAX;
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), SLOTS);
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), MR_ARENA_NO_SLOT);
	test_arena_destroy(arena);
}

/* A process that has mapped some windows claims slots there alone, and is told which one to map next. */
static void test_windows(void **state)
{
	(void)state;
	struct mr_arena *arena = test_arena_create(SLOTS);
	const uint32_t windows = SLOTS / MR_WINDOW_SLOTS;
	const uint32_t reserved = MR_WINDOW_SLOTS / MR_DEFINITION_SHARE;
	for (uint32_t i = 0; i < windows; i++)
		arena->windows[i] = NULL;
	assert_int_equal(claim(arena, MR_PACKET_EVENTS), MR_ARENA_NO_SLOT);
	assert_int_equal(mr_arena_emptiest_window(arena, MR_PACKET_EVENTS, SLOTS), 0);
	*mr_arena_state(arena, 3) = mr_slot_word(MR_SLOT_FILLING, MR_PACKET_EVENTS, 2, 2);
	assert_int_equal(mr_arena_emptiest_window(arena, MR_PACKET_EVENTS, SLOTS), 1);
	arena->windows[1] = (char *)arena;
	assert_int_equal(claim_all(arena, MR_PACKET_EVENTS), MR_WINDOW_SLOTS - reserved);
	assert_int_equal(mr_arena_emptiest_window(arena, MR_PACKET_EVENTS, SLOTS), 2);
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), reserved);
	/* Only reserved slots are left elsewhere: of no use for events. */
	for (uint32_t i = 0; i < SLOTS; i++)
		if (i % MR_WINDOW_SLOTS < MR_WINDOW_SLOTS - reserved)
			*mr_arena_state(arena, i) =
				mr_slot_word(MR_SLOT_FULL, MR_PACKET_EVENTS, 2, 2);
	assert_int_equal(mr_arena_emptiest_window(arena, MR_PACKET_EVENTS, SLOTS),
			 MR_ARENA_NO_SLOT);
	assert_int_equal(mr_arena_emptiest_window(arena, MR_PACKET_DEFINITIONS, SLOTS), 0);
	test_arena_destroy(arena);
}

/* A file grows as slots get scarce, up to its capacity, and allocates what it offers. */
static void test_growth(void **state)
{
	(void)state;
	struct mr_arena_file file;
	assert_int_equal(mr_arena_file_create("/tmp", 160 << 20, &file), 0);
	struct mr_arena *arena = file.arena;
	uint32_t count = arena->control->slot_count;
	assert_true(count < file.slot_capacity);
	mr_arena_file_grow(&file, count); /* all free: no reason to */
	assert_int_equal(arena->control->slot_count, count);
	while (count < file.slot_capacity) {
		uint32_t freed = arena->control->freed;
		mr_arena_file_grow(&file, 0);
		assert_true(arena->control->slot_count > count);
		assert_true(arena->control->freed > freed); /* those who wait look again */
		count = arena->control->slot_count;
		struct stat status;
		assert_int_equal(fstat(file.fd, &status), 0);
		assert_true((uint64_t)status.st_blocks * 512 >=
			    (uint64_t)count * MR_ARENA_PACKET_BYTES);
		memset(mr_arena_packet(arena, count - 1), 1, MR_ARENA_PACKET_BYTES);
	}
	mr_arena_file_grow(&file, 0);
	assert_int_equal(arena->control->slot_count, file.slot_capacity);
	mr_arena_file_close(&file, true);
}

/* The program starts with few of the usual slots, and soon has all. */
static void test_completion(void **state)
{
	(void)state;
	struct mr_arena_file file;
	assert_int_equal(mr_arena_file_create("/tmp", 160 << 20, &file), 0);
	uint32_t first = file.slot_count, before = 0;
	assert_true(first <= 64);
	for (int calls = 0; file.slot_count > before && calls < 100; calls++) {
		before = file.slot_count;
		mr_arena_file_complete(&file);
		assert_int_equal(file.arena->control->slot_count, file.slot_count);
	}
	assert_int_equal(file.slot_count, 1024);
	mr_arena_file_close(&file, true);
	/* Not more than fit. */
	assert_int_equal(mr_arena_file_create("/tmp", 9 << 20, &file), 0);
	for (int calls = 0; !mr_arena_file_complete(&file); calls++)
		assert_true(calls < 100);
	assert_int_equal(file.slot_count, file.slot_capacity);
	mr_arena_file_close(&file, true);
}

static uint64_t allocated_bytes(const struct mr_arena_file *file)
{
	struct stat status;
	assert_int_equal(fstat(file->fd, &status), 0);
	return (uint64_t)status.st_blocks * 512;
}

/* While memory is short, a slot that becomes free loses its memory, and cannot be claimed until it has it again. */
static void test_withdrawal(void **state)
{
	(void)state;
	struct mr_arena_file file;
	assert_int_equal(mr_arena_file_create("/tmp", SLOTS * MR_ARENA_SLOT_BYTES, &file), 0);
	struct mr_arena *arena = file.arena;
	uint64_t before = allocated_bytes(&file);
	uint32_t slots = claim_all(arena, MR_PACKET_DEFINITIONS);
	file.usual_slots = slots / 2;
	file.is_short = true;
	mr_arena_room_free(&file, slots / 2 - 1); /* one of the usual ones */
	mr_arena_room_free(&file, slots - 1);
	assert_int_equal(allocated_bytes(&file), before - MR_ARENA_SLOT_BYTES);
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), slots / 2 - 1);
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), MR_ARENA_NO_SLOT);
	file.is_short = false;
	file.slots_to_take = 0;
	assert_true(mr_arena_room_restore(&file));
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), MR_ARENA_NO_SLOT);
	file.slots_to_take = 5;
	assert_true(mr_arena_room_restore(&file));
	assert_false(mr_arena_room_restore(&file));
	assert_int_equal(allocated_bytes(&file), before);
	assert_int_equal(claim(arena, MR_PACKET_DEFINITIONS), slots - 1);
	mr_arena_file_close(&file, true);
}

/* It has a name from when it is published until it is removed, and can be opened by it. */
static void test_publication(void **state)
{
	(void)state;
	struct mr_arena_file file, again;
	assert_int_equal(mr_arena_file_create("/tmp", 1, &file), 0);
	char path[sizeof file.path];
	strcpy(path, file.path);
	assert_int_equal(mr_arena_file_publish(&file), 0);
	assert_int_equal(mr_arena_file_open(path, &again), 0);
	file.arena->tables->next_process = 42;
	assert_int_equal(again.arena->tables->next_process, 42);
	mr_arena_file_close(&again, false);
	assert_int_equal(access(path, F_OK), 0);
	mr_arena_file_close(&file, true);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(mr_arena_file_open(path, &again) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reserved_slots), cmocka_unit_test(test_slot_word),
		cmocka_unit_test(test_threads),        cmocka_unit_test(test_claim_while_killed),
		cmocka_unit_test(test_process_table),  cmocka_unit_test(test_validity),
		cmocka_unit_test(test_sizes),          cmocka_unit_test(test_hostile_counts),
		cmocka_unit_test(test_windows),        cmocka_unit_test(test_growth),
		cmocka_unit_test(test_completion),     cmocka_unit_test(test_withdrawal),
		cmocka_unit_test(test_publication),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
