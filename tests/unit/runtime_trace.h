/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes traces of the runtime level for tests: processes with one thread each, devices with queues and
 * a clock. Ticks of the user clock are nanoseconds of CLOCK_MONOTONIC; a device's clock is
 * DEVICE_OFFSET behind it.
 *
 *     runtime_trace_start();
 *     uint32_t device = define_device("gpu0", 0);
 *     EMIT(runtime_launch, 1500, ...);
 *     struct mr_model *model = runtime_trace_load();
 *     runtime_trace_end(model);
 *
 * Events must be emitted in order of time. One trace at a time.
 */
#ifndef MR_TESTS_UNIT_RUNTIME_TRACE_H
#define MR_TESTS_UNIT_RUNTIME_TRACE_H

#include "analysis/finding/finding.h"
#include "model/model.h"

enum {
	TRACE_BEGIN = 1000000000, /* everything happens between these */
	TRACE_END = 1100000000,
	DEVICE_OFFSET = 400000000,
	SAMPLE_HALF_NS = 500, /* half the bracket of a sample of a device's clock */
};

/* The time of a device's clock. */
#define DEVICE_TIME(ns) ((uint64_t)(ns)-DEVICE_OFFSET)

/* Starts with process 2, pid 102, in a fresh directory; goes on with process `number`, pid 100 +
 * number. */
void runtime_trace_start(void);
void runtime_trace_process(uint32_t number);

/* Definitions of the process that is being written. Each gives an id. */
uint32_t define_string(const char *text);
uint32_t define_queue(uint32_t device, const char *name, enum mr_queue_order order,
		      bool is_untimed);

uint32_t define_node(const char *name, const char *type);
void define_edge(uint32_t source, uint32_t target, enum mr_edge_kind kind);

/* The device's clock is sampled five times. The samples are off by up to `jitter_ns` of the truth, which
 * is at most SAMPLE_HALF_NS. */
uint32_t define_device(const char *name, uint32_t jitter_ns);

/* EMIT(runtime_wait, ns, .correlation = 1, ...) */
#define EMIT(name, ns, ...)                                                \
	do {                                                               \
		const struct mr_event_##name fields_ = {__VA_ARGS__};      \
		emit_event(MR_EVENT_##name, ns, &fields_, sizeof fields_); \
	} while (0)
void emit_event(uint8_t id, uint64_t ns, const void *fields, size_t size);

/* A call that ends at `ns`, took 100, and has the device copy ten times its correlation in bytes. */
void emit_copy_launch(uint64_t ns, uint32_t function, uint32_t queue, uint64_t correlation);

/* What the device says of it at `ns`: from when until when, and that as many bytes as its correlation were copied. */
void emit_copy(uint64_t ns, uint32_t queue, uint64_t correlation, uint64_t from, uint64_t until);

/* Starts in `folder`, which has a ctf/ folder, and is then not to be removed: for golden traces. */
void runtime_trace_start_in(char *folder);

/* Writes what was emitted. */
void runtime_trace_finish(void);

/* Writes and loads it; both end the test on failure. */
struct mr_model *runtime_trace_load(void);
void runtime_trace_end(struct mr_model *model);

/* The table of that name, of whatever finding; the test ends if there is none. */
const struct mr_finding_table *findings_table(const struct mr_findings *findings, const char *id);

#endif
