/* SPDX-License-Identifier: Apache-2.0
 *
 * Causes of lost time, as doc/causes.md defines them, and chains of them.
 *
 *     chain 7:  lock (thread 'loader') ──► disk (/data/train.tfrecord)           the last link is the root cause
 *     chain 3:                             disk (/data/train.tfrecord)           the end of chain 7
 *
 * Chains are interned from their last link to their first: equal chains have equal numbers, and chains that
 * end alike share their ends. A culprit is what a table would name, not a row: chains stay few.
 *
 * A zeroed set of chains is empty and valid. Any number of threads may read; adding is for one.
 */
#ifndef MR_ANALYSIS_CAUSE_H
#define MR_ANALYSIS_CAUSE_H

#include "base/strings.h"
#include "model/model.h"

#define MR_NO_CHAIN UINT32_MAX

enum mr_cause_kind {
	/* The device's side. */
	MR_CAUSE_DEVICE, /* of a critical path: an operation runs */
	MR_CAUSE_DEPENDENCY,
	MR_CAUSE_DEVICE_BUSY,
	MR_CAUSE_DISPATCH,
	MR_CAUSE_DEVICE_UNKNOWN,
	MR_CAUSE_UNLAUNCHED,
	MR_CAUSE_NO_MORE_WORK,

	/* A thread, in the runtime. */
	MR_CAUSE_LAUNCH,
	MR_CAUSE_CALL,
	MR_CAUSE_SYNC,

	/* A thread, as the kernel sees it. */
	MR_CAUSE_CPU,
	MR_CAUSE_INTERRUPT,
	MR_CAUSE_THROTTLED,
	MR_CAUSE_PREEMPTED,
	MR_CAUSE_WAKE_UP,
	MR_CAUSE_DISK,
	MR_CAUSE_LOCK,
	MR_CAUSE_GIL,
	MR_CAUSE_HAND_OVER,
	MR_CAUSE_NETWORK,
	MR_CAUSE_SLEEP,
	MR_CAUSE_IPC,
	MR_CAUSE_CHILD,
	MR_CAUSE_SIGNAL,
	MR_CAUSE_POLL,
	MR_CAUSE_STOPPED,
	MR_CAUSE_OTHER,

	MR_CAUSE_UNKNOWN,
	MR_CAUSE_UNTRACED,
	MR_CAUSE_COUNT
};

enum mr_culprit_kind {
	MR_CULPRIT_NONE,
	MR_CULPRIT_OPERATION, /* string: its name; in: device */
	MR_CULPRIT_UNNAMED,   /* enum mr_operation_kind, of one without name; in: device */
	MR_CULPRIT_FUNCTION,  /* string; in: 0 */
	MR_CULPRIT_NODE,      /* node; in: thread's track */
	MR_CULPRIT_CALL,      /* string: function; in: thread's track */
	MR_CULPRIT_LINE,      /* site: a line of Python, its first one; in: thread's track */
	MR_CULPRIT_THREAD,    /* track; in: 0, or what it did meanwhile: enum mr_cause_kind */
	MR_CULPRIT_THREADS,   /* string: the name of all of them; in: as crowd.h has it */
	MR_CULPRIT_TASK, /* tid of a thread of another process, or MR_NO_TID for all of that name; in:
			  * string, its name then */
	MR_CULPRIT_FILE,      /* file; in: 0 */
	MR_CULPRIT_FOLDER,    /* the first file in it; in: how many files */
	MR_CULPRIT_SOURCE,    /* string: an interrupt by name; in: 0 */
	MR_CULPRIT_INTERRUPT, /* number; in: enum mr_interrupt_kind */
};

/* Without padding: it is its own key. */
struct mr_link {
	uint32_t next; /* towards the root cause: a chain, or MR_NO_CHAIN */
	uint32_t what; /* as the culprit's kind says; 0 without one */
	uint32_t in;
	uint16_t kind;    /* enum mr_cause_kind */
	uint16_t culprit; /* enum mr_culprit_kind */
};

