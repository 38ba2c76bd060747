/* SPDX-License-Identifier: Apache-2.0
 *
 * Protobuf traces of Perfetto (`*.pftrace`, `*.perfetto-trace`): packets, which sequences of writers wrote. What a packet
 * says may depend on earlier ones of its sequence:
 *
 *     packet ─┬─ sequence, time ──────► sequences.c   names by number, default track and clock; clocks tied to one
 *             ├─ track_descriptor ────► tracks.c      whose track it is: a thread's, a process's, one of its own
 *             ├─ track_event ─────────► events.c      slices, instants, counters
 *             └─ ftrace_events ───────► ftrace.c      who ran on each CPU, and who woke whom
 *
 * Packets of several sequences are not in the order of time, and a track may be described behind its events: events are
 * kept, and put on their tracks in order once all is read. All times are those of CLOCK_BOOTTIME.
 *
 * Threads and processes of track events are the program's. If there are none, all threads that ran are.
 */
#ifndef MR_IMPORT_PERFETTO_PERFETTO_H
#define MR_IMPORT_PERFETTO_PERFETTO_H

#include "import/formats.h"
#include "import/protobuf.h"
#include "import/step_marks.h"

/* Perfetto's numbers of clocks; those from 64 on are a sequence's own. */
enum {
	MR_PERFETTO_REALTIME = 1,
	MR_PERFETTO_MONOTONIC = 3,
	MR_PERFETTO_BOOTTIME = 6,
	MR_PERFETTO_OWN_CLOCKS = 64,
};

struct mr_perfetto_clock {
	uint32_t sequence; /* whose it is; 0: all know it */
	uint32_t id;
	int64_t offset_ns; /* to the clock of the trace */
	uint64_t unit_ns;
	uint64_t last;       /* value, if it counts on from packet to packet */
	bool is_incremental; /* then times are differences */
};

struct mr_perfetto_sequence {
	uint32_t id;
	uint32_t generation; /* of its names: a new one forgets the old */
	uint64_t default_track;
	uint32_t default_clock;
	bool is_known; /* its names are, as no packet was lost since they were written */
};

struct mr_perfetto_track {
	uint64_t uuid;
	uint64_t parent;
	uint32_t name; /* string of the builder; 0: none */
	int64_t pid;
	int64_t tid;
	int64_t multiplier; /* of a counter */
	int64_t sum;        /* of a counter whose values are differences */
	uint32_t thread;    /* the builder's, when all tracks are known */
	bool has_pid;
	bool has_tid;
	bool is_counter;
	bool is_incremental;
	bool is_used;
};

enum mr_perfetto_kind {
	MR_PERFETTO_BEGIN = 1,
	MR_PERFETTO_END,
	MR_PERFETTO_INSTANT,
	MR_PERFETTO_COUNTER,
};

/* An event that waits for its track. */
struct mr_perfetto_event {
	int64_t ns;
	int64_t value; /* of a counter */
	uint64_t order;
	uint32_t track;
	uint32_t name;
	uint32_t category;
	enum mr_perfetto_kind kind;
};

/* A thread, as the kernel knows it. */
struct mr_perfetto_task {
	uint32_t tid;
	uint32_t pid;  /* 0: not known */
	uint32_t name; /* string of the builder */
	bool has_run;
};

/* One packet, taken apart. */
struct mr_perfetto_packet {
	struct mr_perfetto_sequence *sequence;
	uint64_t time;
	uint32_t clock; /* 0: the default */
	uint64_t offset;
	bool has_time;
};

struct mr_perfetto {
	struct mr_import *import;
	struct mr_builder *builder; /* the import's */
	struct mr_strings sequence_keys, track_keys, task_keys, name_keys;
	mr_vec(struct mr_perfetto_sequence) sequences;
	mr_vec(struct mr_perfetto_track) tracks;
	mr_vec(struct mr_perfetto_task) tasks;
	mr_vec(uint32_t) names; /* strings of the builder, as name_keys */
	mr_vec(struct mr_perfetto_clock) clocks;
	mr_vec(struct mr_perfetto_event) events;
	mr_vec(uint32_t) running; /* by CPU: the thread that runs; UINT32_MAX: not known */
	struct mr_step_marks marks;
	bool has_boottime;
};

/* ---- sequences.c: all return 0 or a negative errno ------------------------------------------------------- */

int mr_perfetto_find_sequence(struct mr_perfetto *perfetto, uint32_t id,
			      struct mr_perfetto_sequence **ret_sequence);
int mr_perfetto_add_names(struct mr_perfetto *perfetto, const struct mr_perfetto_sequence *sequence,
			  const struct mr_field *data);
void mr_perfetto_set_defaults(struct mr_perfetto_sequence *sequence,
			      const struct mr_field *defaults);
int mr_perfetto_add_clocks(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
			   const struct mr_field *snapshot);

enum mr_perfetto_names {
	MR_PERFETTO_CATEGORIES = 1,
	MR_PERFETTO_EVENT_NAMES,
};

/* A name by its number; 0 if it is not known. */
uint32_t mr_perfetto_name(const struct mr_perfetto *perfetto,
			  const struct mr_perfetto_sequence *sequence, enum mr_perfetto_names kind,
			  uint64_t number);

/* The time of a packet; false if nothing ties its clock to the others. */
bool mr_perfetto_time(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
		      int64_t *ret_ns);

/* ---- tracks.c -------------------------------------------------------------------------------------------- */

int mr_perfetto_find_track(struct mr_perfetto *perfetto, uint64_t uuid, uint32_t *ret_track);
int mr_perfetto_add_track(struct mr_perfetto *perfetto, const struct mr_field *descriptor);
int mr_perfetto_add_process_tree(struct mr_perfetto *perfetto, const struct mr_field *tree);
int mr_perfetto_find_task(struct mr_perfetto *perfetto, uint32_t tid,
			  struct mr_perfetto_task **ret_task);

/* Gives tracks with events their threads. */
int mr_perfetto_place_tracks(struct mr_perfetto *perfetto);

/* ---- events.c, ftrace.c ---------------------------------------------------------------------------------- */

int mr_perfetto_note_event(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
			   const struct mr_field *event);
int mr_perfetto_add_events(struct mr_perfetto *perfetto);
int mr_perfetto_add_ftrace(struct mr_perfetto *perfetto, const struct mr_field *bundle);
int mr_perfetto_add_tasks(struct mr_perfetto *perfetto);

static inline int mr_perfetto_refuse(struct mr_perfetto *perfetto,
				     const struct mr_perfetto_packet *packet, const char *reason)
{
	return mr_import_faults_add(&perfetto->import->faults, reason, packet->offset, 0);
}

#endif
