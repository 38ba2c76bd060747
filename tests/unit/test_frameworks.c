/* SPDX-License-Identifier: Apache-2.0
 *
 * Who gets the events of frameworks: whoever lists them, and nobody else. The frameworks here are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "load/frameworks.h"
#include "load/loader.h"
#include "load/tensorflow/tensorflow.h"

/* What a made-up framework was asked to do. */
struct done {
	uint32_t started;
	uint32_t added;
	uint32_t last_event;
	uint32_t joined;
	uint32_t ended;
};

static struct done torch, oven;
static int start_result;
static struct mr_loader loader;

static int start_torch(struct mr_loader *of, void **ret_state)
{
	assert_ptr_equal(of, &loader);
	torch.started++;
	*ret_state = &torch;
	return start_result;
}

static int start_oven(struct mr_loader *of, void **ret_state)
{
	(void)of;
	oven.started++;
	*ret_state = &oven;
	return 0;
}

static int add(void *state, const struct mr_event *event)
{
	struct done *done = state;

	done->added++;
	done->last_event = event->desc->id;
	return 0;
}

static int join(void *state)
{
	((struct done *)state)->joined++;
	return 0;
}

static void end(void *state)
{
	((struct done *)state)->ended++;
}

static const uint8_t of_torch[] = {MR_EVENT_eager_operation, MR_EVENT_activity};
static const uint8_t of_oven[] = {MR_EVENT_traceme};
static const struct mr_framework a_torch = {"torch", of_torch,           2,  start_torch,
					    add,     {join, NULL, NULL}, end};
static const struct mr_framework an_oven = {"oven", of_oven, 1, start_oven, add, {join, NULL, NULL},
					    end};

static int reset(void **state)
{
	(void)state;
	torch = oven = (struct done){0};
	start_result = 0;
	return 0;
}

static int tell(struct mr_frameworks *frameworks, uint8_t id)
{
	static const uint64_t zeroes[64];
	const struct mr_event event = {.desc = &mr_event_table[id], .payload = zeroes};

	return mr_frameworks_add(frameworks, &loader, &event);
}

static void test_events_go_to_whoever_lists_them(void **state)
{
	static const struct mr_framework *const both[] = {&a_torch, &an_oven};
	struct mr_frameworks frameworks;

	(void)state;
	assert_int_equal(mr_frameworks_start(&frameworks, both, 2), 0);
	assert_int_equal(tell(&frameworks, MR_EVENT_activity), 0);
	assert_int_equal(tell(&frameworks, MR_EVENT_eager_operation), 0);
	assert_int_equal(torch.started, 1);
	assert_int_equal(torch.added, 2);
	assert_int_equal(torch.last_event, MR_EVENT_eager_operation);
	assert_int_equal(oven.started, 0);

	assert_int_equal(tell(&frameworks, MR_EVENT_traceme), 0);
	assert_int_equal(torch.added, 2);
	assert_int_equal(oven.added, 1);
	mr_frameworks_end(&frameworks);
	assert_int_equal(torch.ended, 1);
	assert_int_equal(oven.ended, 1);
}

static void test_event_that_nobody_lists(void **state)
{
	static const struct mr_framework *const one[] = {&a_torch};
	struct mr_frameworks frameworks;

	(void)state;
	assert_int_equal(mr_frameworks_start(&frameworks, one, 1), 0);
	for (unsigned id = 0; id < 256; id++)
		if (mr_event_table[id].name && id != MR_EVENT_eager_operation &&
		    id != MR_EVENT_activity)
			assert_int_equal(tell(&frameworks, (uint8_t)id), 0);
	assert_int_equal(torch.started, 0);
	mr_frameworks_end(&frameworks);
	assert_int_equal(torch.ended, 0);
}

static void test_stages_of_those_that_were_met(void **state)
{
	static const struct mr_framework *const both[] = {&a_torch, &an_oven};
	struct mr_frameworks frameworks;

	(void)state;
	assert_int_equal(mr_frameworks_start(&frameworks, both, 2), 0);
	assert_int_equal(tell(&frameworks, MR_EVENT_traceme), 0);
	for (int stage = 0; stage < MR_FRAMEWORK_STAGES; stage++)
		assert_int_equal(mr_frameworks_run(&frameworks, stage), 0);
	assert_int_equal(torch.joined, 0);
	assert_int_equal(oven.joined, 1);
	mr_frameworks_end(&frameworks);
}

static void test_start_that_fails(void **state)
{
	static const struct mr_framework *const one[] = {&a_torch};
	struct mr_frameworks frameworks;

	(void)state;
	start_result = -ENOMEM;
	assert_int_equal(mr_frameworks_start(&frameworks, one, 1), 0);
	assert_int_equal(tell(&frameworks, MR_EVENT_activity), -ENOMEM);
	assert_int_equal(torch.added, 0);
	mr_frameworks_end(&frameworks);
}

/* A framework that takes another's event is refused before anything is read. */
static void test_event_of_two(void **state)
{
	static const struct mr_framework *const both[] = {&mr_framework_tensorflow, &an_oven};
	struct mr_frameworks frameworks;

	(void)state;
	assert_int_equal(mr_frameworks_start(&frameworks, both, 2), -EEXIST);
	mr_frameworks_end(&frameworks);
}

/* TensorFlow and PyTorch have what their hooks write, by name, and nothing of the general level. */
static void test_known_frameworks(void **state)
{
	struct mr_frameworks frameworks;
	uint32_t taken = 0;

	(void)state;
	assert_int_equal(
		mr_frameworks_start(&frameworks, mr_known_frameworks, mr_known_framework_count), 0);
	for (unsigned id = 0; id < 256; id++) {
		if (!frameworks.of_event[id])
			continue;
		const char *name = mr_event_table[id].name;

		bool is_hip = strncmp(name, "hip_", 4) == 0;

		assert_int_equal(mr_event_table[id].level,
				 is_hip ? MR_LEVEL_runtime : MR_LEVEL_dataflow);
		assert_true(is_hip || strncmp(name, "traceme", 7) == 0 ||
			    strncmp(name, "eager_", 6) == 0 || strncmp(name, "torch_", 6) == 0 ||
			    strncmp(name, "nvtx_", 5) == 0 || strcmp(name, "activity") == 0);
		taken++;
	}
	assert_int_equal(taken, 18);
	mr_frameworks_end(&frameworks);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, reset)
	const struct CMUnitTest tests[] = {
		TEST(test_events_go_to_whoever_lists_them),
		TEST(test_event_that_nobody_lists),
		TEST(test_stages_of_those_that_were_met),
		TEST(test_start_that_fails),
		TEST(test_event_of_two),
		TEST(test_known_frameworks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
