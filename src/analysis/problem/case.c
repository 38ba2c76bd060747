/* SPDX-License-Identifier: Apache-2.0
 *
 * What rules have in common.
 */
#include <string.h>

#include "analysis/cause/waiting.h"
#include "analysis/finding/tally.h"
#include "analysis/problem/problem.h"
#include "base/format.h"
#include "model/lines.h"

enum {
	SELDOM = 4, /* who is asked less than once in so many times works by itself */
	OFTEN = 3,  /* fewer are the start and the end of a thread */
};

int64_t mr_claimed_ns(const struct mr_case *of)
{
	int64_t sum_ns = 0;

	mr_each_moment(of, moment) sum_ns += moment->claimed_ns;
	return sum_ns;
}

void mr_claim_if(struct mr_case *of, mr_moment_test *test)
{
	mr_each_moment(of, moment) if (moment->left_ns && test(of, moment)) mr_claim(moment);
}

/* The first moment that does not end before. */
static size_t find_moment(const struct mr_subject *subject, int64_t ns)
{
	size_t low = 0, high = subject->moments.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct mr_moment *moment = &subject->moments.items[middle];

		if (moment->start_ns + moment->duration_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void mr_claim_within_if(struct mr_case *of, int64_t from_ns, int64_t to_ns, mr_moment_test *test,
			bool says)
{
	struct mr_subject *subject = &of->subject;

	for (size_t i = find_moment(subject, from_ns); i < subject->moments.count; i++) {
		struct mr_moment *moment = &subject->moments.items[i];
		int64_t end_ns = moment->start_ns + moment->duration_ns;

		if (moment->start_ns >= to_ns)
			break;
		if (test && test(of, moment) != says)
			continue;
		int64_t inside_ns = mr_min(end_ns, to_ns) - mr_max(moment->start_ns, from_ns);
		moment->claimed_ns = mr_min(moment->claimed_ns + inside_ns, moment->left_ns);
	}
}

void mr_claim_within(struct mr_case *of, int64_t from_ns, int64_t to_ns)
{
	mr_claim_within_if(of, from_ns, to_ns, NULL, true);
}

int64_t mr_claimed_within_ns(const struct mr_case *of, int64_t from_ns, int64_t to_ns)
{
	const struct mr_subject *subject = &of->subject;
	int64_t sum_ns = 0;

	for (size_t i = find_moment(subject, from_ns);
	     i < subject->moments.count && subject->moments.items[i].start_ns < to_ns; i++)
		sum_ns += subject->moments.items[i].claimed_ns;
	return sum_ns;
}

static bool is_hand_over(struct mr_link link)
{
	return link.kind == MR_CAUSE_HAND_OVER || link.kind == MR_CAUSE_LOCK ||
	       link.kind == MR_CAUSE_IPC || link.kind == MR_CAUSE_POLL ||
	       link.kind == MR_CAUSE_NETWORK || link.kind == MR_CAUSE_CHILD;
}

/* How often the subject sent something to where it waits: who is asked while it still works need not be woken. */
static uint32_t sends_of(const struct mr_case *of, const struct mr_station *station)
{
	uint32_t call = station->system_call;
	uint32_t file = call == MR_NO_ROW ? 0 : of->model->system_calls.file[call];

	if (station->link.kind == MR_CAUSE_POLL)
		return of->sends[0];
	return file ? of->sends[file] : 0;
}

uint32_t mr_moment_giver(const struct mr_case *of, const struct mr_moment *moment,
			 bool *ret_by_itself)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);
	const struct mr_station *last = mr_last_station(&of->subject, moment);
	uint32_t thread = of->subject.thread;

	if (moment->station_count < 2 || !is_hand_over(stations[0].link) ||
	    stations[0].execution != MR_NO_ROW || stations[1].thread == MR_NO_TRACK ||
	    last->thread == MR_NO_TRACK || last->thread == thread)
		return MR_NO_TRACK;
	uint32_t gives = of->partners[stations[1].thread].gives;
	uint32_t asks =
		mr_max(of->partners[stations[1].thread].asks, of->partners[last->thread].asks);
	asks = mr_max(asks, sends_of(of, &stations[0]));
	*ret_by_itself = gives >= OFTEN && asks * SELDOM < gives;
	return last->thread;
}

const char *mr_case_time(struct mr_case *of, int64_t ns)
{
	char text[MR_FORMAT_BYTES];

	mr_format_ns(text, ns, true);
	const char *copy = mr_region_copy(&of->findings->region, text, strlen(text));
	return copy ? copy : "";
}

const char *mr_case_count(struct mr_case *of, int64_t count)
{
	char text[MR_FORMAT_BYTES];

	mr_format_count(text, count);
	const char *copy = mr_region_copy(&of->findings->region, text, strlen(text));
	return copy ? copy : "";
}

const char *mr_case_share(struct mr_case *of, int64_t ns)
{
	char text[MR_FORMAT_BYTES];

	mr_format_percent(text, ns, of->whole_ns);
	const char *copy = mr_region_copy(&of->findings->region, text, strlen(text));
	return copy ? copy : "";
}

