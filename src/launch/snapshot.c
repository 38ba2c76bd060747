/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/manifest.h"
#include "launch/session_files.h"

enum {
	REQUEST_WAIT_MS = 50,
	REQUEST_WAITS = 600
};

bool mr_snapshot_is_requested(const struct mr_directory *directory)
{
	return faccessat(directory->fd, MR_SNAPSHOT_REQUEST, F_OK, 0) == 0;
}

static int copy_stream(int from_folder, int to_folder, const char *name)
{
	mr_auto(close_fd) int from = openat(from_folder, name, O_RDONLY | O_CLOEXEC);
	mr_auto(close_fd) int to =
		openat(to_folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (from < 0 || to < 0)
		return mr_fail_errno(errno, "cannot copy %s", name);
	char block[64 << 10];
	for (ssize_t count; (count = read(from, block, sizeof block)) != 0;) {
		ssize_t written = count < 0 ? -1 : write(to, block, (size_t)count);
		if (written != count || count < 0)
			return mr_fail_errno(written < 0 ? errno : ENOSPC, "cannot copy %s", name);
	}
	return 0;
}

/* A finished piece is never written again: a second name for it will do. */
static int take_stream(const struct mr_streams *streams, int to_folder, const char *name)
{
	bool is_finished = mr_streams_is_finished(streams, name);
	if (is_finished && linkat(streams->directory, name, to_folder, name, 0) == 0)
		return 0;
	return copy_stream(streams->directory, to_folder, name);
}

/* Everything that is in the files. Nothing is drained meanwhile, so this must not take long. */
static int take_streams(const struct mr_streams *streams, int to_folder)
{
	int copy = fcntl(streams->directory, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
	if (!folder)
		return mr_fail_errno(errno, "cannot read the folder of stream files");
	int result = 0;
	rewinddir(folder);
	for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
		if (strncmp(entry->d_name, "stream-", 7) == 0)
			result = take_stream(streams, to_folder, entry->d_name);
	closedir(folder);
	return result;
}

/* Appends what is committed of a packet in the arena, without disturbing its owner. */
static int append_packet(struct mr_drain *drain, struct mr_streams *streams, uint32_t slot)
{
	struct mr_drain_copy *copy = &drain->copy;
	if (!mr_drain_copy_packet(drain, slot))
		return 0;
	/* The owner may have gone on behind the back of mr_drain_list(), which then missed a packet: what
	 * comes after it must not be there either. */
	if (copy->owner_packet != mr_streams_owner_packets(drain->streams, copy->packet) +
					  mr_streams_owner_packets(streams, copy->packet))
		return 0;
	return mr_streams_append(streams, copy->packet, copy->content_bytes, copy->end_ticks,
				 copy->discarded_events, false);
}

static int append_arena(struct mr_drain *drain, struct mr_streams *streams)
{
	int result = 0;
	mr_drain_list(drain);
	for (size_t i = 0; i < drain->candidates.count && result == 0; i++)
		result = append_packet(drain, streams, drain->candidates.items[i].slot);
	return result;
}

static int fill(const struct mr_directory *snapshot, struct mr_drain *drain,
		const struct mr_metadata *metadata, const json_t *manifest)
{
	struct mr_streams streams;
	mr_drain_pass(drain);
	int result = take_streams(drain->streams, snapshot->ctf);
	mr_streams_init(&streams, snapshot->ctf, (struct mr_stream_limits){0},
			(struct mr_stream_clocks){0});
	if (result == 0)
		result = mr_streams_resume(&streams);
	if (result == 0)
		result = append_arena(drain, &streams);
	mr_streams_fini(&streams);
	if (result == 0)
		result = mr_directory_write_metadata(snapshot, metadata);
	json_t *copy = json_deep_copy(manifest);
	if (result == 0 && copy) {
		mr_processes_update_losses(drain->processes);
		mr_manifest_finish(copy, "snapshot", drain);
		result = mr_manifest_write(copy, snapshot);
	}
	json_decref(copy);
	return result;
}

int mr_snapshot_make(const struct mr_directory *directory, struct mr_drain *drain,
		     const struct mr_metadata *metadata, const void *manifest, uint32_t number)
{
	mr_auto(free) char *path = NULL;
	if (asprintf(&path, "%s/snapshot-%u.mill", directory->path, number) < 0)
		return mr_fail(ENOMEM, "no memory");
	struct mr_directory snapshot = {.fd = -1, .ctf = -1};
	int result = mr_directory_create(path, &snapshot);
	if (result == 0) {
		result = fill(&snapshot, drain, metadata, manifest);
		if (result < 0)
			mr_directory_remove(&snapshot);
	}
	mr_directory_close(&snapshot);
	/* The asker waits for this, whatever came of it. */
	unlinkat(directory->fd, MR_SNAPSHOT_REQUEST, 0);
	return result;
}

/* The highest number of a finished snapshot. Others may have been moved away. */
static uint32_t last_snapshot(const struct mr_directory *directory)
{
	int copy = fcntl(directory->fd, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
	uint32_t last = 0;
	if (folder)
		rewinddir(folder);
	for (struct dirent *entry; folder && (entry = readdir(folder));) {
		char name[48];
		uint32_t number;
		if (sscanf(entry->d_name, "snapshot-%u.mill", &number) != 1)
			continue;
		snprintf(name, sizeof name, "snapshot-%u.mill/manifest.json", number);
		if (faccessat(directory->fd, name, F_OK, 0) == 0)
			last = mr_max(last, number);
	}
	if (folder)
		closedir(folder);
	return last;
}

static int wait_for_answer(const struct mr_directory *directory, uint32_t before, char **ret_path)
{
	bool is_recorded = true;
	for (int i = 0; i < REQUEST_WAITS && is_recorded && mr_snapshot_is_requested(directory);
	     i++) {
		nanosleep(&(struct timespec){.tv_nsec = REQUEST_WAIT_MS * 1000000}, NULL);
		is_recorded = flock(directory->fd, LOCK_SH | LOCK_NB) < 0;
	}
	if (mr_snapshot_is_requested(directory)) {
		unlinkat(directory->fd, MR_SNAPSHOT_REQUEST, 0);
		return is_recorded ? mr_fail(ETIMEDOUT, "the recorder of %s does not answer",
					     directory->path)
				   : mr_fail(EINVAL, "the recording of %s has just ended",
					     directory->path);
	}
	uint32_t number = last_snapshot(directory);
	if (number <= before)
		return mr_fail(EIO,
			       "the recorder of %s could not write the snapshot: is the disk full?",
			       directory->path);
	return asprintf(ret_path, "%s/snapshot-%u.mill", directory->path, number) < 0
		       ? mr_fail(ENOMEM, "no memory")
		       : 0;
}

int mr_snapshot_request(const char *trace, char **ret_path)
{
	struct mr_directory directory;
	int result = mr_directory_open(trace, &directory);
	if (result < 0)
		return result;
	uint32_t before = last_snapshot(&directory);
	bool is_recording =
		faccessat(directory.fd, MR_ARENA_LINK, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
		flock(directory.fd, LOCK_SH | LOCK_NB) < 0;
	int request = -1;
	if (!is_recording)
		result = mr_fail(EINVAL, "%s is not being recorded", trace);
	else if ((request = openat(directory.fd, MR_SNAPSHOT_REQUEST,
				   O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) < 0)
		result = mr_fail_errno(errno, "cannot ask for a snapshot of %s", trace);
	if (request >= 0)
		close(request);
	if (result == 0)
		result = wait_for_answer(&directory, before, ret_path);
	mr_directory_close(&directory);
	return result;
}

/* ---- taking it elsewhere ------------------------------------------------------------------------------- */

static int copy_files(int from_folder, int to_folder)
{
	int copy = fcntl(from_folder, F_DUPFD_CLOEXEC, 0);
	DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
	if (!folder)
		return mr_fail_errno(errno, "cannot read the snapshot");
	int result = 0;
	rewinddir(folder);
	for (struct dirent *entry; result == 0 && (entry = readdir(folder));)
		if (entry->d_type != DT_DIR && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			result = copy_stream(from_folder, to_folder, entry->d_name);
	closedir(folder);
	return result;
}

/* To another file system. */
static int move_by_copying(const char *path, const char *to)
{
	struct mr_directory from, copy;
	int result = mr_directory_open(path, &from);
	if (result < 0)
		return result;
	result = mr_directory_create(to, &copy);
	if (result == 0) {
		result = copy_files(from.ctf, copy.ctf);
		if (result == 0)
			result = copy_stream(from.fd, copy.fd, "manifest.json");
		mr_directory_remove(result == 0 ? &from : &copy);
		mr_directory_close(&copy);
	}
	mr_directory_close(&from);
	return result;
}

int mr_snapshot_move(const char *path, const char *to)
{
	if (renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno == EXDEV || errno == EINVAL)
		return move_by_copying(path, to);
	return mr_fail_errno(errno, "cannot move the snapshot to %s", to);
}