static inline struct mr_link mr_link_make(enum mr_cause_kind kind, enum mr_culprit_kind culprit,
					  uint32_t what, uint32_t in)
{
	return (struct mr_link){MR_NO_CHAIN, what, in, (uint16_t)kind, (uint16_t)culprit};
}

static inline struct mr_link mr_link_bare(enum mr_cause_kind kind)
{
	return mr_link_make(kind, MR_CULPRIT_NONE, 0, 0);
}

/* For tables: threads of other processes that have one name are one culprit. */
static inline struct mr_link mr_link_by_name(struct mr_link link)
{
	if (link.culprit == MR_CULPRIT_TASK && link.in)
		link.what = MR_NO_TID;
	return link;
}

/* With a device operation as its culprit. */
struct mr_link mr_link_of_operation(const struct mr_model *model, enum mr_cause_kind kind,
				    uint32_t row);

struct mr_chains {
	struct mr_strings links; /* struct mr_link, by number */
};

/* The chain that begins with the link and goes on with link.next. -ENOMEM. */
int mr_chain_intern(struct mr_chains *chains, struct mr_link link, uint32_t *ret_chain);
void mr_chains_free(struct mr_chains *chains);

/* Its first link. */
static inline const struct mr_link *mr_chain_link(const struct mr_chains *chains, uint32_t chain)
{
	return (const void *)mr_strings_text(&chains->links, chain);
}

/* The last link, a chain of its own. */
uint32_t mr_chain_root(const struct mr_chains *chains, uint32_t chain);

/* The end of the chain that begins with the link which names its cause. */
uint32_t mr_chain_headline(const struct mr_chains *chains, uint32_t chain);

/* Whether the headline names a cause at all: coverage. */
bool mr_chain_is_explained(const struct mr_chains *chains, uint32_t chain);

/* Causes that say little where another thread waits for this one: it runs, sleeps ... */
bool mr_cause_is_plain(uint16_t kind);

/* "lock", "device unknown" */
const char *mr_cause_name(enum mr_cause_kind kind);

/* After an amount of time: "at locks" */
const char *mr_cause_noun(enum mr_cause_kind kind);

/* The texts below come from the region, or are NULL without memory. "" for no culprit. */

/* A name, without its middle if it is too long for a sentence. */
const char *mr_name_text(struct mr_region *region, const char *name);

/* "train.py:41 load_batch" */
const char *mr_line_text(const struct mr_model *model, struct mr_region *region, uint32_t site);

/* The same of what a link blames; NULL if that is no line. */
const char *mr_line_of_link(const struct mr_model *model, struct mr_region *region,
			    struct mr_link link);

/* "thread 812 'loader'" */
const char *mr_thread_text(const struct mr_model *model, struct mr_region *region, uint32_t track);

/* "thread 812 'loader'", "/data/train.tfrecord" */
const char *mr_link_culprit(const struct mr_model *model, struct mr_region *region,
			    struct mr_link link);

/* Of a headline: the culprit, and what it did then. "thread 812 'loader', running Decode" */
const char *mr_chain_culprit(const struct mr_model *model, struct mr_region *region,
			     const struct mr_chains *chains, uint32_t headline);

/* Of a headline, after "because": "thread 812 'loader' waited for the disk (/data/train.tfrecord)". The thread is
 * the last one of the chain; MR_NO_TRACK: any. */
const char *mr_chain_clause(const struct mr_model *model, struct mr_region *region,
			    const struct mr_chains *chains, uint32_t headline, uint32_t thread);

/* All links: "lock (thread 812 'loader') > disk (/data/train.tfrecord)" */
const char *mr_chain_text(const struct mr_model *model, struct mr_region *region,
			  const struct mr_chains *chains, uint32_t chain);

#endif
