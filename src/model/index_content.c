/* SPDX-License-Identifier: Apache-2.0
 *
 * What the saved index keeps of a model: all that analyses read. The lookups of ids as recorded
 * (mr_definitions.scopes, device_facts, queue_names, thread_names, defined_codes, defined_sites, the keys and firsts of
 * sites) served the loading and are not kept. And the level of detail, for the viewer: making it means to look at every row.
 */
#include "model/index.h"

#include "model/detail.h"

/* Whoever adds a member adds it below, and then changes the size here. */
_Static_assert(sizeof(struct mr_definitions) == 736, "say here whether new members are kept");
_Static_assert(sizeof(struct mr_clocks) == 152, "say here whether new members are kept");
_Static_assert(sizeof(struct mr_clock_map) == 80, "say here whether new members are kept");
_Static_assert(sizeof(struct mr_tasks) == 136, "say here whether new members are kept");
_Static_assert(sizeof(struct mr_survey) == 5608, "say here whether new members are kept");
_Static_assert(offsetof(struct mr_model, node_executions) == 416,
	       "say here whether new members are kept");

static void visit_definitions(struct mr_archive *archive, struct mr_definitions *definitions)
{
	mr_archive_strings(archive, &definitions->strings);
	mr_archive_vec(archive, &definitions->graphs);
	mr_archive_vec(archive, &definitions->nodes);
	mr_archive_vec(archive, &definitions->edges);
	mr_archive_vec(archive, &definitions->devices);
	mr_archive_vec(archive, &definitions->queues);
	mr_archive_vec(archive, &definitions->files);
	mr_archive_vec(archive, &definitions->clocks);
	mr_archive_vec(archive, &definitions->sites.codes);
	mr_archive_vec(archive, &definitions->sites);
	mr_archive_vec(archive, &definitions->system_calls);
	mr_archive_plain(archive, &definitions->impossible, sizeof definitions->impossible);
}

static void visit_maps(struct mr_archive *archive, struct mr_clocks *clocks)
{
	mr_archive_plain(archive, &clocks->map_count, sizeof clocks->map_count);
	mr_archive_array(archive, (void **)&clocks->maps, clocks->map_count, sizeof *clocks->maps);
	if (!clocks->maps)
		clocks->map_count = 0;
	for (uint32_t i = 0; archive->is_reading && i < clocks->map_count; i++)
		clocks->maps[i].knots = NULL; /* what was written is an address of then */
	for (uint32_t i = 0; i < clocks->map_count; i++)
		mr_archive_array(archive, (void **)&clocks->maps[i].knots,
				 clocks->maps[i].knot_count, sizeof *clocks->maps[i].knots);
}

static void visit_clocks(struct mr_archive *archive, struct mr_survey *survey)
{
	uint32_t user = 0, monotonic = 0;

	if (archive->is_reading) {
		survey->clocks = calloc(1, sizeof *survey->clocks);
		if (!survey->clocks) {
			archive->error = -ENOMEM;
			return;
		}
		survey->clocks->metadata = survey->trace->metadata;
	} else {
		user = (uint32_t)(survey->clocks->user - survey->clocks->maps);
		monotonic = (uint32_t)(survey->clocks->monotonic - survey->clocks->maps);
	}
	visit_maps(archive, survey->clocks);
	mr_archive_plain(archive, &survey->clocks->unusable_samples,
			 sizeof survey->clocks->unusable_samples);
	mr_archive_plain(archive, &user, sizeof user);
	mr_archive_plain(archive, &monotonic, sizeof monotonic);
	if (mr_max(user, monotonic) >= survey->clocks->map_count) {
		archive->error = -EBADMSG;
		return;
	}
	survey->clocks->user = survey->clocks->maps + user;
	survey->clocks->monotonic = survey->clocks->maps + monotonic;
}

static void visit_by_tid(struct mr_archive *archive, struct mr_by_tid *by_tid, size_t places,
			 size_t count)
{
	mr_archive_array(archive, (void **)&by_tid->first, places + 1, sizeof *by_tid->first);
	mr_archive_array(archive, (void **)&by_tid->order, count, sizeof *by_tid->order);
}

