/* SPDX-License-Identifier: Apache-2.0
 *
 * Describes processes, threads, devices, queues and CPUs, each before its first use. Perfetto knows one process for each
 * pid and one thread for each tid; where the trace has more (after an exec, or on several hosts), the others get numbers
 * that no process has, and their names say which it was.
 */
#include <inttypes.h>

#include "export/perfetto/perfetto.h"

enum {
	NAME_BYTES = 512,
	MADE_UP = 1 << 30, /* from here on: no pid of Linux is so large */

	PACKET_TRACK = 60,
	TRACK_ID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,

	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
};

/* A track that has a name alone; parent 0: none. */
static int add_named(struct mr_perfetto *perfetto, uint64_t id, uint64_t parent, const char *name)
{
	size_t packet = mr_packet_begin(perfetto);
	size_t track = mr_proto_begin(&perfetto->bytes, PACKET_TRACK);

	mr_proto_number(&perfetto->bytes, TRACK_ID, id);
	if (parent)
		mr_proto_number(&perfetto->bytes, TRACK_PARENT, parent);
	mr_proto_text(&perfetto->bytes, TRACK_NAME, name);
	mr_proto_end(&perfetto->bytes, track);
	return mr_packet_end(perfetto, packet);
}

/* The number itself if it is the first time that it is used, else one made up. */
static int number_for(struct mr_strings *used, uint32_t number, uint32_t index,
		      uint32_t *ret_number)
{
	uint32_t before = mr_strings_count(used), place;
	int result = mr_strings_intern(used, &number, sizeof number, &place);

	if (result == 0)
		*ret_number = place == before ? number : MADE_UP + index;
	return result;
}

/* "rank 1: python, process 7 on host a": as much of it as the number does not say. */
static const char *process_name(const struct mr_perfetto *perfetto, uint32_t index, bool is_made_up,
				char *to)
{
	const struct mr_survey *survey = perfetto->model->survey;
	const struct mr_process *process = &survey->processes.items[index];
	char rank[32] = "", pid[32] = "", host[NAME_BYTES / 2] = "";

	if (process->rank != MR_NO_ORDINAL)
		snprintf(rank, sizeof rank, "rank %" PRIu32 ": ", process->rank);
	if (is_made_up)
		snprintf(pid, sizeof pid, ", process %" PRIu32, process->pid);
	if (survey->hosts.count > 1)
		snprintf(host, sizeof host, " on %s",
			 mr_survey_text(survey, survey->hosts.items[process->host].name));
	snprintf(to, NAME_BYTES, "%s%s%s%s", rank, mr_survey_text(survey, process->program), pid,
		 host);
	return to;
}

int mr_perfetto_process(struct mr_perfetto *perfetto, uint32_t process, uint64_t *ret_track)
{
	const uint32_t pid = perfetto->model->survey->processes.items[process].pid;
	struct mr_bytes *bytes = &perfetto->bytes;
	char name[NAME_BYTES];

	*ret_track = mr_track_id(MR_SPACE_PROCESS, process);
	if (perfetto->is_process_known[process])
		return 0;
	perfetto->is_process_known[process] = true;
	int result = number_for(&perfetto->pids_used, pid, process, &perfetto->pids[process]);
	if (result < 0)
		return result;
	size_t packet = mr_packet_begin(perfetto);
	size_t track = mr_proto_begin(bytes, PACKET_TRACK);
	mr_proto_number(bytes, TRACK_ID, *ret_track);
	size_t descriptor = mr_proto_begin(bytes, TRACK_PROCESS);
	mr_proto_number(bytes, PROCESS_PID, perfetto->pids[process]);
	mr_proto_text(bytes, PROCESS_NAME,
		      process_name(perfetto, process, perfetto->pids[process] != pid, name));
	mr_proto_end(bytes, descriptor);
	mr_proto_end(bytes, track);
	return mr_packet_end(perfetto, packet);
}

