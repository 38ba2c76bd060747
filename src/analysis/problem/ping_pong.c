/* SPDX-License-Identifier: Apache-2.0
 *
 * Ping-pong: data leave a device in the middle of a step, are worked on by the host, and come back in the same step.
 *
 *     device   ├─ kernel ─┤├ copy to the host ┤                   ├ copy back ┤├─ kernel ─┤
 *     host                                    ├─ works on it ─────┤
 *     cost                ├───────────────────────────────────────────────────┤
 */
#include "analysis/problem/exposed.h"
#include "base/sort.h"

enum {
	RETURN_PARTS =
		4, /* what comes back has at least this part of the bytes, and at most so many times as many */
};

static bool is_copy(const struct mr_device_operations *operations, uint32_t row, uint8_t kind)
{
	return operations->kind[row] == kind && operations->duration_ns[row] > 0;
}

/* Operations of the cut in order of time; to be freed by the caller. */
static struct mr_sort_item *sort_operations(const struct mr_device_operations *operations)
{
	uint32_t count = operations->table.count;
	struct mr_sort_item *items = malloc((2 * (size_t)count + 1) * sizeof *items);

	for (uint32_t row = 0; items && row < count; row++)
		items[row] = (struct mr_sort_item){mr_sort_key(operations->start_ns[row]), row};
	if (items)
		mr_sort(items, items + count, count);
	return items;
}

/* Which memory a copy is about; 0: not known. */
static uint64_t object_of(const struct mr_model *model, uint32_t operation)
{
	uint32_t call = model->device_operations.call[operation];

	return call == MR_NO_ROW ? 0 : model->calls.object[call];
}

/* Do the bytes that come back look like those that left? They come in the same step, or are the same memory. */
static bool is_return(const struct mr_model *model, uint32_t from, uint32_t to)
{
	const struct mr_device_operations *operations = &model->device_operations;
	uint64_t left = operations->bytes[from], back = operations->bytes[to];
	bool is_same_step = operations->step_row[from] != MR_NO_ROW &&
			    operations->step_row[from] == operations->step_row[to];

	return operations->process[from] == operations->process[to] &&
	       (is_same_step ||
		(object_of(model, from) && object_of(model, from) == object_of(model, to))) &&
	       back >= left / RETURN_PARTS && back / RETURN_PARTS <= left;
}

/* Is it the work of the device itself? */
static bool is_kernel(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	return last->operation != MR_NO_ROW &&
	       mr_device_role_of(of, of->model, last->operation) != MR_DEVICE_COPIES;
}

struct crossings {
	uint32_t count;
	uint64_t bytes;
	uint32_t node; /* whose output left last; 0: not known */
};

static int claim_crossings(struct mr_case *of, struct crossings *ret_crossings)
{
	const struct mr_device_operations *operations = &of->cut->device_operations;
	mr_auto(free) struct mr_sort_item *items = sort_operations(operations);
	struct crossings crossings = {0};
	uint32_t from = MR_NO_ROW;

	if (!items)
		return -ENOMEM;
	for (uint32_t i = 0; i < operations->table.count; i++) {
		uint32_t row = items[i].index;

		if (is_copy(operations, row, MR_operation_kind_copy_from_device)) {
			from = row;
		} else if (from != MR_NO_ROW &&
			   is_copy(operations, row, MR_operation_kind_copy_to_device) &&
			   is_return(of->cut, from, row)) {
			mr_claim_within_if(of, operations->start_ns[from],
					   operations->start_ns[row] + operations->duration_ns[row],
					   is_kernel, false);
			crossings.count++;
			crossings.bytes += operations->bytes[from] + operations->bytes[row];
			crossings.node = operations->node[from];
			from = MR_NO_ROW;
		}
	}
	*ret_crossings = crossings;
	return 0;
}

/* The operation that the host executes in between. */
static const char *name_between(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);
	const struct mr_definitions *definitions = &of->model->survey->definitions;

	for (uint32_t i = moment->station_count; i-- > 1;) {
		if (stations[i].execution == MR_NO_ROW)
			continue;
		uint32_t node = of->model->node_executions.node[stations[i].execution];
		uint32_t device = definitions->nodes.items[node].device;
		if (device && definitions->devices.items[device].kind == MR_device_kind_cpu)
			return mr_execution_node(of->model, stations[i].execution);
	}
	return NULL;
}

int mr_find_ping_pong(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct crossings crossings;
	struct mr_share between;

	if (claim_crossings(of, &crossings) < 0)
		return -ENOMEM;
	if (crossings.count < 3 || crossings.count * 2 < of->subject.steps.count)
		return 0;
	if (mr_case_most(of, name_between, &between) < 0)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = *between.name ? between.name : "the host";
	problem->why = mr_region_print(
		region,
		"Data leave the device %s times, and come back when the host is done with them"
		"%s%s%s: %s each time.",
		mr_case_count(of, crossings.count), *between.name ? " (" : "", between.name,
		*between.name ? ")" : "", mr_case_time(of, mr_claimed_ns(of) / crossings.count));
	return problem->why ? 0 : -ENOMEM;
}
