/* SPDX-License-Identifier: Apache-2.0
 *
 * What ran, in a few values: the head of every report.
 */
#ifndef MR_ANALYSIS_SUMMARY_H
#define MR_ANALYSIS_SUMMARY_H

#include "model/model.h"

struct mr_summary {
	const char *path;
	const char *command; /* as a shell would read it; NULL if not known */
	const char *host;    /* NULL if not known */
	int64_t wall_ns;     /* of the run; of the recorded part if that is not known */
	bool is_recording;   /* it goes on; wall_ns: until now */
	enum mr_exit_kind exit_kind;
	int exit_value;
	int64_t started_realtime_ns; /* 0 if not known */
	int64_t first_ns;            /* trace clock when the trace begins */
	const char *part;            /* that is looked at, in words; NULL: all of it */
	const char *
		start_up; /* what comes before the part, in words; NULL: of no concern; so is `end` */
	const char *end;
	struct mr_window window; /* of the part, or of the trace */
	uint32_t process_count;  /* that were traced; by pid */
	uint32_t thread_count;
	uint64_t event_count;
	uint64_t event_bytes;
};

/* The command's text comes from the region. -ENOMEM. */
int mr_summary_make(const struct mr_model *model, struct mr_region *region,
		    struct mr_summary *ret_summary);

#endif
