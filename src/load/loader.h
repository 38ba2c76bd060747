/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files that turn events into rows: the process and track of the events being read, and the conversion of
 * their ticks to nanoseconds. One loader reads all streams of a model, one after the other.
 *
 *     annotations.c   millrace's own API, used by programs and frameworks (include/millrace.h)
 *     frameworks.c    frameworks' own tracing, one folder for each
 *     runtime.c       runtime level
 *     kernel.c        kernel level
 */
#ifndef MR_LOAD_LOADER_H
#define MR_LOAD_LOADER_H

#include "load/frameworks.h"
#include "model/model.h"

/* The size of a kernel launch that is too large for its own event; it comes just before it. */
struct mr_launch_size {
	uint32_t process;
	uint64_t correlation;
	uint64_t global[3];
};

/* What a runtime's tracer says of memory, until it is joined with what calls say (runtime_reports.c). */
struct mr_memory_report {
	uint64_t correlation;
	uint64_t address;
	uint64_t bytes;
	uint64_t pool;
	int64_t ns; /* MR_NO_TIME: not known */
	uint32_t process;
	uint32_t track; /* that recorded it */
	uint32_t device;
	uint8_t kind; /* enum mr_memory_kind */
	bool is_free;
};

struct mr_loader {
	struct mr_model *model;
	uint32_t process;
	uint32_t track;
	const struct mr_clock_map *clock; /* of the stream */
	uint32_t clock_gap;
	uint32_t site;                     /* that the thread noted last (sites.h) */
	struct mr_launch_size launch_size; /* the last one */
	mr_vec(struct mr_memory_report) memory_reports;
	struct mr_frameworks frameworks;
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
