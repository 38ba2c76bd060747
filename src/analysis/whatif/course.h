/* SPDX-License-Identifier: Apache-2.0
 *
 * The course of a run: what followed from what. The time of all threads and devices is cut into pieces; each piece follows others, and starts
 * when the last of these has ended.
 *
 *     thread A   ├─ cpu ─┤─ launch ─┤─ cpu ──┤ (waits for the kernel)       ├ sync ┤─ cpu ─┤
 *                                   │                                       ▲
 *     device                        └─ launch ─► ├───── kernel ─────────────┤
 *     thread B   ├─ disk ──┤─ cpu ─┤ (waits for a lock that A has) ...
 *
 * A piece is something that took time: work, a sleep, a disk, an operation of a device. Waiting is no piece: a thread that
 * waits follows what it waits for, and its next piece starts when that has ended. So if what it waits for becomes shorter, so
 * does the wait.
 *
 * Every relation comes from a record: a wake-up, a launch, a wait list, the order of a queue, who had the CPU. Where none
 * explains why a piece did not start earlier, the time until its start is a delay, which stays as it is (`delay_ns`).
 *
 *     start = latest end of what it follows + delay        for all pieces, to the nanosecond
 *
 * Borrows the model, which must be no cut and live longer. Read-only once made.
 */
#ifndef MR_ANALYSIS_COURSE_H
#define MR_ANALYSIS_COURSE_H

#include "analysis/cause/cause.h"
#include "base/vector.h"
#include "model/model.h"

#define MR_NO_PIECE UINT32_MAX

/* Why a piece follows another. */
enum mr_follow_kind {
	MR_FOLLOW_ORDER,  /* the same thread does it next */
	MR_FOLLOW_BIRTH,  /* the thread was made there */
	MR_FOLLOW_LAUNCH, /* the operation was launched there */
	MR_FOLLOW_QUEUE,  /* the operation comes next in an in-order queue */
	MR_FOLLOW_LIST,   /* the operation has it in its wait list */
	MR_FOLLOW_ROOM,   /* the device was busy with it */
	MR_FOLLOW_SYNC,   /* the thread waited for the operation */
	MR_FOLLOW_LOCK,   /* the thread waited for a lock that the other had */
	MR_FOLLOW_GIL,    /* likewise, for that of an interpreter */
	MR_FOLLOW_GIVE, /* the thread waited for something that the other gave: work, bytes, its end */
	MR_FOLLOW_CPU, /* the thread waited for the CPU that the other had */
	MR_FOLLOW_KINDS,
};

struct mr_piece {
	int64_t start_ns;
	int64_t duration_ns;
	int64_t delay_ns;
	struct mr_link link; /* what it is, as the critical path calls it */
	uint32_t track;      /* of the thread, or the queue of the operation */
	uint32_t operation;  /* row, or MR_NO_ROW */
	uint32_t
		execution; /* row of what the thread executes, or launched the operation; MR_NO_ROW */
	uint32_t first_follow; /* in `follows`; they end where those of the next piece begin */
};

struct mr_follow {
	uint32_t piece;
	uint32_t
		lead_ns; /* the piece ended so much later than what follows it started: clocks differ */
	uint8_t kind; /* enum mr_follow_kind */
};

struct mr_course {
	const struct mr_model *model;
	mr_vec(struct mr_piece) pieces; /* by start; one more stands at the end, for first_follow */
	uint32_t count;                 /* of pieces */
	mr_vec(struct mr_follow) follows; /* each leads to a piece before */
	uint32_t *first_of_track;         /* in of_track: pieces of a track, by start */
	uint32_t *of_track;
	int64_t first_ns;        /* of the first piece */
	int64_t last_ns;         /* latest end of all */
	uint64_t contradictions; /* relations that times contradict, and which are left out */
};

/* 0 or -ENOMEM. */
int mr_course_make(const struct mr_model *model, struct mr_course *ret_course);
void mr_course_free(struct mr_course *course);

static inline void mr_cleanup_course(struct mr_course *course)
{
	mr_course_free(course);
}

static inline int64_t mr_piece_end_ns(const struct mr_piece *piece)
{
	return piece->start_ns + piece->duration_ns;
}

/* Where in of_track the first piece of the track is that starts after that time; behind the last if there is none. */
uint32_t mr_place_after(const struct mr_course *course, uint32_t track, int64_t ns);

/* The last piece of the track that starts at that time or before; MR_NO_PIECE if there is none. */
uint32_t mr_piece_at(const struct mr_course *course, uint32_t track, int64_t ns);

#endif
