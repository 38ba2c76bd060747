/* SPDX-License-Identifier: Apache-2.0 */
#include "load/load.h"

#include "base/budget.h"
#include "base/error.h"
#include "base/progress.h"
#include "import/import.h"
#include "load/annotations.h"
#include "load/devices.h"
#include "load/exchanges.h"
#include "load/infer_steps.h"
#include "load/kernel.h"
#include "load/memory.h"
#include "load/messages.h"
#include "load/operations.h"
#include "load/passes.h"
#include "load/purposes.h"
#include "load/python_waits.h"
#include "load/roles.h"
#include "load/runtime.h"
#include "load/sites.h"
#include "load/step_range.h"
#include "load/torch/backward.h"
#include "model/index.h"
#include "model/kernel_link.h"
#include "model/spans.h"

/* ---- rows --------------------------------------------------------------------------------------- */

static int add_row(struct mr_loader *loader, const struct mr_event *event)
{
	int result;

	if (mr_samples_take(loader, event, &result))
		return result;
	if (loader->track == MR_NO_TRACK)
		return 0;
	if (mr_frameworks_find(&loader->frameworks, event))
		return mr_frameworks_add(&loader->frameworks, loader, event);
	return event->desc->level == MR_LEVEL_runtime ? mr_runtime_add(loader, event)
						      : mr_annotations_add(loader, event);
}

static int load_stream(struct mr_loader *loader, const struct mr_trace_stream *stream)
{
	const struct mr_survey *survey = loader->model->survey;
	const struct mr_packet_context *context = NULL;
	struct mr_cursor cursor;
	struct mr_event event;

	loader->clock = mr_clocks_of_stream(survey->clocks, stream->stream_class);
	mr_cursor_start(&cursor, survey->trace, stream);
	while (mr_cursor_next(&cursor, &event)) {
		if (mr_unlikely(event.context != context)) {
			context = event.context;
			mr_survey_find(survey, context, &loader->process, &loader->track);
			loader->site = 0; /* each packet says it anew */
		}
		int result = add_row(loader, &event);
		if (mr_unlikely(result < 0))
			return result;
	}
	return 0;
}

/* The survey has counted, so the large tables need not grow by copying. */
static int reserve(struct mr_model *model)
{
	const uint64_t *counts = model->survey->event_counts;
	int result = mr_table_reserve(
		&model->node_executions.table,
		counts[MR_EVENT_node_interval] + counts[MR_EVENT_node_interval_shapes] +
			counts[MR_EVENT_node_interval_at] + counts[MR_EVENT_interval_unfinished]);

	if (result == 0)
		result = mr_table_reserve(
			&model->memory.table,
			counts[MR_EVENT_memory_allocate] + counts[MR_EVENT_memory_free] +
				counts[MR_EVENT_runtime_allocate] + counts[MR_EVENT_runtime_free]);
	if (result == 0)
		result = mr_runtime_start(model);
	return result;
}

static int read_events(struct mr_loader *loader)
{
	const struct mr_trace *trace = loader->model->trace;
	int result = reserve(loader->model);

	mr_progress_begin("reading the events", trace->event_bytes);
	for (uint32_t i = 0; result == 0 && i < trace->stream_count; i++)
		if (trace->streams[i].kind == MR_PACKET_EVENTS &&
		    trace->streams[i].stream_class == MR_STREAM_USER)
			result = load_stream(loader, &trace->streams[i]);
	return result;
}

static int sort(struct mr_loader *loader)
{
	struct mr_model *model = loader->model;
	uint32_t track_count = (uint32_t)model->survey->tracks.count;
	int result = 0;

#define SORT_TABLE(name)                                      \
	if (result == 0 && !model->name.table.first_of_track) \
		result = mr_table_sort(&model->name.table, track_count);
	MR_TABLES(SORT_TABLE)
#undef SORT_TABLE
	return result;
}

