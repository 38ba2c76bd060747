/* SPDX-License-Identifier: Apache-2.0
 *
 * A window: the part of the trace that is analysed; a stretch of time, and perhaps only some of the processes.
 *
 *     whole   ├──── a ────┤ ├─ b ─┤      ├── c ──┤         rows that touch the window, clipped at its ends
 *     window         ├──────────────────────┤              (MR_ROW_CUT); links to rows that are not
 *     cut            ├ a ─┤ ├─ b ─┤      ├ c┤              there lead nowhere (MR_NO_ROW)
 *
 * Each link stands by itself: an operation leads to its execution if that is inside, whether its launch is or not.
 *
 * Analyses of tables read a cut model like a whole one, and their results sum to the window. Analyses that must
 * look outside it (what ended a wait, what launched an operation) find the whole model, the row there and the
 * window through the functions below. For a model that is not a cut, these functions return the model itself.
 */
#ifndef MR_MODEL_WINDOW_H
#define MR_MODEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct mr_model;

/* [first_ns, last_ns) on the trace clock. */
struct mr_window {
	int64_t first_ns;
	int64_t last_ns;
};

struct mr_part {
	struct mr_window window;
	const bool *processes; /* by process: is it looked at? NULL: all are */
};

/* The cut borrows from the whole model, which must live longer, and copies `processes`. -ENOMEM. */
int mr_model_cut(const struct mr_model *whole, const struct mr_part *part,
		 struct mr_model **ret_cut);

/* Frees what a cut model has of its own besides its tables. */
void mr_model_free_cut(struct mr_model *cut);

#endif
