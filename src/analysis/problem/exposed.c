/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/problem/exposed.h"

#include <string.h>

#include "base/sort.h"

/* Does it belong to a library for collectives, by its name? */
static bool is_collective(const char *name)
{
	static const char *const collectives[] = {"nccl",       "rccl",          "oneccl",
						  "allreduce",  "all_reduce",    "allgather",
						  "all_gather", "reducescatter", "reduce_scatter"};

	for (size_t i = 0; i < mr_countof(collectives); i++)
		if (strcasestr(name, collectives[i]))
			return true;
	return false;
}

/* Of device kernels of that name. Names are few, and looking through one takes a while: it is done once. */
static enum mr_device_role role_of_name(const struct mr_case *of, uint32_t name)
{
	uint8_t *known = &of->device_roles[name];

	if (!*known)
		*known = 1 + (is_collective(mr_model_text(of->model, name)) ? MR_DEVICE_COMMUNICATES
									    : MR_DEVICE_COMPUTES);
	return (enum mr_device_role)(*known - 1);
}

enum mr_device_role mr_device_role_of(const struct mr_case *of, const struct mr_model *model,
				      uint32_t operation)
{
	const struct mr_device_operations *operations = &model->device_operations;

	switch (operations->kind[operation]) {
	case MR_operation_kind_copy_to_device:
	case MR_operation_kind_copy_from_device:
	case MR_operation_kind_copy_on_device:
		return MR_DEVICE_COPIES;
	default:
		return role_of_name(of, operations->name[operation]);
	}
}

/* Begins and ends of the operations of a process, in order. */
struct edges {
	struct mr_sort_item *items; /* index: 2 * operation, + 1 for its end */
	uint32_t count;
};

static int sort_edges(const struct mr_case *of, struct edges *ret_edges)
{
	const struct mr_device_operations *operations = &of->cut->device_operations;
	struct edges edges = {
		.items = malloc((4 * (size_t)operations->table.count + 1) * sizeof *edges.items)};

	if (!edges.items)
		return -ENOMEM;
	for (uint32_t row = 0; row < operations->table.count; row++) {
		int64_t start_ns = operations->start_ns[row];

		if (operations->process[row] != of->subject.process ||
		    operations->duration_ns[row] <= 0)
			continue;
		edges.items[edges.count++] = (struct mr_sort_item){mr_sort_key(start_ns), 2 * row};
		edges.items[edges.count++] = (struct mr_sort_item){
			mr_sort_key(start_ns + operations->duration_ns[row]), 2 * row + 1};
	}
	mr_sort(edges.items, edges.items + edges.count, edges.count);
	*ret_edges = edges;
	return 0;
}

static bool is_on_device(const struct mr_case *of, const struct mr_moment *moment)
{
	return mr_last_station(&of->subject, moment)->thread == MR_NO_TRACK;
}

int mr_claim_exposed(struct mr_case *of, enum mr_device_role role)
{
	const struct mr_device_operations *operations = &of->cut->device_operations;
	uint32_t running[MR_DEVICE_COMMUNICATES + 1] = {0};
	struct edges edges;
	int64_t from_ns = 0;

	if (sort_edges(of, &edges) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < edges.count; i++) {
		uint32_t row = edges.items[i].index / 2;
		bool is_end = edges.items[i].index % 2;
		int64_t ns = operations->start_ns[row] + is_end * operations->duration_ns[row];
		bool is_exposed = running[role] > 0;

		for (int other = 0; other < (int)role; other++)
			is_exposed = is_exposed && running[other] == 0;
		if (is_exposed && ns > from_ns)
			mr_claim_within_if(of, from_ns, ns, is_on_device, true);
		from_ns = ns;
		running[mr_device_role_of(of, of->cut, row)] += is_end ? -1 : 1;
	}
	free(edges.items);
	return 0;
}
