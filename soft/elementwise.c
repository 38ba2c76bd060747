/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops on single elements. The device kernels have the names of the ops.
 */
#include "ops.h"

#include <stdio.h>

/* Extent of a tensor along a side of a box with `rank` sides; shapes are aligned at their ends. */
static int64_t extent_at(const struct mr_tensor *tensor, int rank, int side)
{
	int own = side - (rank - tensor->rank);

	return own < 0 ? 1 : tensor->extents[own];
}

/* The shape that all operands can be broadcast to, and its rank. */
static int common_shape(struct mr_call *call, const struct mr_tensor *operands, int count,
			int64_t *ret_extents)
{
	int rank = 0;

	for (int i = 0; i < count; i++)
		rank = operands[i].rank > rank ? operands[i].rank : rank;
	for (int side = 0; side < rank; side++) {
		ret_extents[side] = 1;
		for (int i = 0; i < count; i++) {
			int64_t extent = extent_at(&operands[i], rank, side);

			if (extent != 1 && ret_extents[side] != 1 && extent != ret_extents[side]) {
				mr_call_fail(call, TF_INVALID_ARGUMENT, "Incompatible shapes");
				return -1;
			}
			if (extent != 1)
				ret_extents[side] = extent;
		}
	}
	return rank;
}

static struct mr_layout broadcast_layout(struct mr_call *call, const struct mr_tensor *operands,
					 int count, int rank, const int64_t *extents)
{
	struct mr_layout layout = mr_layout_empty();
	int32_t dense[MR_OPERANDS][MR_RANK_MAX];

	for (int i = 0; i < count; i++)
		mr_strides_dense(operands[i].rank, operands[i].extents, dense[i]);
	for (int side = 0; side < rank; side++) {
		int32_t strides[MR_OPERANDS] = {0};

		for (int i = 0; i < count; i++) {
			if (extent_at(&operands[i], rank, side) != 1)
				strides[i] = dense[i][side - (rank - operands[i].rank)];
		}
		if (!mr_layout_add(&layout, extents[side], strides))
			mr_call_fail(call, TF_UNIMPLEMENTED,
				     "broadcasting over too many dimensions");
	}
	return layout;
}

void mr_run_unary(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	struct mr_tensor y = mr_call_output_over(call, 0, 1, x.rank, x.extents);

	mr_call_launch(call, call->op->name, mr_range_elements(y.count), MR_BUFFER(x), MR_BUFFER(y),
		       MR_INT(y.count));
}

static void run_two(struct mr_call *call, bool compares)
{
	struct mr_tensor operands[] = {mr_call_input(call, 0), mr_call_input(call, 1)};
	int64_t extents[MR_RANK_MAX];
	int rank = common_shape(call, operands, 2, extents);
	struct mr_tensor result = compares ? mr_call_output(call, 0, TF_BOOL, rank, extents)
					   : mr_call_output_over(call, 0, 2, rank, extents);
	char broadcast[64];

	if (mr_tensor_has_shape(&operands[0], operands[1].rank, operands[1].extents)) {
		mr_call_launch(call, call->op->name, mr_range_elements(result.count),
			       MR_BUFFER(operands[0]), MR_BUFFER(operands[1]), MR_BUFFER(result),
			       MR_INT(result.count));
		return;
	}
	struct mr_layout layout = broadcast_layout(call, operands, 2, rank, extents);
	snprintf(broadcast, sizeof(broadcast), "%s_broadcast", call->op->name);
	mr_call_launch(call, broadcast, mr_range_rows(&layout), MR_BUFFER(operands[0]),
		       MR_BUFFER(operands[1]), MR_BUFFER(result), MR_STRUCT(layout));
}

void mr_run_binary(struct mr_call *call)
{
	run_two(call, false);
}

void mr_run_compare(struct mr_call *call)
{
	run_two(call, true);
}

void mr_run_select(struct mr_call *call)
{
	struct mr_tensor operands[] = {mr_call_input(call, 0), mr_call_input(call, 1),
				       mr_call_input(call, 2)};
	int64_t extents[MR_RANK_MAX];
	int rank = common_shape(call, operands, 3, extents);
	struct mr_tensor result = mr_call_output(call, 0, TF_FLOAT, rank, extents);
	struct mr_layout layout = broadcast_layout(call, operands, 3, rank, extents);

	mr_call_launch(call, "SelectV2", mr_range_rows(&layout), MR_BUFFER(operands[0]),
		       MR_BUFFER(operands[1]), MR_BUFFER(operands[2]), MR_BUFFER(result),
		       MR_STRUCT(layout));
}

void mr_run_add_n(struct mr_call *call)
{
	int count = TF_NumInputs(call->context);
	struct mr_tensor first = mr_call_input(call, 0);

	if (count == 1) {
		TF_SetOutput(call->context, 0, call->tensors[0], call->status);
		return;
	}
	struct mr_tensor sum = mr_call_output_like(call, 0, &first);
	for (int i = 1; i < count; i++) {
		struct mr_tensor next = mr_call_input(call, i);

		mr_call_require(call, mr_tensor_has_shape(&next, first.rank, first.extents),
				"Inputs to operation AddN must have the same shape");
		mr_call_launch(call, "AddV2", mr_range_elements(sum.count),
			       MR_BUFFER(i == 1 ? first : sum), MR_BUFFER(next), MR_BUFFER(sum),
			       MR_INT(sum.count));
	}
}

void mr_run_bias_add(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0), bias = mr_call_input(call, 1);

	if (call->attributes->channels_first && x.rank > 2)
		mr_call_fail(call, TF_UNIMPLEMENTED, "BiasAdd with channels first");
	mr_call_require(call, x.rank > 0 && bias.rank == 1 && bias.count == x.extents[x.rank - 1],
			"BiasAdd requires one bias per channel");
	struct mr_tensor y = mr_call_output_over(call, 0, 1, x.rank, x.extents);
	mr_call_launch(call, "bias_add", mr_range_elements(y.count), MR_BUFFER(x), MR_BUFFER(bias),
		       MR_BUFFER(y), MR_INT(y.count), MR_INT(bias.count));
}

static const char *type_name(TF_DataType type, bool is_source)
{
	switch (type) {
	case TF_FLOAT:
		return "float";
	case TF_INT32:
		return "int";
	case TF_INT64:
		return "long";
	case TF_BOOL:
		return is_source ? "uchar" : "bool";
	default:
		return "uchar";
	}
}

void mr_run_cast(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	struct mr_tensor y = mr_call_output(call, 0, TF_ExpectedOutputDataType(call->context, 0),
					    x.rank, x.extents);
	char kernel[32];

	snprintf(kernel, sizeof(kernel), "Cast_%s_%s", type_name(x.type, true),
		 type_name(y.type, false));
	mr_call_launch(call, kernel, mr_range_elements(y.count), MR_BUFFER(x), MR_BUFFER(y),
		       MR_INT(y.count));
}
