/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes ---- */

static bool has_attribute(TF_OpKernelConstruction *construction, const char *name,
			  TF_Status *status)
{
	return TF_OpKernelConstruction_HasAttr(construction, name, status) &&
	       TF_GetCode(status) == TF_OK;
}

static bool read_bool(TF_OpKernelConstruction *construction, const char *name, TF_Status *status)
{
	TF_Bool value = 0;

	if (has_attribute(construction, name, status))
		TF_OpKernelConstruction_GetAttrBool(construction, name, &value, status);
	return value;
}

static float read_float(TF_OpKernelConstruction *construction, const char *name, TF_Status *status)
{
	float value = 0;

	if (has_attribute(construction, name, status))
		TF_OpKernelConstruction_GetAttrFloat(construction, name, &value, status);
	return value;
}

static void read_integers(TF_OpKernelConstruction *construction, const char *name, int count,
			  int64_t *ret_values, TF_Status *status)
{
	int32_t list_size = 0, total_size = 0;

	if (!has_attribute(construction, name, status))
		return;
	TF_OpKernelConstruction_GetAttrSize(construction, name, &list_size, &total_size, status);
	if (list_size == count)
		TF_OpKernelConstruction_GetAttrInt64List(construction, name, ret_values, count,
							 status);
}

static bool read_text_is(TF_OpKernelConstruction *construction, const char *name,
			 const char *expected, TF_Status *status)
{
	char value[32] = "";

	if (has_attribute(construction, name, status))
		TF_OpKernelConstruction_GetAttrString(construction, name, value, sizeof(value) - 1,
						      status);
	return strcmp(value, expected) == 0;
}

static struct mr_attributes read_attributes(TF_OpKernelConstruction *construction,
					    TF_Status *status)
{
	struct mr_attributes attributes = {
		.transpose_a = read_bool(construction, "transpose_a", status),
		.transpose_b = read_bool(construction, "transpose_b", status),
		.keep_dims = read_bool(construction, "keep_dims", status),
		.is_training = read_bool(construction, "is_training", status),
		.use_nesterov = read_bool(construction, "use_nesterov", status),
		.channels_first = read_text_is(construction, "data_format", "NCHW", status),
		.padding_same = read_text_is(construction, "padding", "SAME", status),
		.padding_explicit = read_text_is(construction, "padding", "EXPLICIT", status),
		.relu = read_text_is(construction, "activation_mode", "Relu", status),
		.dilations = {1, 1, 1, 1},
		.epsilon = read_float(construction, "epsilon", status),
		.average_factor = read_float(construction, "exponential_avg_factor", status),
	};

	read_integers(construction, "strides", 4, attributes.strides, status);
	read_integers(construction, "dilations", 4, attributes.dilations, status);
	read_integers(construction, "ksize", 4, attributes.window, status);
	read_integers(construction, "explicit_paddings", 8, attributes.explicit_paddings, status);
	return attributes;
}

void *mr_attributes_create(TF_OpKernelConstruction *construction)
{
	TF_Status *status = TF_NewStatus();
	struct mr_attributes *attributes = malloc(sizeof(*attributes));

	if (attributes)
		*attributes = read_attributes(construction, status);
	else
		TF_SetStatus(status, TF_RESOURCE_EXHAUSTED, "no memory for attributes");
	if (TF_GetCode(status) != TF_OK)
		TF_OpKernelConstruction_Failure(construction, status);
	TF_DeleteStatus(status);
	return attributes;
}

void mr_attributes_delete(void *attributes)
{
	free(attributes);
}

/* ---- calls ---- */

struct mr_call mr_call_begin(TF_OpKernelContext *context)
{
	struct mr_call call = {.context = context, .status = TF_NewStatus()};

	call.stream = TF_GetStream(context, call.status);
	return call;
}

void mr_call_end(struct mr_call *call)
{
	if (mr_call_failed(call))
		TF_OpKernelContext_Failure(call->context, call->status);
	for (int i = 0; i < call->tensor_count; i++)
		TF_DeleteTensor(call->tensors[i]);
	TF_DeleteStatus(call->status);
}

