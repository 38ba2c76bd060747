/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a trace of events that come in any order, as if millrace had recorded them: packets in memory,
 * of the events of events.def. From there on everything — survey, model, dump — is the same.
 *
 *     records   thread 2 at 70 ns │ thread 1 at 10 ns │ thread 2 at 30 ns ...      as they come
 *                    └──────────── sorted by thread and time ─────────┐
 *     packets   definitions │ thread 1: 10 ... │ thread 2: 30, 70 ... ◄┘
 *
 * Times are nanoseconds of the trace's only clock. All definitions are written by one process; to the
 * others it is what a parent is to a forked child, so that ids mean the same everywhere.
 *
 * The builder owns what it collects. One thread at a time.
 */
#ifndef MR_IMPORT_BUILDER_H
#define MR_IMPORT_BUILDER_H

#include "base/strings.h"
#include "base/vector.h"
#include "schema/schema.h"
#include "trace/trace.h"

/* An interval that was begun and not ended yet. */
struct mr_build_open {
	uint32_t node;
	int64_t start_ns;
};

struct mr_build_process {
	uint32_t pid;  /* 0 if it has none that is a number */
	uint32_t name; /* string */
	bool has_events;
};

struct mr_build_thread {
	uint32_t process;
	uint32_t tid;
	uint32_t name;    /* string */
	int64_t first_ns; /* the earliest start or event */
	mr_vec(struct mr_build_open) open;
};

struct mr_build_device {
	uint64_t number;
	uint32_t name; /* string */
};

struct mr_build_queue {
	uint32_t device; /* id */
	uint32_t name;   /* string */
};

/* The event's id and payload stand at `offset` of the payloads. */
struct mr_build_record {
	int64_t time_ns;
	uint32_t thread;
	uint32_t offset;
};

struct mr_builder {
	struct mr_strings strings; /* ids are their numbers; 0 is the empty one */
	struct mr_strings graphs;  /* of a string; ids are numbers + 1, and so for all below */
	struct mr_strings nodes;   /* of (the graph's string, string) */
	struct mr_strings process_keys;
	struct mr_strings thread_keys; /* of (process, string) */
	struct mr_strings device_keys; /* of a number */
	struct mr_strings queue_keys;  /* of (device, string) */
	mr_vec(struct mr_build_process) processes;
	mr_vec(struct mr_build_thread) threads;
	mr_vec(struct mr_build_device) devices;
	mr_vec(struct mr_build_queue) queues;
	mr_vec(struct mr_build_record) records;
	mr_vec(uint8_t) payloads;
	uint32_t definer; /* process that writes the definitions */
	int64_t first_ns; /* of everything */
	int64_t last_ns;
};

int mr_builder_start(struct mr_builder *builder);
void mr_builder_free(struct mr_builder *builder);

/* All of these find what is there, or add it. -ENOMEM. */
int mr_builder_string(struct mr_builder *builder, const char *text, size_t length,
		      uint32_t *ret_string);
int mr_builder_node(struct mr_builder *builder, uint32_t graph_name, uint32_t name,
		    uint32_t *ret_node);
int mr_builder_process(struct mr_builder *builder, const char *key, size_t length,
		       uint32_t *ret_process);
int mr_builder_thread(struct mr_builder *builder, uint32_t process, uint32_t key, /* string */
		      uint32_t *ret_thread);
int mr_builder_device(struct mr_builder *builder, uint64_t number, uint32_t *ret_device);
int mr_builder_queue(struct mr_builder *builder, uint32_t device, uint32_t name,
		     uint32_t *ret_queue);

/* Adds an event at a time >= 0. `start_ns` is where what it tells of began. */
int mr_builder_add(struct mr_builder *builder, uint32_t thread, int64_t start_ns, int64_t time_ns,
		   enum mr_event_id event, const void *payload);

/* Makes the packets and empties the builder. Intervals that are open still end, unfinished, at the last
 * time of all. */
int mr_builder_finish(struct mr_builder *builder, const uint8_t *trace_uuid,
		      struct mr_mapping *ret_packets);

#endif
