/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of another process as record reads it, here its own: what is expected is read along and still is what it is, also
 * where a page of it is gone. And the recorder waits for the next sample instead of looking all the time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/python_samples.h"

enum {
	PAGES = 6,
};

static struct mr_python_memory memory;
static uint8_t *pages;

static uintptr_t page(int number)
{
	return (uintptr_t)pages + (size_t)number * MR_PYTHON_PAGE_BYTES;
}

static bool read_byte(int number, uint8_t *ret_byte)
{
	const struct mr_python_reader reader = mr_python_memory_reader(&memory);

	return mr_python_read(&reader, ret_byte, page(number) + 17, 1);
}

static void check(int number, uint8_t expected)
{
	uint8_t byte = 0;

	assert_true(read_byte(number, &byte));
	assert_int_equal(byte, expected);
}

static int make_pages(void **state)
{
	(void)state;
	pages = mmap(NULL, PAGES * MR_PYTHON_PAGE_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < PAGES; i++)
		memset((void *)page(i), 'a' + i, MR_PYTHON_PAGE_BYTES);
	mr_python_memory_start(&memory, getpid());
	return pages == MAP_FAILED ? -1 : 0;
}

static int unmap_pages(void **state)
{
	(void)state;
	return munmap(pages, PAGES * MR_PYTHON_PAGE_BYTES);
}

/* The first one that is missing brings the others: what changes afterwards is not seen until all is forgotten. */
static void test_expected(void **state)
{
	const struct mr_python_pages expected = {3, {page(0), page(2), page(4)}};

	(void)state;
	mr_python_memory_expect(&memory, &expected);
	check(2, 'c');
	memset((void *)page(4), 'x', MR_PYTHON_PAGE_BYTES);
	memset((void *)page(5), 'y', MR_PYTHON_PAGE_BYTES);
	check(4, 'e');
	check(5, 'y');
	mr_python_memory_forget(&memory);
	check(4, 'x');
}

/* In the order in which they were first used, each once. */
static void test_used(void **state)
{
	static const int order[] = {3, 1, 3, 0};

	(void)state;
	mr_python_memory_expect(&memory, &(struct mr_python_pages){0});
	for (size_t i = 0; i < mr_countof(order); i++)
		check(order[i], (uint8_t)('a' + order[i]));
	assert_int_equal(memory.used.count, 3);
	assert_int_equal(memory.used.at[0], page(3));
	assert_int_equal(memory.used.at[1], page(1));
	assert_int_equal(memory.used.at[2], page(0));
}

/* An expected page that is gone harms none that is there. */
static void test_gone(void **state)
{
	const struct mr_python_pages expected = {4, {page(0), page(1), page(2), page(3)}};
	uint8_t byte;

	(void)state;
	mprotect((void *)page(1), MR_PYTHON_PAGE_BYTES, PROT_NONE);
	mr_python_memory_expect(&memory, &expected);
	check(0, 'a');
	check(2, 'c');
	check(3, 'd');
	assert_false(read_byte(1, &byte));
	assert_true(memory.error != 0);
}

/* More than are remembered. */
static void test_many(void **state)
{
	(void)state;
	for (int round = 0; round < 3; round++) {
		struct mr_python_pages last = memory.used;

		mr_python_memory_forget(&memory);
		mr_python_memory_expect(&memory, &last);
		for (int i = 0; i < PAGES; i++)
			check(i, (uint8_t)('a' + i));
		assert_int_equal(memory.used.count, PAGES);
	}
}

static void test_wait(void **state)
{
	struct mr_python_process process = {0};
	struct mr_python_samples samples = {
		.rate = 200, .next_ns = 5000000, .list = {&process, 1, 1}};

	(void)state;
	assert_int_equal(mr_python_samples_wait_ms(&samples, 4999999, 5), 1);
	assert_int_equal(mr_python_samples_wait_ms(&samples, 4000000, 5), 1);
	assert_int_equal(mr_python_samples_wait_ms(&samples, 3999999, 5), 2);
	assert_int_equal(mr_python_samples_wait_ms(&samples, 0, 3), 3);
	assert_int_equal(mr_python_samples_wait_ms(&samples, 5000000, 5), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_pages, unmap_pages)
	const struct CMUnitTest tests[] = {
		TEST(test_expected), TEST(test_used), TEST(test_gone),
		TEST(test_many),     TEST(test_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
