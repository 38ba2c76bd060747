/* SPDX-License-Identifier: Apache-2.0
 *
 * What is known about executions before their nodes are: one number for each row of node_executions, beside the table.
 *
 *     0                    the row means what it says
 *     IS_CALL | index      a call, of tensorflow->calls
 *     1 + string           an operation, by its text: its place in tensorflow->meanings
 */
#include <string.h>

#include "load/tensorflow/tensorflow.h"

#define IS_CALL (UINT32_C(1) << 31)

/* Rows that others appended are not pending. */
static int follow(struct mr_tensorflow *tensorflow, size_t count)
{
	size_t known = tensorflow->pending.count;

	if (known >= count)
		return 0;
	if (mr_vec_reserve(&tensorflow->pending, count) < 0)
		return -ENOMEM;
	memset(tensorflow->pending.items + known, 0, (count - known) * sizeof(uint32_t));
	tensorflow->pending.count = count;
	return 0;
}

int mr_pending_add(struct mr_tensorflow *tensorflow, enum mr_pending_kind kind, uint32_t index)
{
	uint32_t count = tensorflow->model->node_executions.table.count;

	if (index >= IS_CALL - 1)
		return -EOVERFLOW;
	if (follow(tensorflow, count) < 0)
		return -ENOMEM;
	tensorflow->pending.items[count - 1] =
		kind == MR_PENDING_CALL ? IS_CALL | index : 1 + index;
	return 0;
}

enum mr_pending_kind mr_pending_kind(const struct mr_tensorflow *tensorflow, uint32_t row)
{
	uint32_t pending = tensorflow->pending.items[row];

	if (!pending)
		return MR_PENDING_NOTHING;
	return pending & IS_CALL ? MR_PENDING_CALL : MR_PENDING_OPERATION;
}

const struct mr_traceme *mr_pending_operation(const struct mr_tensorflow *tensorflow, uint32_t row)
{
	return &tensorflow->meanings.items[tensorflow->pending.items[row] - 1];
}

const struct mr_eager_call *mr_pending_call(const struct mr_tensorflow *tensorflow, uint32_t row)
{
	return &tensorflow->calls.items[tensorflow->pending.items[row] & ~IS_CALL];
}

void mr_pending_settle(struct mr_tensorflow *tensorflow, uint32_t row)
{
	tensorflow->pending.items[row] = 0;
}

int mr_pending_sort(struct mr_tensorflow *tensorflow)
{
	struct mr_model *model = tensorflow->model;
	struct mr_table *table = &model->node_executions.table;
	int result = follow(tensorflow, table->count);

	return result < 0 ? result
			  : mr_table_sort_with(table, (uint32_t)model->survey->tracks.count,
					       tensorflow->pending.items);
}

int mr_pending_drop(struct mr_tensorflow *tensorflow, const bool *is_dropped)
{
	struct mr_model *model = tensorflow->model;
	struct mr_table *table = &model->node_executions.table;
	uint32_t kept = 0;

	for (uint32_t row = 0; row < table->count; row++)
		if (!is_dropped[row])
			tensorflow->pending.items[kept++] = tensorflow->pending.items[row];
	tensorflow->pending.count = kept;
	return mr_table_drop(table, is_dropped, (uint32_t)model->survey->tracks.count);
}
