/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations that end without a call of the program: which of them the driver is asked to call back for, and
 * what becomes of those that several threads look at.
 */
#include <pthread.h>
#include <semaphore.h>

#include "opencl_fixture.h"

enum {
	PERIOD_NS = 1 << 21, /* in which the driver is asked only so often */
};

/* Whatever is complete is written at once, and of what is not the next is watched. */
static void test_called_back(void **state)
{
	(void)state;
	for (int i = 0; i < 5; i++)
		fill(NULL);
	assert_int_equal(asked_callbacks, 1);
	for (int i = 0; i < 5; i++)
		complete(&events[i]);
	assert_int_equal(look().operations, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(events[i].references, 0);
}

/* Out of order, each is seen that is watched, whatever the others do. */
static void test_called_back_out_of_order(void **state)
{
	(void)state;
	queue = new_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
	for (int i = 0; i < 5; i++)
		fill(NULL);
	for (int i = 4; i > 0; i--)
		complete(&events[i]);
	assert_int_equal(look().operations, 4);
}

/* When the driver has been asked often enough, what comes next waits for a call of the program, or for it to
 * say that there may be none. */
static void test_called_back_seldom(void **state)
{
	(void)state;
	enum {
		MANY = 2000,
		MOST = 9, /* in a period; one of them complete when it is asked for */
	};
	uint64_t start_ns = mr_ticks_now();
	for (int i = 0; i < MANY; i++) {
		fill(NULL);
		complete(&events[i]);
	}
	uint64_t periods = (mr_ticks_now() - start_ns) / PERIOD_NS + 2; /* begun ones, too */
	assert_in_range(asked_callbacks, 1, MOST * periods);
	mr_opencl_clFlush(queue);
	assert_int_equal(look().operations, MANY);
}

/* One that never ends does not hide what comes before it, whatever was watched already. */
static void test_called_back_before_stuck(void **state)
{
	(void)state;
	enum {
		MANY = 100
	};
	for (int before = 0; before <= MANY; before += 10) {
		unsigned first = atomic_load(&event_count);
		uint64_t operations = look().operations;
		queue = new_queue(0);
		for (int i = 0; i <= MANY; i++) {
			fill(NULL);
			if (i < before)
				complete(&events[first + i]);
		}
		mr_opencl_clFlush(queue);
		for (int i = before; i < MANY; i++)
			complete(&events[first + i]);
		assert_int_equal(look().operations, operations + MANY);
	}
}

/* ... nor however often the driver was asked just before. */
static void test_called_back_before_stuck_often(void **state)
{
	(void)state;
	enum {
		BURSTS = 50, /* that a flush follows, and far more than a period allows */
		BURST = 4,
		MANY = 100,
		ALL = BURSTS * BURST + MANY,
		MORE = 8, /* at most, in a period: of what is pending, first one, then twice as many ... */
	};
	for (int i = 0; i < BURSTS * BURST; i += BURST) {
		for (int j = 0; j < BURST; j++)
			fill(NULL);
		mr_opencl_clFlush(queue);
		for (int j = 0; j < BURST; j++)
			complete(&events[i + j]);
	}
	for (int i = 0; i <= MANY; i++)
		fill(NULL);
	unsigned asked_before = atomic_load(&asked_callbacks);
	uint64_t start_ns = mr_ticks_now();
	mr_opencl_clFlush(queue);
	for (int i = BURSTS * BURST; i < ALL; i++)
		complete(&events[i]);
	uint64_t periods = (mr_ticks_now() - start_ns) / PERIOD_NS;
	assert_int_equal(look().operations, ALL);
	assert_in_range(atomic_load(&asked_callbacks) - asked_before, 1, MANY / 2 + MORE * periods);
}

static void complete_once(void)
{
	while_asked = NULL;
	complete(&events[0]);
}

/* The callback comes just when another thread looks at the operation and has found it pending. */
static void test_called_back_while_looked_at(void **state)
{
	(void)state;
	fill(NULL);
	while_asked = complete_once;
	mr_opencl_harvest_all(true);
	assert_int_equal(look().operations, 1);
	assert_int_equal(events[0].references, 0);
}

static void flush_once(void)
{
	while_asked = NULL;
	mr_opencl_clFlush(queue);
}

/* The program goes quiet just when another thread looks at some operations: what comes behind these, and is
 * alone in sight, is not watched instead of them. */
static void test_quiet_while_looked_at(void **state)
{
	(void)state;
	enum {
		MANY = 33 /* one more than are looked at together */
	};
	for (int i = 0; i <= MANY; i++)
		fill(NULL);
	atomic_store(&events[0].status, CL_COMPLETE);
	mr_opencl_harvest_all(true);
	while_asked = flush_once;
	mr_opencl_harvest_all(true);
	for (int i = 1; i < MANY; i++)
		complete(&events[i]);
	assert_int_equal(look().operations, MANY);
}

static sem_t is_taken, may_put_back;

static void put_back_late(void)
{
	while_asked = NULL;
	sem_post(&is_taken);
	sem_wait(&may_put_back);
}

static void *look_at_rest(void *unused)
{
	mr_opencl_harvest_all(true);
	return unused;
}

static pthread_t second;

static void look_meanwhile(void)
{
	while_asked = put_back_late;
	assert_int_equal(pthread_create(&second, NULL, look_at_rest, NULL), 0);
	sem_wait(&is_taken);
}

/* Two threads look, and the one that has taken the later operations is the later to put them back. */
static void test_looked_at_by_two(void **state)
{
	(void)state;
	enum {
		MANY = 40 /* more than are looked at together */
	};
	for (int i = 0; i <= MANY; i++)
		fill(NULL);
	sem_init(&is_taken, 0, 0);
	sem_init(&may_put_back, 0, 0);
	while_asked = look_meanwhile;
	mr_opencl_harvest_all(true);
	sem_post(&may_put_back);
	pthread_join(second, NULL);
	for (int i = 0; i < MANY; i++)
		atomic_store(&events[i].status, CL_COMPLETE);
	mr_opencl_harvest_all(true);
	assert_int_equal(look().operations, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_called_back),
		TEST(test_called_back_out_of_order),
		TEST(test_called_back_seldom),
		TEST(test_called_back_before_stuck),
		TEST(test_called_back_before_stuck_often),
		TEST(test_called_back_while_looked_at),
		TEST(test_quiet_while_looked_at),
		TEST(test_looked_at_by_two),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
