/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds a trace from events that arrive in any order, as if millrace had recorded them: packets in memory with the
 * events of events.def. Everything after that (survey, model, dump) is the same, so an importer can express whatever a
 * recording can.
 *
 *     records   thread 2 at 70 │ CPU 0 at 12 │ thread 1 at 10 │ thread 2 at 30 ...     as they come
 *                    └─────────────── sorted by stream and time ─────────┐
 *     packets   definitions │ thread 1: 10 ... │ thread 2: 30, 70 ... ◄──┤
 *               definitions │ CPU 0: 12 ...    ◄─────────────────────────┘
 *
 * Streams    The stream of a thread takes the events of the levels core, dataflow and runtime, that of a CPU the events
 *            of the kernel level. mr_builder_thread() and mr_builder_cpu() return the number for mr_builder_add().
 * Clocks     Times of CPUs are nanoseconds of the trace clock. Those of threads are, too, unless the importer sets
 *            `thread_ticks_per_second`: then they are ticks of the clock MR_trace_clock_tsc. Devices may have
 *            their own clocks (mr_builder_clock). Samples tie each clock to the trace clock; their width bounds the
 *            error.
 * Names      The builder assigns the ids that events refer to (strings, nodes, devices, queues, files, clocks), the same
 *            for all processes: one process defines them, and the others inherit them like forked children. Until
 *            mr_builder_finish() the importer may write to the members that are marked as the importer's.
 *
 * The builder owns what it collects. Only one thread at a time may use it.
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
	int64_t start;
};

struct mr_build_process {
	uint32_t pid;  /* the importer's; 0 if the key is no number */
	uint32_t name; /* string, the importer's */
	bool has_events;
};

/* A thread of a process, or a CPU. */
struct mr_build_stream {
	enum mr_stream_class stream_class; /* MR_STREAM_KERNEL: of a CPU */
	uint32_t process;                  /* of a thread */
	uint32_t tid;                      /* or the number of the CPU */
	uint32_t name;                     /* string, the importer's */
	int64_t first;                     /* the earliest start or event */
	int64_t last;                      /* event */
	mr_vec(struct mr_build_open) open;
};

/* All but the key is the importer's. */
struct mr_build_device {
	uint64_t key;
	uint32_t name;         /* string */
	uint32_t identity;     /* string: the same in every trace of its host; 0: not known */
	uint32_t clock;        /* of its operations' times; the trace clock unless changed */
	uint8_t kind;          /* enum mr_device_kind; other unless changed */
	uint64_t memory_bytes; /* 0: not known */
};

struct mr_build_queue {
	uint32_t device; /* id */
	uint32_t name;   /* string */
	uint8_t order;   /* enum mr_queue_order, the importer's; unknown unless changed */
	bool is_untimed; /* the importer's */
};

/* A node of a dataflow graph. */
struct mr_build_node {
	uint32_t graph; /* string: the graph's name */
	uint32_t name;  /* string */
	uint32_t
		type; /* string, the importer's: the operation it performs; its name unless changed */
	uint32_t device; /* the importer's: where it is placed; 0 unless changed */
};

/* Times up to here have room in the clocks' arithmetic (clock/clock.h); 73 years. */
#define MR_BUILD_TIME_MAX_NS ((INT64_C(1) << 61) - 1)

/* What has room in a record: enough of both for any file that can be read into memory. */
#define MR_BUILD_STREAM_MAX ((1u << 28) - 1)
#define MR_BUILD_OFFSET_MAX ((UINT64_C(1) << 36) - 1)

/* Its payload and text are the bytes from `offset` on: the event's id, the fields, the text and a zero. */
struct mr_build_record {
	int64_t time;
	uint64_t offset : 36;
	uint64_t stream : 28;
};

/* What is written once, before all events. */
struct mr_build_definition {
	uint64_t offset; /* as of a record */
	enum mr_stream_class stream_class;
};