void mr_call_run(const struct mr_op *op, const struct mr_attributes *attributes,
		 TF_OpKernelContext *context)
{
	struct mr_call call = mr_call_begin(context);

	call.op = op;
	call.attributes = attributes;
	if (!mr_call_failed(&call))
		op->run(&call);
	mr_call_end(&call);
}

bool mr_call_failed(const struct mr_call *call)
{
	return TF_GetCode(call->status) != TF_OK;
}

void mr_call_fail(struct mr_call *call, TF_Code code, const char *why)
{
	if (!mr_call_failed(call))
		TF_SetStatus(call->status, code, why);
}

void mr_call_require(struct mr_call *call, bool condition, const char *otherwise)
{
	if (!condition)
		mr_call_fail(call, TF_INVALID_ARGUMENT, otherwise);
}

struct mr_tensor mr_call_adopt(struct mr_call *call, TF_Tensor *tensor)
{
	if (!tensor)
		return (struct mr_tensor){0};
	if (call->tensor_count == MR_TENSORS_MAX || TF_NumDims(tensor) > MR_RANK_MAX) {
		TF_DeleteTensor(tensor);
		mr_call_fail(call, TF_UNIMPLEMENTED,
			     "too many tensors or dimensions for this device");
		return (struct mr_tensor){0};
	}
	call->tensors[call->tensor_count++] = tensor;

	struct mr_tensor view = {
		/* The address of an empty tensor is meaningless. */
		.data = TF_TensorElementCount(tensor) > 0 ? TF_TensorData(tensor) : NULL,
		.type = TF_TensorType(tensor),
		.rank = TF_NumDims(tensor),
		.count = (int)TF_TensorElementCount(tensor),
	};
	for (int i = 0; i < view.rank; i++)
		view.extents[i] = TF_Dim(tensor, i);
	return view;
}

struct mr_tensor mr_call_input(struct mr_call *call, int index)
{
	TF_Tensor *tensor = NULL;

	if (!mr_call_failed(call))
		TF_GetInput(call->context, index, &tensor, call->status);
	return mr_call_adopt(call, tensor);
}

struct mr_tensor mr_call_output(struct mr_call *call, int index, TF_DataType type, int rank,
				const int64_t *extents)
{
	TF_Tensor *tensor = NULL;
	size_t size_bytes = TF_DataTypeSize(type);

	for (int i = 0; i < rank; i++)
		size_bytes *= (size_t)extents[i];
	if (!mr_call_failed(call))
		tensor = TF_AllocateOutput(call->context, index, type, extents, rank, size_bytes,
					   call->status);
	return mr_call_adopt(call, tensor);
}

struct mr_tensor mr_call_output_like(struct mr_call *call, int index, const struct mr_tensor *like)
{
	return mr_call_output(call, index, like->type, like->rank, like->extents);
}

struct mr_tensor mr_call_output_over(struct mr_call *call, int index, int inputs, int rank,
				     const int64_t *extents)
{
	TF_Tensor *tensor = NULL;
	int forwarded;

	if (!mr_call_failed(call))
		tensor = TF_ForwardInputOrAllocateOutput(call->context, (const int[]){0, 1}, inputs,
							 index, extents, rank, &forwarded,
							 call->status);
	return mr_call_adopt(call, tensor);
}

struct mr_tensor mr_call_temporary(struct mr_call *call, int64_t count)
{
	TF_Tensor *tensor = NULL;
	TF_AllocatorAttributes on_device = {.struct_size = TF_ALLOCATOR_ATTRIBUTES_STRUCT_SIZE};

	if (!mr_call_failed(call))
		tensor = TF_AllocateTemp(call->context, TF_FLOAT, &count, 1, &on_device,
					 call->status);
	return mr_call_adopt(call, tensor);
}

bool mr_tensor_has_shape(const struct mr_tensor *tensor, int rank, const int64_t *extents)
{
	if (tensor->rank != rank)
		return false;
	for (int i = 0; i < rank; i++) {
		if (tensor->extents[i] != extents[i])
			return false;
	}
	return true;
}

int64_t mr_tensor_integer(const struct mr_tensor *tensor, int index)
{
	if (tensor->type == TF_INT64)
		return ((const int64_t *)tensor->data)[index];
	return ((const int32_t *)tensor->data)[index];
}
