/* SPDX-License-Identifier: Apache-2.0
 *
 * The model: a trace as columns on one clock. src/load fills it; all analyses read it; nothing changes it once loaded.
 *
 *     trace ──► survey (processes, tracks, definitions, clocks) ──► tables (table.h)
 *                       pass 1 over the events                      pass 2, then sort and nest
 *
 * All times are CLOCK_MONOTONIC nanoseconds. Rows that cannot be placed or contradict themselves are
 * counted in `anomalies`, never repaired silently.
 *
 * The model owns the trace, the survey, the manifest and the tables. Any number of threads may read.
 */
#ifndef MR_MODEL_MODEL_H
#define MR_MODEL_MODEL_H

#include <string.h>

#include "model/constraints.h"
#include "model/inference.h"
#include "model/manifest.h"
#include "model/survey.h"
#include "model/table.h"
#include "model/window.h"

struct mr_anomalies {
	uint64_t overlapping;   /* intervals of one thread that overlap without nesting */
	uint64_t too_deep;      /* intervals nested more than MR_NESTING_MAX deep */
	uint64_t backwards;     /* intervals that end before they start: kept with no duration */
	uint64_t unplaced;      /* times of a clock that was never sampled, or no place: left out */
	uint64_t undefined;     /* executions of nodes without a definition */
	uint64_t unfinished;    /* intervals still open when the recording ended */
	uint64_t contradictory; /* states of threads that the next event contradicts: unknown */

	/* Of the runtime level. */
	uint64_t unfinished_operations; /* launched, and not seen to end */
	uint64_t untimed_operations;    /* ended, at times that are not known */
	uint64_t uncorrelated;          /* operations whose launch is not in the trace */
	uint64_t ambiguous;             /* calls that share their correlation with another */
	uint64_t by_order;              /* operations tied to their calls by order */
	uint64_t undecided_order;       /* operations of which order does not say the call */
};

/* What is known of a device's clock, as far as its operations use it. */
struct mr_device_clock {
	uint64_t first_ticks; /* of all times of its operations */
	uint64_t last_ticks;
	uint64_t bound_ns; /* they are this exact, or MR_CLOCK_BOUND_UNKNOWN */
};

/* Of a program that marks steps: how often it called the function that it calls most often, and how often outside any
 * of those; 0: no framework says. */
struct mr_calls_marked {
	uint32_t count;
	uint32_t outside;
};

/* What became of the saved index when the trace was opened (index.h). */
struct mr_index_state {
	int result;          /* of mr_index_load() */
	uint64_t bytes;      /* of the file; 0: there is none that could be used */
	uint64_t damaged_at; /* -EBADMSG: where; 0: its head */
};

struct mr_model {
	const struct mr_model *whole; /* that this is a cut of (window.h); NULL: it is no cut */
	struct mr_part part;          /* of a cut */
	struct mr_trace *trace;
	struct mr_survey *survey;
	struct mr_manifest *manifest;
	struct mr_anomalies anomalies;
	struct mr_calls_marked calls_marked;
	struct mr_inferences inferences; /* empty if steps are known otherwise, and in a cut */
	struct mr_device_clock *device_clocks; /* by device */
	struct mr_constraint constraints[MR_CONSTRAINTS];
	struct mr_mapping index; /* the saved one, if the columns come from there */
	struct mr_index_state index_state;
	char *index_key; /* what it is an index of (index.h); NULL: there can be none */
#define MR_MODEL_TABLE(name) struct mr_##name name;
	MR_TABLES(MR_MODEL_TABLE)
#undef MR_MODEL_TABLE
};

void mr_model_free(struct mr_model *model);

static inline void mr_cleanup_model(struct mr_model **model)
{
	mr_model_free(*model);
}

/* The model that this is a cut of, or itself. */
static inline const struct mr_model *mr_model_whole(const struct mr_model *model)
{
	return model->whole ? model->whole : model;
}

/* Are steps known only from what is launched? */
static inline bool mr_model_infers_steps(const struct mr_model *model)
{
	return mr_model_whole(model)->inferences.list.count > 0;
}

/* The row of the whole model's table that a row of a cut model's table came from. */
static inline uint32_t mr_table_whole_row(const struct mr_table *table, uint32_t row)
{
	return table->whole_rows ? table->whole_rows[row] : row;
}

/* What is looked at: the whole trace, if the model is no cut. */
static inline struct mr_window mr_model_window(const struct mr_model *model)
{
	if (model->whole)
		return model->part.window;
	return (struct mr_window){model->survey->first_ns, model->survey->last_ns};
}

/* Finds what is nested in what among executions and calls, and their self times. -ENOMEM. */
int mr_model_nest(struct mr_model *model);

/* Of the whole trace the part in which levels were on (--delay, --duration, --steps) and that was kept (--last,
 * --max-size); perhaps empty. */
struct mr_window mr_model_recorded(const struct mr_model *model);

/* Another tool has made the trace: how exact its times are is not known. */
static inline bool mr_model_is_imported(const struct mr_model *model)
{
	return model->manifest->state && strcmp(model->manifest->state, "imported") == 0;
}

static inline uint32_t mr_track_host(const struct mr_model *model, uint32_t track)
{
	return model->survey->tracks.items[track].host;
}

/* The device of the host that a device is, as one process knows it (definitions.h): the one that stands for all. */
static inline uint32_t mr_device_canonical(const struct mr_model *model, uint32_t device)
{
	return model->survey->definitions.devices.items[device].same;
}

static inline int64_t mr_operation_end_ns(const struct mr_model *model, uint32_t row)
{
	return model->device_operations.start_ns[row] + model->device_operations.duration_ns[row];
}

static inline int64_t mr_call_end_ns(const struct mr_model *model, uint32_t row)
{
	return model->calls.start_ns[row] + model->calls.duration_ns[row];
}

static inline const char *mr_model_text(const struct mr_model *model, uint32_t string)
{
	return mr_survey_text(model->survey, string);
}

#endif
