/* SPDX-License-Identifier: Apache-2.0
 *
 * What a slice is called: a number, in a space of its own for each table, that the page colours and groups by;
 * and the text of it.
 *
 *     table                label                      table            label
 *     node_executions      node                       block_io         enum mr_block_operation
 *     scopes               string: name               interrupts       enum mr_interrupt_kind
 *     calls                string: function           major_faults     0
 *     device_operations    string: name, or kind      cpu_runs         tid
 *     states               state * 16 + reason        idle, path       enum mr_cause_kind
 *     system_calls         number                     steps            low half of its number
 */
#ifndef MR_TIMELINE_LABELS_H
#define MR_TIMELINE_LABELS_H

#include "timeline/view.h"

enum {
	MR_LABEL_BYTES = 96, /* room for texts that are made up */
	MR_LABEL_REASONS = 16,
};

/* A device operation without name: added to its kind. Strings are fewer. */
#define MR_LABEL_UNNAMED (UINT32_C(1) << 31)

/* Of a row of mr_view_slices(). */
static inline uint32_t mr_label_of(const struct mr_view *view, enum mr_sliced table, uint32_t row)
{
	const struct mr_model *model = view->model;

	switch (table) {
	case MR_SLICED_node_executions:
		return model->node_executions.node[row];
	case MR_SLICED_scopes:
		return model->scopes.name[row];
	case MR_SLICED_calls:
		return model->calls.function[row];
	case MR_SLICED_states:
		return model->states.state[row] * MR_LABEL_REASONS + model->states.reason[row];
	case MR_SLICED_system_calls:
		return model->system_calls.number[row];
	case MR_SLICED_block_io:
		return model->block_io.operation[row];
	case MR_SLICED_interrupts:
		return model->interrupts.kind[row];
	case MR_SLICED_device_operations:
		return model->device_operations.name[row]
			       ? model->device_operations.name[row]
			       : MR_LABEL_UNNAMED + model->device_operations.kind[row];
	case MR_SLICED_cpu_runs:
		return model->cpu_runs.tid[row];
	case MR_SLICED_idle: {
		uint32_t chain = mr_idle_headline(&view->idle, view->idle.pieces.items[row].chain);

		return mr_chain_link(&view->idle.chains, chain)->kind;
	}
	case MR_SLICED_path:
		return view->path.segments.items[row].link.kind;
	case MR_SLICED_steps:
		return (uint32_t)view->steps.list.steps.items[row].number;
	default:
		return 0;
	}
}

/* Of any label, also one that there is not. Lives as long as the view and the buffer, which has room for
 * MR_LABEL_BYTES. */
const char *mr_label_text(const struct mr_view *view, enum mr_sliced table, uint32_t label,
			  char *buffer);

#endif
