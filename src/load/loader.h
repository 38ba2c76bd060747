/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files that turn events into rows share: where the events being read belong, and what makes
 * nanoseconds of their ticks. One loader reads all streams of a model, one after the other.
 *
 *     load.c       annotations of the dataflow level, and the order of everything
 *     dataflow.c   frameworks' own tracing
 *     runtime.c    runtime level
 */
#ifndef MR_LOAD_LOADER_H
#define MR_LOAD_LOADER_H

#include "load/tensorflow/traceme.h"
#include "model/model.h"

/* A node is about to run, as TensorFlow's activity watcher says. */
struct mr_activity_seen {
	uint32_t process;
	uint32_t text; /* string */
	uint64_t run;
};

/* Work of an asynchronous eager operation: given to an executor, or run by it. */
struct mr_eager_item {
	uint64_t item;
	uint32_t process;
	uint32_t track;
	int64_t start_ns;
	int64_t duration_ns; /* of a run */
	uint32_t run;        /* of what was given: index of its run, or MR_NO_ROW */
	bool is_done;        /* of a run: when it ended */
};

/* What the frameworks' own tracing said, while it is being read (dataflow.h). */
struct mr_dataflow {
	mr_vec(struct mr_traceme) meanings;    /* of texts, by string; made when first met */
	mr_vec(struct mr_activity_seen) seen;  /* each as often as it was told */
	struct mr_strings graph_keys;          /* (process, name) → index in graphs */
	mr_vec(uint32_t) graphs;               /* of the definitions */
	struct mr_strings node_keys;           /* (graph, name, device) → index in nodes */
	mr_vec(uint32_t) nodes;                /* of the definitions */
	mr_vec(struct mr_eager_item) enqueued; /* to executors, as threads told */
	mr_vec(uint32_t) untaken;              /* indices of those that no call has claimed yet */
	mr_vec(struct mr_eager_item) runs;     /* of executors */
	uint32_t eager_count;                  /* rows of eager operations */
	uint32_t clock_gap;
};

/* The size of a kernel launch that is too large for its own event; it comes just before it. */
struct mr_launch_size {
	uint32_t process;
	uint64_t correlation;
	uint64_t global[3];
};

struct mr_loader {
	struct mr_model *model;
	uint32_t process;
	uint32_t track;
	const struct mr_clock_map *clock; /* of the stream */
	uint32_t clock_gap;
	struct mr_launch_size launch_size; /* the last one */
	struct mr_dataflow dataflow;
};

struct mr_span {
	int64_t start_ns;
	int64_t duration_ns;
};

static inline int64_t mr_loader_to_ns(struct mr_loader *loader, uint64_t ticks)
{
	return mr_clock_to_ns_near(loader->clock, ticks, &loader->clock_gap);
}

static inline struct mr_span mr_loader_span(struct mr_loader *loader, int64_t start_ns,
					    int64_t end_ns)
{
	if (mr_unlikely(end_ns < start_ns)) {
		loader->model->anomalies.backwards++;
		end_ns = start_ns;
	}
	return (struct mr_span){start_ns, end_ns - start_ns};
}

/* The interval that ends with the event. */
static inline struct mr_span mr_loader_span_before(struct mr_loader *loader, uint64_t end_ticks,
						   uint64_t duration_ticks)
{
	uint64_t start_ticks = end_ticks - duration_ticks;

	if (mr_unlikely(duration_ticks > end_ticks)) {
		loader->model->anomalies.backwards++;
		start_ticks = end_ticks;
	}
	int64_t end_ns = mr_loader_to_ns(loader, end_ticks);
	int64_t start_ns = mr_loader_to_ns(loader, start_ticks);
	return (struct mr_span){start_ns, end_ns - start_ns};
}

static inline uint32_t mr_loader_find(const struct mr_loader *loader, enum mr_id_kind kind,
				      uint32_t id)
{
	return mr_definition_find(&loader->model->survey->definitions, loader->process, kind, id);
}

#endif
