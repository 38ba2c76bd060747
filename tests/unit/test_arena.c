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

enum {
	SLOTS = 64,
	RESERVED = 8,
	THREADS = 8,
	CLAIMS = 20000,
	KILLS = 30
};

/* Shared with children. */
static struct mr_arena *new_arena(uint32_t slots)
{
	struct mr_arena layout = {.magic = MR_ARENA_MAGIC,
				  .version = MR_ARENA_VERSION,
				  .schema_check = mr_schema_check(),
				  .slot_capacity = slots};
	struct mr_arena *arena = mmap(NULL, mr_arena_file_bytes(slots), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(arena, MAP_FAILED);
	*arena = layout;
	arena->slot_count = slots;
	arena->reserved_slots = RESERVED;
	return arena;
}

static void delete_arena(struct mr_arena *arena)
{
	munmap(arena, mr_arena_file_bytes(arena->slot_capacity));
}

static uint32_t claim_all(struct mr_arena *arena, enum mr_packet_kind kind)
{
	uint32_t claimed = 0;
	while (claimed <= arena->slot_count &&
	       mr_arena_claim(arena, kind, 1, 1) != MR_ARENA_NO_SLOT)
		claimed++;
	return claimed;
}

static void test_reserved_slots(void **state)
{
	(void)state;
	struct mr_arena *arena = new_arena(SLOTS);
	assert_int_equal(claim_all(arena, MR_PACKET_EVENTS), SLOTS - RESERVED);
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), RESERVED);
	mr_arena_free(arena, SLOTS - 1); /* a reserved one */
	assert_int_equal(mr_arena_claim(arena, MR_PACKET_EVENTS, 1, 1), MR_ARENA_NO_SLOT);
	assert_int_equal(mr_arena_claim(arena, MR_PACKET_DEFINITIONS, 1, 1), SLOTS - 1);
	mr_arena_free(arena, 5);
	assert_int_equal(mr_arena_claim(arena, MR_PACKET_EVENTS, 1, 1), 5);
	delete_arena(arena);
}

static void test_slot_word(void **state)
{
	(void)state;
	struct mr_arena *arena = new_arena(SLOTS);
	int32_t slot = mr_arena_claim(arena, MR_PACKET_DEFINITIONS, 4095, UINT32_MAX);
	uint64_t word = *mr_arena_state(arena, (uint32_t)slot);
	assert_int_equal(mr_slot_word_state(word), MR_SLOT_FILLING);
	assert_int_equal(mr_slot_word_process_slot(word), 4095);
	assert_int_equal((uint32_t)word, UINT32_MAX);
	uint32_t freed = arena->freed;
	mr_arena_free(arena, (uint32_t)slot);
	assert_int_equal(*mr_arena_state(arena, (uint32_t)slot), 0);
	assert_int_equal(arena->freed, freed + 1);
	delete_arena(arena);
}

static _Atomic int holders[SLOTS];
static _Atomic int collisions;
static _Atomic uint64_t successes;

/* Claims, checks that nobody else holds the slot, frees. */
static void *claim_and_free(void *argument)
{
	struct mr_arena *arena = argument;
	for (int i = 0; i < CLAIMS; i++) {
		int32_t slot = mr_arena_claim(
			arena, i % 4 ? MR_PACKET_EVENTS : MR_PACKET_DEFINITIONS, 1, 1);
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
	struct mr_arena *arena = new_arena(SLOTS);
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, claim_and_free, arena), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(collisions, 0);
	assert_int_equal(successes, THREADS * CLAIMS); /* there were enough for all */
	assert_int_equal(claim_all(arena, MR_PACKET_DEFINITIONS), SLOTS);
	delete_arena(arena);
}

static _Noreturn void claim_until_killed(struct mr_arena *arena, uint32_t self)
{
	for (;;) {
		int32_t slot = mr_arena_claim(arena, MR_PACKET_EVENTS, self, self);
		if (slot >= 0)
			mr_arena_free(arena, (uint32_t)slot);
	}
}

/* Whoever is killed leaves slots that name it, and no other trace. */
static void test_claim_while_killed(void **state)
{
	(void)state;
	struct mr_arena *arena = new_arena(SLOTS);
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
	delete_arena(arena);
}