static int add_thread(struct mr_perfetto *perfetto, uint32_t index, uint64_t id)
{
	const struct mr_survey *survey = perfetto->model->survey;
	const struct mr_track *thread = &survey->tracks.items[index];
	struct mr_bytes *bytes = &perfetto->bytes;
	uint32_t tid = 0;
	uint64_t parent;
	int result = mr_perfetto_process(perfetto, thread->process, &parent);

	if (result == 0)
		result = number_for(&perfetto->tids_used, thread->tid, index, &tid);
	if (result < 0)
		return result;
	size_t packet = mr_packet_begin(perfetto);
	size_t track = mr_proto_begin(bytes, PACKET_TRACK);
	mr_proto_number(bytes, TRACK_ID, id);
	mr_proto_number(bytes, TRACK_PARENT, parent);
	size_t descriptor = mr_proto_begin(bytes, TRACK_THREAD);
	mr_proto_number(bytes, THREAD_PID, perfetto->pids[thread->process]);
	mr_proto_number(bytes, THREAD_TID, tid);
	mr_proto_text(bytes, THREAD_NAME, mr_survey_text(survey, thread->name));
	mr_proto_end(bytes, descriptor);
	mr_proto_end(bytes, track);
	return mr_packet_end(perfetto, packet);
}

static int add_queue(struct mr_perfetto *perfetto, uint32_t index, uint64_t id)
{
	const struct mr_survey *survey = perfetto->model->survey;
	uint32_t queue = survey->tracks.items[index].queue;
	uint32_t device = mr_device_canonical(perfetto->model,
					      survey->definitions.queues.items[queue].device);
	uint64_t parent = mr_track_id(MR_SPACE_DEVICE, device);
	int result = 0;

	if (!perfetto->is_device_known[device]) {
		perfetto->is_device_known[device] = true;
		result = add_named(
			perfetto, parent, 0,
			mr_survey_text(survey, survey->definitions.devices.items[device].name));
	}
	return result < 0 ? result
			  : add_named(perfetto, id, parent,
				      mr_survey_text(survey, survey->tracks.items[index].name));
}

static int add_cpu(struct mr_perfetto *perfetto, uint32_t index, uint64_t id)
{
	const struct mr_survey *survey = perfetto->model->survey;
	const struct mr_track *track = &survey->tracks.items[index];
	uint64_t parent = mr_track_id(MR_SPACE_CPUS, track->host);
	char name[NAME_BYTES];
	int result = 0;

	if (!perfetto->is_host_known[track->host]) {
		perfetto->is_host_known[track->host] = true;
		snprintf(name, sizeof name, "CPUs of %s",
			 mr_survey_text(survey, survey->hosts.items[track->host].name));
		result = add_named(perfetto, parent, 0, name);
	}
	snprintf(name, sizeof name, "CPU %" PRIu32, track->cpu);
	return result < 0 ? result : add_named(perfetto, id, parent, name);
}

int mr_perfetto_rows(struct mr_perfetto *perfetto, uint32_t track, enum mr_shown table,
		     uint32_t lane, uint64_t *ret_track)
{
	static int (*const add[])(struct mr_perfetto *, uint32_t, uint64_t) = {
		[MR_TRACK_THREAD] = add_thread,
		[MR_TRACK_QUEUE] = add_queue,
		[MR_TRACK_CPU] = add_cpu,
	};
	uint64_t parent = mr_track_id(MR_SPACE_TRACK, track);
	int result = 0;

	if (!perfetto->is_track_known[track]) {
		perfetto->is_track_known[track] = true;
		result = add[perfetto->model->survey->tracks.items[track].kind](perfetto, track,
										parent);
	}
	*ret_track =
		mr_track_id(MR_SPACE_ROWS, (uint64_t)lane << 40 | (uint64_t)table << 32 | track);
	return result < 0 ? result : add_named(perfetto, *ret_track, parent, mr_shown[table].noun);
}
