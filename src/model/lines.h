/* SPDX-License-Identifier: Apache-2.0
 *
 * The line of Python in which a thread was at any instant. The trace has samples, from the thread itself and from
 * outside. Between two samples the nearer one counts. A thread moves only while it runs, so how near they are is
 * measured by the time that it has run in between:
 *
 *     states     ├── RUN ──────────┤── BLOCKED ───────────────┤── RUN ─────────────┤
 *     samples           a                    b                          c
 *     lines      ├─────── a ──┤── b ─────────────────────────────────┤── c ────────┤
 *
 * Where none is near, the line is not known.
 */
#ifndef MR_MODEL_LINES_H
#define MR_MODEL_LINES_H

#include "model/model.h"

#define MR_LINE_REACH_NS INT64_C(25000000) /* of running: as long a sample counts, on either side */

/* In which the answer holds; it contains the instant. */
struct mr_line_stretch {
	int64_t from_ns;
	int64_t to_ns;
};

/* The site, or 0 where there is none or none is known. The stretch may be NULL. O(log n). */
uint32_t mr_line_at(const struct mr_model *model, uint32_t track, int64_t ns,
		    struct mr_line_stretch *ret_stretch);

#endif
