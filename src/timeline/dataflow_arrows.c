/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrows of the dataflow level: messages, and edges between operations.
 */
#include "timeline/arrows.h"

#include "analysis/cause/activity.h"
#include "base/sort.h"

/* ---- messages --------------------------------------------------------------------------------------- */

/* What sent or received a message: the operation that is known to, else what its thread did then — the innermost
 * operation, else call, else its state. */
static bool find_around(const struct mr_model *model, uint32_t message,
			struct mr_arrow_end *ret_end)
{
	const struct mr_messages *messages = &model->messages;
	int64_t ns = messages->start_ns[message];
	struct mr_activity activity;

	mr_activity_find(model, NULL, messages->track[message], ns, &activity);
	if (messages->execution[message] != MR_NO_ROW)
		activity.execution = messages->execution[message];
	if (activity.execution != MR_NO_ROW)
		*ret_end = (struct mr_arrow_end){MR_SLICED_node_executions, activity.execution, ns};
	else if (activity.call != MR_NO_ROW)
		*ret_end = (struct mr_arrow_end){MR_SLICED_calls, activity.call, ns};
	else if (activity.state != MR_NO_ROW)
		*ret_end = (struct mr_arrow_end){MR_SLICED_states, activity.state, ns};
	else
		return false;
	return true;
}

/* From the sender to the receiver, whichever of them is asked for. */
static int add_message(const struct mr_model *model, uint32_t message, struct mr_arrow_end own,
		       struct mr_arrows *arrows)
{
	uint32_t peer = model->messages.peer[message];
	bool is_receive = model->messages.is_receive[message];
	struct mr_arrow_end other;

	if (peer == MR_NO_ROW || !find_around(model, peer, &other))
		return 0;
	return is_receive ? mr_arrows_add(arrows, "received", other, own)
			  : mr_arrows_add(arrows, "sent", own, other);
}

/* Where a slice lies. */
struct place {
	uint32_t track;
	int64_t start_ns;
	int64_t end_ns;
};

static bool find_place(const struct mr_model *model, enum mr_sliced table, uint32_t row,
		       struct place *ret_place)
{
	switch (table) {
#define PLACE(name)                                                                               \
	case MR_SLICED_##name:                                                                    \
		*ret_place =                                                                      \
			(struct place){model->name.track[row], model->name.start_ns[row],         \
				       model->name.start_ns[row] + model->name.duration_ns[row]}; \
		return true;
		PLACE(node_executions)
		PLACE(calls)
		PLACE(states)
#undef PLACE
	default:
		return false;
	}
}

int mr_arrows_find_messages(const struct mr_model *model, enum mr_sliced table, uint32_t row,
			    struct mr_arrows *arrows)
{
	const struct mr_messages *messages = &model->messages;
	struct mr_arrow_end around;
	struct place place;
	int result = 0;

	if (messages->table.count == 0 || !find_place(model, table, row, &place))
		return 0;
	const uint32_t *of_track = &messages->table.first_of_track[place.track];
	uint32_t message =
		mr_find_larger(messages->start_ns, of_track[0], of_track[1], place.start_ns - 1);
	for (; result == 0 && message < of_track[1] && messages->start_ns[message] < place.end_ns;
	     message++)
		if (find_around(model, message, &around) && around.table == table &&
		    around.row == row)
			result = add_message(model, message, around, arrows);
	return result;
}

/* ---- inputs and outputs ----------------------------------------------------------------------------- */

/* Of a node beside the execution: the execution that it was fed by, or that it fed. */
struct neighbour {
	uint32_t input;
	uint32_t output;
	bool is_source;
	bool is_target;
};

static void mark_neighbours(const struct mr_definitions *definitions, uint32_t node,
			    struct neighbour *neighbours)
{
	for (size_t i = 0; i < definitions->nodes.count; i++)
		neighbours[i] = (struct neighbour){MR_NO_ROW, MR_NO_ROW, false, false};
	for (size_t i = 0; i < definitions->edges.count; i++) {
		const struct mr_edge *edge = &definitions->edges.items[i];

		if (edge->target == node)
			neighbours[edge->source].is_source = true;
		if (edge->source == node)
			neighbours[edge->target].is_target = true;
	}
	neighbours[0] = (struct neighbour){MR_NO_ROW, MR_NO_ROW, false, false};
}

static int64_t end_of(const struct mr_node_executions *executions, uint32_t row)
{
	return executions->start_ns[row] + executions->duration_ns[row];
}

/* In the same step and run: of a source the one that ended last before, of a target the one that began first
 * afterwards. */
static void meet(const struct mr_node_executions *executions, uint32_t row, uint32_t other,
		 struct neighbour *neighbour)
{
	if (other == row || executions->step[other] != executions->step[row] ||
	    executions->run[other] != executions->run[row])
		return;
	if (neighbour->is_source && end_of(executions, other) <= executions->start_ns[row] &&
	    (neighbour->input == MR_NO_ROW ||
	     end_of(executions, other) > end_of(executions, neighbour->input)))
		neighbour->input = other;
	if (neighbour->is_target && executions->start_ns[other] >= end_of(executions, row) &&
	    (neighbour->output == MR_NO_ROW ||
	     executions->start_ns[other] < executions->start_ns[neighbour->output]))
		neighbour->output = other;
}

static int add_feed(const struct mr_node_executions *executions, uint32_t from, uint32_t to,
		    struct mr_arrows *arrows)
{
	if (from == MR_NO_ROW || to == MR_NO_ROW)
		return 0;
	return mr_arrows_add(
		arrows, "feeds",
		(struct mr_arrow_end){MR_SLICED_node_executions, from, end_of(executions, from)},
		(struct mr_arrow_end){MR_SLICED_node_executions, to, executions->start_ns[to]});
}

int mr_arrows_find_feeds(const struct mr_model *model, uint32_t execution, struct mr_arrows *arrows)
{
	const struct mr_node_executions *executions = &model->node_executions;
	const struct mr_definitions *definitions = &model->survey->definitions;
	int result = 0;

	if (definitions->edges.count == 0 || executions->node[execution] == 0)
		return 0;
	mr_auto(free) struct neighbour *neighbours =
		malloc(definitions->nodes.count * sizeof *neighbours);
	if (!neighbours)
		return -ENOMEM;
	mark_neighbours(definitions, executions->node[execution], neighbours);
	for (uint32_t row = 0; row < executions->table.count; row++) {
		struct neighbour *neighbour = &neighbours[executions->node[row]];

		if (neighbour->is_source || neighbour->is_target)
			meet(executions, execution, row, neighbour);
	}
	for (size_t i = 0; result == 0 && i < definitions->nodes.count; i++) {
		result = add_feed(executions, neighbours[i].input, execution, arrows);
		if (result == 0)
			result = add_feed(executions, execution, neighbours[i].output, arrows);
	}
	return result;
}
