/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "import/perfetto/perfetto.h"

enum {
	DEPTH_MAX = 64, /* of tracks below tracks */
};

int mr_perfetto_find_track(struct mr_perfetto *perfetto, uint64_t uuid, uint32_t *ret_track)
{
	if (mr_strings_intern(&perfetto->track_keys, &uuid, sizeof uuid, ret_track) < 0)
		return -ENOMEM;
	if (*ret_track < perfetto->tracks.count)
		return 0;
	return mr_vec_push(&perfetto->tracks,
			   ((struct mr_perfetto_track){.uuid = uuid, .multiplier = 1}));
}

int mr_perfetto_find_task(struct mr_perfetto *perfetto, uint32_t tid,
			  struct mr_perfetto_task **ret_task)
{
	uint32_t number;

	if (mr_strings_intern(&perfetto->task_keys, &tid, sizeof tid, &number) < 0)
		return -ENOMEM;
	if (number == perfetto->tasks.count &&
	    mr_vec_push(&perfetto->tasks, ((struct mr_perfetto_task){.tid = tid})) < 0)
		return -ENOMEM;
	*ret_task = &perfetto->tasks.items[number];
	return 0;
}

/* ---- descriptions ---------------------------------------------------------------------------------------- */

static int text_of(struct mr_perfetto *perfetto, const struct mr_field *field, uint32_t *ret_string)
{
	return mr_builder_string(perfetto->builder, (const char *)field->bytes, field->value,
				 ret_string);
}

static int note_task(struct mr_perfetto *perfetto, int64_t pid, int64_t tid, uint32_t name)
{
	struct mr_perfetto_task *task;

	if (pid <= 0 || pid > INT32_MAX || tid <= 0 || tid > INT32_MAX)
		return 0;
	if (mr_perfetto_find_task(perfetto, (uint32_t)tid, &task) < 0)
		return -ENOMEM;
	task->pid = (uint32_t)pid;
	if (name)
		task->name = name;
	return 0;
}

/* ThreadDescriptor and ProcessDescriptor: the pid is field 1 of both. */
static int read_owner(struct mr_perfetto *perfetto, const struct mr_field *owner, bool is_thread,
		      struct mr_perfetto_track *track)
{
	enum {
		PID = 1,
		TID = 2,
		THREAD_NAME = 5,
		PROCESS_NAME = 6
	};
	struct mr_message message = mr_message_of(owner);
	struct mr_field field;

	while (mr_message_next(&message, &field)) {
		if (mr_field_is(&field, PID, MR_WIRE_VARINT)) {
			track->pid = (int64_t)field.value;
			track->has_pid = true;
		} else if (is_thread && mr_field_is(&field, TID, MR_WIRE_VARINT)) {
			track->tid = (int64_t)field.value;
			track->has_tid = true;
		} else if (mr_field_is(&field, is_thread ? THREAD_NAME : PROCESS_NAME,
				       MR_WIRE_BYTES) &&
			   text_of(perfetto, &field, &track->name) < 0) {
			return -ENOMEM;
		}
	}
	return is_thread ? note_task(perfetto, track->pid, track->tid, track->name) : 0;
}

static void read_counter(const struct mr_field *counter, struct mr_perfetto_track *track)
{
	struct mr_message message = mr_message_of(counter);
	struct mr_field field;

	track->is_counter = true;
	while (mr_message_next(&message, &field))
		if (mr_field_is(&field, 4, MR_WIRE_VARINT))
			track->multiplier = (int64_t)field.value;
		else if (mr_field_is(&field, 5, MR_WIRE_VARINT))
			track->is_incremental = field.value != 0;
}

int mr_perfetto_add_track(struct mr_perfetto *perfetto, const struct mr_field *descriptor)
{
	enum {
		UUID = 1,
		NAME = 2,
		PROCESS = 3,
		THREAD = 4,
		PARENT = 5,
		COUNTER = 8,
		STATIC_NAME = 10
	};
	struct mr_message message = mr_message_of(descriptor);
	struct mr_perfetto_track read = {.multiplier = 1};
	struct mr_field field;
	uint32_t number;
	int result = 0;

	while (result == 0 && mr_message_next(&message, &field)) {
		if (mr_field_is(&field, UUID, MR_WIRE_VARINT))
			read.uuid = field.value;
		else if (mr_field_is(&field, PARENT, MR_WIRE_VARINT))
			read.parent = field.value;
		if (field.wire != MR_WIRE_BYTES)
			continue;
		if (field.number == NAME || field.number == STATIC_NAME)
			result = text_of(perfetto, &field, &read.name);
		else if (field.number == PROCESS || field.number == THREAD)
			result = read_owner(perfetto, &field, field.number == THREAD, &read);
		else if (field.number == COUNTER)
			read_counter(&field, &read);
	}
	if (result < 0 || mr_perfetto_find_track(perfetto, read.uuid, &number) < 0)
		return -ENOMEM;
	read.is_used = perfetto->tracks.items[number].is_used;
	perfetto->tracks.items[number] = read;
	return 0;
}

