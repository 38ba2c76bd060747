/* SPDX-License-Identifier: Apache-2.0
 *
 * Times added up by any key, a struct without padding, and tables of them: the largest sum first.
 *
 *     mr_auto(tally) struct mr_tally tally = {0};
 *     mr_tally_add(&tally, &key, sizeof key, duration_ns, row);
 *     mr_tally_show(&tally, model, findings, finding, &look);
 *
 * A zeroed tally is empty and valid.
 */
#ifndef MR_ANALYSIS_TALLY_H
#define MR_ANALYSIS_TALLY_H

#include "analysis/finding/finding.h"
#include "base/sort.h"
#include "base/strings.h"
#include "base/vector.h"
#include "model/model.h"

struct mr_tally_entry {
	uint64_t count;
	int64_t total_ns;
	int64_t max_ns;
	uint32_t longest; /* row; of equal ones the first */
};

struct mr_tally {
	struct mr_strings keys;
	mr_vec(struct mr_tally_entry) entries; /* by number of the key */
	uint32_t recent[2];                    /* entries, the last first: keys come in turns */
};

/* Wraps instead of overflowing, so that damaged times cannot do harm. */
static inline void mr_ns_add(int64_t *sum, int64_t ns)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)ns);
}

/* 0 or -ENOMEM. */
int mr_tally_add(struct mr_tally *tally, const void *key, size_t key_bytes, int64_t ns,
		 uint32_t row);

/* Makes of a key that of the kind that it belongs to, which has so many members; false if there is none. Members of a
 * kind differ in nothing but what `members` and the rest of the key leave out. */
typedef bool mr_widen_key(const void *context, void *key, uint32_t members);

/* By entry: how many members the kind has that stands for it, as they are many and none has half of their time; 0: the
 * entry stands for itself. To be freed by the caller. -ENOMEM. */
int mr_tally_find_crowds(const struct mr_tally *tally, size_t key_bytes, mr_widen_key *widen,
			 const void *context, uint32_t **ret_members);

/* Puts such kinds in the place of their members. -ENOMEM. */
int mr_tally_merge(struct mr_tally *tally, size_t key_bytes, mr_widen_key *widen,
		   const void *context);

/* Entries by sum, largest first; to be freed by the caller. */
int mr_tally_sort(const struct mr_tally *tally, struct mr_sort_item **ret_order);

static inline const void *mr_tally_key(const struct mr_tally *tally, uint32_t entry)
{
	return mr_strings_text(&tally->keys, entry);
}

/* Columns of a table, after those that name the key. */
/* clang-format off */
#define MR_TALLY_COLUMNS                                        \
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},       \
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	{"max_ns", "longest", MR_UNIT_NS, 0}
/* clang-format on */

/* Fills the cells that name a key; `row` is the entry's longest. -ENOMEM. */
typedef int mr_name_key(const struct mr_model *model, struct mr_findings *findings, const void *key,
			uint32_t row, union mr_value *cells);

struct mr_tally_look {
	const char *id;
	const char *title;
	const struct mr_finding_column *columns;
	uint32_t column_count;
	mr_name_key *name;
};

/* Adds the table; the rows must sum to `whole_ns`. -ENOMEM. */
int mr_tally_show(const struct mr_tally *tally, const struct mr_model *model,
		  struct mr_findings *findings, struct mr_finding *finding,
		  const struct mr_tally_look *look, int64_t whole_ns);

void mr_tally_free(struct mr_tally *tally);

static inline void mr_cleanup_tally(struct mr_tally *tally)
{
	mr_tally_free(tally);
}

#endif
