/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace folder: mapped files → packets → events, without an object per event.
 *
 *     trace ─┬─ stream 0 ─┬─ packet ── event event event ...
 *            │            └─ packet ...            (packets of one stream are in chronological order)
 *            ├─ stream 1 ...
 *            └─ damage: what could not be read, where and why
 *
 * The trace's own metadata describes the layout of its events. Usually it is the layout this program
 * was built with; then an event's payload is a pointer into the mapped file. Otherwise (a trace of an
 * older or newer millrace) the cursor converts each event into its buffer: fields are matched by name
 * and absent ones are zero, so that callers always see today's structs. Events that this program does
 * not know are skipped and counted.
 *
 * The input is never trusted. A damaged packet is omitted and listed as damage, with file and offset;
 * reading continues at the next valid packet. Memory use is bounded by the size of the files. While
 * files are read they may grow or be deleted. If one shrinks, what is read of it then is zero, and mr_mappings_check()
 * says so (base/mapping.h).
 *
 * An open trace is read-only: any number of cursors, in any number of threads.
 */
#ifndef MR_TRACE_TRACE_H
#define MR_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mapping.h"
#include "schema/metadata.h"
#include "schema/packet.h"
#include "schema/schema.h"

/* One packet, validated: its header is valid and its bytes are inside the file. */
struct mr_trace_packet {
	const struct mr_packet *packet;
	uint64_t file_offset;
	uint32_t file;          /* index into mr_trace.files */
	uint32_t content_bytes; /* header included */
};

struct mr_trace_stream {
	uint64_t number; /* stream_instance_id */
	enum mr_stream_class stream_class;
	enum mr_packet_kind kind;
	const struct mr_trace_packet *packets;
	uint32_t packet_count;
	uint64_t discarded_events; /* counted by the recorder, up to the last packet */
	uint64_t missing_packets;  /* gaps in the sequence numbers: overwritten or damaged */
};

/* One for each gap; after the first thousand, one for all the rest. */
struct mr_trace_damage {
	const char *file; /* relative to the folder of the stream files */
	uint64_t offset;
	char *reason;
	uint64_t lost_bytes;
};

struct mr_trace {
	const char *path;
	struct mr_metadata metadata; /* clocks and identity, from the file */
	const char *const *files;    /* names of the stream files */
	uint32_t file_count;
	const struct mr_trace_stream *streams; /* definitions first, then by class and number */
	uint32_t stream_count;
	const struct mr_trace_damage *damages;
	uint32_t damage_count;
	uint64_t event_bytes; /* bytes of all packets */
	bool is_imported;     /* another tool wrote it (import/import.h) */
	struct mr_trace_private *private;
};

/* Opens PATH, a trace folder (reads its ctf/ folder) or a ctf folder itself. A trace with damaged
 * streams opens and lists the damage; a trace with invalid metadata does not open. */
int mr_trace_open(const char *path, struct mr_trace **ret_trace);

/* Makes a trace from packets in memory with the layout of this program's schema. Copies `metadata` and
 * the damages, except their file names, which it ignores. On success the trace owns the packets, and
 * *packets is empty. */
int mr_trace_of_memory(const char *path, const struct mr_metadata *metadata,
		       struct mr_mapping *packets, const struct mr_trace_damage *damages,
		       uint32_t damage_count, struct mr_trace **ret_trace);

void mr_trace_close(struct mr_trace *trace);

static inline void mr_cleanup_trace(struct mr_trace **trace)
{
	mr_trace_close(*trace);
}

struct mr_event {
	uint64_t ticks; /* of the stream's clock, with wrap-around resolved */
	const struct mr_event_desc *desc;
	const void *payload; /* struct mr_event_NAME; valid until the cursor moves */
	const char *text;    /* the str field, terminated, any bytes; NULL if the event has none */
	const struct mr_packet_context *context; /* process, pid, tid, depth */
};

/* Walks the events of one stream in order. Plain data: copy it to remember a place. */
struct mr_cursor {
	const uint8_t *position; /* next event */
	const uint8_t *limit;    /* end of the packet's content */
	uint64_t last_ticks;
	uint64_t end_ticks;              /* no event of the packet is later */
	const struct mr_layout *layouts; /* by event id */
	const struct mr_packet_context *context;
	const struct mr_trace *trace;
	const struct mr_trace_stream *stream;
	uint32_t packet_index;      /* the packet after this one */
	uint64_t unknown_events;    /* skipped: not in this program's schema */
	uint64_t malformed_packets; /* abandoned at an invalid event */
	uint8_t rearranged[256];    /* payload of an event whose layout differs from ours */
};

void mr_cursor_start(struct mr_cursor *cursor, const struct mr_trace *trace,
		     const struct mr_trace_stream *stream);

/* Fills *event and returns true, or returns false at the stream's end. */
bool mr_cursor_next(struct mr_cursor *cursor, struct mr_event *event);

/* Merges all streams (or those `wanted` accepts) in chronological order. `to_ns` converts a stream's
 * ticks to nanoseconds. Events at the same time keep the order of mr_trace.streams, so the result is
 * always the same. What an event points to is valid until the next one. */
struct mr_merge;
typedef int64_t mr_to_ns(const void *clocks, enum mr_stream_class stream_class, uint64_t ticks);
typedef bool mr_stream_wanted(const struct mr_trace_stream *stream);

int mr_merge_start(const struct mr_trace *trace, mr_stream_wanted *wanted, mr_to_ns *to_ns,
		   const void *clocks, struct mr_merge **ret_merge);
bool mr_merge_next(struct mr_merge *merge, struct mr_event *event, int64_t *ret_ns);
void mr_merge_free(struct mr_merge *merge);

/* Events skipped and packets abandoned by a merge so far. */
uint64_t mr_merge_unknown_events(const struct mr_merge *merge);
uint64_t mr_merge_malformed_packets(const struct mr_merge *merge);

static inline void mr_cleanup_merge(struct mr_merge **merge)
{
	mr_merge_free(*merge);
}

#endif
