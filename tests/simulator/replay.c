/* SPDX-License-Identifier: Apache-2.0
 *
 * The program again, in the order in which it happened: each point is at the latest of what it follows from.
 *
 * A part is what a thread or an operation did until a point: all of its edges that lead there, which are as long
 * as each other. Points come after those they follow from, and edges in the order of the points they lead to.
 */
#include "world.h"

struct part *simulation_parts(const struct simulation *simulation, size_t *ret_count)
{
	mr_vec(struct part) parts = {0};
	uint32_t last = 0; /* the first point follows from nothing */

	for (size_t i = 0; i < simulation->edges.count; i++) {
		const struct edge *edge = &simulation->edges.items[i];
		bool is_operation = edge->owner == OWNER_OPERATION;

		if (edge->owner == OWNER_NONE || edge->ns == 0 || edge->to == last)
			continue;
		const struct operation *operation =
			is_operation ? &simulation->operations.items[edge->who] : NULL;
		const struct thread *thread =
			&simulation->threads[is_operation ? operation->thread : edge->who];
		int64_t end_ns = simulation->points.items[edge->to];
		PUSH(&parts,
		     (struct part){
			     .begin_ns = end_ns - edge->ns,
			     .end_ns = end_ns,
			     .tid = is_operation ? 0 : thread->tid,
			     .pid = simulation->threads[simulation->main_threads[thread->process]]
					    .tid,
			     .correlation = is_operation ? operation->correlation : 0,
			     .point = last = edge->to});
	}
	*ret_count = parts.count;
	return parts.items;
}

int64_t simulation_replay(const struct simulation *simulation, const struct part *part,
			  int64_t shorter_ns)
{
	size_t count = simulation->points.count;
	int64_t *times_ns = calloc(count, sizeof *times_ns), end_ns = 0;

	world_require(times_ns != NULL);
	for (size_t point = 0, edge = 0; point < count; point++) {
		times_ns[point] = WORLD_BEGIN_NS;
		for (; edge < simulation->edges.count && simulation->edges.items[edge].to == point;
		     edge++) {
			const struct edge *from = &simulation->edges.items[edge];
			bool is_part =
				from->owner != OWNER_NONE && from->ns && point == part->point;

			times_ns[point] =
				mr_max(times_ns[point], times_ns[from->from] + from->ns -
								(is_part ? shorter_ns : 0));
		}
		end_ns = mr_max(end_ns, times_ns[point]);
	}
	free(times_ns);
	return end_ns;
}

/* Ways from the beginning to a point, each as long as can be; 2 stands for more. */
bool simulation_is_unique(const struct simulation *simulation)
{
	size_t count = simulation->points.count;
	const int64_t *times_ns = simulation->points.items;
	uint8_t *ways = calloc(count, sizeof *ways);
	uint32_t ends = 0;

	world_require(ways != NULL);
	for (size_t point = 0, edge = 0; point < count; point++) {
		uint32_t last = UINT32_MAX;

		ways[point] = times_ns[point] == WORLD_BEGIN_NS;
		for (; edge < simulation->edges.count && simulation->edges.items[edge].to == point;
		     edge++) {
			const struct edge *from = &simulation->edges.items[edge];

			if (times_ns[from->from] + from->ns == times_ns[point] &&
			    from->from != last)
				ways[point] = (uint8_t)mr_min(2, ways[point] + ways[from->from]);
			last = from->from;
		}
		if (times_ns[point] == simulation->end_ns)
			ends += ways[point];
	}
	free(ways);
	return ends == 1;
}
