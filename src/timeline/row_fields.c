/* SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a slice: the columns of its table, and values derived from them.
 */
#include "timeline/row.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "analysis/cause/idle_tables.h"
#include "analysis/cause/waiting.h"
#include "analysis/device_time.h"

static const struct mr_reference nowhere = {0};

static void add_words(const struct mr_fields *fields, const char *name, const char *about,
		      const char *text)
{
	mr_fields_add_text(fields, (struct mr_field_name){name, about}, text, nowhere);
}

/* ---- all tables ---------------------------------------------------------------------------------- */

/* The wall-clock time at which it began, in UTC. */
static void add_wall_clock(const struct mr_row *row, const struct mr_fields *fields)
{
	static const struct mr_field_name name = {"wall clock", "when it began, in UTC"};
	const struct mr_clocks *clocks = row->model->survey->clocks;
	char date[32], text[48];
	struct tm tm;

	if (!clocks || mr_model_is_imported(row->model))
		return;
	int64_t ns = mr_clocks_epoch_ns(clocks) + row->start_ns;
	time_t seconds = (time_t)(ns / 1000000000 - (ns % 1000000000 < 0));
	if (!gmtime_r(&seconds, &tm) || !strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm))
		return;
	snprintf(text, sizeof text, "%s.%09" PRId64, date, ns - (int64_t)seconds * 1000000000);
	mr_fields_add_text(fields, name, text, nowhere);
}

/* The program's own threads stamp their records with their clock, which is mapped to the trace clock. */
static void add_user_bound(const struct mr_row *row, const struct mr_fields *fields)
{
	static const struct mr_field_name name = {"bound", "its times are exact to this"};
	const struct mr_survey *survey = row->model->survey;

	if (!mr_sliced[row->table].is_of_program || !survey->clocks || !survey->clocks->user)
		return;
	mr_fields_add_bound(fields, name,
			    mr_clock_max_bound_ns(survey->clocks->user, survey->first_user_ticks,
						  survey->last_user_ticks));
}

static void add_clocks(const struct mr_row *row, const struct mr_fields *fields)
{
	char text[32];

	snprintf(text, sizeof text, "%" PRId64, row->start_ns);
	add_words(
		fields, "trace clock",
		mr_model_is_imported(row->model)
			? "when it began, in nanoseconds of the clock of the tool that recorded it"
			: "when it began, in nanoseconds of CLOCK_MONOTONIC",
		text);
	add_wall_clock(row, fields);
	add_user_bound(row, fields);
}

static void add_step(const struct mr_row *row, const struct mr_fields *fields)
{
	char text[32];

	if (row->step == MR_NO_ROW || row->table == MR_SLICED_steps)
		return;
	snprintf(text, sizeof text, "%" PRIu64,
		 row->view->steps.list.steps.items[row->step].number);
	mr_fields_add_text(fields, (struct mr_field_name){"in step", "step in which it happened"},
			   text, (struct mr_reference){MR_REFERENCE_ROW, "steps", row->step});
}

/* The operation of the graph that the slice belongs to, and its node. */
static void add_node(const struct mr_row *row, const struct mr_fields *fields)
{
	const struct mr_model *model = row->model;
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node *node = &definitions->nodes.items[row->node];

	if (row->table != MR_SLICED_node_executions)
		mr_fields_add_row(fields,
				  (struct mr_field_name){
					  "operation", "operation of the graph that it belongs to"},
				  "node_executions", row->execution);
	if (row->node == 0)
		return;
	if (row->table != MR_SLICED_node_executions)
		mr_fields_add_text(fields, (struct mr_field_name){"node", "node of the graph"},
				   mr_model_text(model, node->name),
				   (struct mr_reference){MR_REFERENCE_NODE, NULL, row->node});
	add_words(fields, "type", "type of the node", mr_model_text(model, node->type));
	add_words(fields, "graph", "graph that contains the node",
		  mr_model_text(model, definitions->graphs.items[node->graph].name));
	add_words(fields, "placed on", "device on which the graph places the node",
		  mr_model_text(model, definitions->devices.items[node->device].name));
}

/* ---- by table --------------------------------------------------------------------------------------- */

static void add_launched(const struct mr_fields *fields, struct mr_launched launched)
{
	static const struct mr_field_name operations = {"launched",
							"device operations that it launched"};
	static const struct mr_field_name device = {"device time",
						    "total duration of these operations"};

	mr_fields_add_count(fields, operations, launched.operations);
	mr_fields_add_ns(fields, device, launched.device_ns);
}

