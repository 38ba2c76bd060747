/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include <stdio.h>

#include "causes.h"
#include "writer.h"

/* ---- chance, points, events --------------------------------------------------------------------- */

void world_require(bool condition)
{
	if (!condition)
		abort();
}

uint32_t world_pick(struct simulation *simulation, uint32_t limit)
{
	simulation->random = simulation->random * 6364136223846793005 + 1442695040888963407;
	return (uint32_t)((simulation->random >> 33) % limit);
}

int64_t world_pick_ns(struct simulation *simulation, int64_t low_ns, int64_t high_ns)
{
	int64_t range_ns = (high_ns - low_ns) >> world_pick(simulation, 4);
	int64_t ns = low_ns + (int64_t)world_pick(simulation, (uint32_t)range_ns + 1);

	return simulation->options.is_coarse ? (ns + 999) / 1000 * 1000 : ns;
}

bool world_chance(struct simulation *simulation, uint32_t percent)
{
	return world_pick(simulation, 100) < percent;
}

uint32_t world_point(struct simulation *simulation)
{
	PUSH(&simulation->points, simulation->now_ns);
	return (uint32_t)simulation->points.count - 1;
}

void world_edge(struct simulation *simulation, uint32_t from, int64_t ns, enum owner owner, int who)
{
	uint32_t to = (uint32_t)simulation->points.count - 1;

	PUSH(&simulation->edges, (struct edge){from, to, ns, owner, who});
}

void world_schedule(struct simulation *simulation, int64_t ns, struct event event)
{
	event.ns = ns;
	event.number = simulation->event_number++;
	PUSH(&simulation->events, event);
}

/* ---- beginning and end --------------------------------------------------------------------------- */

void file_path(uint32_t file, char path[static 32])
{
	static const char *const paths[] = {[FILE_NONE] = "",
					    [FILE_DATA_A] = "/data/a",
					    [FILE_DATA_B] = "/data/b",
					    [FILE_SOCKET] = "TCP 10.0.0.1:40000 10.0.0.2:80",
					    [FILE_DEVICE] = "/dev/gpu"};

	if (file < FILE_FIRST_PIPE)
		snprintf(path, 32, "%s", paths[file]);
	else
		snprintf(path, 32, "pipe:[%u]", 100 + file);
}

struct simulation *simulate(uint64_t seed, const struct simulation_options *options,
			    const char *directory)
{
	struct simulation *simulation = calloc(1, sizeof *simulation);

	world_require(simulation != NULL);
	simulation->options = *options;
	simulation->random = seed * 0x9e3779b97f4a7c15 + 1;
	if (options->shape)
		shape_make(simulation);
	else
		program_make(simulation);
	shape_shorten(simulation);
	if (directory)
		simulation->writer = writer_start(simulation);
	machine_run(simulation);
	if (directory)
		writer_finish(simulation, directory);
	words_unite(simulation);
	truth_make(simulation);
	path_make(simulation);
	return simulation;
}

const struct truth *simulation_truth(const struct simulation *simulation)
{
	return &simulation->truth;
}

static void free_thread(struct thread *thread)
{
	mr_vec_free(&thread->actions);
	mr_vec_free(&thread->life);
	mr_vec_free(&thread->calls);
	mr_vec_free(&thread->nodes);
	mr_vec_free(&thread->interrupts);
	mr_vec_free(&thread->open_calls);
	mr_vec_free(&thread->open_nodes);
	mr_vec_free(&thread->awaited);
}

static void free_pieces(struct truth_pieces *pieces)
{
	for (size_t i = 0; i < pieces->count; i++)
		free(pieces->items[i].text);
	mr_vec_free(pieces);
}

void simulation_free(struct simulation *simulation)
{
	if (!simulation)
		return;
	for (int i = 0; i < simulation->thread_count; i++)
		free_thread(&simulation->threads[i]);
	for (int i = 0; i < simulation->core_count; i++) {
		mr_vec_free(&simulation->cores[i].waiting);
		mr_vec_free(&simulation->cores[i].tenures);
	}
	for (int i = 0; i < MAX_LOCKS; i++)
		mr_vec_free(&simulation->locks[i].waiting);
	for (size_t i = 0; i < simulation->truth.device_count; i++)
		free_pieces(&simulation->truth.devices[i].pieces);
	free(simulation->truth.devices);
	free_pieces(&simulation->truth.path);
	mr_vec_free(&simulation->operations);
	mr_vec_free(&simulation->wakings);
	mr_vec_free(&simulation->events);
	mr_vec_free(&simulation->points);
	mr_vec_free(&simulation->edges);
	mr_vec_free(&simulation->boundaries);
	writer_free(simulation->writer);
	free(simulation);
}
