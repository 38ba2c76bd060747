/* SPDX-License-Identifier: Apache-2.0
 *
 * Exposed communication: data are exchanged with other processes or devices, and nothing is computed meanwhile. What is
 * hidden behind the work of a device costs nothing.
 */
#include "analysis/problem/exposed.h"

/* A thread of the chain executes an operation that exchanges data, and no device works. */
static bool communicates(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	if (mr_last_station(&of->subject, moment)->thread == MR_NO_TRACK)
		return false;
	for (uint32_t i = 0; i < moment->station_count; i++)
		if (mr_execution_is_for(of->model, stations[i].execution, MR_PURPOSE_COMMUNICATE))
			return true;
	return false;
}

/* No thread of the chain executes anything: it waits for the collective. */
static bool executes(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	return last->thread == MR_NO_TRACK || last->execution != MR_NO_ROW ||
	       last->scope != MR_NO_ROW;
}

/* Collectives that operations of the subject's process have only started. */
static void claim_collectives(struct mr_case *of)
{
	const struct mr_collectives *collectives = &of->cut->collectives;
	const struct mr_track *tracks = of->cut->survey->tracks.items;

	for (uint32_t row = 0; row < collectives->table.count; row++)
		if (tracks[collectives->track[row]].process == of->subject.process)
			mr_claim_within_if(of, collectives->start_ns[row],
					   collectives->start_ns[row] +
						   collectives->duration_ns[row],
					   executes, false);
}

static const char *name_exchange(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	if (last->thread == MR_NO_TRACK)
		return last->link.culprit == MR_CULPRIT_OPERATION
			       ? mr_model_text(of->model, last->link.what)
			       : NULL;
	for (uint32_t i = 0; i < moment->station_count; i++)
		if (mr_execution_is_for(of->model, stations[i].execution, MR_PURPOSE_COMMUNICATE))
			return mr_execution_node(of->model, stations[i].execution);
	return NULL;
}

int mr_find_communication(struct mr_case *of, struct mr_problem *problem)
{
	struct mr_region *region = &of->findings->region;
	struct mr_share exchange;

	mr_claim_if(of, communicates);
	claim_collectives(of);
	if (mr_claim_exposed(of, MR_DEVICE_COMMUNICATES) < 0 ||
	    mr_case_most(of, name_exchange, &exchange) < 0)
		return -ENOMEM;
	const char *name = mr_name_text(region, *exchange.name ? exchange.name : "collectives");
	if (!name)
		return -ENOMEM;
	problem->confidence = MR_CONFIDENCE_LIKELY;
	problem->where = name;
	problem->why = mr_region_print(region,
				       "For %s of the time data are exchanged (%s), and nothing is "
				       "computed meanwhile.",
				       mr_case_share(of, mr_claimed_ns(of)), name);
	return problem->why ? 0 : -ENOMEM;
}
