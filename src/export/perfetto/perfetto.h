/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace as Perfetto's packets. All packets are of one sequence, and need not stand in the order of time: Perfetto sorts
 * them, and leaves those of the same time in their order.
 *
 *     head: clock, names of tables ─► descriptions of tracks, each before its first use ─► slices, moments, counters
 *
 *     process 7 ┬ thread 8 ┬ runtime call          one track for each table that has rows of the thread,
 *               │          ├ runtime call          and more of the same name where rows overlap without nesting
 *               │          └ state
 *               └ memory of GPU 0                  a counter
 *     device    ─ queue ─ device operation
 *     CPUs      ─ CPU 3 ─ thread
 *
 * The category of a slice is its table, and its argument `row` the rowid there.
 */
#ifndef MR_EXPORT_PERFETTO_PERFETTO_H
#define MR_EXPORT_PERFETTO_PERFETTO_H

#include "base/strings.h"
#include "export/protobuf.h"
#include "query/relation.h"

/* The tables of tables.def. */
enum mr_shown {
#define SLICES(name, ...)   MR_SHOWN_##name,
#define INSTANTS(name, ...) MR_SHOWN_##name,
#include "export/perfetto/tables.def"
#undef SLICES
#undef INSTANTS
	MR_SHOWN_COUNT,
};

struct mr_shown_desc {
	const char *name;
	const char *noun;
	const char *label;
	const char *otherwise;
	bool is_instant;
};

extern const struct mr_shown_desc mr_shown[MR_SHOWN_COUNT];

/* What a row of a table shown has to do with another one: both have the same number. */
struct mr_flow_end {
	uint32_t table; /* enum mr_shown */
	uint32_t row;
	uint32_t flow; /* from 1 */
};

struct mr_perfetto {
	const struct mr_model *model;
	struct mr_relations relations;
	FILE *file;
	struct mr_bytes bytes;            /* packets that are not yet written */
	struct mr_strings names;          /* of slices: number + 1 is what packets call them */
	mr_vec(struct mr_flow_end) flows; /* by table and row */
	size_t next_flow;                 /* the first that is not yet written */
	bool *is_process_known;           /* by process of the survey: its track is described */
	bool *is_track_known;
	bool *is_device_known;
	bool *is_host_known;
	uint32_t *pids; /* by process of the survey: what Perfetto knows it by */
	struct mr_strings pids_used;
	struct mr_strings tids_used;
	struct mr_strings counters; /* by what they are of */
	uint64_t left_out;
};

enum mr_event_type {
	MR_EVENT_BEGIN = 1,
	MR_EVENT_END = 2,
	MR_EVENT_INSTANT = 3,
	MR_EVENT_COUNTER = 4,
};

/* Kinds of tracks, in the upper byte of the number that identifies one. */
enum mr_track_space {
	MR_SPACE_PROCESS = 1,
	MR_SPACE_TRACK,
	MR_SPACE_ROWS, /* of one table and lane on a track */
	MR_SPACE_DEVICE,
	MR_SPACE_CPUS,
	MR_SPACE_COUNTER,
};

static inline uint64_t mr_track_id(enum mr_track_space space, uint64_t number)
{
	return (uint64_t)space << 56 | number;
}

/* ---- packets (packets.c) ---- */

/* -ENOMEM, or a failure to write with a cause. */
int mr_perfetto_begin(struct mr_perfetto *perfetto);

/* A packet on the sequence; returns where it begins. */
size_t mr_packet_begin(struct mr_perfetto *perfetto);
int mr_packet_end(struct mr_perfetto *perfetto, size_t begin);

/* Of a slice or counter, inside a packet: returns where it begins. */
size_t mr_event_begin(struct mr_perfetto *perfetto, enum mr_event_type type, uint64_t track,
		      int64_t time_ns);

/* ---- tracks (tracks.c) ---- */

/* Describe tracks that are not yet. Each gives the number of the track. */
int mr_perfetto_process(struct mr_perfetto *perfetto, uint32_t process, uint64_t *ret_track);
int mr_perfetto_rows(struct mr_perfetto *perfetto, uint32_t track, enum mr_shown table,
		     uint32_t lane, uint64_t *ret_track);

/* ---- rows ---- */

int mr_perfetto_flows(struct mr_perfetto *perfetto);    /* flows.c: finds them */
int mr_perfetto_slices(struct mr_perfetto *perfetto);   /* slices.c: all tables of tables.def */
int mr_perfetto_counters(struct mr_perfetto *perfetto); /* counters.c */

#endif