/* The model without survey and rows. It takes the trace in any case. */
static int start_model(struct mr_trace *trace, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = calloc(1, sizeof *model);

	if (!model) {
		mr_trace_close(trace);
		return mr_fail_errno(ENOMEM, "load");
	}
#define DESCRIBE_TABLE(name) model->name.table.desc = &mr_##name##_desc;
	MR_TABLES(DESCRIBE_TABLE)
#undef DESCRIBE_TABLE
	model->trace = trace;
	int result = mr_manifest_of(model->trace, &model->manifest);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

static int open_trace(const char *path, struct mr_model **ret_model)
{
	struct mr_trace *trace;
	int result = mr_import_open(path, &trace);

	return result < 0 ? result : start_model(trace, ret_model);
}

/* ---- passes ------------------------------------------------------------------------------------- */

static int join_frameworks(struct mr_loader *loader)
{
	return mr_frameworks_run(&loader->frameworks, MR_FRAMEWORK_JOIN);
}

static int place_memory(struct mr_loader *loader)
{
	return mr_frameworks_run(&loader->frameworks, MR_FRAMEWORK_PLACE_MEMORY);
}

static int link_frameworks(struct mr_loader *loader)
{
	return mr_frameworks_run(&loader->frameworks, MR_FRAMEWORK_LINK);
}

/* A type of which no framework has said anything else is a family by itself. */
static int name_families(struct mr_loader *loader)
{
	struct mr_definitions *definitions = &loader->model->survey->definitions;

	for (size_t i = 0; i < definitions->nodes.count; i++) {
		struct mr_node *node = &definitions->nodes.items[i];

		if (node->family == 0)
			node->family = node->type;
	}
	return 0;
}

static int join_runtime(struct mr_loader *loader)
{
	mr_progress_begin("sorting and joining", 0);
	return mr_runtime_join(loader);
}

/* Passes that need nothing but the model. */
#define OF_MODEL(pass, function)                  \
	static int pass(struct mr_loader *loader) \
	{                                         \
		return function(loader->model);   \
	}
OF_MODEL(read_kernel, mr_kernel_level_load)
OF_MODEL(join_memory, mr_memory_join)
OF_MODEL(nest, mr_model_nest)
OF_MODEL(link_memory, mr_memory_link)
OF_MODEL(link_messages, mr_messages_link)
OF_MODEL(join_threads, mr_torch_join_backward)
OF_MODEL(link_executions, mr_runtime_link_executions)
OF_MODEL(mark_waits, mr_runtime_mark_waits)
OF_MODEL(link_waits, mr_runtime_link_waits)
OF_MODEL(find_purposes, mr_purposes_find)
OF_MODEL(choose_steps, mr_steps_choose_range)
OF_MODEL(infer_steps, mr_steps_infer)
OF_MODEL(link_operations, mr_operations_link)
OF_MODEL(unite_devices, mr_devices_unite)
OF_MODEL(link_kernel, mr_kernel_level_link)
OF_MODEL(link_exchanges, mr_exchanges_link)
OF_MODEL(judge_python_waits, mr_python_waits_judge)
OF_MODEL(link_sites, mr_sites_link)
OF_MODEL(find_roles, mr_roles_find)
OF_MODEL(check_constraints, mr_constraints_check)
#undef OF_MODEL

#define PASS(function, needs, gives)              \
	{                                         \
#function, function, needs, gives \
	}
#define HAS(what) MR_LOADED_##what
const struct mr_pass mr_load_passes[] = {
	/* clang-format off */
	PASS(read_events,       0,                              HAS(ROWS)),
	PASS(join_frameworks,   HAS(ROWS),                      HAS(NODES)),
	PASS(read_kernel,       HAS(ROWS),                      HAS(KERNEL_ROWS)),
	PASS(join_runtime,      HAS(ROWS),                      HAS(LAUNCHES)),
	PASS(sort,              HAS(NODES) | HAS(KERNEL_ROWS) | HAS(LAUNCHES),
								HAS(ORDER)),
	PASS(place_memory,      HAS(ORDER),                     HAS(PLACES)),
	PASS(join_memory,       HAS(PLACES),                    HAS(LIVE_BYTES)),
	PASS(nest,              HAS(ORDER),                     HAS(PARENTS)),
	PASS(link_memory,       HAS(ORDER) | HAS(NODES),        HAS(USES)),
	PASS(link_messages,     HAS(ORDER),                     HAS(PEERS)),
	PASS(join_threads,      HAS(PARENTS) | HAS(LAUNCHES),   HAS(THREAD_WAITS)),
	PASS(mark_waits,        HAS(ORDER) | HAS(LAUNCHES),     HAS(ROLES)),
	PASS(link_waits,        HAS(ORDER) | HAS(ROLES),        HAS(WAITS)),
	PASS(link_executions,   HAS(PARENTS) | HAS(LAUNCHES),   HAS(EXECUTIONS)),
	PASS(link_frameworks,   HAS(EXECUTIONS) | HAS(PEERS),   HAS(FRAMEWORKS)),
	PASS(name_families,     HAS(FRAMEWORKS),                HAS(FAMILIES)),
	PASS(find_purposes,     HAS(FRAMEWORKS),                HAS(PURPOSES)),
	PASS(choose_steps,      HAS(FRAMEWORKS),                HAS(CHOSEN_STEPS)),
	PASS(infer_steps,       HAS(CHOSEN_STEPS) | HAS(PARENTS) | HAS(LAUNCHES) | HAS(ROLES),
								HAS(STEPS)),
	PASS(link_operations,   HAS(EXECUTIONS) | HAS(STEPS),   HAS(CAUSES)),
	PASS(unite_devices,     HAS(NODES) | HAS(CAUSES),       HAS(DEVICES)),
	PASS(link_kernel,       HAS(ORDER) | HAS(KERNEL_ROWS),  HAS(KERNEL_LINKS)),
	PASS(link_exchanges,    HAS(KERNEL_LINKS),              HAS(EXCHANGES)),
	PASS(judge_python_waits, HAS(EXCHANGES),                HAS(PYTHON_WAITS)),
	PASS(link_sites,        HAS(LAUNCHES) | HAS(KERNEL_LINKS), HAS(SITES)),
	PASS(find_roles,        HAS(FRAMEWORKS) | HAS(KERNEL_LINKS), HAS(THREAD_ROLES)),
	PASS(check_constraints, HAS(WAITS),                     HAS(CONSTRAINTS)),
	/* clang-format on */
};
#undef PASS
#undef HAS
const uint32_t mr_load_pass_count = mr_countof(mr_load_passes);

static int load_rows(struct mr_model *model)
{
	struct mr_loader loader = {.model = model};
	int result = mr_frameworks_start(&loader.frameworks, mr_known_frameworks,
					 mr_known_framework_count);

	if (result == 0)
		result = mr_passes_run(&loader, mr_load_passes, mr_load_pass_count);
	mr_frameworks_end(&loader.frameworks);
	mr_vec_free(&loader.memory_reports);
	return result;
}

/* The trace has the host's name, and lasts as long as the recorder; the manifest knows more. */
static int survey(struct mr_model *model)
{
	int result = mr_survey_make(model->trace, &model->survey);
	const char *boot_id = model->manifest->boot_id;

	if (result < 0)
		return result;
	mr_survey_span_program(model->survey, model->manifest->window_from_ticks,
			       model->manifest->window_to_ticks);
	if (!boot_id)
		return 0;
	result = mr_strings_intern(&model->survey->definitions.strings, boot_id, strlen(boot_id),
				   &model->survey->hosts.items[MR_OWN_HOST].boot_id);
	return result < 0 ? mr_fail_errno(-result, "survey the trace") : 0;
}

static int load_anew(struct mr_model *model, bool is_saved)
{
	int result = survey(model);

	if (result < 0)
		return result;
	result = load_rows(model);
	if (result < 0)
		return mr_fail_errno(-result, "load %s", model->trace->path);
	if (is_saved && mr_mappings_check() == 0) {
		mr_progress_begin("saving the index", 0);
		mr_index_save_large(model);
	}
	return 0;
}

/* Were they there to the end? */
static int check_files(const char *path)
{
	int result = mr_mappings_check();

	return result < 0 ? mr_fail_more(result, "%s", path) : 0;
}

int mr_model_load_head(const char *path, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = NULL;
	int result = open_trace(path, &model);

	if (result == 0)
		result = survey(model);
	if (result == 0)
		result = check_files(path);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}

/* Other steps than the recording's are not worth an index. */
static int load_with(struct mr_model *model, const char *step_range)
{
	bool is_other = step_range && (!model->manifest->step_range ||
				       strcmp(step_range, model->manifest->step_range) != 0);

	if (is_other)
		model->manifest->step_range = step_range;
	if (!is_other && mr_index_load(model) == 0)
		return 0;
	return load_anew(model, !is_other);
}

int mr_model_load(const char *path, struct mr_model **ret_model)
{
	return mr_model_load_steps(path, NULL, ret_model);
}

int mr_model_load_steps(const char *path, const char *step_range, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = NULL;
	int result = open_trace(path, &model);

	if (result == 0)
		result = load_with(model, step_range);
	if (result == 0 && step_range && model->steps.table.count == 0)
		result = mr_fail(ENOENT, "no range '%s' was recorded", step_range);
	if (result == 0)
		result = check_files(path);
	if (result == 0)
		*ret_model = mr_take(model);
	return mr_budget_explain(result, path);
}

int mr_model_load_trace(struct mr_trace *trace, struct mr_model **ret_model)
{
	mr_auto(model) struct mr_model *model = NULL;
	int result = start_model(trace, &model);

	if (result == 0)
		result = load_anew(model, true);
	if (result == 0)
		*ret_model = mr_take(model);
	return result;
}
