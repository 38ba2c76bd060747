/* SPDX-License-Identifier: Apache-2.0
 *
 * A framework that does not exist: each of its events becomes an execution, of a node that it names. So would an event
 * of somebody else, of a node "foreign".
 */
#include <errno.h>
#include <stdlib.h>

#include "load/loader.h"

struct loom {
	struct mr_loader *loader;
	uint32_t type;  /* string: of all its nodes */
	uint64_t moved; /* shuttles */
};

static int start(struct mr_loader *loader, void **ret_state)
{
	struct mr_strings *strings = &loader->model->survey->definitions.strings;
	struct loom *loom = calloc(1, sizeof *loom);

	if (!loom)
		return -ENOMEM;
	loom->loader = loader;
	*ret_state = loom;
	return mr_strings_intern(strings, "Shuttle", 7, &loom->type);
}

static int find_node(struct loom *loom, uint32_t name, uint32_t *ret_node)
{
	struct mr_definitions *definitions = &loom->loader->model->survey->definitions;
	const struct mr_node node = {
		.name = name, .type = loom->type, .process = loom->loader->process};

	for (*ret_node = 1; *ret_node < definitions->nodes.count; ++*ret_node)
		if (definitions->nodes.items[*ret_node].name == name)
			return 0;
	return mr_vec_push(&definitions->nodes, node);
}

static int add_execution(struct loom *loom, uint32_t name, struct mr_span span)
{
	uint32_t node;
	int result = find_node(loom, name, &node);

	if (result < 0)
		return result;
	return mr_node_executions_append(
		&loom->loader->model->node_executions,
		(struct mr_node_executions_row){.track = loom->loader->track,
						.start_ns = span.start_ns,
						.duration_ns = span.duration_ns,
						.node = node,
						.step = MR_NO_STEP,
						.asked_ns = MR_NO_TIME,
						.done_ns = MR_NO_TIME});
}

static int add(void *state, const struct mr_event *event)
{
	struct loom *loom = state;
	const struct mr_event_loom_shuttle *shuttle = event->payload;
	struct mr_strings *strings = &loom->loader->model->survey->definitions.strings;
	uint64_t duration_ticks = 0;
	uint32_t name;

	if (event->desc->id != MR_EVENT_loom_shuttle) {
		int result = mr_strings_intern(strings, "foreign", 7, &name);

		if (result < 0)
			return result;
	} else {
		name = mr_loader_find(loom->loader, MR_ID_string, shuttle->name);
		duration_ticks = mr_u48_value(shuttle->duration_ticks);
		loom->moved++;
	}
	return add_execution(loom, name,
			     mr_loader_span_before(loom->loader, event->ticks, duration_ticks));
}

/* How many shuttles were moved in all: known when everything is read. */
static int join(void *state)
{
	const struct loom *loom = state;
	struct mr_model *model = loom->loader->model;
	struct mr_node_executions *executions = &model->node_executions;

	for (uint32_t row = 0; row < executions->table.count; row++)
		if (model->survey->definitions.nodes.items[executions->node[row]].type ==
		    loom->type)
			executions->run[row] = loom->moved;
	return 0;
}

static const uint8_t events[] = {MR_EVENT_loom_shuttle};

const struct mr_framework mr_framework_loom = {
	.name = "Loom",
	.events = events,
	.event_count = mr_countof(events),
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join},
	.end = free,
};
