/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/problem/subject.h"

#include <string.h>

#include "analysis/arrivals.h"
#include "analysis/cause/delay.h"
#include "analysis/finding/tally.h"
#include "base/sort.h"

enum {
	MAX_STATIONS = 16, /* a longer chain is cut */
	BUSY_PART = 10,    /* with this part of the busiest one's rows a main thread counts */
};

/* ---- whose time ----------------------------------------------------------------------------------- */

/* The thread whose steps take most time, or MR_NO_TRACK; in this process, if it has steps. Steps come by track. */
static uint32_t find_step_thread(const struct mr_survey *survey, const struct mr_step_list *list,
				 uint32_t process)
{
	uint32_t best = MR_NO_TRACK;
	int64_t best_ns = -1, sum_ns = 0;
	bool is_best_there = false;

	for (size_t i = 0; i < list->steps.count; i++) {
		const struct mr_step *step = &list->steps.items[i];

		if (i == 0 || step->track != list->steps.items[i - 1].track)
			sum_ns = 0;
		sum_ns += step->duration_ns;
		bool is_there = survey->tracks.items[step->track].process == process;
		if (is_there > is_best_there || (is_there == is_best_there && sum_ns > best_ns)) {
			best_ns = sum_ns;
			best = step->track;
			is_best_there = is_there;
		}
	}
	return best;
}

static bool is_looked_at(const struct mr_model *model, uint32_t process)
{
	return !model->whole || !model->part.processes || model->part.processes[process];
}

static uint64_t rows_of_track(const struct mr_model *whole, uint32_t track)
{
	uint64_t rows = 0;

#define COUNT(name)                                           \
	rows += whole->name.table.first_of_track[track + 1] - \
		whole->name.table.first_of_track[track]
	COUNT(node_executions);
	COUNT(calls);
	COUNT(states);
#undef COUNT
	return rows;
}

static int64_t overlap_ns(const struct mr_track *track, struct mr_window window)
{
	return mr_min(track->last_ns, window.last_ns) - mr_max(track->first_ns, window.first_ns);
}

/* A thread of the program, which the trace knows something of. */
static bool is_candidate(const struct mr_model *model, uint32_t track)
{
	const struct mr_survey *survey = model->survey;
	uint32_t process = survey->tracks.items[track].process;

	return survey->tracks.items[track].kind == MR_TRACK_THREAD &&
	       rows_of_track(mr_model_whole(model), track) > 0 && is_looked_at(model, process) &&
	       survey->processes.items[process].number != MR_RECORDER_PROCESS;
}

/* The main thread of a process that lives for most of the window. */
static bool is_main(const struct mr_model *model, uint32_t track)
{
	const struct mr_survey *survey = model->survey;
	const struct mr_track *thread = &survey->tracks.items[track];
	struct mr_window window = mr_model_window(model);

	return thread->tid == survey->processes.items[thread->process].pid &&
	       overlap_ns(thread, window) > (window.last_ns - window.first_ns) / 2;
}

/* The first main thread that does something: a shell that waits for the program does little. If there is none, the
 * thread that the trace knows most of. */
static uint32_t find_main_thread(const struct mr_model *model)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_survey *survey = whole->survey;
	uint32_t first = MR_NO_TRACK, busiest = MR_NO_TRACK;
	uint64_t most = 0, most_of_main = 0;

	for (uint32_t i = 0; i < survey->tracks.count; i++) {
		uint64_t rows = is_candidate(model, i) ? rows_of_track(whole, i) : 0;

		if (rows > most) {
			most = rows;
			busiest = i;
		}
		if (rows && is_main(model, i))
			most_of_main = mr_max(most_of_main, rows);
	}
	for (uint32_t i = 0; i < survey->tracks.count; i++)
		if (is_candidate(model, i) && is_main(model, i) &&
		    rows_of_track(whole, i) >= most_of_main / BUSY_PART &&
		    (first == MR_NO_TRACK ||
		     survey->tracks.items[i].first_ns < survey->tracks.items[first].first_ns))
			first = i;
	return first != MR_NO_TRACK ? first : busiest;
}

static int find_thread(const struct mr_model *model, struct mr_subject *subject)
{
	int result = mr_step_list_make(model, model->whole ? model->part.processes : NULL,
				       &subject->list);
	struct mr_arrivals arrivals = {0};

	if (result == 0)
		result = mr_arrivals_make(model, &arrivals);
	if (result < 0)
		return result;
	mr_arrivals_free(&arrivals);
	subject->thread = find_step_thread(model->survey, &subject->list, arrivals.late_process);
	subject->has_steps = subject->thread != MR_NO_TRACK;
	for (size_t i = 0; result == 0 && i < subject->list.steps.count; i++)
		if (subject->list.steps.items[i].track == subject->thread)
			result = mr_vec_push(&subject->steps, subject->list.steps.items[i]);
	if (!subject->has_steps)
		subject->thread = find_main_thread(model);
	if (subject->thread != MR_NO_TRACK)
		subject->process = subject->model->survey->tracks.items[subject->thread].process;
	return result;
}

