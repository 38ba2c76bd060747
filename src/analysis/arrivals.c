/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/arrivals.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/macros.h"

enum {
	CHANCE_PART =
		10, /* who is late by less than this part of its worst is the last by chance */
};

/* A row of the collectives, as it is sorted. */
struct use {
	uint64_t group;
	uint64_t instance;
	int64_t start_ns;
	int64_t end_ns;
	uint32_t process;
	uint32_t row;
};

static int compare_uses(const void *left, const void *right)
{
	const struct use *a = left, *b = right;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->instance != b->instance)
		return a->instance < b->instance ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static struct use *sort_uses(const struct mr_model *model)
{
	const struct mr_collectives *collectives = &model->collectives;
	uint32_t count = collectives->table.count;
	struct use *uses = malloc(((size_t)count + 1) * sizeof *uses);

	for (uint32_t row = 0; uses && row < count; row++)
		uses[row] = (struct use){
			collectives->group_key[row],
			collectives->instance_key[row],
			collectives->start_ns[row],
			collectives->start_ns[row] + collectives->duration_ns[row],
			model->survey->tracks.items[collectives->track[row]].process,
			row,
		};
	if (uses)
		qsort(uses, count, sizeof *uses, compare_uses);
	return uses;
}

/* Rows with the same keys are of one collective as long as none of them has ended: nobody is done before the last one has
 * come. Returns the number of rows. */
static uint32_t find_end(const struct use *uses, uint32_t count)
{
	int64_t first_end_ns = uses[0].end_ns;
	uint32_t i = 1;

	for (; i < count && uses[i].group == uses[0].group &&
	       uses[i].instance == uses[0].instance && uses[i].start_ns <= first_end_ns;
	     i++)
		first_end_ns = mr_min(first_end_ns, uses[i].end_ns);
	return i;
}

/* The last row is the last arrival; false if only one process takes part. */
static bool find_arrival(const struct use *uses, uint32_t count, struct mr_arrival *ret_arrival)
{
	const struct use *last = &uses[count - 1];

	for (uint32_t i = count - 1; i-- > 0;)
		if (uses[i].process != last->process) {
			*ret_arrival = (struct mr_arrival){uses[i].start_ns, last->start_ns,
							   last->process, last->row};
			return true;
		}
	return false;
}

static int64_t lateness_of(const struct mr_arrivals *arrivals, size_t i, uint32_t process)
{
	const struct mr_arrival *arrival = &arrivals->list.items[i];

	return arrival->last_process == process ? arrival->last_ns - arrival->others_ns : 0;
}

struct mr_lateness mr_arrivals_lateness(const struct mr_arrivals *arrivals, uint32_t process)
{
	struct mr_lateness lateness = {0};

	for (size_t i = 0; i < arrivals->list.count; i++)
		lateness.most_ns = mr_max(lateness.most_ns, lateness_of(arrivals, i, process));
	for (size_t i = 0; i < arrivals->list.count; i++) {
		int64_t late_ns = lateness_of(arrivals, i, process);

		lateness.sum_ns += late_ns;
		lateness.count += late_ns > lateness.most_ns / CHANCE_PART;
	}
	return lateness;
}

static void find_late(struct mr_arrivals *arrivals, uint32_t process)
{
	const struct mr_lateness lateness = mr_arrivals_lateness(arrivals, process);

	if (lateness.sum_ns > arrivals->late_ns) {
		arrivals->late_process = process;
		arrivals->late_count = lateness.count;
		arrivals->late_ns = lateness.sum_ns;
	}
}

int mr_arrivals_make(const struct mr_model *model, struct mr_arrivals *ret_arrivals)
{
	struct mr_arrivals arrivals = {.late_process = UINT32_MAX};
	uint32_t count = model->collectives.table.count;
	mr_auto(free) struct use *uses = sort_uses(model);
	struct mr_arrival arrival;

	arrivals.last_ns = malloc(((size_t)count + 1) * sizeof *arrivals.last_ns);
	int result = uses && arrivals.last_ns ? 0 : -ENOMEM;

	for (uint32_t i = 0, rows; result == 0 && i < count; i += rows) {
		rows = find_end(&uses[i], count - i);
		for (uint32_t k = i; k < i + rows; k++)
			arrivals.last_ns[uses[k].row] = uses[i + rows - 1].start_ns;
		if (find_arrival(&uses[i], rows, &arrival))
			result = mr_vec_push(&arrivals.list, arrival);
	}
	if (result < 0) {
		mr_arrivals_free(&arrivals);
		return result;
	}
	for (uint32_t i = 0; arrivals.list.count && i < model->survey->processes.count; i++)
		find_late(&arrivals, i);
	*ret_arrivals = arrivals;
	return 0;
}

void mr_arrivals_free(struct mr_arrivals *arrivals)
{
	mr_vec_free(&arrivals->list);
	free(arrivals->last_ns);
}

const char *mr_rank_name(const struct mr_model *model, struct mr_region *region, uint32_t process)
{
	const struct mr_process *of = &model->survey->processes.items[process];

	return of->rank == MR_NO_ORDINAL ? mr_region_print(region, "process %" PRIu32, of->pid)
					 : mr_region_print(region, "rank %" PRIu32, of->rank);
}
