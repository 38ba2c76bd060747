/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrows between a row and related rows, from cause to effect. They follow from links in the model, never from order or
 * closeness in time.
 *
 *     thread    ├──────── operation ────────┤            "runs": an operation and the calls made in it
 *                  ├ call ┤      ├ call ──────┤          "launched": a call and its device operations
 *                   ╲              ▲                     "waits for": a device operation, and the call or
 *     queue          ╲──►├ operation ─┘                  operation that could not continue before its end
 *
 * "woken by" and "woke" lead from a thread that runs to one that it wakes, "sent" and "received" from the one end
 * of a message to the other, "feeds" from an operation to one that has its output as input, in the same step.
 *
 * If there are many arrows, only the first are kept. Any thread may call these functions.
 */
#ifndef MR_TIMELINE_ARROWS_H
#define MR_TIMELINE_ARROWS_H

#include "base/vector.h"
#include "timeline/slices.h"

enum {
	MR_ARROWS_MAX = 200
};

struct mr_arrow_end {
	enum mr_sliced table;
	uint32_t row;
	int64_t ns;
};

struct mr_arrow {
	const char *kind;
	struct mr_arrow_end from;
	struct mr_arrow_end to;
};

struct mr_arrows {
	mr_vec(struct mr_arrow) list;
	uint32_t left_out;
};

/* Adds the arrows of a row of one of the model's tables; rows of other tables have none. -ENOMEM. */
int mr_arrows_find(const struct mr_model *model, enum mr_sliced table, uint32_t row,
		   struct mr_arrows *arrows);
void mr_arrows_free(struct mr_arrows *arrows);

int mr_arrows_add(struct mr_arrows *arrows, const char *kind, struct mr_arrow_end from,
		  struct mr_arrow_end to);

/* Of them those of the dataflow level (dataflow_arrows.c): messages that were sent or received in a row of
 * node_executions, calls or states; and inputs and outputs of an execution. */
int mr_arrows_find_messages(const struct mr_model *model, enum mr_sliced table, uint32_t row,
			    struct mr_arrows *arrows);
int mr_arrows_find_feeds(const struct mr_model *model, uint32_t execution,
			 struct mr_arrows *arrows);

/* What was launched, in numbers. */
struct mr_launched {
	uint32_t calls;      /* made in it and in those nested in it */
	uint32_t operations; /* that these launched */
	int64_t device_ns;   /* that they took */
};
struct mr_launched mr_launched_by_execution(const struct mr_model *model, uint32_t execution);
struct mr_launched mr_launched_by_call(const struct mr_model *model, uint32_t call);

/* The state of a thread at a time, or MR_NO_ROW. */
uint32_t mr_state_at(const struct mr_model *model, uint32_t track, int64_t ns);

/* The state of waiting that was over when this one began, or was going on: the row itself if it is BLOCKED, that
 * before it if it is RUNNABLE, that before that if it is RUN. MR_NO_ROW if there is none. */
uint32_t mr_state_blocked_before(const struct mr_model *model, uint32_t row);

#endif
