/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/words.h"

#include <string.h>

#include "analysis/device_time.h"
#include "base/quote.h"

/* ---- the trace ------------------------------------------------------------------------------------ */

/* The last part of a path. */
static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

const char *mr_trace_title(const struct mr_model *model, struct mr_region *region)
{
	const struct mr_manifest *manifest = model->manifest;
	char *joined = NULL;
	size_t length;

	if (manifest->command_count == 0)
		return file_name(model->trace->path);
	FILE *text = open_memstream(&joined, &length);
	if (!text)
		return NULL;
	for (size_t i = 0; i < manifest->command_count; i++) {
		const char *word = manifest->command[i];

		fputs(i ? " " : "", text);
		mr_quote_print(text, *word == '-' ? word : file_name(word));
	}
	const char *title = fclose(text) == 0 ? mr_region_copy(region, joined, length) : NULL;
	free(joined);
	return title;
}

struct mr_levels mr_trace_levels(const struct mr_model *model)
{
	return (struct mr_levels){
		.dataflow = model->node_executions.table.count || model->scopes.table.count ||
			    (model->steps.table.count && !mr_model_infers_steps(model)) ||
			    model->node_instants.table.count,
		.runtime = model->calls.table.count || model->device_operations.table.count,
		.kernel = model->states.table.count || model->system_calls.table.count ||
			  model->cpu_runs.table.count,
	};
}

int mr_trace_missing(const struct mr_model *model, struct mr_region *region,
		     const char *ret_sentences[MR_MISSING_MOST], uint32_t *ret_count)
{
	struct mr_levels levels = mr_trace_levels(model);
	const char *reason = model->manifest->kernel_level.reason;
	uint32_t count = 0;

	if (!levels.dataflow)
		ret_sentences[count++] =
			"No operations of a dataflow graph: neither a framework nor "
			"an annotation reported any.";
	if (!levels.runtime)
		ret_sentences[count++] =
			"No runtime level: the trace contains no runtime calls and no device "
			"operations.";
	if (!levels.kernel)
		ret_sentences[count++] = mr_region_print(
			region, "No kernel level%s%s: it is not known what threads waited for.",
			reason ? ", because " : "", reason ? reason : "");
	if (levels.runtime && model->device_operations.table.count == 0)
		ret_sentences[count++] = "No device operations: only runtime calls were recorded.";
	for (uint32_t i = 0; i < count; i++)
		if (!ret_sentences[i])
			return -ENOMEM;
	*ret_count = count;
	return 0;
}

/* ---- processes and tracks ------------------------------------------------------------------------- */

const char *mr_process_title(const struct mr_model *model, uint32_t process)
{
	const struct mr_process *it = &model->survey->processes.items[process];
	const char *program = file_name(mr_model_text(model, it->program));

	if (it->number == MR_RECORDER_PROCESS)
		return "(recorder)";
	return *program ? program : "(no name)";
}

const char *mr_track_title(const struct mr_model *model, uint32_t track, struct mr_region *region)
{
	const struct mr_track *it = &model->survey->tracks.items[track];
	const char *name = mr_model_text(model, it->name);

	switch (it->kind) {
	case MR_TRACK_CPU:
		return mr_region_print(region, "CPU %u", it->cpu);
	case MR_TRACK_QUEUE:
		return *name ? name : mr_region_print(region, "queue %u", it->queue);
	default:
		return *name ? name : mr_region_print(region, "thread %u", it->tid);
	}
}

/* The process as the manifest lists it; NULL if it does not. */
static const struct mr_manifest_process *find_listed(const struct mr_model *model, uint32_t number)
{
	const struct mr_manifest *manifest = model->manifest;

	for (size_t i = 0; number && i < manifest->process_count; i++)
		if (manifest->processes[i].process == number)
			return &manifest->processes[i];
	return NULL;
}

static const char *tell_process(const struct mr_model *model, uint32_t index,
				struct mr_region *region)
{
	const struct mr_process *process = &model->survey->processes.items[index];
	const struct mr_manifest_process *listed = find_listed(model, process->number);

	if (process->number == 0)
		return mr_region_print(region, "pid %u, seen only by the kernel level",
				       process->pid);
	if (!listed || listed->traced)
		return mr_region_print(region, "pid %u", process->pid);
	return mr_region_print(region, "pid %u, not instrumented%s%s", process->pid,
			       listed->reason ? ": " : "", listed->reason ? listed->reason : "");
}

static const char *tell_thread(const struct mr_view *view, uint32_t track, struct mr_region *region)
{
	const struct mr_track *thread = &view->model->survey->tracks.items[track];
	bool is_traced = false;

	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		is_traced |=
			mr_sliced[table].is_of_program && mr_slices_in(&view->slices[table], track);
	return mr_region_print(region, "tid %u%s%s", thread->tid, mr_thread_role_text(thread->role),
			       is_traced ? "" : ", seen only by the kernel level");
}

