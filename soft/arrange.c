/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that create, repeat or move elements. All except filling use one device kernel: a layout
 * whose first operand says where elements come from, and whose second says where they go.
 */
#include "ops.h"

static void fill(struct mr_call *call, const struct mr_tensor *y, float value)
{
	mr_call_launch(call, "Fill", mr_range_elements(y->count), MR_BUFFER(*y), MR_FLOAT(value),
		       MR_INT(y->count));
}

static void add_side(struct mr_call *call, struct mr_layout *layout, int64_t extent, int64_t from,
		     int64_t to)
{
	if (!mr_layout_add(layout, extent,
			   (const int32_t[MR_OPERANDS]){(int32_t)from, (int32_t)to}))
		mr_call_fail(call, TF_UNIMPLEMENTED, "too many dimensions");
}

/* `from` and `to` are the positions of the first element. */
static void move(struct mr_call *call, const struct mr_tensor *x, const struct mr_tensor *y,
		 const struct mr_layout *layout, int64_t from, int64_t to)
{
	mr_call_launch(call, "move", mr_range_rows(layout), MR_BUFFER(*x), MR_BUFFER(*y),
		       MR_STRUCT(*layout), MR_INT(from), MR_INT(to));
}

/* Reads numbers from a tensor on the host; returns how many. */
static int read_numbers(struct mr_call *call, int index, int64_t ret_numbers[MR_RANK_MAX])
{
	struct mr_tensor tensor = mr_call_input(call, index);

	mr_call_require(call, tensor.count <= MR_RANK_MAX, "too many dimensions");
	if (mr_call_failed(call))
		return 0;
	for (int i = 0; i < tensor.count; i++)
		ret_numbers[i] = mr_tensor_integer(&tensor, i);
	return tensor.count;
}

static int read_shape(struct mr_call *call, int index, int64_t ret_extents[MR_RANK_MAX])
{
	int rank = read_numbers(call, index, ret_extents);

	for (int i = 0; i < rank; i++)
		mr_call_require(call, ret_extents[i] >= 0, "a dimension is negative");
	return rank;
}

/* Reads one number per dimension of a tensor. */
static void read_per_side(struct mr_call *call, int index, int rank,
			  int64_t ret_numbers[MR_RANK_MAX])
{
	mr_call_require(call, read_numbers(call, index, ret_numbers) == rank,
			"one number per dimension is required");
}

void mr_run_fill(struct mr_call *call)
{
	int64_t extents[MR_RANK_MAX];
	int rank = read_shape(call, 0, extents);
	struct mr_tensor value = mr_call_input(call, 1);
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, rank, extents);

	if (!mr_call_failed(call))
		fill(call, &y, *(const float *)value.data);
}

static void run_like(struct mr_call *call, float value)
{
	struct mr_tensor x = mr_call_input(call, 0);
	struct mr_tensor y = mr_call_output_over(call, 0, 1, x.rank, x.extents);

	fill(call, &y, value);
}

void mr_run_zeros_like(struct mr_call *call)
{
	run_like(call, 0);
}

void mr_run_ones_like(struct mr_call *call)
{
	run_like(call, 1);
}

void mr_run_broadcast_to(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	int64_t extents[MR_RANK_MAX];
	int rank = read_shape(call, 1, extents);
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, rank, extents);
	struct mr_layout layout = mr_layout_empty();
	int32_t from[MR_RANK_MAX], to[MR_RANK_MAX];

	mr_call_require(call, rank >= x.rank, "Incompatible shapes");
	mr_strides_dense(x.rank, x.extents, from);
	mr_strides_dense(rank, extents, to);
	for (int side = 0; side < rank && !mr_call_failed(call); side++) {
		int own = side - (rank - x.rank);

		mr_call_require(call,
				own < 0 || x.extents[own] == 1 || x.extents[own] == extents[side],
				"Incompatible shapes");
		add_side(call, &layout, extents[side],
			 own < 0 || x.extents[own] == 1 ? 0 : from[own], to[side]);
	}
	move(call, &x, &y, &layout, 0, 0);
}

/* Each side becomes two: the number of the copy, and the position in it. */
void mr_run_tile(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	int64_t multiples[MR_RANK_MAX], extents[MR_RANK_MAX];
	int32_t from[MR_RANK_MAX], to[MR_RANK_MAX];
	struct mr_layout layout = mr_layout_empty();

	mr_call_require(call, read_shape(call, 1, multiples) == x.rank,
			"one multiple per dimension is required");
	if (mr_call_failed(call))
		return;
	for (int side = 0; side < x.rank; side++)
		extents[side] = x.extents[side] * multiples[side];
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, x.rank, extents);
	mr_strides_dense(x.rank, x.extents, from);
	mr_strides_dense(x.rank, extents, to);
	for (int side = 0; side < x.rank; side++) {
		add_side(call, &layout, multiples[side], 0, to[side] * x.extents[side]);
		add_side(call, &layout, x.extents[side], from[side], to[side]);
	}
	move(call, &x, &y, &layout, 0, 0);
}

static bool is_permutation(int rank, const int64_t *order)
{
	unsigned int seen = 0;

	for (int i = 0; i < rank; i++) {
		if (order[i] < 0 || order[i] >= rank)
			return false;
		seen |= 1u << order[i];
	}
	return seen == (1u << rank) - 1;
}

