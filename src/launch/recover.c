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
#include "launch/session_files.h"
#include "record/recorder.h"

/* Processes may still be running and recording: switch them off and let begun events end. */
static void switch_off(struct mr_arena *arena)
{
	atomic_store(&arena->levels, 0);
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
	mr_streams_init(&streams, directory->ctf, (struct mr_stream_limits){0});
	mr_processes_init(&processes, file->arena);
	struct mr_drain drain = {.file = file,
				 .streams = &streams,
				 .processes = &processes,
				 .is_recovery = true,
				 .own_process = MR_RECORDER_PROCESS};
	int result = mr_streams_resume(&streams);
	if (result == 0) {
		switch_off(file->arena);
		take_recorders_place(file->arena);
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

static int recover(const struct mr_directory *directory, const char *arena_path,
		   bool *ret_recovered)
{
	if (flock(directory->fd, LOCK_EX | LOCK_NB) < 0)
		return mr_fail(EBUSY, "%s is still being recorded", directory->path);
	struct mr_arena_file file = {.fd = -1};
	int result = mr_arena_file_open(arena_path, &file);
	if (result == -ENOENT) {
		/* Another command has just done it, or the machine was restarted since. */
		unlinkat(directory->fd, MR_ARENA_LINK, 0);
		return 0;
	}
	if (result == 0)
		result = take_everything(directory, &file);
	if (result == 0) {
		unlinkat(directory->fd, MR_ARENA_LINK, 0);
		unlinkat(directory->fd, MR_RESERVE_FILE, 0);
		unlinkat(directory->fd, MR_SNAPSHOT_REQUEST, 0);
	}
	mr_arena_file_close(&file, result == 0);
	*ret_recovered = result == 0;
	return result < 0 ? mr_fail_more(result, "cannot recover %s", directory->path) : 0;
}

int mr_recover_trace(const char *path, bool *ret_recovered)
{
	struct mr_directory directory;
	*ret_recovered = false;
	if (mr_directory_open(path, &directory) < 0)
		return 0; /* not a trace directory: whoever opens it says so */
	char arena_path[1024];
	ssize_t length = readlinkat(directory.fd, MR_ARENA_LINK, arena_path, sizeof arena_path - 1);
	int result = 0;
	if (length > 0) {
		arena_path[length] = 0;
		result = recover(&directory, arena_path, ret_recovered);
	}
	mr_directory_close(&directory);
	return result;
}
