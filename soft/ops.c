/* SPDX-License-Identifier: Apache-2.0
 *
 * Registers the ops of ops.def with TensorFlow.
 */
#include "ops.h"

#include <stdio.h>

__attribute__((visibility("default"))) void TF_InitKernel(void);

enum op_number {
#define MR_OP(op, ...) OP_##op,
#define MR_ASSIGN      MR_OP
#include "ops.def"
#undef MR_OP
	OP_Cast,
};

static const struct mr_op ops[];

/* TensorFlow passes a kernel its node but not its op, so each op has its own function. */
#define MR_OP(op, ...)                                                          \
	static void compute_##op(void *attributes, TF_OpKernelContext *context) \
	{                                                                       \
		mr_call_run(&ops[OP_##op], attributes, context);                \
	}
#include "ops.def"
MR_OP(Cast)
#undef MR_ASSIGN
#undef MR_OP

static const TF_DataType floats[] = {TF_FLOAT, 0};
static const TF_DataType floats_and_integers[] = {TF_FLOAT, TF_INT64, 0};

static const struct mr_op ops[] = {
#define MR_OP(op, function, ...)                           \
	[OP_##op] = {#op, compute_##op, mr_run_##function, \
		     "T", floats,       (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}},
#define MR_ASSIGN(op, function)                                       \
	[OP_##op] = {#op,     compute_##op,        mr_run_##function, \
		     "dtype", floats_and_integers, (const char *const[]){"resource", NULL}},
#include "ops.def"
#undef MR_ASSIGN
#undef MR_OP
	[OP_Cast] = {.name = "Cast", .compute = compute_Cast, .run = mr_run_cast},
};

/* Cast has two types. */
static const TF_DataType casts[][2] = {
	{TF_INT32, TF_FLOAT}, {TF_INT64, TF_FLOAT}, {TF_UINT8, TF_FLOAT},
	{TF_BOOL, TF_FLOAT},  {TF_FLOAT, TF_INT32}, {TF_FLOAT, TF_INT64},
	{TF_FLOAT, TF_BOOL},  {TF_INT32, TF_INT64}, {TF_INT64, TF_INT32},
};

static TF_KernelBuilder *begin_registration(const struct mr_op *op)
{
	return TF_NewKernelBuilder(op->name, MR_DEVICE_TYPE, mr_attributes_create, op->compute,
				   mr_attributes_delete);
}

/* TensorFlow then owns the builders. An op that it rejects runs on the CPU. */
static void end_registration(const struct mr_op *op, TF_KernelBuilder *builder, TF_Status *status)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", MR_DEVICE_TYPE, op->name);
	TF_RegisterKernelBuilder(name, builder, status);
}

void TF_InitKernel(void)
{
	TF_Status *status = TF_NewStatus();

	for (const struct mr_op *op = ops; op < &ops[OP_Cast]; op++) {
		for (const TF_DataType *type = op->types; *type; type++) {
			TF_KernelBuilder *builder = begin_registration(op);

			TF_KernelBuilder_TypeConstraint(builder, op->type_attribute, *type, status);
			for (const char *const *argument = op->host_memory; *argument; argument++)
				TF_KernelBuilder_HostMemory(builder, *argument);
			end_registration(op, builder, status);
		}
	}
	for (size_t i = 0; i < sizeof(casts) / sizeof(casts[0]); i++) {
		TF_KernelBuilder *builder = begin_registration(&ops[OP_Cast]);

		TF_KernelBuilder_TypeConstraint(builder, "SrcT", casts[i][0], status);
		TF_KernelBuilder_TypeConstraint(builder, "DstT", casts[i][1], status);
		end_registration(&ops[OP_Cast], builder, status);
	}
	TF_DeleteStatus(status);
}
