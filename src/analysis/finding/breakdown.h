/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of statistics: one row per group of intervals, those that took most first, with names
 * before and count, sums and percentiles after them. The sums divide the whole exactly: where intervals
 * nest, the self times do, and totals count nested ones twice.
 */
#ifndef MR_ANALYSIS_BREAKDOWN_H
#define MR_ANALYSIS_BREAKDOWN_H

#include "analysis/finding/finding.h"
#include "analysis/finding/statistics.h"
#include "model/model.h"

/* Columns of every such table, after those that name the group. */
/* clang-format off */
#define MR_DISTRIBUTION_COLUMNS(flags)                   \
	{"mean_ns", "mean", MR_UNIT_NS, MR_COLUMN_SPARE}, \
	{"p50_ns", "p50", MR_UNIT_NS, flags},            \
	{"p95_ns", "p95", MR_UNIT_NS, MR_COLUMN_SPARE},  \
	{"p99_ns", "p99", MR_UNIT_NS, flags},            \
	{"max_ns", "max", MR_UNIT_NS, flags}
#define MR_FLAT_COLUMNS                                        \
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},       \
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	MR_DISTRIBUTION_COLUMNS(0)
#define MR_NESTED_COLUMNS(flags)                             \
	{"count", "count", MR_UNIT_COUNT, MR_COLUMN_SUM},     \
	{"self_ns", "self", MR_UNIT_NS, MR_COLUMN_BREAKDOWN}, \
	{"total_ns", "total", MR_UNIT_NS, MR_COLUMN_SUM | MR_COLUMN_REPEATS}, \
	MR_DISTRIBUTION_COLUMNS(flags)
/* clang-format on */

/* What a group is called: fills the first cells of its row. */
typedef void mr_name_group(const struct mr_model *model, const void *groups, uint32_t group,
			   union mr_value *cells);

struct mr_breakdown {
	const char *id;
	const char *title;
	const struct mr_finding_column *columns; /* names, then FLAT or NESTED, then the caller's */
	uint32_t column_count;
	uint32_t name_count; /* columns that name the group */
	mr_name_group *name;
	const void *groups; /* for name() */
	struct mr_statistics_input input;
};

/* Adds the table. *ret_statistics, if wanted, has one for each row of the
 * table and is the caller's to free. -ENOMEM. */
int mr_breakdown_add(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, const struct mr_breakdown *breakdown,
		     struct mr_statistic **ret_statistics, uint32_t *ret_count);

/* For groups that are strings of the model. */
mr_name_group mr_name_string;

/* Nodes grouped by type. */
struct mr_type_groups {
	uint32_t *of_node;   /* node → type */
	const char **labels; /* by type; NULL where the type is a family by itself */
	uint32_t count;
};

/* The labels are in the findings' region. -ENOMEM. */
int mr_type_groups_make(const struct mr_model *model, struct mr_findings *findings,
			struct mr_type_groups *ret_groups);
void mr_type_groups_free(struct mr_type_groups *groups);

static inline void mr_cleanup_type_groups(struct mr_type_groups *groups)
{
	mr_type_groups_free(groups);
}

/* For such groups: "Relu", "MatMul (as _MklMatMul)". */
mr_name_group mr_name_type;

/* For groups that are tracks of threads: thread, pid, tid. */
mr_name_group mr_name_track;

/* Nodes grouped by what they are called, so that the same node of several processes (workers of one
 * program) is one row. */
struct mr_node_groups {
	struct mr_strings names;
	uint32_t *of_node; /* node → group */
	uint32_t *first;   /* group → the first of its nodes */
};

int mr_node_groups_make(const struct mr_model *model, struct mr_node_groups *ret_groups);
void mr_node_groups_free(struct mr_node_groups *groups);

static inline uint32_t mr_node_groups_count(const struct mr_node_groups *groups)
{
	return mr_strings_count(&groups->names);
}

static inline void mr_cleanup_node_groups(struct mr_node_groups *groups)
{
	mr_node_groups_free(groups);
}

/* For such groups: names as many cells. A name does not say which node a row is about: other graphs may
 * have one of the same. */
mr_name_group mr_name_node;
/* clang-format off */
#define MR_NODE_COLUMNS                                        \
	{"node", "node", MR_UNIT_TEXT, MR_COLUMN_PATH},        \
	{"type", "type", MR_UNIT_TEXT, 0},                     \
	{"graph", "graph", MR_UNIT_TEXT, MR_COLUMN_SPARE},     \
	{"node_number", "", MR_UNIT_NUMBER, MR_COLUMN_DATA}
/* clang-format on */
enum {
	MR_NODE_CELLS = 4,
};

/* "(not defined)" for 0. */
const char *mr_node_text(const struct mr_model *model, uint32_t name);

/* 0, 1, 2, ...: keys that are their own groups. NULL without memory. */
uint32_t *mr_make_identity(size_t count);

#endif