void mr_run_transpose(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	int64_t order[MR_RANK_MAX], extents[MR_RANK_MAX];
	int32_t from[MR_RANK_MAX], to[MR_RANK_MAX];
	struct mr_layout layout = mr_layout_empty();

	read_per_side(call, 1, x.rank, order);
	if (mr_call_failed(call) || !is_permutation(x.rank, order)) {
		mr_call_require(call, false, "Transpose requires each dimension once");
		return;
	}
	for (int side = 0; side < x.rank; side++)
		extents[side] = x.extents[order[side]];
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, x.rank, extents);
	mr_strides_dense(x.rank, x.extents, from);
	mr_strides_dense(x.rank, extents, to);
	for (int side = 0; side < x.rank; side++)
		add_side(call, &layout, extents[side], from[order[side]], to[side]);
	move(call, &x, &y, &layout, 0, 0);
}

/* Copies `x`, with its shape, to a place in the larger `y`. */
static void move_into(struct mr_call *call, const struct mr_tensor *x, const struct mr_tensor *y,
		      const int64_t *place)
{
	int32_t from[MR_RANK_MAX], to[MR_RANK_MAX];
	struct mr_layout layout = mr_layout_empty();
	int64_t begin = 0;

	mr_strides_dense(x->rank, x->extents, from);
	mr_strides_dense(y->rank, y->extents, to);
	for (int side = 0; side < x->rank; side++) {
		add_side(call, &layout, x->extents[side], from[side], to[side]);
		begin += place[side] * to[side];
	}
	move(call, x, y, &layout, 0, begin);
}

void mr_run_concat(struct mr_call *call)
{
	int count = TF_NumInputs(call->context) - 1;
	struct mr_tensor parts[MR_TENSORS_MAX];
	int64_t place[MR_RANK_MAX] = {0};
	struct mr_tensor axis_tensor = mr_call_input(call, count);

	if (count > MR_TENSORS_MAX - 2)
		mr_call_fail(call, TF_UNIMPLEMENTED, "too many tensors to concatenate");
	for (int i = 0; i < count && !mr_call_failed(call); i++)
		parts[i] = mr_call_input(call, i);
	if (mr_call_failed(call))
		return;

	int64_t axis = mr_tensor_integer(&axis_tensor, 0);
	axis += axis < 0 ? parts[0].rank : 0;
	mr_call_require(call, axis >= 0 && axis < parts[0].rank, "no such dimension");
	struct mr_tensor shape = parts[0];
	for (int i = 1; i < count && !mr_call_failed(call); i++) {
		struct mr_tensor fitted = parts[i];

		fitted.extents[axis] = parts[0].extents[axis];
		mr_call_require(call, mr_tensor_has_shape(&fitted, parts[0].rank, parts[0].extents),
				"ConcatOp : Dimensions of inputs should match");
		shape.extents[axis] += parts[i].extents[axis];
	}
	if (mr_call_failed(call))
		return;
	struct mr_tensor y = mr_call_output_like(call, 0, &shape);
	for (int i = 0; i < count; i++) {
		move_into(call, &parts[i], &y, place);
		place[axis] += parts[i].extents[axis];
	}
}

void mr_run_slice(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0);
	int64_t begins[MR_RANK_MAX], sizes[MR_RANK_MAX], from = 0;
	int32_t x_strides[MR_RANK_MAX], y_strides[MR_RANK_MAX];
	struct mr_layout layout = mr_layout_empty();

	read_per_side(call, 1, x.rank, begins);
	read_per_side(call, 2, x.rank, sizes);
	if (mr_call_failed(call))
		return;
	mr_strides_dense(x.rank, x.extents, x_strides);
	for (int side = 0; side < x.rank; side++) {
		if (sizes[side] == -1)
			sizes[side] = x.extents[side] - begins[side];
		if (begins[side] < 0 || sizes[side] < 0 ||
		    begins[side] + sizes[side] > x.extents[side]) {
			mr_call_fail(call, TF_INVALID_ARGUMENT, "Slice outside of the tensor");
			return;
		}
		from += begins[side] * x_strides[side];
	}
	struct mr_tensor y = mr_call_output(call, 0, TF_FLOAT, x.rank, sizes);
	mr_strides_dense(x.rank, sizes, y_strides);
	for (int side = 0; side < x.rank; side++)
		add_side(call, &layout, sizes[side], x_strides[side], y_strides[side]);
	move(call, &x, &y, &layout, from, 0);
}

void mr_run_pad(struct mr_call *call)
{
	struct mr_tensor x = mr_call_input(call, 0), paddings = mr_call_input(call, 1);
	int64_t place[MR_RANK_MAX];

	if (mr_call_failed(call) || paddings.count != 2 * x.rank) {
		mr_call_fail(call, TF_INVALID_ARGUMENT, "Pad requires two numbers per dimension");
		return;
	}
	struct mr_tensor shape = x;
	for (int side = 0; side < x.rank; side++) {
		int64_t after = mr_tensor_integer(&paddings, 2 * side + 1);

		place[side] = mr_tensor_integer(&paddings, 2 * side);
		mr_call_require(call, place[side] >= 0 && after >= 0, "a padding is negative");
		shape.extents[side] += place[side] + after;
	}
	struct mr_tensor y = mr_call_output_like(call, 0, &shape);
	fill(call, &y, 0);
	move_into(call, &x, &y, place);
}
