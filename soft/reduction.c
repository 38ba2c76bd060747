/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over any dimensions.
 */
#include "ops.h"

/* Marks the dimensions that are reduced. */
static void read_axes(struct mr_call *call, int rank, bool ret_reduced[MR_RANK_MAX])
{
	struct mr_tensor axes = mr_call_input(call, 1);

	for (int i = 0; i < axes.count; i++) {
		int64_t axis = mr_tensor_integer(&axes, i);

		axis += axis < 0 ? rank : 0;
		if (axis < 0 || axis >= rank) {
			mr_call_fail(call, TF_INVALID_ARGUMENT, "Invalid reduction dimension");
			return;
		}
		ret_reduced[axis] = true;
	}
}

static void reduce(struct mr_call *call, const char *kernel, bool divide)
{
	struct mr_tensor x = mr_call_input(call, 0);
	bool reduced[MR_RANK_MAX] = {false};
	struct mr_layout walked = mr_layout_empty(), kept = mr_layout_empty();
	int64_t extents[MR_RANK_MAX];
	int32_t strides[MR_RANK_MAX];
	int rank = 0;

	read_axes(call, x.rank, reduced);
	mr_strides_dense(x.rank, x.extents, strides);
	for (int side = 0; side < x.rank; side++) {
		/* There cannot be too many sides: a layout holds as many as a tensor has. */
		mr_layout_add(reduced[side] ? &walked : &kept, x.extents[side],
			      (const int32_t[MR_OPERANDS]){strides[side]});
		if (!reduced[side])
			extents[rank++] = x.extents[side];
		else if (call->attributes->keep_dims)
			extents[rank++] = 1;
	}
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, rank, extents);
	mr_call_launch(call, kernel, mr_range_tasks(y.count, 1), MR_BUFFER(x), MR_BUFFER(y),
		       MR_STRUCT(kept), MR_STRUCT(walked),
		       MR_FLOAT(divide ? 1.0f / (float)walked.count : 1.0f));
}

void mr_run_sum(struct mr_call *call)
{
	reduce(call, "reduce_sum", false);
}

void mr_run_mean(struct mr_call *call)
{
	reduce(call, "reduce_sum", true);
}

void mr_run_product(struct mr_call *call)
{
	reduce(call, "reduce_product", false);
}

void mr_run_max(struct mr_call *call)
{
	reduce(call, "reduce_max", false);
}

void mr_run_min(struct mr_call *call)
{
	reduce(call, "reduce_min", false);
}

/* Which element along a dimension is the largest or smallest. */
static void find_argument(struct mr_call *call, const char *for_int, const char *for_long)
{
	struct mr_tensor x = mr_call_input(call, 0), dimension = mr_call_input(call, 1);
	TF_DataType type = TF_ExpectedOutputDataType(call->context, 0);
	int64_t extents[MR_RANK_MAX], inner = 1;
	int rank = 0;

	if (mr_call_failed(call))
		return;
	int64_t axis = mr_tensor_integer(&dimension, 0);
	axis += axis < 0 ? x.rank : 0;
	if (axis < 0 || axis >= x.rank || x.extents[axis] == 0 ||
	    (type != TF_INT32 && type != TF_INT64)) {
		mr_call_fail(call, TF_INVALID_ARGUMENT, "nothing to choose from");
		return;
	}
	for (int side = 0; side < x.rank; side++) {
		if (side != axis)
			extents[rank++] = x.extents[side];
		if (side > axis)
			inner *= x.extents[side];
	}
	struct mr_tensor y = mr_call_output(call, 0, type, rank, extents);
	mr_call_launch(call, type == TF_INT32 ? for_int : for_long, mr_range_tasks(y.count, 1),
		       MR_BUFFER(x), MR_BUFFER(y), MR_INT(x.extents[axis]), MR_INT(inner));
}

void mr_run_argument_max(struct mr_call *call)
{
	find_argument(call, "argument_max_int", "argument_max_long");
}

void mr_run_argument_min(struct mr_call *call)
{
	find_argument(call, "argument_min_int", "argument_min_long");
}

void mr_run_bias_gradient(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);

	if (x.rank < 2 || (call->attributes->channels_first && x.rank > 2)) {
		mr_call_fail(call, TF_UNIMPLEMENTED, "BiasAddGrad without channels last");
		return;
	}
	int64_t channels = x.extents[x.rank - 1];
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, 1, &channels);
	mr_call_launch(call, "column_sums",
		       mr_range_tasks((int)(channels + MR_COLUMNS - 1) / MR_COLUMNS, 1),
		       MR_BUFFER(x), MR_BUFFER(y), MR_INT(channels > 0 ? x.count / channels : 0),
		       MR_INT(channels));
}
