/* SPDX-License-Identifier: Apache-2.0
 *
 * In which execution (of which node) and which step a device operation was launched, in a model made by hand:
 *
 *     steps        ├──── 5 ────┤     ├──── 6 ────┤
 *     executions     ├─ a ─┤           ├── b ──┤
 *     launches        1     2        3  4                   5 is launched by nobody
 *     operations                1  2  3       4   5
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hand_model.h"
#include "load/operations.h"
#include "load/runtime.h"

static struct mr_model *model;

static int start(void **state)
{
	static const struct mr_steps_row steps[] = {
		{.track = 0, .start_ns = 100, .duration_ns = 200, .step = 5},
		{.track = 0, .start_ns = 400, .duration_ns = 200, .step = 6},
	};

	(void)state;
	model = hand_model_start();
	for (size_t i = 0; i < mr_countof(steps); i++)
		assert_int_equal(mr_steps_append(&model->steps, steps[i]), 0);
	hand_node(0, 110, 200, "a");
	hand_node(0, 430, 520, "b");
	hand_launch(0, 120, 130, 1);
	hand_launch(0, 210, 220, 2);
	hand_launch(0, 400, 410, 3);
	hand_launch(0, 440, 450, 4);
	hand_operation(QUEUE_A, 310, 350, "one", 1);
	hand_operation(QUEUE_A, 350, 380, "two", 2);
	hand_operation(QUEUE_A, 420, 450, "three", 3);
	hand_operation(QUEUE_A, 560, 590, "four", 4);
	hand_operation(QUEUE_A, 595, 599, "five", 5);
	hand_model_load();
	assert_int_equal(mr_runtime_link_executions(model), 0);
	assert_int_equal(mr_operations_link(model), 0);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

static void test_whole(void **state)
{
	static const uint32_t executions[] = {0, MR_NO_ROW, MR_NO_ROW, 1, MR_NO_ROW};
	static const uint32_t nodes[] = {1, 0, 0, 2, 0};
	static const uint32_t steps[] = {0, 0, 1, 1, 1};

	(void)state;
	assert_int_equal(model->device_operations.table.count, 5);
	for (uint32_t row = 0; row < 5; row++) {
		assert_int_equal(model->device_operations.execution[row], executions[row]);
		assert_int_equal(model->device_operations.node[row], nodes[row]);
		assert_int_equal(model->device_operations.step_row[row], steps[row]);
	}
}

/* What lies outside the window leads nowhere; what lies inside has another row. Nodes are no rows. */
static void test_window(void **state)
{
	const struct mr_part part = {{340, 700}, NULL};
	static const uint32_t executions[] = {MR_NO_ROW, MR_NO_ROW, MR_NO_ROW, 0, MR_NO_ROW};
	static const uint32_t nodes[] = {1, 0, 0, 2, 0};
	static const uint32_t steps[] = {MR_NO_ROW, MR_NO_ROW, 0, 0, 0};
	struct mr_model *cut;

	(void)state;
	assert_int_equal(mr_model_cut(model, &part, &cut), 0);
	assert_int_equal(cut->device_operations.table.count, 5);
	for (uint32_t row = 0; row < 5; row++) {
		assert_int_equal(cut->device_operations.execution[row], executions[row]);
		assert_int_equal(cut->device_operations.node[row], nodes[row]);
		assert_int_equal(cut->device_operations.step_row[row], steps[row]);
	}
	mr_model_free(cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, start, finish),
		cmocka_unit_test_setup_teardown(test_window, start, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