/* Threads of the machine: tid, name and process. */
int mr_perfetto_add_process_tree(struct mr_perfetto *perfetto, const struct mr_field *tree)
{
	enum {
		PROCESSES = 1,
		THREADS = 2
	};
	struct mr_message message = mr_message_of(tree);
	struct mr_field field, part;

	while (mr_message_next(&message, &field)) {
		struct mr_message entry = mr_message_of(&field);
		bool is_thread = mr_field_is(&field, THREADS, MR_WIRE_BYTES);
		int64_t pid = 0, tid = 0;
		uint32_t name = 0;

		if (!is_thread && !mr_field_is(&field, PROCESSES, MR_WIRE_BYTES))
			continue;
		while (mr_message_next(&entry, &part)) {
			if (mr_field_is(&part, 1, MR_WIRE_VARINT))
				tid = (int64_t)part.value;
			else if (is_thread && mr_field_is(&part, 3, MR_WIRE_VARINT))
				pid = (int64_t)part.value;
			else if (mr_field_is(&part, is_thread ? 2 : 3, MR_WIRE_BYTES) && !name &&
				 text_of(perfetto, &part, &name) < 0)
				return -ENOMEM;
		}
		if (note_task(perfetto, is_thread ? pid : tid, tid, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- places ---------------------------------------------------------------------------------------------- */

/* The process of a track, or of one that it is below; NULL if none says. */
static const struct mr_perfetto_track *find_owner(const struct mr_perfetto *perfetto,
						  const struct mr_perfetto_track *track)
{
	uint32_t number;

	for (int depth = 0; depth < DEPTH_MAX && !track->has_pid; depth++) {
		if (!track->parent || !mr_strings_find(&perfetto->track_keys, &track->parent,
						       sizeof track->parent, &number))
			return NULL;
		track = &perfetto->tracks.items[number];
	}
	return track->has_pid ? track : NULL;
}

static int place_track(struct mr_perfetto *perfetto, struct mr_perfetto_track *track)
{
	const struct mr_perfetto_track *owner = find_owner(perfetto, track);
	char process_key[24] = "trace", thread_key[40];
	uint32_t process, key;

	if (owner)
		snprintf(process_key, sizeof process_key, "%" PRId64, owner->pid);
	if (track->has_tid)
		snprintf(thread_key, sizeof thread_key, "%" PRId64, track->tid);
	else
		snprintf(thread_key, sizeof thread_key, "track %" PRIu64, track->uuid);
	if (mr_builder_process(perfetto->builder, process_key, strlen(process_key), &process) < 0 ||
	    mr_builder_string(perfetto->builder, thread_key, strlen(thread_key), &key) < 0 ||
	    mr_builder_thread(perfetto->builder, process, key, &track->thread) < 0)
		return -ENOMEM;
	if (track->name)
		perfetto->builder->streams.items[track->thread].name = track->name;
	return 0;
}

static int name_process(struct mr_perfetto *perfetto, const struct mr_perfetto_track *track)
{
	char key[24];
	uint32_t process;

	if (!track->has_pid || track->has_tid || !track->name)
		return 0;
	snprintf(key, sizeof key, "%" PRId64, track->pid);
	if (mr_builder_process(perfetto->builder, key, strlen(key), &process) < 0)
		return -ENOMEM;
	perfetto->builder->processes.items[process].name = track->name;
	return 0;
}

int mr_perfetto_place_tracks(struct mr_perfetto *perfetto)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < perfetto->tracks.count; i++)
		if (perfetto->tracks.items[i].is_used)
			result = place_track(perfetto, &perfetto->tracks.items[i]);
	for (size_t i = 0; result == 0 && i < perfetto->tracks.count; i++)
		result = name_process(perfetto, &perfetto->tracks.items[i]);
	return result;
}