bool mr_case_is_python(const struct mr_case *of)
{
	const struct mr_process *process = &of->model->survey->processes.items[of->subject.process];
	const char *program = mr_model_text(of->model, process->program);
	const char *slash = strrchr(program, '/');

	return strncmp(slash ? slash + 1 : program, "python", strlen("python")) == 0;
}

const char *mr_case_whole(const struct mr_case *of)
{
	const struct mr_subject *subject = &of->subject;

	if (!of->cut->whole)
		return "run";
	for (size_t i = 0; subject->has_steps && i < subject->list.steps.count; i++)
		if (subject->list.steps.items[i].start_ns <= subject->window.first_ns)
			return "steps";
	return "part";
}

const char *mr_case_process(struct mr_case *of, uint32_t number)
{
	const struct mr_process *process = &of->model->survey->processes.items[number];
	const char *program = mr_model_text(of->model, process->program);
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	return *name ? mr_region_print(&of->findings->region, "process %u '%s'", process->pid, name)
		     : mr_region_print(&of->findings->region, "process %u", process->pid);
}

static const char *describe_thread(struct mr_case *of, uint32_t thread)
{
	const struct mr_survey *survey = of->model->survey;
	const struct mr_track *track = &survey->tracks.items[thread];
	bool is_main = track->tid == survey->processes.items[track->process].pid;
	const char *text;

	if (track->process == of->subject.process) {
		text = is_main ? "the main thread"
			       : mr_thread_text(of->model, &of->findings->region, thread);
	} else {
		const char *process = mr_case_process(of, track->process);
		const char *name = mr_thread_text(of->model, &of->findings->region, thread);

		text = is_main || !process || !name
			       ? process
			       : mr_region_print(&of->findings->region, "%s of %s", name, process);
	}
	return text ? text : "";
}

const char *mr_case_thread(struct mr_case *of, uint32_t thread)
{
	if (!of->thread_texts[thread])
		of->thread_texts[thread] = describe_thread(of, thread);
	return of->thread_texts[thread];
}

const char *mr_case_folder(struct mr_case *of, uint32_t file)
{
	const char *path = mr_file_path(of->model, file);
	const char *slash = strrchr(path, '/');

	if (!of->folder_texts[file] && slash && slash > path)
		of->folder_texts[file] =
			mr_region_print(&of->findings->region, "%.*s", (int)(slash - path), path);
	return of->folder_texts[file];
}

const char *mr_case_subject(struct mr_case *of)
{
	const char *name = mr_case_thread(of, of->subject.thread);
	const char *text = mr_region_print(&of->findings->region, "%c%s",
					   *name == 't' ? 'T' : *name, *name ? name + 1 : "");

	return text ? text : "";
}

const char *mr_station_line(struct mr_case *of, const struct mr_station *station, int64_t ns)
{
	const struct mr_definitions *definitions = &of->model->survey->definitions;
	uint32_t site = station->thread == MR_NO_TRACK
				? 0
				: mr_line_at(of->model, station->thread, ns, NULL);

	if (site == 0)
		return NULL;
	site = mr_sites_of_program(&definitions->sites, &definitions->strings, site);
	if (!of->line_texts[site])
		of->line_texts[site] = mr_line_text(of->model, &of->findings->region, site);
	return of->line_texts[site];
}

const char *mr_moment_line(struct mr_case *of, const struct mr_moment *moment)
{
	return mr_station_line(of, mr_last_station(&of->subject, moment), moment->start_ns);
}

bool mr_moment_is_input(const struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = 0; i < moment->station_count; i++)
		if (stations[i].thread != MR_NO_TRACK &&
		    (mr_execution_is_for(of->model, stations[i].execution, MR_PURPOSE_INPUT) ||
		     mr_scope_is_for(of->model, stations[i].scope, MR_PURPOSE_STAGE)))
			return true;
	return false;
}

/* "Iterator::Root::Map" is Map, "enumerate(DataLoader)#_Iter.__next__" is enumerate(DataLoader). */
static const char *shorten_stage(struct mr_case *of, uint32_t string)
{
	const char *name = mr_model_text(of->model, string);
	const char *colon = strrchr(name, ':');
	const char *begin = colon ? colon + 1 : name;

	if (!of->stage_texts[string])
		of->stage_texts[string] = mr_region_print(&of->findings->region, "%.*s",
							  (int)strcspn(begin, "#"), begin);
	return of->stage_texts[string];
}

const char *mr_moment_stage(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *stations = mr_stations_of(&of->subject, moment);

	for (uint32_t i = moment->station_count; i-- > 0;)
		for (uint32_t scope = stations[i].scope; scope != MR_NO_ROW;
		     scope = of->model->scopes.parent[scope])
			if (of->model->scopes.purpose[scope] == MR_PURPOSE_STAGE)
				return shorten_stage(of, of->model->scopes.name[scope]);
	return NULL;
}

