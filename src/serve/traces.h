/* SPDX-License-Identifier: Apache-2.0
 *
 * The traces that a server has open, by number, which is part of their addresses:
 *
 *     traces/0/slices?…        NAME of trace 0
 *
 * `millrace view` opens one. Traces are opened before the server starts and freed after it has stopped; in between they
 * are read-only.
 */
#ifndef MR_SERVE_TRACES_H
#define MR_SERVE_TRACES_H

#include "serve/loading.h"

enum {
	MR_TRACES_MAX = 8
};

struct mr_traces {
	struct mr_loading *items[MR_TRACES_MAX];
	uint32_t count;
};

/* Begins to load a trace, as the next number. -ENOSPC if there are too many. */
int mr_traces_open(struct mr_traces *traces, const char *path);
void mr_traces_free(struct mr_traces *traces);

/* Like mr_loading_wait(), for all traces one after another. */
int mr_traces_wait(struct mr_traces *traces, int patience_ms);

/* The trace and the name of the question in "traces/0/slices"; NULL if it is no such address, or there is no such
 * trace. Numbers have one spelling. */
struct mr_loading *mr_traces_find(const struct mr_traces *traces, const char *path,
				  const char **ret_name);

static inline void mr_cleanup_traces(struct mr_traces *traces)
{
	mr_traces_free(traces);
}

#endif
