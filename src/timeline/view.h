/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace as the viewer sees it: the data that all answers share.
 *
 *     model ──► slices of each table, with level of detail ──► bands (bands.h) ──► pixels
 *           └─► idle time, critical path, findings: made when first asked for
 *
 * Any number of threads may use it at the same time. What exists from the beginning is read-only. What is made on first
 * use is made once, while other threads that need it wait, and is read-only from then on. If it cannot be made, its
 * function returns NULL with a cause, and the next caller tries again.
 */
#ifndef MR_TIMELINE_VIEW_H
#define MR_TIMELINE_VIEW_H

#include <pthread.h>

#include "analysis/cause/critical_path.h"
#include "analysis/cause/idle.h"
#include "analysis/finding/finding.h"
#include "analysis/graph_figures.h"
#include "analysis/step_index.h"
#include "model/detail.h"
#include "model/model.h"
#include "timeline/bands.h"
#include "timeline/names.h"
#include "timeline/series.h"
#include "timeline/slices.h"

/* Guards something that is made once. Zeroed: it is not made yet. */
struct mr_once {
	pthread_mutex_t lock;
	bool is_made; /* under the lock */
};

/* What the page looks at. */
enum mr_scope {
	MR_SCOPE_WHOLE, /* all that was recorded */
	MR_SCOPE_STEPS, /* the steps as they go on (mr_steps_steady()); if there are none, as the whole */
	MR_SCOPE_COUNT,
};

struct mr_view {
	const struct mr_model *model;
	int64_t origin_ns; /* all times that are sent are relative to it, so that they fit a double */
	struct mr_slices slices[MR_SLICED_COUNT];
	struct mr_step_index steps;
	struct mr_series_list series; /* their values are made when first asked for */
	struct mr_bands bands;

	struct mr_once idle_once;
	struct mr_once path_once;
	struct mr_once findings_once[MR_SCOPE_COUNT];
	struct mr_once recorded_once;
	struct mr_once steady_once;
	struct mr_once graph_figures_once[MR_SCOPE_COUNT];
	struct mr_once series_once;
	struct mr_once names_once;
	struct mr_idle idle;
	struct mr_critical_path path;
	struct mr_model *recorded; /* cut to what was recorded, if that is not all; NULL else */
	struct mr_model *steady;   /* cut to the steps as they go on; NULL: there are none */
	struct mr_findings findings[MR_SCOPE_COUNT];
	struct mr_graph_figures graph_figures[MR_SCOPE_COUNT];
	struct mr_names names;
};

/* Of a model that stays as long as the view. */
int mr_view_make(const struct mr_model *model, struct mr_view **ret_view);
void mr_view_free(struct mr_view *view);

static inline void mr_cleanup_view(struct mr_view **view)
{
	mr_view_free(*view);
}

/* Makes something, unless it is made; 0 or what `make` returned. */
int mr_view_once(struct mr_view *view, struct mr_once *once, int (*make)(struct mr_view *view));

/* The slices of a table. */
const struct mr_slices *mr_view_slices(struct mr_view *view, enum mr_sliced table);

/* The model that is analysed, limited to the recorded time (mr_model_recorded), or to the steps. NULL without memory. */
const struct mr_model *mr_view_recorded(struct mr_view *view);
const struct mr_model *mr_view_scope(struct mr_view *view, enum mr_scope scope);

/* The time of the steps as they go on. False if there are none, or without memory. */
bool mr_view_steady(const struct mr_view *view, struct mr_window *ret_window);

const struct mr_idle *mr_view_idle(struct mr_view *view);
const struct mr_critical_path *mr_view_path(struct mr_view *view);

/* Sums for nodes and edges of graphs. */
const struct mr_graph_figures *mr_view_graph_figures(struct mr_view *view, enum mr_scope scope);

/* Every finding of a report on that. */
const struct mr_findings *mr_view_findings(struct mr_view *view, enum mr_scope scope);

/* What can be searched for. */
const struct mr_names *mr_view_names(struct mr_view *view);

/* With its values. */
const struct mr_series *mr_view_series(struct mr_view *view, uint32_t series);

/* As it is sent. */
static inline int64_t mr_view_time(const struct mr_view *view, int64_t ns)
{
	return ns - view->origin_ns;
}

#endif