const char *mr_moment_deed(struct mr_case *of, const struct mr_moment *moment)
{
	const struct mr_station *last = mr_last_station(&of->subject, moment);

	switch (last->link.kind) {
	case MR_CAUSE_CPU:
	case MR_CAUSE_UNTRACED:
		return mr_execution_is_for(of->model, last->execution, MR_PURPOSE_PYTHON)
			       ? "runs Python"
			       : "computes";
	case MR_CAUSE_DISK:
		return "waits for the disk";
	case MR_CAUSE_NETWORK:
		return "waits for the network";
	case MR_CAUSE_SLEEP:
		return "sleeps";
	case MR_CAUSE_LOCK:
		return "waits for a lock";
	case MR_CAUSE_GIL:
		return "waits for the GIL";
	case MR_CAUSE_CHILD:
		return "waits for a child process";
	case MR_CAUSE_THROTTLED:
		return "is throttled";
	case MR_CAUSE_DEPENDENCY:
	case MR_CAUSE_DEVICE:
	case MR_CAUSE_DEVICE_BUSY:
	case MR_CAUSE_SYNC:
		return "waits for a device";
	case MR_CAUSE_PREEMPTED:
	case MR_CAUSE_WAKE_UP:
	case MR_CAUSE_INTERRUPT:
		return NULL; /* others do that to it */
	default:
		return "waits";
	}
}

static int add_name(struct mr_tally *tally, const char *text, int64_t ns)
{
	return text ? mr_tally_add(tally, text, strlen(text) + 1, ns, 0) : 0;
}

int mr_case_most(struct mr_case *of, mr_moment_name *name, struct mr_share *ret_share)
{
	mr_auto(tally) struct mr_tally tally = {0};
	struct mr_share share = {.name = ""};
	const char *last = NULL; /* moments that follow each other mostly have the same name */
	int64_t last_ns = 0;

	mr_each_moment(of, moment)
	{
		if (moment->claimed_ns == 0)
			continue;
		const char *text = name(of, moment);
		if (text != last) {
			if (add_name(&tally, last, last_ns) < 0)
				return -ENOMEM;
			last = text;
			last_ns = 0;
		}
		last_ns += moment->claimed_ns;
	}
	if (add_name(&tally, last, last_ns) < 0)
		return -ENOMEM;
	share.count = (uint32_t)tally.entries.count;
	for (uint32_t i = 0; i < share.count; i++)
		if (tally.entries.items[i].total_ns > share.time_ns) {
			share.time_ns = tally.entries.items[i].total_ns;
			share.name = mr_tally_key(&tally, i);
		}
	share.name = mr_region_copy(&of->findings->region, share.name, strlen(share.name));
	if (!share.name)
		return -ENOMEM;
	*ret_share = share;
	return 0;
}

int mr_case_most_culprit(struct mr_case *of, struct mr_share *ret_share)
{
	mr_auto(tally) struct mr_tally tally = {0};
	const struct mr_tally_entry *most = NULL;

	mr_each_moment(of, moment)
	{
		struct mr_link key = mr_last_station(&of->subject, moment)->link;

		if (moment->claimed_ns == 0 || key.culprit == MR_CULPRIT_NONE)
			continue;
		key.kind = 0;
		key.next = MR_NO_CHAIN;
		if (mr_tally_add(&tally, &key, sizeof key, moment->claimed_ns, 0) < 0)
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < tally.entries.count; i++)
		if (!most || tally.entries.items[i].total_ns > most->total_ns)
			most = &tally.entries.items[i];
	const char *name =
		most ? mr_link_culprit(of->model, &of->findings->region,
				       *(const struct mr_link *)mr_tally_key(
					       &tally, (uint32_t)(most - tally.entries.items)))
		     : "";
	if (!name)
		return -ENOMEM;
	*ret_share =
		(struct mr_share){name, most ? most->total_ns : 0, (uint32_t)tally.entries.count};
	return 0;
}

bool mr_link_is(struct mr_link link, const char *cause)
{
	return strcmp(mr_cause_name(link.kind), cause) == 0;
}

bool mr_execution_is_for(const struct mr_model *model, uint32_t execution, enum mr_purpose purpose)
{
	const struct mr_node *nodes = model->survey->definitions.nodes.items;

	for (; execution != MR_NO_ROW; execution = model->node_executions.parent[execution])
		if (nodes[model->node_executions.node[execution]].purpose == purpose)
			return true;
	return false;
}

bool mr_scope_is_for(const struct mr_model *model, uint32_t scope, enum mr_purpose purpose)
{
	for (; scope != MR_NO_ROW; scope = model->scopes.parent[scope])
		if (model->scopes.purpose[scope] == purpose)
			return true;
	return false;
}

const char *mr_execution_node(const struct mr_model *model, uint32_t execution)
{
	const struct mr_node *nodes = model->survey->definitions.nodes.items;

	return mr_model_text(model, nodes[model->node_executions.node[execution]].name);
}

const char *mr_execution_type(const struct mr_model *model, uint32_t execution)
{
	const struct mr_node *nodes = model->survey->definitions.nodes.items;

	return mr_model_text(model, nodes[model->node_executions.node[execution]].type);
}

const char *mr_scope_name(const struct mr_model *model, uint32_t scope)
{
	return mr_model_text(model, model->scopes.name[scope]);
}
