/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/recover.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/directory.h"
#include "launch/drain.h"
#include "launch/manifest.h"
#include "launch/notes.h"
#include "launch/session_files.h"
#include "record/recorder.h"

/* Processes may still be running and recording: switch them off and let begun events end. */
static void switch_off(const struct mr_arena_file *file)
{
	mr_arena_file_switch(file, 0);
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

/* What the recorder had still to write about processes is written in its name. */
static void take_recorders_place(struct mr_arena *arena)
{
	for (uint32_t slot = 0; slot < MR_ARENA_PROCESSES; slot++) {
		const struct mr_process_entry *entry = mr_arena_process(arena, slot);
		if (atomic_load(&entry->state) == MR_PROCESS_LIVE &&
		    entry->process == MR_RECORDER_PROCESS)
			mr_process_adopt(arena, slot);
	}
}

static int take_everything(const struct mr_directory *directory, struct mr_arena_file *file)
{
	struct mr_streams streams;
	struct mr_processes processes;
	mr_streams_init(&streams, directory->ctf, (struct mr_stream_limits){0},
			(struct mr_stream_clocks){0});
	mr_processes_init(&processes, file);
	struct mr_drain drain;
	int result = mr_drain_init(&drain, file, &streams, &processes);
	drain.is_recovery = true;
	if (result == 0)
		result = mr_streams_resume(&streams);
	if (result == 0) {
		switch_off(file);
		take_recorders_place(file->arena);
		mr_notes_collect(file->path);
		mr_drain_finish(&drain);
		json_t *manifest = mr_manifest_load(directory);
		if (!manifest)
			manifest = json_object();
		mr_manifest_finish(manifest, "recovered", &drain);
		result = drain.stop_reason ? mr_fail(EIO, "%s", drain.stop_reason)
					   : mr_manifest_write(manifest, directory);
		json_decref(manifest);
	}
	mr_drain_fini(&drain);
	mr_processes_fini(&processes);
	mr_streams_fini(&streams);
	return result;
}

/* The arena was in memory, and the machine was started anew; or this is a copy of a trace that was
 * recovered or completed since. */
static int give_up(const struct mr_directory *directory)
{
	json_t *manifest = mr_manifest_load(directory);
	if (!manifest)
		manifest = json_object();
	mr_manifest_set_lost(manifest, "the recorder was killed and its buffer is gone");
	int result = mr_manifest_write(manifest, directory);
	json_decref(manifest);
	return result;
}

/* Takes what is in the arena, if there is one. -EBUSY if somebody else does. */
static int empty_arena(const struct mr_directory *directory, const char *arena_path)
{
	struct mr_arena_file file = {.fd = -1};
	int result = mr_arena_file_open(arena_path, &file);
	if (result == 0)
		result = mr_arena_file_lock(&file);
	if (result == -ENOENT)
		result = give_up(directory);
	else if (result == 0)
		result = take_everything(directory, &file);
	if (result == 0) {
		unlinkat(directory->fd, MR_ARENA_LINK, 0);
		unlinkat(directory->fd, MR_RESERVE_FILE, 0);
		unlinkat(directory->fd, MR_SNAPSHOT_REQUEST, 0);
	}
	mr_arena_file_close(&file, result == 0);
	return result;
}

static bool read_link(const struct mr_directory *directory, char *ret_path, size_t bytes)
{
	ssize_t length = readlinkat(directory->fd, MR_ARENA_LINK, ret_path, bytes - 1);
	ret_path[length > 0 ? length : 0] = 0;
	return length > 0;
}

static int recover(const struct mr_directory *directory, bool *ret_recovered)
{
	char arena_path[MR_ARENA_PATH_BYTES];
	if (!read_link(directory, arena_path, sizeof arena_path))
		return 0;
	if (flock(directory->fd, LOCK_EX | LOCK_NB) < 0)
		return mr_fail(EBUSY, "%s is still being recorded", directory->path);
	/* Another command may just have done it. */
	if (!read_link(directory, arena_path, sizeof arena_path))
		return 0;
	int result = empty_arena(directory, arena_path);
	*ret_recovered = result == 0;
	return result < 0 ? mr_fail_more(result, "cannot recover %s", directory->path) : 0;
}

int mr_recover_trace(const char *path, bool *ret_recovered)
{
	struct mr_directory directory;
	*ret_recovered = false;
	if (mr_directory_open(path, &directory) < 0)
		return 0; /* not a trace directory: whoever opens it says so */
	int result = recover(&directory, ret_recovered);
	mr_directory_close(&directory);
	return result;
}