/* ---- chains ----------------------------------------------------------------------------------------- */

/* What a thread does, and how the chain goes on from it: most threads of a chain go on with what they did when only one
 * of them changes. */
struct sight {
	int64_t from_ns; /* holds in [from_ns, to_ns) */
	int64_t to_ns;
	struct mr_station station;
	struct mr_delay delay;
	uint32_t scope_place; /* where searches in its rows ended last */
	uint32_t call_place;
};

struct sights {
	struct mr_delays delays;
	struct sight *threads;   /* by track */
	uint32_t *device_places; /* by device: where the search in its work ended last */
};

/* The innermost row around the instant; *to_ns is shortened to where that changes. `parent` is NULL where they do not
 * nest. */
static uint32_t find_around(const struct mr_table *table, const int64_t *start_ns,
			    const int64_t *duration_ns, const uint32_t *parent, uint32_t track,
			    int64_t ns, uint32_t *place, int64_t *to_ns)
{
	const uint32_t *first = &table->first_of_track[track];
	uint32_t next = mr_find_larger_near(start_ns, first[0], first[1], *place, ns);
	uint32_t row = next > first[0] ? next - 1 : MR_NO_ROW;

	*place = next;
	if (next < first[1])
		*to_ns = mr_min(*to_ns, start_ns[next]);
	while (row != MR_NO_ROW && start_ns[row] + duration_ns[row] <= ns)
		row = parent ? parent[row] : MR_NO_ROW;
	if (row != MR_NO_ROW)
		*to_ns = mr_min(*to_ns, start_ns[row] + duration_ns[row]);
	return row;
}

static const struct mr_station no_station = {.thread = MR_NO_TRACK,
					     .execution = MR_NO_ROW,
					     .scope = MR_NO_ROW,
					     .call = MR_NO_ROW,
					     .state = MR_NO_ROW,
					     .system_call = MR_NO_ROW,
					     .operation = MR_NO_ROW};

/* What a device of the thread's process runs at the instant: a station more, or none. */
static uint32_t look_at_devices(const struct sights *sights, uint32_t thread, int64_t ns,
				struct mr_station *station, int64_t *to_ns)
{
	const struct mr_model *model = sights->delays.model;
	const struct mr_device_operations *operations = &model->device_operations;
	uint32_t process = model->survey->tracks.items[thread].process;

	for (uint32_t i = 0; i < model->survey->definitions.devices.count; i++) {
		const struct mr_device_work *work = &sights->delays.devices[i];
		uint32_t place = mr_find_larger_near(work->until_ns, 0, work->count,
						     sights->device_places[i], ns);

		sights->device_places[i] = place;
		if (place == work->count)
			continue;
		uint32_t row = work->rows[place];
		if (operations->start_ns[row] > ns) {
			*to_ns = mr_min(*to_ns, operations->start_ns[row]);
			continue;
		}
		if (operations->process[row] != process)
			continue;
		*to_ns = mr_min(*to_ns, mr_operation_end_ns(model, row));
		*station = no_station;
		station->link = mr_link_of_operation(model, MR_CAUSE_DEPENDENCY, row);
		station->operation = row;
		return 1;
	}
	return 0;
}

static void look_at_thread(const struct sights *sights, uint32_t thread, int64_t ns,
			   struct sight *sight)
{
	const struct mr_delays *delays = &sights->delays;
	const struct mr_scopes *scopes = &delays->model->scopes;
	const struct mr_system_calls *calls = &delays->model->system_calls;
	struct mr_station *station = &sight->station;
	struct mr_activity activity;

	mr_activity_find(delays->model, delays->places, thread, ns, &activity);
	mr_delay_in_activity(delays, thread, ns, &activity, &sight->delay);
	sight->from_ns = ns;
	sight->to_ns = sight->delay.to_ns;
	*station = no_station;
	station->thread = thread;
	station->execution = activity.execution;
	station->call = activity.call;
	station->state = activity.state;
	station->scope =
		find_around(&scopes->table, scopes->start_ns, scopes->duration_ns, scopes->parent,
			    thread, ns, &sight->scope_place, &sight->to_ns);
	station->system_call = find_around(&calls->table, calls->start_ns, calls->duration_ns, NULL,
					   thread, ns, &sight->call_place, &sight->to_ns);
}

static const struct sight *see_thread(const struct sights *sights, uint32_t thread, int64_t ns)
{
	struct sight *sight = &sights->threads[thread];

	if (ns < sight->from_ns || ns >= sight->to_ns)
		look_at_thread(sights, thread, ns, sight);
	return sight;
}

/* The chain at an instant, and until when it holds. */
static uint32_t follow(const struct sights *sights, uint32_t thread, int64_t ns,
		       struct mr_station *stations, int64_t *ret_to_ns)
{
	struct mr_delay delay = {.operation = MR_NO_ROW, .thread = thread};
	int64_t to_ns = INT64_MAX;
	uint32_t count = 0;

