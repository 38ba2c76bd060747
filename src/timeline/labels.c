/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/labels.h"

#include "analysis/cause/waiting.h"

_Static_assert((int)MR_REASON_COUNT <= MR_LABEL_REASONS, "reasons do not fit in a label");

/* ---- texts ---------------------------------------------------------------------------------------- */

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

static const char *state_text(const struct mr_model *model, uint32_t label, char *buffer)
{
	uint32_t state = label / MR_LABEL_REASONS, reason = label % MR_LABEL_REASONS;

	(void)model;
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
	uint32_t name = mr_task_name_at(&model->survey->tasks, MR_OWN_HOST, tid, INT64_MAX);

	if (tid == 0)
		return "idle";
	if (name)
		snprintf(buffer, MR_LABEL_BYTES, "%.64s (%u)", string_text(model, name), tid);
	else
		snprintf(buffer, MR_LABEL_BYTES, "thread %u", tid);
	return buffer;
}

/* ---- tables with labels of their own -------------------------------------------------------------- */

static uint32_t find_state(const struct mr_view *view, uint32_t row)
{
	const struct mr_states *states = &view->model->states;

	return states->state[row] * MR_LABEL_REASONS + states->reason[row];
}

static uint32_t find_operation(const struct mr_view *view, uint32_t row)
{
	const struct mr_device_operations *operations = &view->model->device_operations;

	return operations->name[row] ? operations->name[row]
				     : MR_LABEL_UNNAMED + operations->kind[row];
}

static uint32_t find_idle(const struct mr_view *view, uint32_t row)
{
	uint32_t chain = mr_idle_headline(&view->idle, view->idle.pieces.items[row].chain);

	return mr_chain_link(&view->idle.chains, chain)->kind;
}

static uint32_t find_path(const struct mr_view *view, uint32_t row)
{
	return view->path.segments.items[row].link.kind;
}

static uint32_t find_step(const struct mr_view *view, uint32_t row)
{
	return (uint32_t)view->steps.list.steps.items[row].number;
}

static const char *operation_text(const struct mr_model *model, uint32_t label, char *buffer)
{
	(void)buffer;
	return label >= MR_LABEL_UNNAMED
		       ? mr_enum_value_name("operation_kind", label - MR_LABEL_UNNAMED)
		       : string_text(model, label);
}

static const char *cause_text(const struct mr_model *model, uint32_t label, char *buffer)
{
	(void)model;
	(void)buffer;
	return label < MR_CAUSE_COUNT ? mr_cause_name(label) : "(not known)";
}

static const char *step_text(const struct mr_model *model, uint32_t label, char *buffer)
{
	(void)model;
	snprintf(buffer, MR_LABEL_BYTES, "step %u", label);
	return buffer;
}

static const struct {
	uint32_t (*find)(const struct mr_view *view, uint32_t row); /* NULL: it is a column */
	const char *(*text)(const struct mr_model *model, uint32_t label, char *buffer);
} own[MR_SLICED_COUNT] = {
	[MR_SLICED_device_operations] = {find_operation, operation_text},
	[MR_SLICED_states] = {find_state, state_text},
	[MR_SLICED_cpu_runs] = {NULL, task_text},
	[MR_SLICED_idle] = {find_idle, cause_text},
	[MR_SLICED_path] = {find_path, cause_text},
	[MR_SLICED_steps] = {find_step, step_text},
};

uint32_t mr_label_find(const struct mr_view *view, enum mr_sliced table, uint32_t row)
{
	return own[table].find ? own[table].find(view, row) : 0;
}

/* ---- all ------------------------------------------------------------------------------------------ */

/* What a value of a column is called. */
static const char *column_text(const struct mr_model *model, const struct mr_column_desc *desc,
			       uint32_t value, char *buffer)
{
	switch (desc->meaning) {
	case MR_MEANS_string:
		return string_text(model, value);
	case MR_MEANS_node:
		return node_text(model, value);
	case MR_MEANS_system_call:
		return system_call_text(model, value, buffer);
	case MR_MEANS_enumeration:
		return mr_enum_value_name(desc->of, value);
	default:
		snprintf(buffer, MR_LABEL_BYTES, "%s %u", desc->name, value);
		return buffer;
	}
}

const char *mr_label_text(const struct mr_view *view, enum mr_sliced table, uint32_t label,
			  char *buffer)
{
	if (own[table].text)
		return own[table].text(view->model, label, buffer);
	if (mr_sliced[table].label)
		return column_text(view->model, view->slices[table].label_desc, label, buffer);
	return mr_sliced[table].noun;
}

/* Copies are no device kernels, though both are operations of a device. */
const char *mr_row_noun(const struct mr_view *view, enum mr_sliced table, uint32_t row)
{
	uint8_t kind = table == MR_SLICED_device_operations
			       ? view->model->device_operations.kind[row]
			       : MR_operation_kind_other;

	return kind == MR_operation_kind_kernel || kind == MR_operation_kind_native_kernel
		       ? "device kernel"
		       : mr_sliced[table].noun;
}
