/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames as record reads them from another process, here its own: whole, torn, in circles, and of nobody. The layout is
 * made up; real ones are tested with real interpreters (live/test_python_lines.py).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/python_stack.h"

struct frame {
	uintptr_t previous, code;
	uint64_t instruction;
};

struct state {
	uintptr_t frame;
};

static const struct mr_python python = {
	.layout = {.thread_frame = offsetof(struct state, frame),
		   .frame_previous = offsetof(struct frame, previous),
		   .frame_code = offsetof(struct frame, code),
		   .frame_instruction = offsetof(struct frame, instruction)},
};
static struct mr_python_memory memory;
static struct mr_python_stack stack;

static enum mr_python_sight see(const struct state *state)
{
	mr_python_memory_start(&memory, getpid());
	return mr_python_stack_see(&python, &memory, (uintptr_t)state, &stack);
}

static void test_whole(void **state)
{
	static struct frame frames[3] = {{0, 0x1000, 7}, {0, 0x2000, 8}, {0, 0x3000, 9}};
	static struct state thread;
	(void)state;
	frames[0].previous = (uintptr_t)&frames[1];
	frames[1].previous = (uintptr_t)&frames[2];
	thread.frame = (uintptr_t)&frames[0];
	assert_int_equal(see(&thread), MR_PYTHON_SEEN);
	assert_int_equal(stack.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(stack.frames[i].code, frames[i].code);
		assert_int_equal(stack.frames[i].instruction, frames[i].instruction);
	}
	thread.frame = 0;
	assert_int_equal(see(&thread), MR_PYTHON_SEEN);
	assert_int_equal(stack.count, 0);
}

static void test_circle(void **state)
{
	static struct frame frame = {0, 0x1000, 7};
	static struct state thread;
	(void)state;
	frame.previous = (uintptr_t)&frame;
	thread.frame = (uintptr_t)&frame;
	assert_int_equal(see(&thread), MR_PYTHON_SEEN);
	assert_int_equal(stack.count, MR_PYTHON_FRAMES);
}

/* Unmapped memory, the end of the address space, and a frame that lies across the end of what is mapped. */
static void test_unreadable(void **state)
{
	static struct state thread;
	(void)state;
	long page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(munmap(pages + page, (size_t)page), 0);
	const uintptr_t bad[] = {(uintptr_t)pages + (uintptr_t)page,
				 (uintptr_t)pages + (uintptr_t)page - 8, UINTPTR_MAX - 3, 8};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		thread.frame = bad[i];
		assert_int_equal(see(&thread), MR_PYTHON_UNREADABLE);
		assert_int_equal(memory.error, EFAULT);
	}
	munmap(pages, (size_t)page);
}

static void test_no_process(void **state)
{
	static struct state thread;
	(void)state;
	mr_python_memory_start(&memory, 0x3fffffff);
	assert_int_equal(mr_python_stack_see(&python, &memory, (uintptr_t)&thread, &stack),
			 MR_PYTHON_UNREADABLE);
	assert_int_equal(memory.error, ESRCH);
}

/* A thread calls functions from an outer frame that stays. Each has its own caller's instruction, and another one calls
 * it; a look that mixes two of them must not come out. */
enum {
	PAIRS = 64
};
static struct frame outer = {0, 0x9000, 1};
static struct {
	struct frame middle, inner;
	char apart[MR_PYTHON_PAGE_BYTES]; /* each pair in pages of its own */
} pairs[PAIRS];
static _Atomic uintptr_t current;
static atomic_bool is_over;

static void *call(void *unused)
{
	(void)unused;
	for (uint32_t i = 0; !atomic_load(&is_over); i = (i + 1) % PAIRS)
		atomic_store(&current, (uintptr_t)&pairs[i].inner);
	return NULL;
}

static void test_moving(void **state)
{
	pthread_t thread;
	uint32_t whole = 0;
	(void)state;
	for (uintptr_t i = 0; i < PAIRS; i++) {
		pairs[i].inner = (struct frame){(uintptr_t)&pairs[i].middle, 0x1000 + 8 * i, i};
		pairs[i].middle = (struct frame){(uintptr_t)&outer, 0x5000 + 8 * i, i};
	}
	atomic_store(&current, (uintptr_t)&pairs[0].inner);
	assert_int_equal(pthread_create(&thread, NULL, call, NULL), 0);
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(see((const struct state *)&current), MR_PYTHON_SEEN);
		/* The frame that all have is always there; the others only together. */
		assert_in_range(stack.count, 1, 3);
		assert_int_equal(stack.frames[stack.count - 1].code, outer.code);
		if (stack.count == 3)
			assert_int_equal(stack.frames[0].instruction, stack.frames[1].instruction);
		whole += stack.count == 3;
	}
	atomic_store(&is_over, true);
	pthread_join(thread, NULL);
	print_message("whole: %u of 20000\n", whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),      cmocka_unit_test(test_circle),
		cmocka_unit_test(test_unreadable), cmocka_unit_test(test_no_process),
		cmocka_unit_test(test_moving),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