static const char *tell_device(const struct mr_model *model, uint32_t device,
			       struct mr_region *region)
{
	const char *pids = mr_device_pids(model, region, device);

	return pids ? mr_region_print(region, "%s %s",
				      mr_device_is_shared(model, device) ? "shared by pids" : "pid",
				      pids)
		    : NULL;
}

/* From the region, or NULL. */
static const char *tell_steps(const struct mr_model *model, const struct mr_step_list *list,
			      struct mr_region *region)
{
	if (list->inferences.count)
		return list->inferences.items[0].is_of_operations
			       ? "inferred from repeated operations"
			       : "inferred from repeated launches";
	return list->steps.count && list->steps.items[0].function
		       ? mr_region_print(region, "calls of %s",
					 mr_model_text(model, list->steps.items[0].function))
		       : "marked by the program";
}

/* ---- groups --------------------------------------------------------------------------------------- */

int mr_group_describe(const struct mr_view *view, const struct mr_band_group *group,
		      struct mr_region *region, struct mr_group_words *ret_words)
{
	const struct mr_model *model = view->model;
	struct mr_group_words words = {"", ""};

	switch (group->kind) {
	case MR_GROUP_STEPS:
		words.title = "Steps";
		words.about = tell_steps(model, &view->steps.list, region);
		break;
	case MR_GROUP_PATH:
		words.title = "Critical path";
		break;
	case MR_GROUP_DEVICE:
		words.title = mr_device_name(model, group->of);
		words.about = tell_device(model, group->of, region);
		break;
	case MR_GROUP_PROCESS:
		words.title = mr_process_title(model, group->of);
		words.about = tell_process(model, group->of, region);
		break;
	case MR_GROUP_COUNTERS:
		words.title = "Counters";
		break;
	case MR_GROUP_THREAD:
		words.title = mr_track_title(model, group->of, region);
		words.about = tell_thread(view, group->of, region);
		break;
	case MR_GROUP_MEMORY:
		words.title = "Memory";
		break;
	case MR_GROUP_CPUS:
		words.title = "CPUs";
		break;
	}
	if (!words.title || !words.about)
		return -ENOMEM;
	*ret_words = words;
	return 0;
}

/* ---- bands ---------------------------------------------------------------------------------------- */

/* Whether there is memory of another process, too. */
static bool has_other_memory(const struct mr_view *view, uint32_t process)
{
	for (size_t i = 0; i < view->series.items.count; i++) {
		const struct mr_series *series = &view->series.items.items[i];

		if (series->is_memory && series->process != process)
			return true;
	}
	return false;
}

static const char *title_memory(const struct mr_view *view, const struct mr_memory_scope *scope,
				struct mr_region *region)
{
	const struct mr_model *model = view->model;
	bool is_runtime = scope->teller == MR_MEMORY_RUNTIME;
	const char *teller = is_runtime ? "from the runtime" : "in the framework";
	const char *device = scope->device ? mr_device_name(model, scope->device)
			     : is_runtime  ? "(unknown device)"
					   : "host";
	const char *allocator = mr_model_text(model, scope->allocator);

	if (has_other_memory(view, scope->process))
		device = mr_region_print(region, "%s of process %u", device,
					 model->survey->processes.items[scope->process].pid);
	if (!device)
		return NULL;
	if (!scope->is_of_allocator)
		return mr_region_print(region, "%s, %s", device, teller);
	return mr_region_print(region, "%s, %s, %s", device, teller,
			       *allocator ? allocator : "(unknown allocator)");
}

/* Of a device that processes share, each queue names its own. */
static const char *title_track(const struct mr_model *model, uint32_t track,
			       struct mr_region *region)
{
	const struct mr_track *it = &model->survey->tracks.items[track];
	const char *title = mr_track_title(model, track, region);
	uint32_t device = model->survey->definitions.queues.items[it->queue].device;

	if (!title || it->kind != MR_TRACK_QUEUE ||
	    !mr_device_is_shared(model, mr_device_canonical(model, device)))
		return title;
	return mr_region_print(region, "%s of process %u", title, mr_device_pid(model, device));
}

const char *mr_band_title(const struct mr_view *view, const struct mr_band *band,
			  struct mr_region *region)
{
	const struct mr_series *series =
		band->is_series ? &view->series.items.items[band->group] : NULL;

	if (series)
		return series->is_memory ? title_memory(view, &series->memory, region)
					 : mr_model_text(view->model, series->name);
	return mr_sliced[band->table].title ? mr_sliced[band->table].title
					    : title_track(view->model, band->group, region);
}