struct mr_builder {
	struct mr_strings strings;   /* ids are their numbers; 0 is the empty one */
	struct mr_strings graphs;    /* of a string; ids are numbers + 1, and so for those below */
	struct mr_strings node_keys; /* of (graph's string, string) */
	struct mr_strings files;     /* of (device, inode, path's string) */
	struct mr_strings process_keys;
	struct mr_strings stream_keys; /* of (class, process, string or CPU) */
	struct mr_strings device_keys;
	struct mr_strings queue_keys; /* of (device, string) */
	mr_vec(struct mr_build_process) processes;
	mr_vec(struct mr_build_stream) streams;
	mr_vec(struct mr_build_node) nodes;
	mr_vec(struct mr_build_device) devices;
	mr_vec(struct mr_build_queue) queues;
	mr_vec(struct mr_build_definition) definitions; /* others than those above */
	mr_vec(struct mr_build_record) records;
	mr_vec(uint8_t) payloads;
	uint32_t clock_count;

	/* The importer's. */
	uint32_t definer;                 /* process that defines the ids */
	uint32_t host;                    /* string: where it was recorded; empty if not known */
	int64_t epoch_ns;                 /* Unix time at time 0 of the trace clock; not negative */
	uint64_t precision_ns;            /* of the times; 1 unless changed */
	uint64_t thread_ticks_per_second; /* 0: threads have the trace clock */
};

int mr_builder_start(struct mr_builder *builder);
void mr_builder_free(struct mr_builder *builder);

/* ---- definitions: all of these find what is there, or add it; 0 or a negative errno ------------------- */

int mr_builder_string(struct mr_builder *builder, const char *text, size_t length,
		      uint32_t *ret_string);
int mr_builder_node(struct mr_builder *builder, uint32_t graph, uint32_t name, uint32_t *ret_node);
int mr_builder_process(struct mr_builder *builder, const char *key, size_t length,
		       uint32_t *ret_process);
int mr_builder_thread(struct mr_builder *builder, uint32_t process, uint32_t key, /* string */
		      uint32_t *ret_stream);
int mr_builder_cpu(struct mr_builder *builder, uint32_t number, uint32_t *ret_stream);
int mr_builder_device(struct mr_builder *builder, uint64_t key, uint32_t *ret_device);
int mr_builder_queue(struct mr_builder *builder, uint32_t device, uint32_t name,
		     uint32_t *ret_queue);
int mr_builder_file(struct mr_builder *builder, uint64_t device_number, uint64_t inode,
		    uint32_t path, uint32_t *ret_file);

/* These always add. */
int mr_builder_clock(struct mr_builder *builder, uint32_t name, uint64_t ticks_per_second,
		     uint32_t *ret_clock);
int mr_builder_sample(struct mr_builder *builder, const struct mr_event_clock_sample *sample);
int mr_builder_edge(struct mr_builder *builder, const struct mr_event_def_edge *edge);
int mr_builder_system_call(struct mr_builder *builder, uint32_t number, uint32_t name);

/* ---- events ------------------------------------------------------------------------------------------ */

/* Adds an event at a time >= 0 of its stream's clock. `start` is when the thing it describes began. A text is cut at
 * its first zero byte. */
int mr_builder_add(struct mr_builder *builder, uint32_t stream, int64_t start, int64_t time,
		   enum mr_event_id event, const void *payload);
int mr_builder_add_text(struct mr_builder *builder, uint32_t stream, int64_t time,
			enum mr_event_id event, const void *payload, const char *text,
			size_t length);

/* ---- the trace ---------------------------------------------------------------------------------------- */

/* Texts belong to the builder. */
struct mr_metadata mr_builder_metadata(const struct mr_builder *builder);

/* Makes the packets. Intervals that are still open end, unfinished, at the last time of all threads. Nothing may
 * be added afterwards. */
int mr_builder_finish(struct mr_builder *builder, const uint8_t *trace_uuid,
		      struct mr_mapping *ret_packets);

#endif
