/* SPDX-License-Identifier: Apache-2.0
 *
 * One execution of an op: its attributes, inputs, outputs, temporaries, and the device kernels it
 * launches.
 *
 * An op's function runs once per execution, on one thread, and returns as soon as its device kernels
 * are enqueued. The call keeps the first failure. After it, requests for tensors return empty ones and
 * launching does nothing, so that the functions need not check after every line. A function that
 * computes with extents that an empty tensor does not have checks mr_call_failed() first.
 *
 * The call owns all tensors and releases them at its end. Device kernels may still read or write that
 * memory; nobody else gets it before they have ended, because TensorFlow allocates memory in the order
 * of the stream.
 */
#pragma once

#include "device.h"
#include "layout.h"

/* The header defines this; every file that includes it would define it again. */
#pragma weak TF_InputRange_Args_STRUCT_SIZE
#include <tensorflow/c/kernels.h>
#include <tensorflow/c/tf_tensor.h>

#define MR_TENSORS_MAX 32

/* Attributes of all ops; attributes that an op does not have are zero. */
struct mr_attributes {
	bool transpose_a, transpose_b;
	bool keep_dims;
	bool is_training;
	bool use_nesterov;
	bool channels_first;
	bool padding_same, padding_explicit;
	bool relu; /* activation_mode of a fused op */
	int64_t strides[4], dilations[4], window[4];
	int64_t explicit_paddings[8];
	float epsilon;
	float average_factor;
};

struct mr_call;

/* A row of ops.def. */
struct mr_op {
	const char *name;
	void (*compute)(void *attributes, TF_OpKernelContext *context);
	void (*run)(struct mr_call *call);
	const char *type_attribute;
	const TF_DataType *types;       /* ends with 0 */
	const char *const *host_memory; /* arguments that stay on the host; ends with NULL */
};

struct mr_call {
	const struct mr_op *op;
	const struct mr_attributes *attributes;
	TF_OpKernelContext *context;
	TF_Status *status;
	SP_Stream stream;
	TF_Tensor *tensors[MR_TENSORS_MAX];
	int tensor_count;
};

/* A tensor, as the functions use it. `data` is an address in device memory, or in host memory for
 * arguments that stay there. */
struct mr_tensor {
	void *data;
	TF_DataType type;
	int rank;
	int64_t extents[MR_RANK_MAX];
	int count; /* elements */
};

void *mr_attributes_create(TF_OpKernelConstruction *construction);
void mr_attributes_delete(void *attributes);

/* Begins a call, which may have failed already. mr_call_end() ends it and reports a failure to
 * TensorFlow. */
struct mr_call mr_call_begin(TF_OpKernelContext *context);
void mr_call_end(struct mr_call *call);

/* Does both, and runs the op's function in between. */
void mr_call_run(const struct mr_op *op, const struct mr_attributes *attributes,
		 TF_OpKernelContext *context);

bool mr_call_failed(const struct mr_call *call);
void mr_call_fail(struct mr_call *call, TF_Code code, const char *why);

/* Fails the call unless the condition holds for the program's arguments. */
void mr_call_require(struct mr_call *call, bool condition, const char *otherwise);

struct mr_tensor mr_call_input(struct mr_call *call, int index);
struct mr_tensor mr_call_output(struct mr_call *call, int index, TF_DataType type, int rank,
				const int64_t *extents);
struct mr_tensor mr_call_output_like(struct mr_call *call, int index, const struct mr_tensor *like);

/* A float output that may reuse the memory of the first input, or of either of the first two, if
 * nobody else needs it. */
struct mr_tensor mr_call_output_over(struct mr_call *call, int index, int inputs, int rank,
				     const int64_t *extents);

struct mr_tensor mr_call_temporary(struct mr_call *call, int64_t count);

bool mr_tensor_has_shape(const struct mr_tensor *tensor, int rank, const int64_t *extents);

/* Gives the call ownership of a tensor from TensorFlow. */
struct mr_tensor mr_call_adopt(struct mr_call *call, TF_Tensor *tensor);

/* Integers (32 or 64 bits) that are on the host. */
int64_t mr_tensor_integer(const struct mr_tensor *tensor, int index);

/* ---- launching ---- */

enum mr_argument_kind {
	MR_ARGUMENT_BUFFER,
	MR_ARGUMENT_INT,
	MR_ARGUMENT_FLOAT,
	MR_ARGUMENT_STRUCT,
};

struct mr_argument {
	enum mr_argument_kind kind;
	union {
		const void *address; /* of device memory, or of a structure */
		int32_t integer;
		float real;
	};
	size_t size_bytes; /* of a structure */
};

#define MR_BUFFER(tensor) \
	((struct mr_argument){.kind = MR_ARGUMENT_BUFFER, .address = (tensor).data})
#define MR_INT(value)   ((struct mr_argument){.kind = MR_ARGUMENT_INT, .integer = (int32_t)(value)})
#define MR_FLOAT(value) ((struct mr_argument){.kind = MR_ARGUMENT_FLOAT, .real = (value)})
#define MR_STRUCT(value)       \
	((struct mr_argument){ \
		.kind = MR_ARGUMENT_STRUCT, .address = &(value), .size_bytes = sizeof(value)})

/* The number of work-items, and how many of them form a group. A group runs on one of the device's
 * threads. PoCL compiles a device kernel again for each group size, so these are the only ones. */
struct mr_range {
	size_t width, height;
	size_t group_width;
};

/* One item per element; there may be more items than requested. */
static inline struct mr_range mr_range_elements(int count)
{
	return (struct mr_range){(size_t)count, 1, 256};
}

/* One item per row of a layout, or per part of a long row. */
static inline struct mr_range mr_range_rows(const struct mr_layout *layout)
{
	return (struct mr_range){(size_t)mr_layout_tasks(layout), 1, 16};
}

/* One item with much work, on its own thread if possible. */
static inline struct mr_range mr_range_tasks(int width, int height)
{
	return (struct mr_range){(size_t)width, (size_t)height, 1};
}

void mr_call_launch_array(struct mr_call *call, const char *kernel, struct mr_range range,
			  const struct mr_argument *arguments, size_t count);

#define mr_call_launch(call, kernel, range, ...)                                       \
	mr_call_launch_array(call, kernel, range, (struct mr_argument[]){__VA_ARGS__}, \
			     sizeof((struct mr_argument[]){__VA_ARGS__}) /             \
				     sizeof(struct mr_argument))
