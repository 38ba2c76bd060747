/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/view.h"

#include <stdatomic.h>

#include "analysis/analysis.h"
#include "base/error.h"
#include "base/progress.h"

/* ---- what is there from the beginning ------------------------------------------------------------- */

enum {
	MAKE_SERIES = MR_SLICED_COUNT, /* after a task for each table */
	TASKS,
	THREADS = 8,
	WORTH_A_THREAD = 10000, /* events; with fewer there is nothing to gain */
};

/* Tasks of which each thread takes the next. */
struct making {
	struct mr_view *view;
	_Atomic uint32_t next;
	_Atomic int result;
};

static int make_steps(struct mr_view *view)
{
	int result = mr_step_index_make(view->model, &view->steps);

	return result < 0 ? result
			  : mr_slices_of_steps(view->model, &view->steps.list,
					       &view->slices[MR_SLICED_steps]);
}

static int make_part(struct mr_view *view, uint32_t task)
{
	if (task == MAKE_SERIES)
		return mr_series_list_make(view->model, &view->series);
	if (mr_sliced[task].is_late)
		return 0; /* made when asked for */
	if (task == MR_SLICED_steps)
		return make_steps(view);
	return mr_slices_of_model(view->model, task, &view->slices[task]);
}

static void *make_parts(void *argument)
{
	struct making *making = argument;
	uint32_t task;

	while ((task = making->next++) < TASKS) {
		int result = make_part(making->view, task);

		if (result < 0)
			making->result = result;
		mr_progress_advance(1);
	}
	return NULL;
}

/* By as many threads as there are processors, if that is worth it; this one takes part. */
static int make_all_parts(struct mr_view *view)
{
	struct making making = {.view = view};
	bool is_large = view->model->survey->event_count >= WORTH_A_THREAD;
	long processors = is_large ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	pthread_t threads[THREADS];
	int count = 0;

	mr_progress_begin("preparing the timeline", TASKS);
	while (count < mr_min(processors, THREADS + 0l) - 1 &&
	       pthread_create(&threads[count], NULL, make_parts, &making) == 0)
		count++;
	make_parts(&making);
	while (count > 0)
		pthread_join(threads[--count], NULL);
	return making.result;
}

int mr_view_make(const struct mr_model *model, struct mr_view **ret_view)
{
	mr_auto(view) struct mr_view *view = calloc(1, sizeof *view);

	if (!view)
		return mr_fail_errno(ENOMEM, "view the trace");
	view->model = model;
	view->origin_ns = model->survey->first_ns;
	int result = make_all_parts(view);
	if (result == 0)
		result = mr_bands_make(view, &view->bands);
	if (result < 0)
		return mr_fail_errno(-result, "view the trace");
	*ret_view = mr_take(view);
	return 0;
}

void mr_view_free(struct mr_view *view)
{
	if (!view)
		return;
	for (uint32_t table = 0; table < MR_SLICED_COUNT; table++)
		mr_slices_free(&view->slices[table]);
	mr_step_index_free(&view->steps);
	mr_series_list_free(&view->series);
	mr_bands_free(&view->bands);
	mr_idle_free(&view->idle);
	mr_critical_path_free(&view->path);
	for (uint32_t scope = 0; scope < MR_SCOPE_COUNT; scope++) {
		mr_findings_free(&view->findings[scope]);
		mr_graph_figures_free(&view->graph_figures[scope]);
	}
	mr_model_free(view->recorded);
	mr_model_free(view->steady);
	mr_names_free(&view->names);
	free(view);
}

/* ---- what is made when first asked for ------------------------------------------------------------ */

int mr_view_once(struct mr_view *view, struct mr_once *once, int (*make)(struct mr_view *view))
{
	int result = 0;

	pthread_mutex_lock(&once->lock);
	if (!once->is_made)
		result = make(view);
	if (result == 0)
		once->is_made = true;
	pthread_mutex_unlock(&once->lock);
	return result;
}

static int make_recorded(struct mr_view *view)
{
	const struct mr_window all = mr_model_window(view->model);
	const struct mr_part part = {.window = mr_model_recorded(view->model)};

	if (part.window.first_ns == part.window.last_ns ||
	    (part.window.first_ns == all.first_ns && part.window.last_ns == all.last_ns))
		return 0;
	int result = mr_model_cut(view->model, &part, &view->recorded);
	return result < 0 ? mr_fail_errno(-result, "cut the trace") : 0;
}

const struct mr_model *mr_view_recorded(struct mr_view *view)
{
	if (mr_view_once(view, &view->recorded_once, make_recorded) < 0)
		return NULL;
	return view->recorded ? view->recorded : view->model;
}

bool mr_view_steady(const struct mr_view *view, struct mr_window *ret_window)
{
	struct mr_steady steady;

	if (mr_steps_steady(view->model, &view->steps.list, &steady) <= 0)
		return false;
	*ret_window = steady.window;
	return true;
}

