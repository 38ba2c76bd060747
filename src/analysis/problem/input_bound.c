/* SPDX-License-Identifier: Apache-2.0
 *
 * Input bound: the step thread waits for its next input. Either an operation that takes input from a pipeline is being
 * executed, or the thread waits for another thread or process that hands work over to it and works by itself: one that
 * the step thread does not set to work first.
 */
#include <string.h>

#include "analysis/problem/problem.h"

/* The loader that the subject waits for, or MR_NO_TRACK. */
static uint32_t producer_of(const struct mr_case *of, const struct mr_moment *moment)
{
	bool by_itself = false;
	uint32_t giver = mr_moment_giver(of, moment, &by_itself);

	return by_itself ? giver : MR_NO_TRACK;
}

/* A function in Python that the framework calls for its pipeline has the GIL, which the subject wants. */
static bool waits_for_python(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i + 1 < moment->station_count; i++)
		if (stations[i].link.kind == MR_CAUSE_GIL &&
		    mr_execution_is_for(of->model, stations[i + 1].execution, MR_PURPOSE_PYTHON))
			return true;
	return false;
}

/* The root reads a file, whether it has a CPU or not; or waits for a page of one that is mapped. */
static bool reads_file(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	if (last->thread == MR_NO_TRACK)
		return false;
	if (last->system_call == MR_NO_ROW)
		return last->link.kind == MR_CAUSE_DISK;
	return mr_station_file_call(of->model, of->file_calls, last) == MR_FILE_CALL_READS;
}

static bool waits_for_input(const struct mr_case *of, const struct mr_moment *moment)
{
	return mr_moment_is_input(of, moment) || producer_of(of, moment) != MR_NO_TRACK ||
	       reads_file(of, moment);
}

/* The folder that the root reads from, if it reads. */
static const char *name_folder(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	return reads_file(of, moment) && last->system_call != MR_NO_ROW
		       ? mr_case_folder(of, of->model->system_calls.file[last->system_call])
		       : NULL;
}

static bool has_pipeline(const struct mr_case *of)
{
	const struct mr_scopes *scopes = &of->cut->scopes;

	for (uint32_t row = 0; row < scopes->table.count; row++)
		if (scopes->purpose[row] == MR_PURPOSE_STAGE)
			return true;
	return false;
}

/* ---- in words ---------------------------------------------------------------------------------------- */

static const char *name_producer(struct mr_case *of, const struct mr_moment *moment)
{
	uint32_t thread = mr_moment_is_input(of, moment) ? MR_NO_TRACK : producer_of(of, moment);

	return thread == MR_NO_TRACK ? NULL : mr_case_thread(of, thread);
}

/* Who does the work of a stage in another process. */
static const char *name_loader(struct mr_case *of, const struct mr_moment *moment)
{
	uint32_t last = mr_last_station(&of->subject, moment)->thread;

	return last != MR_NO_TRACK && mr_moment_is_input(of, moment) &&
			       of->model->survey->tracks.items[last].process != of->subject.process
		       ? mr_case_thread(of, last)
		       : NULL;
}

static const char *name_whole_pipeline(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = moment->station_count; i-- > 0;)
		if (stations[i].scope != MR_NO_ROW &&
		    of->model->scopes.purpose[stations[i].scope] == MR_PURPOSE_STAGE)
			return mr_scope_name(of->model, stations[i].scope);
	return NULL;
}

/* How the pipeline is built, as far as that costs time: ", serial and without prefetch". */
static const char *judge_pipeline(const char *pipeline)
{
	if (strcmp(pipeline, "DataLoader") == 0)
		return " It is serial: no worker loads ahead.";
	if (strncmp(pipeline, "Iterator::", strlen("Iterator::")) != 0)
		return ""; /* others do not say that by their names */
	bool is_parallel = strstr(pipeline, "Parallel") != NULL;
	bool is_prefetched = strstr(pipeline, "Prefetch") != NULL;

	if (is_parallel && is_prefetched)
		return "";
	if (is_parallel)
		return " Nothing is prefetched.";
	return is_prefetched ? " It is serial." : " It is serial, and nothing is prefetched.";
}

/* "The main thread waits 78.1% of the time for input. The slowest stage is Generator, which mostly runs Python. ..." */
static const char *explain(struct mr_case *of, const char *stage, const char *producer,
			   const char *deed, const char *pipeline, const char *folder)
{
	struct mr_region *region = &of->findings->region;
	const char *share = mr_case_share(of, mr_claimed_ns(of));
	const char *who = *producer ? producer : "which";
	const char *subject = mr_case_subject(of);

	if (!*stage && !*producer)
		return mr_region_print(region, "%s waits %s of the time for input%s%s.", subject,
				       share, *folder ? " from files, most of it in " : "", folder);
	if (!*stage)
		return mr_region_print(region, "%s waits %s of the time for %s%s%s.", subject,
				       share, producer, *deed ? ", which mostly " : "", deed);
	if (!*deed)
		return mr_region_print(region,
				       "%s waits %s of the time for input, most for stage %s.%s",
				       subject, share, stage, judge_pipeline(pipeline));
	return mr_region_print(region,
			       "%s waits %s of the time for input. The slowest stage is %s%s %s "
			       "mostly %s%s%s%s.%s",
			       subject, share, stage, *producer ? ":" : ",", who, deed,
			       *folder ? " (" : "", folder, *folder ? ")" : "",
			       judge_pipeline(pipeline));
}

int mr_find_input_bound(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share stage, producer, deed, pipeline, folder;

	mr_claim_if(of, waits_for_input);
	if (has_pipeline(of))
		mr_claim_if(of, waits_for_python);
	if (!mr_claims_matter(of))
		return 0;
	if (mr_case_most(of, mr_moment_stage, &stage) < 0 ||
	    mr_case_most(of, mr_moment_deed, &deed) < 0 ||
	    mr_case_most(of, *stage.name ? name_loader : name_producer, &producer) < 0 ||
	    mr_case_most(of, name_whole_pipeline, &pipeline) < 0 ||
	    mr_case_most(of, name_folder, &folder) < 0)
		return -ENOMEM;
	problem->confidence = *stage.name ? MR_CONFIDENCE_SURE : MR_CONFIDENCE_LIKELY;
	problem->where = *stage.name
				 ? mr_region_print(&of->findings->region, "stage %s", stage.name)
			 : *producer.name ? producer.name
					  : folder.name;
	problem->why =
		explain(of, stage.name, producer.name, deed.name, pipeline.name, folder.name);
	return problem->where && problem->why ? 0 : -ENOMEM;
}