static void add_delay(const struct mr_fields *fields, const char *name, const char *about,
		      int64_t from_ns, int64_t to_ns)
{
	if (from_ns != MR_NO_TIME && to_ns != MR_NO_TIME)
		mr_fields_add_ns(fields, (struct mr_field_name){name, about}, to_ns - from_ns);
}

static void add_launch_size(const struct mr_row *row, const struct mr_fields *fields, uint32_t call)
{
	const struct mr_kernel_launches *launches = &row->model->kernel_launches;
	char text[96];

	for (uint32_t i = 0; i < launches->table.count; i++) {
		if (launches->call[i] != call)
			continue;
		snprintf(text, sizeof text, "%" PRIu64 " × %" PRIu64 " × %" PRIu64,
			 launches->global_x[i], launches->global_y[i], launches->global_z[i]);
		add_words(fields, "work items", "work items of the device kernel", text);
		snprintf(text, sizeof text, "%u × %u × %u", launches->local_x[i],
			 launches->local_y[i], launches->local_z[i]);
		add_words(fields, "group", "work items per work group",
			  launches->local_x[i] ? text : "left to the runtime");
		return;
	}
}

static void add_of_operation(const struct mr_row *row, const struct mr_fields *fields,
			     struct mr_region *region)
{
	const struct mr_device_operations *operations = &row->model->device_operations;
	uint32_t number = row->row, call = operations->call[number];

	(void)region;
	add_words(fields, "device", "device that executed it",
		  mr_device_name(row->model, mr_operation_device(row->model, number)));
	if (mr_operation_is_timed(row->model, number)) {
		add_delay(fields, "in the runtime", "from being queued until being submitted",
			  operations->queued_ns[number], operations->submitted_ns[number]);
		add_delay(fields, "in the queue", "from being submitted until the device began it",
			  operations->submitted_ns[number], operations->start_ns[number]);
		if (call != MR_NO_ROW)
			add_delay(fields, "launch to start",
				  "from the start of the call until the device began it",
				  row->model->calls.start_ns[call], operations->start_ns[number]);
	}
	if (call != MR_NO_ROW)
		add_launch_size(row, fields, call);
}

static void add_of_state(const struct mr_row *row, const struct mr_fields *fields,
			 struct mr_region *region)
{
	const struct mr_states *states = &row->model->states;
	uint32_t wakeup = states->wakeup[row->row];

	(void)region;
	if (states->state[row->row] != MR_STATE_BLOCKED)
		return;
	add_words(fields, "waits for", "kind of thing it waits for",
		  mr_wait_kind_name(mr_wait_kind_of(row->model, row->row)));
	if (wakeup == MR_NO_ROW)
		return;
	uint32_t waker = row->model->wakeups.waker[wakeup];
	add_words(fields, "ended by", "what woke it",
		  mr_enum_value_name("wake_context", row->model->wakeups.context[wakeup]));
	if (waker != MR_NO_TRACK)
		mr_fields_add_text(fields,
				   (struct mr_field_name){"waker", "thread that ran at that time"},
				   mr_track_text(row->model, waker),
				   (struct mr_reference){MR_REFERENCE_TRACK, NULL, waker});
}

static void add_of_interrupt(const struct mr_row *row, const struct mr_fields *fields,
			     struct mr_region *region)
{
	const struct mr_interrupts *interrupts = &row->model->interrupts;

	add_words(fields, "called", "its name in the operating system",
		  mr_interrupt_text(region, interrupts->kind[row->row],
				    interrupts->number[row->row]));
}

static void add_of_execution(const struct mr_row *row, const struct mr_fields *fields,
			     struct mr_region *region)
{
	(void)region;
	add_launched(fields, mr_launched_by_execution(row->model, row->row));
}

static void add_of_call(const struct mr_row *row, const struct mr_fields *fields,
			struct mr_region *region)
{
	(void)region;
	add_launched(fields, mr_launched_by_call(row->model, row->row));
}

/* ---- derived tables --------------------------------------------------------------------------------- */

static void add_span(const struct mr_row *row, const struct mr_fields *fields)
{
	mr_fields_add_time(fields, (struct mr_field_name){"start", "when it began"}, row->start_ns);
	mr_fields_add_ns(fields, (struct mr_field_name){"duration", "how long it took"},
			 row->duration_ns);
	mr_fields_add_time(fields, (struct mr_field_name){"end", "when it ended"},
			   row->start_ns + row->duration_ns);
}