static void test_process_table(void **state)
{
	(void)state;
	struct mr_arena *arena = new_arena(SLOTS);
	for (int32_t i = 0; i < MR_ARENA_PROCESSES; i++)
		assert_int_equal(mr_arena_claim_process(arena), i);
	assert_int_equal(mr_arena_claim_process(arena), -1);
	assert_int_equal(arena->processes_refused, 1);
	mr_arena_process(arena, 77)->state = MR_PROCESS_FREE;
	assert_int_equal(mr_arena_claim_process(arena), 77);
	delete_arena(arena);
}

/* Every field of the header that a damaged or foreign file could have otherwise. */
static void test_validity(void **state)
{
	(void)state;
	struct mr_arena *arena = new_arena(SLOTS);
	uint64_t bytes = mr_arena_file_bytes(SLOTS);
	assert_true(mr_arena_is_valid(arena, bytes));
	assert_false(mr_arena_is_valid(arena, bytes - 1));
	assert_false(mr_arena_is_valid(arena, 100));
	const struct mr_arena good = *arena;
	struct mr_arena bad[8];
	for (int i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].magic++;
	bad[1].version++;
	bad[2].schema_check++;
	bad[3].slot_capacity++;
	bad[4].slot_capacity = 0;
	bad[5].slot_count = SLOTS + 1;
	bad[6].slot_capacity = UINT32_MAX;
	bad[7].reserved_slots = SLOTS + 1;
	for (int i = 0; i < 8; i++) {
		*arena = bad[i];
		assert_false(mr_arena_is_valid(arena, bytes));
	}
	*arena = good;
	delete_arena(arena);
}

/* A file grows as slots get scarce, up to its capacity, and allocates what it offers. */
static void test_growth(void **state)
{
	(void)state;
	struct mr_arena_file file;
	assert_int_equal(mr_arena_file_create("/tmp", 160 << 20, &file), 0);
	struct mr_arena *arena = file.arena;
	uint32_t count = arena->slot_count;
	assert_true(count < arena->slot_capacity);
	mr_arena_file_grow(&file, count); /* all free: no reason to */
	assert_int_equal(arena->slot_count, count);
	while (count < arena->slot_capacity) {
		uint32_t freed = arena->freed;
		mr_arena_file_grow(&file, 0);
		assert_true(arena->slot_count > count);
		assert_true(arena->freed > freed); /* those who wait look again */
		count = arena->slot_count;
		struct stat status;
		assert_int_equal(fstat(file.fd, &status), 0);
		assert_true((uint64_t)status.st_blocks * 512 >=
			    (uint64_t)count * MR_ARENA_PACKET_BYTES);
		memset(mr_arena_packet(arena, count - 1), 1, MR_ARENA_PACKET_BYTES);
	}
	mr_arena_file_grow(&file, 0);
	assert_int_equal(arena->slot_count, arena->slot_capacity);
	mr_arena_file_close(&file, true);
}

/* The program starts with half of the usual slots, and soon has all. */
static void test_completion(void **state)
{
	(void)state;
	struct mr_arena_file file;
	assert_int_equal(mr_arena_file_create("/tmp", 160 << 20, &file), 0);
	uint32_t first = file.slot_count, before = 0;
	assert_true(first <= 512);
	for (int calls = 0; file.slot_count > before && calls < 100; calls++) {
		before = file.slot_count;
		mr_arena_file_complete(&file);
		assert_int_equal(file.arena->slot_count, file.slot_count);
	}
	assert_int_equal(file.slot_count, 1024);
	mr_arena_file_close(&file, true);
	/* Not more than fit. */
	assert_int_equal(mr_arena_file_create("/tmp", 9 << 20, &file), 0);
	mr_arena_file_complete(&file);
	mr_arena_file_complete(&file);
	assert_int_equal(file.slot_count, file.slot_capacity);
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
	file.arena->next_process = 42;
	assert_int_equal(again.arena->next_process, 42);
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
		cmocka_unit_test(test_growth),         cmocka_unit_test(test_completion),
		cmocka_unit_test(test_publication),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
