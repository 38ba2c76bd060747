/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tensors copies moved, in a model made by hand:
 *
 *     thread 0   execution of sender, whose input is output 1 of x; in it a copy
 *     thread 1   execution of receiver; in it a copy, of what other_sender sent: output 0 of y
 *     thread 2   execution of eager; in it a copy and a kernel while it fetches input 2, then a copy for itself
 *     thread 3   execution of lonely, which receives what nobody sent; in it a copy, then one in no execution
 *     thread 5   execution of x, which adds to a variable; in it a copy on the device, and one to it
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "hand_model.h"
#include "load/tensorflow/tensorflow.h"

enum { /* nodes, as they are made */
	SENDER = 1,
	RECEIVER,
	EAGER,
	LONELY,
	OTHER_SENDER,
	X,
	Y,
};

static struct mr_model *model;

static uint32_t text(const char *characters)
{
	uint32_t number;

	assert_int_equal(mr_strings_intern(&model->survey->definitions.strings, characters,
					   strlen(characters), &number),
			 0);
	return number;
}

static void message(uint32_t thread, uint32_t node, bool is_receive, uint32_t peer)
{
	const struct mr_messages_row row = {
		.track = thread, .node = node, .peer = peer, .is_receive = is_receive};

	assert_int_equal(mr_messages_append(&model->messages, row), 0);
}

static void edge(uint32_t source, uint16_t output, uint32_t target, uint16_t input,
		 enum mr_edge_kind kind)
{
	const struct mr_edge row = {.source = source,
				    .target = target,
				    .source_output = output,
				    .target_input = input,
				    .kind = (uint8_t)kind};

	assert_int_equal(mr_vec_push(&model->survey->definitions.edges, row), 0);
}

static void fetch(uint32_t thread, int64_t begin_ns, int64_t end_ns, const char *name)
{
	const struct mr_scopes_row row = {.track = thread,
					  .start_ns = begin_ns,
					  .duration_ns = end_ns - begin_ns,
					  .name = text(name)};

	assert_int_equal(mr_scopes_append(&model->scopes, row), 0);
}

static void launch(uint32_t thread, int64_t begin_ns, uint64_t correlation,
		   enum mr_operation_kind kind)
{
	hand_launch(thread, begin_ns, begin_ns + 10, correlation);
	hand_operation(QUEUE_A, (int64_t)correlation * 1000, (int64_t)correlation * 1000 + 100, "",
		       correlation);
	model->device_operations.kind[model->device_operations.table.count - 1] = (uint8_t)kind;
}

static int make(void **state)
{
	static const char *const executed[] = {"sender", "receiver", "eager", "lonely"};

	(void)state;
	model = hand_model_start();
	for (uint32_t i = 0; i < mr_countof(executed); i++)
		hand_node(i, 0, 1000, executed[i]);
	hand_node(4, 0, 1000, "other_sender");
	hand_node(5, 0, 1000, "x");
	hand_node(5, 2000, 3000, "y");
	edge(Y, 0, SENDER, 0, MR_edge_kind_control);
	edge(X, 1, SENDER, 0, MR_edge_kind_data);
	edge(Y, 0, OTHER_SENDER, 0, MR_edge_kind_data);
	edge(X, 0, EAGER, 0, MR_edge_kind_data);
	message(0, SENDER, false, MR_NO_ROW);
	message(1, RECEIVER, true, 3);
	message(3, LONELY, true, MR_NO_ROW);
	message(4, OTHER_SENDER, false, 1);
	fetch(2, 50, 300, "_Send input 2 from /device:CPU:0 to /device:XPU:0");
	launch(0, 100, 1, MR_operation_kind_copy_to_device);
	launch(1, 100, 2, MR_operation_kind_copy_from_device);
	launch(2, 100, 3, MR_operation_kind_copy_between_devices);
	launch(2, 200, 4, MR_operation_kind_kernel);
	launch(2, 400, 5, MR_operation_kind_copy_to_device);
	launch(3, 100, 6, MR_operation_kind_copy_to_device);
	launch(3, 1100, 7, MR_operation_kind_copy_to_device);
	launch(5, 100, 8, MR_operation_kind_copy_on_device);
	launch(5, 200, 9, MR_operation_kind_copy_to_device);
	model->survey->definitions.nodes.items[X].type = text("AssignAddVariableOp");
	hand_model_load();
	for (uint32_t call = 0; call < model->calls.table.count; call++)
		model->calls.execution[call] =
			model->calls.start_ns[call] < 1000 ? model->calls.track[call] : MR_NO_ROW;
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	mr_model_free(model);
	return 0;
}

struct expected {
	uint64_t correlation;
	uint32_t execution, node, number;
	uint8_t is_input;
};

static void copies_and_tensors(void **state)
{
	static const struct expected expected[] = {
		{1, 0, X, 1, false},
		{2, 1, Y, 0, false},
		{3, 2, EAGER, 2, true},
		{5, 2, 0, MR_NO_ORDINAL, MR_NO_TRUTH},
		{6, 3, 0, MR_NO_ORDINAL, MR_NO_TRUTH},
		{7, MR_NO_ROW, 0, MR_NO_ORDINAL, MR_NO_TRUTH},
		{8, 5, X, 0, true},
		{9, 5, 0, MR_NO_ORDINAL, MR_NO_TRUTH},
	};
	const struct mr_tensor_copies *copies = &model->tensor_copies;

	(void)state;
	assert_int_equal(mr_tensorflow_link_copies(model), 0);
	assert_int_equal(copies->table.count, mr_countof(expected));
	for (uint32_t row = 0; row < copies->table.count; row++) {
		uint32_t operation = copies->operation[row];

		assert_int_equal(model->device_operations.correlation[operation],
				 expected[row].correlation);
		assert_int_equal(copies->execution[row], expected[row].execution);
		assert_int_equal(copies->node[row], expected[row].node);
		assert_int_equal(copies->number[row], expected[row].number);
		assert_int_equal(copies->is_input[row], expected[row].is_input);
	}
	assert_int_equal(copies->table.first_of_track[2], 2);
	assert_int_equal(copies->table.first_of_track[5], 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(copies_and_tensors, make, unmake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
