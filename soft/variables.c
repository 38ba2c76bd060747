/* SPDX-License-Identifier: Apache-2.0
 *
 * Ops that change variables in place: assignments and optimisers.
 *
 * Some releases of TensorFlow do not export the functions for this (hold.h). If there is no replacement either, these
 * ops fail with a message. They must exist: otherwise TensorFlow would use a kernel that computes on the host with
 * addresses of the device.
 */
#include "hold.h"
#include "ops.h"

#include <tensorflow/c/kernels_experimental.h>

#pragma weak TF_AssignUpdateVariable
#pragma weak TF_GetInputTensorFromVariable
#pragma weak TF_MaybeLockVariableInputMutexesInOrder
#pragma weak TF_ReleaseVariableInputLockHolder

static bool has_functions(void)
{
	return TF_AssignUpdateVariable && TF_GetInputTensorFromVariable &&
	       TF_MaybeLockVariableInputMutexesInOrder && TF_ReleaseVariableInputLockHolder;
}

static bool is_possible(struct mr_call *call)
{
	if (has_functions() || mr_hold_possible())
		return true;
	mr_call_fail(call, TF_UNIMPLEMENTED,
		     "this TensorFlow does not let devices change variables: keep them on the CPU, "
		     "or use assign()");
	return false;
}

/* TensorFlow requests a copy if somebody else still reads the variable. */
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

/* TensorFlow passes this on to the update function, which gets nothing else from us. */
enum update {
	UPDATE_ADD,
	UPDATE_SUBTRACT,
};

static void launch_update(struct mr_call *call, struct mr_tensor to, struct mr_tensor from,
			  enum update update)
{
	static const char *const kernels[2][2] = {
		[UPDATE_ADD] = {"assign_add_float", "assign_add_long"},
		[UPDATE_SUBTRACT] = {"assign_subtract_float", "assign_subtract_long"},
	};

	mr_call_require(call, mr_tensor_has_shape(&from, to.rank, to.extents),
			"a variable and its change differ in shape");
	mr_call_launch(call, kernels[update][to.type == TF_INT64], mr_range_elements(to.count),
		       MR_BUFFER(to), MR_BUFFER(from), MR_INT(to.count));
}

static void update_variable(TF_OpKernelContext *context, TF_Tensor *variable, TF_Tensor *value,
			    int update)
{
	struct mr_call call = mr_call_begin(context);
	struct mr_tensor to = mr_call_adopt(&call, variable), from = mr_call_adopt(&call, value);

	launch_update(&call, to, from, (enum update)update);
	mr_call_end(&call);
}

static void run_assign(struct mr_call *call, enum update update)
{
	struct mr_tensor variable = {0};

	if (!is_possible(call))
		return;
	if (has_functions()) {
		TF_AssignUpdateVariable(call->context, 0, 1, update, 0, copy_variable,
					update_variable, call->status);
		return;
	}
	struct mr_held held = mr_hold(call, 1, &variable);
	launch_update(call, variable, mr_call_input(call, 1), update);
	mr_held_release(&held);
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

struct variables {
	TF_VariableInputLockHolder *holder;
	struct mr_held held;
};

static void get_by_functions(struct mr_call *call, int count, struct mr_tensor *ret_values,
			     struct variables *variables)
{
	static const int inputs[MR_HELD_MAX] = {0, 1, 2};

	TF_MaybeLockVariableInputMutexesInOrder(call->context, false, false, inputs, (size_t)count,
						copy_variable, &variables->holder, call->status);
	for (int i = 0; i < count && !mr_call_failed(call); i++) {
		TF_Tensor *tensor = NULL;

		TF_GetInputTensorFromVariable(call->context, i, false, false, false, copy_variable,
					      &tensor, call->status);
		ret_values[i] = mr_call_adopt(call, tensor);
	}
}

static struct variables get_variables(struct mr_call *call, int count, struct mr_tensor *ret_values)
{
	struct variables variables = {0};

	if (!is_possible(call))
		return variables;
	if (has_functions())
		get_by_functions(call, count, ret_values, &variables);
	else
		variables.held = mr_hold(call, count, ret_values);
	return variables;
}

static void release_variables(struct variables *variables)
{
	if (variables->holder)
		TF_ReleaseVariableInputLockHolder(variables->holder);
	mr_held_release(&variables->held);
}

static void require_gradient(struct mr_call *call, const struct mr_tensor *values, int count,
			     const struct mr_tensor *gradient)
{
	for (int i = 0; i < count; i++)
		mr_call_require(call,
				mr_tensor_has_shape(&values[i], gradient->rank, gradient->extents),
				"a variable and its gradient differ in shape");
}

void mr_run_gradient_descent(struct mr_call *call)
{
	struct mr_tensor value = {0};
	struct variables variables = get_variables(call, 1, &value);
	struct mr_tensor rate = mr_call_input(call, 1), gradient = mr_call_input(call, 2);

	require_gradient(call, &value, 1, &gradient);
	mr_call_launch(call, "apply_gradient", mr_range_elements(value.count), MR_BUFFER(value),
		       MR_BUFFER(rate), MR_BUFFER(gradient), MR_INT(value.count));
	release_variables(&variables);
}

void mr_run_momentum(struct mr_call *call)
{
	struct mr_tensor values[2] = {0};
	struct variables variables = get_variables(call, 2, values);
	struct mr_tensor rate = mr_call_input(call, 2), gradient = mr_call_input(call, 3);
	struct mr_tensor decay = mr_call_input(call, 4);

	require_gradient(call, values, 2, &gradient);
	mr_call_launch(call, "apply_momentum", mr_range_elements(values[0].count),
		       MR_BUFFER(values[0]), MR_BUFFER(values[1]), MR_BUFFER(rate),
		       MR_BUFFER(gradient), MR_BUFFER(decay),
		       MR_INT(call->attributes->use_nesterov), MR_INT(values[0].count));
	release_variables(&variables);
}

void mr_run_adam(struct mr_call *call)
{
	struct mr_tensor values[3] = {0};
	struct variables variables = get_variables(call, 3, values);
	struct mr_tensor beta1_power = mr_call_input(call, 3), beta2_power = mr_call_input(call, 4);
	struct mr_tensor rate = mr_call_input(call, 5), beta1 = mr_call_input(call, 6);
	struct mr_tensor beta2 = mr_call_input(call, 7), epsilon = mr_call_input(call, 8);
	struct mr_tensor gradient = mr_call_input(call, 9);

	require_gradient(call, values, 3, &gradient);
	mr_call_launch(call, "apply_adam", mr_range_elements(values[0].count), MR_BUFFER(values[0]),
		       MR_BUFFER(values[1]), MR_BUFFER(values[2]), MR_BUFFER(beta1_power),
		       MR_BUFFER(beta2_power), MR_BUFFER(rate), MR_BUFFER(beta1), MR_BUFFER(beta2),
		       MR_BUFFER(epsilon), MR_BUFFER(gradient),
		       MR_INT(call->attributes->use_nesterov), MR_INT(values[0].count));
	release_variables(&variables);
}
