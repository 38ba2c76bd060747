/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/labels.h"

#include "analysis/cause/waiting.h"

_Static_assert((int)MR_REASON_COUNT <= MR_LABEL_REASONS, "reasons do not fit in a label");

static const char *string_text(const struct mr_model *model, uint32_t string)
{
	if (string >= mr_strings_count(&model->survey->definitions.strings))
		return "";
	return mr_model_text(model, string);
}

static const char *node_text(const struct mr_model *model, uint32_t number)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	if (number == 0 || number >= definitions->nodes.count)
		return "(not defined)";
	const struct mr_node *node = &definitions->nodes.items[number];
	return string_text(model, node->name ? node->name : node->type);
}

static const char *state_text(uint32_t label, char *buffer)
{
	uint32_t state = label / MR_LABEL_REASONS, reason = label % MR_LABEL_REASONS;

	if (state >= MR_STATE_COUNT || reason >= MR_REASON_COUNT)
		return "(not known)";
	const char *why = mr_state_reason_name(reason);
	if (!*why)
		return mr_thread_state_name(state);
	snprintf(buffer, MR_LABEL_BYTES, "%s: %s", mr_thread_state_name(state), why);
	return buffer;
}

static const char *system_call_text(const struct mr_model *model, uint32_t number, char *buffer)
{
	const struct mr_definitions *definitions = &model->survey->definitions;

	if (number < definitions->system_calls.count && definitions->system_calls.items[number])
		return string_text(model, definitions->system_calls.items[number]);
	snprintf(buffer, MR_LABEL_BYTES, "system call %u", number);
	return buffer;
}

/* What it was called last. */
static const char *task_text(const struct mr_model *model, uint32_t tid, char *buffer)
{
	uint32_t name = mr_task_name_at(&model->survey->tasks, tid, INT64_MAX);

	if (tid == 0)
		return "idle";
	if (name)
		snprintf(buffer, MR_LABEL_BYTES, "%.64s (%u)", string_text(model, name), tid);
	else
		snprintf(buffer, MR_LABEL_BYTES, "thread %u", tid);
	return buffer;
}

const char *mr_label_text(const struct mr_view *view, enum mr_sliced table, uint32_t label,
			  char *buffer)
{
	const struct mr_model *model = view->model;

	switch (table) {
	case MR_SLICED_node_executions:
		return node_text(model, label);
	case MR_SLICED_scopes:
	case MR_SLICED_calls:
		return string_text(model, label);
	case MR_SLICED_device_operations:
		return label >= MR_LABEL_UNNAMED
			       ? mr_enum_value_name("operation_kind", label - MR_LABEL_UNNAMED)
			       : string_text(model, label);
	case MR_SLICED_states:
		return state_text(label, buffer);
	case MR_SLICED_system_calls:
		return system_call_text(model, label, buffer);
	case MR_SLICED_major_faults:
		return "page fault";
	case MR_SLICED_block_io:
		return mr_enum_value_name("block_operation", label);
	case MR_SLICED_interrupts:
		return mr_enum_value_name("interrupt_kind", label);
	case MR_SLICED_cpu_runs:
		return task_text(model, label, buffer);
	case MR_SLICED_idle:
	case MR_SLICED_path:
		return label < MR_CAUSE_COUNT ? mr_cause_name(label) : "(not known)";
	case MR_SLICED_steps:
		snprintf(buffer, MR_LABEL_BYTES, "step %u", label);
		return buffer;
	default:
		return "";
	}
}
