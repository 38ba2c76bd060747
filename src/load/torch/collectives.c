/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives of torch.distributed. The backend reports each as an annotation that begins where the program asks for it and
 * ends where it is done, perhaps on another thread:
 *
 *     rank 0     main     ├─ gloo:all_reduce ─ ─┐                 instance 0     asked for by main
 *                runner                         └─┤                              done by runner
 *     rank 1     main             ├─ gloo:all_reduce ─┤           instance 0
 *
 * All processes of a group ask for its collectives in the same order: that is what backends demand. So the place in the
 * order of a process says which one it is. PyTorch does not say here of which group it is.
 */
#include <stdlib.h>
#include <string.h>

#include "load/torch/torch.h"

struct collective {
	uint32_t process;
	const struct mr_torch_annotation *scope;
};

bool mr_torch_is_collective(const char *name)
{
	static const char *const backends[] = {"gloo:", "nccl:", "mpi:", "ucc:", "xccl:"};

	for (size_t i = 0; i < mr_countof(backends); i++)
		if (strncmp(name, backends[i], strlen(backends[i])) == 0)
			return true;
	return false;
}

/* By process, in the order of their beginnings. */
static int compare(const void *left, const void *right)
{
	const struct collective *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->scope->start_ns > b->scope->start_ns) -
	       (a->scope->start_ns < b->scope->start_ns);
}

/* By track, then by time. */
static int compare_sizes(const void *left, const void *right)
{
	const struct mr_torch_size *a = left, *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	return (a->ns > b->ns) - (a->ns < b->ns);
}

/* It was written right after the beginning, by the same thread: the first one from then on, if it is of the same object. */
static uint64_t bytes_of(const struct mr_torch *torch, const struct mr_torch_annotation *scope)
{
	const struct mr_torch_size *sizes = torch->sizes.items;
	const struct mr_torch_size wanted = {.track = scope->track, .ns = scope->start_ns};
	size_t low = 0, high = torch->sizes.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_sizes(&sizes[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < torch->sizes.count && sizes[low].track == scope->track &&
			       sizes[low].object == scope->object
		       ? sizes[low].bytes
		       : MR_NO_SIZE;
}

static int add_row(struct mr_torch *torch, const struct collective *collective, uint64_t instance)
{
	const struct mr_torch_annotation *scope = collective->scope;
	uint32_t node;
	int result = mr_torch_find_node(torch, collective->process, MR_TORCH_EAGER, scope->name, 0,
					&node);

	if (result < 0)
		return result;
	return mr_collectives_append(&torch->model->collectives,
				     (struct mr_collectives_row){.track = scope->end_track,
								 .start_ns = scope->start_ns,
								 .duration_ns = scope->duration_ns,
								 .node = node,
								 .bytes = bytes_of(torch, scope),
								 .instance_key = instance});
}

int mr_torch_add_collectives(struct mr_torch *torch)
{
	mr_auto(free) struct collective *found = malloc((torch->scopes.count + 1) * sizeof *found);
	size_t count = 0;
	uint64_t instance = 0;
	int result = 0;

	if (!found)
		return -ENOMEM;
	for (size_t i = 0; i < torch->scopes.count; i++) {
		const struct mr_torch_annotation *scope = &torch->scopes.items[i];

		if (mr_torch_is_collective(mr_torch_text(torch, scope->name)))
			found[count++] =
				(struct collective){mr_torch_process(torch, scope->track), scope};
	}
	qsort(found, count, sizeof *found, compare);
	if (torch->sizes.count)
		qsort(torch->sizes.items, torch->sizes.count, sizeof *torch->sizes.items,
		      compare_sizes);
	for (size_t i = 0; result == 0 && i < count; i++) {
		instance = i > 0 && found[i - 1].process == found[i].process ? instance + 1 : 0;
		result = add_row(torch, &found[i], instance);
	}
	return result;
}
