/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables changed in place, by assignment or by an optimiser.
 *
 * Some releases of TensorFlow (2.19 to 2.21 at least) do not export the functions for this. There
 * these ops fail and say so: without them, TensorFlow would take a kernel that computes on the
 * host with addresses of the device.
 */
#include "ops.h"

#include <tensorflow/c/kernels_experimental.h>

#pragma weak TF_AssignUpdateVariable
#pragma weak TF_GetInputTensorFromVariable
#pragma weak TF_MaybeLockVariableInputMutexesInOrder
#pragma weak TF_ReleaseVariableInputLockHolder

static bool is_possible(struct mr_call *call)
{
	if (TF_AssignUpdateVariable && TF_GetInputTensorFromVariable &&
	    TF_MaybeLockVariableInputMutexesInOrder && TF_ReleaseVariableInputLockHolder)
		return true;
	mr_call_fail(call, TF_UNIMPLEMENTED,
		     "this TensorFlow does not let devices change variables: keep them on the CPU, "
		     "or use assign()");
	return false;
}

/* TensorFlow asks for a copy when somebody else still reads the variable. */
static void copy_variable(TF_OpKernelContext *context, TF_Tensor *source, TF_Tensor *destination)
{
	struct mr_call call = mr_call_begin(context);
	struct mr_tensor from = mr_call_adopt(&call, source),
			 to = mr_call_adopt(&call, destination);

	if (!mr_call_failed(&call))
		mr_copy_on_device(call.stream, to.data, from.data, TF_TensorByteSize(source),
				  call.status);
	mr_call_end(&call);
}

/* TensorFlow hands this back to the function that updates, which gets nothing else of ours. */
enum update {
	UPDATE_ADD,
	UPDATE_SUBTRACT,
};

static void update_variable(TF_OpKernelContext *context, TF_Tensor *variable, TF_Tensor *value,
			    int update)
{
	static const char *const kernels[2][2] = {
		[UPDATE_ADD] = {"assign_add_float", "assign_add_long"},
		[UPDATE_SUBTRACT] = {"assign_subtract_float", "assign_subtract_long"},
	};
	struct mr_call call = mr_call_begin(context);
	struct mr_tensor to = mr_call_adopt(&call, variable), from = mr_call_adopt(&call, value);

	mr_call_require(&call, mr_tensor_has_shape(&from, to.rank, to.extents),
			"a variable and its change differ in shape");
	mr_call_launch(&call, kernels[update][to.type == TF_INT64], mr_range_elements(to.count),
		       MR_BUFFER(to), MR_BUFFER(from), MR_INT(to.count));
	mr_call_end(&call);
}

static void run_assign(struct mr_call *call, enum update update)
{
	if (is_possible(call))
		TF_AssignUpdateVariable(call->context, 0, 1, update, 0, copy_variable,
					update_variable, call->status);
}

void mr_run_assign_add(struct mr_call *call)
{
	run_assign(call, UPDATE_ADD);
}

void mr_run_assign_subtract(struct mr_call *call)
{
	run_assign(call, UPDATE_SUBTRACT);
}

/* ---- optimisers: their first inputs are variables ---- */

static TF_VariableInputLockHolder *get_variables(struct mr_call *call, int count,
						 struct mr_tensor *ret_variables)
{
	static const int inputs[] = {0, 1, 2};
	TF_VariableInputLockHolder *holder = NULL;

	if (!is_possible(call))
		return NULL;
	TF_MaybeLockVariableInputMutexesInOrder(call->context, false, false, inputs, (size_t)count,
						copy_variable, &holder, call->status);
	for (int i = 0; i < count && !mr_call_failed(call); i++) {
		TF_Tensor *tensor = NULL;

		TF_GetInputTensorFromVariable(call->context, i, false, false, false, copy_variable,
					      &tensor, call->status);
		ret_variables[i] = mr_call_adopt(call, tensor);
	}
	return holder;
}

static void require_gradient(struct mr_call *call, const struct mr_tensor *variables, int count,
			     const struct mr_tensor *gradient)
{
	for (int i = 0; i < count; i++)
		mr_call_require(
			call, mr_tensor_has_shape(&variables[i], gradient->rank, gradient->extents),
			"a variable and its gradient differ in shape");
}

static void release_variables(TF_VariableInputLockHolder *holder)
{
	if (holder)
		TF_ReleaseVariableInputLockHolder(holder);
}

void mr_run_gradient_descent(struct mr_call *call)
{
	struct mr_tensor variable = {0};
	TF_VariableInputLockHolder *holder = get_variables(call, 1, &variable);
	struct mr_tensor rate = mr_call_input(call, 1), gradient = mr_call_input(call, 2);

	require_gradient(call, &variable, 1, &gradient);
	mr_call_launch(call, "apply_gradient", mr_range_elements(variable.count),
		       MR_BUFFER(variable), MR_BUFFER(rate), MR_BUFFER(gradient),
		       MR_INT(variable.count));
	release_variables(holder);
}

void mr_run_momentum(struct mr_call *call)
{
	struct mr_tensor variables[2] = {0};
	TF_VariableInputLockHolder *holder = get_variables(call, 2, variables);
	struct mr_tensor rate = mr_call_input(call, 2), gradient = mr_call_input(call, 3);
	struct mr_tensor decay = mr_call_input(call, 4);

	require_gradient(call, variables, 2, &gradient);
	mr_call_launch(call, "apply_momentum", mr_range_elements(variables[0].count),
		       MR_BUFFER(variables[0]), MR_BUFFER(variables[1]), MR_BUFFER(rate),
		       MR_BUFFER(gradient), MR_BUFFER(decay),
		       MR_INT(call->attributes->use_nesterov), MR_INT(variables[0].count));
	release_variables(holder);
}

void mr_run_adam(struct mr_call *call)
{
	struct mr_tensor variables[3] = {0};
	TF_VariableInputLockHolder *holder = get_variables(call, 3, variables);
	struct mr_tensor beta1_power = mr_call_input(call, 3), beta2_power = mr_call_input(call, 4);
	struct mr_tensor rate = mr_call_input(call, 5), beta1 = mr_call_input(call, 6);
	struct mr_tensor beta2 = mr_call_input(call, 7), epsilon = mr_call_input(call, 8);
	struct mr_tensor gradient = mr_call_input(call, 9);

	require_gradient(call, variables, 3, &gradient);
	mr_call_launch(call, "apply_adam", mr_range_elements(variables[0].count),
		       MR_BUFFER(variables[0]), MR_BUFFER(variables[1]), MR_BUFFER(variables[2]),
		       MR_BUFFER(beta1_power), MR_BUFFER(beta2_power), MR_BUFFER(rate),
		       MR_BUFFER(beta1), MR_BUFFER(beta2), MR_BUFFER(epsilon), MR_BUFFER(gradient),
		       MR_INT(call->attributes->use_nesterov), MR_INT(variables[0].count));
	release_variables(holder);
}