static void add_thread(const struct mr_row *row, const struct mr_fields *fields, const char *about)
{
	if (row->track != MR_NO_TRACK)
		mr_fields_add_text(fields, (struct mr_field_name){"track", about},
				   mr_track_text(row->model, row->track),
				   (struct mr_reference){MR_REFERENCE_TRACK, NULL, row->track});
}

static void add_of_idle(const struct mr_row *row, const struct mr_fields *fields,
			struct mr_region *region)
{
	const struct mr_idle *idle = mr_view_idle(row->view);
	const struct mr_idle_piece *piece = &idle->pieces.items[row->row];
	uint32_t headline = mr_idle_headline(idle, piece->chain);

	add_span(row, fields);
	add_words(fields, "device", "device that was idle", mr_device_name(row->model, row->group));
	add_words(fields, "cause", "why it was idle",
		  mr_cause_name(mr_chain_link(&idle->chains, headline)->kind));
	add_words(fields, "culprit", "what is to blame",
		  mr_chain_culprit(row->model, region, &idle->chains, headline));
	add_words(fields, "chain", "chain of causes, the root cause last",
		  mr_chain_text(row->model, region, &idle->chains, piece->chain));
	mr_fields_add_bound(
		fields,
		(struct mr_field_name){"uncertain", "by how much its duration may be wrong"},
		piece->uncertain_ns);
	mr_fields_add_row(fields,
			  (struct mr_field_name){"ended by", "operation whose start ended the gap"},
			  "device_operations", piece->operation);
	add_thread(row, fields, "last thread of the chain");
}

static void add_of_path(const struct mr_row *row, const struct mr_fields *fields,
			struct mr_region *region)
{
	const struct mr_path_segment *segment = &mr_view_path(row->view)->segments.items[row->row];

	add_span(row, fields);
	add_words(fields, "cause", "kind of cause", mr_cause_name(segment->link.kind));
	add_words(fields, "culprit", "what is to blame",
		  mr_link_culprit(row->model, region, segment->link));
	add_words(fields, "level", "level that explains it",
		  mr_path_level_name(mr_path_level_of(&segment->link)));
	mr_fields_add_row(fields,
			  (struct mr_field_name){"device operation",
						 "operation that runs or is about to run"},
			  "device_operations", segment->operation);
	add_thread(row, fields, "thread or queue that the path leads through");
}

static void add_of_step(const struct mr_row *row, const struct mr_fields *fields,
			struct mr_region *region)
{
	const struct mr_step_list *list = &row->view->steps.list;
	const struct mr_step *step = &list->steps.items[row->row];
	bool is_counted = list->inferences.count || step->function;
	char text[32];

	(void)region;
	snprintf(text, sizeof text, "%" PRIu64, step->number);
	add_words(fields, "number", is_counted ? "counted by millrace" : "given by the program",
		  text);
	if (step->function)
		add_words(fields, "function", "function whose call is the step",
			  mr_model_text(row->model, step->function));
	add_span(row, fields);
	add_thread(row, fields, "thread that marked it or made its first launch");
}

/* ---- together --------------------------------------------------------------------------------------- */

/* The fields that a table has in addition to its columns, or, if it is derived, in place of them. */
static void (*const own[MR_SLICED_COUNT])(const struct mr_row *row, const struct mr_fields *fields,
					  struct mr_region *region) = {
	[MR_SLICED_node_executions] = add_of_execution,
	[MR_SLICED_calls] = add_of_call,
	[MR_SLICED_device_operations] = add_of_operation,
	[MR_SLICED_states] = add_of_state,
	[MR_SLICED_interrupts] = add_of_interrupt,
	[MR_SLICED_idle] = add_of_idle,
	[MR_SLICED_path] = add_of_path,
	[MR_SLICED_steps] = add_of_step,
};

void mr_row_write_fields(const struct mr_row *row, struct mr_json *json, struct mr_region *region)
{
	const struct mr_fields fields = {json, row->view};

	mr_json_begin_array(json, "fields");
	if (!mr_sliced[row->table].is_derived)
		mr_fields_add_columns(&fields, mr_sliced_table(row->model, row->table), row->row);
	if (own[row->table])
		own[row->table](row, &fields, region);
	if (row->execution != MR_NO_ROW)
		add_node(row, &fields);
	add_step(row, &fields);
	add_clocks(row, &fields);
	mr_json_end_array(json);
}