static int make_steady(struct mr_view *view)
{
	struct mr_part part = {0};

	if (!mr_view_steady(view, &part.window))
		return 0;
	int result = mr_model_cut(view->model, &part, &view->steady);
	return result < 0 ? mr_fail_errno(-result, "cut the trace") : 0;
}

const struct mr_model *mr_view_scope(struct mr_view *view, enum mr_scope scope)
{
	if (scope == MR_SCOPE_STEPS && mr_view_once(view, &view->steady_once, make_steady) < 0)
		return NULL;
	return scope == MR_SCOPE_STEPS && view->steady ? view->steady : mr_view_recorded(view);
}

static int make_idle(struct mr_view *view)
{
	const struct mr_model *model = mr_view_recorded(view);
	int result = model ? mr_idle_make(model, &view->idle) : -ENOMEM;

	if (result == 0 &&
	    mr_slices_of_idle(view->model, &view->idle, &view->slices[MR_SLICED_idle]) < 0) {
		mr_idle_free(&view->idle);
		result = mr_fail_errno(ENOMEM, "show the idle time of devices");
	}
	return result;
}

static int make_path(struct mr_view *view)
{
	const struct mr_model *model = mr_view_recorded(view);
	int result = model ? mr_critical_path_make(model, &view->path) : -ENOMEM;

	if (result == 0 && mr_slices_of_path(&view->path, &view->slices[MR_SLICED_path]) < 0) {
		mr_critical_path_free(&view->path);
		result = -ENOMEM;
	}
	return result < 0 ? mr_fail_errno(-result, "find the critical path") : 0;
}

static int analyse(struct mr_view *view, enum mr_scope scope)
{
	const struct mr_model *model = mr_view_scope(view, scope);
	int result = model ? mr_analyse_all(model, &view->findings[scope]) : -ENOMEM;

	if (result < 0)
		mr_findings_free(&view->findings[scope]);
	return result;
}

static int make_findings(struct mr_view *view)
{
	return analyse(view, MR_SCOPE_WHOLE);
}

static int make_step_findings(struct mr_view *view)
{
	return analyse(view, MR_SCOPE_STEPS);
}

static int make_graph_figures(struct mr_view *view)
{
	const struct mr_critical_path *path = mr_view_path(view);

	return path ? mr_graph_figures_make(view->model, path, &view->graph_figures[MR_SCOPE_WHOLE])
		    : -ENOMEM;
}

static int make_step_figures(struct mr_view *view)
{
	const struct mr_model *model = mr_view_scope(view, MR_SCOPE_STEPS);
	struct mr_critical_path path = {0};
	int result = model ? mr_critical_path_make(model, &path) : -ENOMEM;

	if (result == 0)
		result = mr_graph_figures_make(model, &path, &view->graph_figures[MR_SCOPE_STEPS]);
	mr_critical_path_free(&path);
	return result < 0 ? mr_fail_errno(-result, "sum up the steps") : 0;
}

static int make_series(struct mr_view *view)
{
	int result = mr_series_list_fill(view->model, &view->series);

	return result < 0 ? mr_fail_errno(-result, "follow the values of counters and memory") : 0;
}

static int make_names(struct mr_view *view)
{
	return mr_names_make(view, &view->names);
}

const struct mr_idle *mr_view_idle(struct mr_view *view)
{
	return mr_view_once(view, &view->idle_once, make_idle) < 0 ? NULL : &view->idle;
}

const struct mr_critical_path *mr_view_path(struct mr_view *view)
{
	return mr_view_once(view, &view->path_once, make_path) < 0 ? NULL : &view->path;
}

const struct mr_findings *mr_view_findings(struct mr_view *view, enum mr_scope scope)
{
	int result = mr_view_once(view, &view->findings_once[scope],
				  scope == MR_SCOPE_STEPS ? make_step_findings : make_findings);

	return result < 0 ? NULL : &view->findings[scope];
}

const struct mr_graph_figures *mr_view_graph_figures(struct mr_view *view, enum mr_scope scope)
{
	int result = mr_view_once(view, &view->graph_figures_once[scope],
				  scope == MR_SCOPE_STEPS ? make_step_figures : make_graph_figures);

	return result < 0 ? NULL : &view->graph_figures[scope];
}

const struct mr_names *mr_view_names(struct mr_view *view)
{
	return mr_view_once(view, &view->names_once, make_names) < 0 ? NULL : &view->names;
}

const struct mr_series *mr_view_series(struct mr_view *view, uint32_t series)
{
	return mr_view_once(view, &view->series_once, make_series) < 0
		       ? NULL
		       : &view->series.items.items[series];
}

const struct mr_slices *mr_view_slices(struct mr_view *view, enum mr_sliced table)
{
	if ((table == MR_SLICED_idle && !mr_view_idle(view)) ||
	    (table == MR_SLICED_path && !mr_view_path(view)))
		return NULL;
	return &view->slices[table];
}