	while (count < MAX_STATIONS &&
	       (delay.operation != MR_NO_ROW || delay.thread != MR_NO_TRACK)) {
		struct mr_station *station = &stations[count];

		if (delay.operation != MR_NO_ROW) {
			*station = no_station;
			mr_delay_find(&sights->delays, delay.operation, ns, &delay);
		} else {
			const struct sight *sight = see_thread(sights, delay.thread, ns);

			*station = sight->station;
			to_ns = mr_min(to_ns, sight->to_ns);
			delay = sight->delay;
		}
		to_ns = mr_min(to_ns, delay.to_ns);
		if (!delay.has_link)
			continue;
		station->link = delay.link;
		count++;
	}
	/* What the host does meanwhile does not decide how long the step takes: it runs ahead, asks the device again and
	 * again, or does the work of a device that is a CPU. Nor does an operation of which nobody knows who launched it. */
	if (count && count < MAX_STATIONS &&
	    (stations[count - 1].thread != MR_NO_TRACK ||
	     stations[count - 1].link.kind == MR_CAUSE_UNLAUNCHED))
		count += look_at_devices(sights, thread, ns, &stations[count], &to_ns);
	*ret_to_ns = to_ns;
	return count;
}

/* ---- moments ---------------------------------------------------------------------------------------- */

/* Which states follow each other does not matter, as long as they mean the same. */
static bool is_same(const struct mr_station *a, const struct mr_station *b)
{
	return memcmp(&a->link, &b->link, sizeof a->link) == 0 && a->thread == b->thread &&
	       a->execution == b->execution && a->scope == b->scope && a->call == b->call &&
	       a->system_call == b->system_call;
}

static bool continues(const struct mr_subject *subject, const struct mr_station *stations,
		      uint32_t count)
{
	if (subject->moments.count == 0)
		return false;
	const struct mr_moment *last = &subject->moments.items[subject->moments.count - 1];
	bool same = last->station_count == count;
	for (uint32_t i = 0; same && i < count; i++)
		same = is_same(&mr_stations_of(subject, last)[i], &stations[i]);
	return same;
}

static int add_moment(struct mr_subject *subject, int64_t ns, int64_t to_ns,
		      const struct mr_station *stations, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		mr_ns_add(&subject->cause_ns[stations[i].link.kind], to_ns - ns);
	if (continues(subject, stations, count)) {
		struct mr_moment *last = &subject->moments.items[subject->moments.count - 1];

		last->duration_ns += to_ns - ns;
		last->left_ns = last->duration_ns;
		return 0;
	}
	const struct mr_moment moment = {.start_ns = ns,
					 .duration_ns = to_ns - ns,
					 .left_ns = to_ns - ns,
					 .first_station = (uint32_t)subject->stations.count,
					 .station_count = count};
	for (uint32_t i = 0; i < count; i++)
		if (mr_vec_push(&subject->stations, stations[i]) < 0)
			return -ENOMEM;
	return mr_vec_push(&subject->moments, moment);
}

static int sights_make(const struct mr_model *model, struct sights *ret_sights)
{
	const struct mr_survey *survey = model->survey;
	struct sights sights = {
		.threads = calloc(survey->tracks.count + 1, sizeof *sights.threads),
		.device_places =
			calloc(survey->definitions.devices.count + 1, sizeof *sights.device_places),
	};
	int result = sights.threads && sights.device_places ? mr_delays_make(model, &sights.delays)
							    : -ENOMEM;

	if (result == 0) {
		*ret_sights = sights;
		return 0;
	}
	free(sights.threads);
	free(sights.device_places);
	return result;
}

static void sights_free(struct sights *sights)
{
	mr_delays_free(&sights->delays);
	free(sights->threads);
	free(sights->device_places);
}

static int make_moments(struct mr_subject *subject)
{
	struct mr_station stations[MAX_STATIONS];
	struct sights sights;
	int result = sights_make(subject->model, &sights);

	if (result < 0)
		return result;
	for (int64_t ns = subject->window.first_ns, to_ns;
	     result == 0 && ns < subject->window.last_ns; ns = to_ns) {
		uint32_t count = follow(&sights, subject->thread, ns, stations, &to_ns);

		to_ns = mr_min(to_ns, subject->window.last_ns);
		result = add_moment(subject, ns, to_ns, stations, count);
	}
	sights_free(&sights);
	return result;
}

int mr_subject_make(const struct mr_model *model, struct mr_subject *ret_subject)
{
	struct mr_subject subject = {.model = mr_model_whole(model),
				     .window = mr_model_window(model)};
	int result = find_thread(model, &subject);

	if (result == 0 && subject.thread != MR_NO_TRACK)
		result = make_moments(&subject);
	if (result < 0) {
		mr_subject_free(&subject);
		return result;
	}
	*ret_subject = subject;
	return 0;
}

void mr_subject_free(struct mr_subject *subject)
{
	mr_step_list_free(&subject->list);
	mr_vec_free(&subject->steps);
	mr_vec_free(&subject->moments);
	mr_vec_free(&subject->stations);
}