static void visit_tasks(struct mr_archive *archive, struct mr_tasks *tasks)
{
	mr_archive_vec(archive, &tasks->list);
	mr_archive_vec(archive, &tasks->programs);
	mr_archive_vec(archive, &tasks->names);
	mr_archive_plain(archive, &tasks->tid_limit, sizeof tasks->tid_limit);
	mr_archive_plain(archive, &tasks->host_limit, sizeof tasks->host_limit);
	visit_by_tid(archive, &tasks->tasks_by_tid, mr_tasks_places(tasks), tasks->list.count);
	visit_by_tid(archive, &tasks->names_by_tid, mr_tasks_places(tasks), tasks->names.count);
}

static void visit_survey(struct mr_archive *archive, struct mr_survey *survey)
{
	visit_definitions(archive, &survey->definitions);
	visit_clocks(archive, survey);
	mr_archive_vec(archive, &survey->hosts);
	mr_archive_vec(archive, &survey->processes);
	mr_archive_vec(archive, &survey->tracks);
	mr_archive_plain(archive, &survey->first_queue_track, sizeof survey->first_queue_track);
	mr_archive_plain(archive, &survey->first_cpu_track, sizeof survey->first_cpu_track);
	mr_archive_vec(archive, &survey->runtimes_seen);
	mr_archive_vec(archive, &survey->runtimes_not_traced);
	mr_archive_vec(archive, &survey->hooks_missing);
	mr_archive_vec(archive, &survey->queue_words);
	/* Not `interpreters`: columns of the states say all that follows from them. */
	mr_archive_strings(archive, &survey->process_keys);
	mr_archive_strings(archive, &survey->track_keys);
	mr_archive_strings(archive, &survey->cpu_keys);
	visit_tasks(archive, &survey->tasks);
	mr_archive_plain(archive, &survey->ambiguous_tasks, sizeof survey->ambiguous_tasks);
	mr_archive_vec(archive, &survey->gaps);
	mr_archive_plain(archive, &survey->first_ns,
			 sizeof *survey - offsetof(struct mr_survey, first_ns));
}

static void visit_detail(struct mr_archive *archive, struct mr_table *table, uint32_t track_count)
{
	void *const *columns = mr_table_columns(table);
	const struct mr_detail_rows rows = {columns[1], columns[2], table->first_of_track,
					    track_count};

	if (!archive->is_reading && !table->detail && mr_detail_build(&rows, &table->detail) < 0)
		archive->error = -ENOMEM;
	if (!archive->error)
		mr_detail_archive(archive, &rows, &table->detail);
}

static void visit_table(struct mr_archive *archive, struct mr_table *table, uint32_t track_count)
{
	if (archive->is_reading)
		table->is_mapped = true;
	mr_archive_plain(archive, &table->count, sizeof table->count);
	mr_archive_column(archive, (void **)&table->first_of_track, track_count + UINT64_C(1),
			  sizeof *table->first_of_track);
	for (uint32_t i = 0; i < table->desc->column_count; i++)
		mr_archive_column(archive, &mr_table_columns(table)[i], table->count,
				  table->desc->columns[i].bytes);
	if (mr_table_is_interval(table))
		visit_detail(archive, table, track_count);
}

void mr_index_visit(struct mr_archive *archive, struct mr_model *model)
{
	visit_survey(archive, model->survey);
	mr_archive_plain(archive, &model->anomalies, sizeof model->anomalies);
	mr_archive_plain(archive, model->constraints, sizeof model->constraints);
	mr_archive_plain(archive, &model->calls_marked, sizeof model->calls_marked);
	mr_archive_vec(archive, &model->inferences.list);
	mr_archive_array(archive, (void **)&model->device_clocks,
			 model->survey->definitions.devices.count, sizeof *model->device_clocks);
#define VISIT_TABLE(name) \
	visit_table(archive, &model->name.table, (uint32_t)model->survey->tracks.count);
	MR_TABLES(VISIT_TABLE)
#undef VISIT_TABLE
}
