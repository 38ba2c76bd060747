/* SPDX-License-Identifier: Apache-2.0
 *
 * Checkpoint or logging in the loop: the steps wait while a checkpoint, a log or another file is written.
 */
#include <string.h>

#include "analysis/cause/waiting.h"
#include "analysis/problem/problem.h"

static bool is_writing_file(const struct mr_case *of, const struct mr_station *station)
{
	return mr_station_file_call(of->model, of->file_calls, station) >= MR_FILE_CALL_WRITES;
}

static bool is_writing(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i < moment->station_count; i++)
		if (stations[i].thread != MR_NO_TRACK &&
		    (mr_execution_is_for(of->model, stations[i].execution, MR_PURPOSE_WRITE) ||
		     is_writing_file(of, &stations[i])))
			return true;
	return false;
}

/* Between two calls of functions the thread does hardly anything but write: the rest is the interpreter's part of it. */
static void claim_gap(struct mr_case *of, int64_t from_ns, int64_t to_ns)
{
	int64_t writing_ns = mr_claimed_within_ns(of, from_ns, to_ns);

	if (from_ns < to_ns && writing_ns > (to_ns - from_ns) / 2)
		mr_claim_within(of, from_ns, to_ns);
}

static void claim_gaps(struct mr_case *of)
{
	const struct mr_function_calls *calls = &of->model->function_calls;
	const uint32_t *first = &calls->table.first_of_track[of->subject.thread];

	for (uint32_t row = first[0]; row + 1 < first[1]; row++)
		claim_gap(of,
			  mr_max(calls->start_ns[row] + calls->duration_ns[row],
				 of->subject.window.first_ns),
			  mr_min(calls->start_ns[row + 1], of->subject.window.last_ns));
}

static const char *name_operation(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i < moment->station_count; i++)
		if (stations[i].execution != MR_NO_ROW &&
		    mr_execution_is_for(of->model, stations[i].execution, MR_PURPOSE_WRITE))
			return mr_execution_type(of->model, stations[i].execution);
	for (uint32_t i = 0; i < moment->station_count; i++)
		if (is_writing_file(of, &stations[i])) {
			const char *path = mr_file_path(
				of->model, of->model->system_calls.file[stations[i].system_call]);

			return *path ? path : NULL;
		}
	return NULL;
}

int mr_find_checkpoint(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_share operation;
	int64_t disk_ns = 0;

	mr_claim_if(of, is_writing);
	claim_gaps(of);
	if (!mr_claims_matter(of))
		return 0;
	if (mr_case_most(of, name_operation, &operation) < 0)
		return -ENOMEM;
	mr_each_moment(of, moment) if (mr_last_station(&of->subject, moment)->link.kind ==
				       MR_CAUSE_DISK) disk_ns += moment->claimed_ns;
	int64_t time_ns = mr_claimed_ns(of);
	problem->confidence = MR_CONFIDENCE_SURE;
	problem->where = operation.name;
	problem->why = mr_region_print(
		&of->findings->region,
		"%s writes files for %s of the time%s%s%s. For %s of this it waits for the disk.",
		mr_case_subject(of), mr_case_share(of, time_ns), *operation.name ? " (" : "",
		operation.name, *operation.name ? ")" : "", mr_case_time(of, disk_ns));
	return problem->why ? 0 : -ENOMEM;
}
