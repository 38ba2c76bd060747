/* SPDX-License-Identifier: Apache-2.0 */
#include "load/operations.h"

#include "model/step_times.h"

/* What a device does for a step may begin and end later than the step does on its thread. */
static void extend_steps(struct mr_model *model)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_steps *steps = &model->steps;

	for (uint32_t step = 0; step < steps->table.count; step++)
		steps->device_start_ns[step] = steps->device_end_ns[step] = MR_NO_TIME;
	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t step = operations->step_row[row];

		if (step == MR_NO_ROW ||
		    operations->flags[row] & (MR_ROW_UNFINISHED | MR_ROW_UNTIMED))
			continue;
		if (steps->device_start_ns[step] == MR_NO_TIME ||
		    operations->start_ns[row] < steps->device_start_ns[step])
			steps->device_start_ns[step] = operations->start_ns[row];
		steps->device_end_ns[step] =
			mr_max(steps->device_end_ns[step], mr_operation_end_ns(model, row));
	}
}

int mr_operations_link(struct mr_model *model)
{
	const struct mr_device_operations *operations = &model->device_operations;
	const struct mr_calls *calls = &model->calls;
	mr_auto(step_times) struct mr_step_times times = {0};

	if (mr_step_times_make(model, &times) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint32_t call = operations->call[row];
		int64_t ns = call == MR_NO_ROW ? operations->start_ns[row] : calls->start_ns[call];

		uint32_t execution = call == MR_NO_ROW ? MR_NO_ROW : calls->execution[call];

		operations->execution[row] = execution;
		operations->node[row] =
			execution == MR_NO_ROW ? 0 : model->node_executions.node[execution];
		operations->step_row[row] =
			mr_step_times_find(&times, operations->process[row], ns);
	}
	extend_steps(model);
	return 0;
}
