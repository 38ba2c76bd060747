/* SPDX-License-Identifier: Apache-2.0 */
#include "model/index.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/macros.h"

#define NEW_FILE MR_INDEX_FILE ".new"

enum {
	WORTH_AN_INDEX_BYTES = 8 << 20, /* of packets: what loads in about a tenth of a second */
};

/* ---- what it is an index of --------------------------------------------------------------------- */

static int print_file(FILE *key, int directory, const char *name)
{
	struct stat status;

	if (fstatat(directory, name, &status, 0) < 0)
		return -errno;
	fprintf(key, "%s %ju %ju %jd.%09ld\n", name, (uintmax_t)status.st_ino,
		(uintmax_t)status.st_size, (intmax_t)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
	return 0;
}

static int print_boot(FILE *key)
{
	mr_auto(close_file) FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char line[64];

	if (!file || !fgets(line, sizeof line, file))
		return -ENOENT;
	fputs(line, key);
	return 0;
}

static int print_key(FILE *key, const struct mr_trace *trace, int directory)
{
	mr_auto(close_fd) int streams =
		openat(directory, "ctf", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int result = streams < 0 ? -errno : print_boot(key);

	if (result == 0)
		result = print_file(key, AT_FDCWD, "/proc/self/exe");
	if (result == 0)
		result = print_file(key, directory, "manifest.json");
	if (result == 0)
		result = print_file(key, streams, "metadata");
	for (uint32_t i = 0; result == 0 && i < trace->file_count; i++)
		result = print_file(key, streams, trace->files[i]);
	return result;
}

/* All that the model is made of, as text. */
static int make_key(const struct mr_trace *trace, int directory, char **ret_key)
{
	mr_auto(free) char *text = NULL;
	size_t size = 0;
	FILE *key = open_memstream(&text, &size);
	int result = key ? print_key(key, trace, directory) : -ENOMEM;

	if (key && fclose(key) != 0)
		result = -ENOMEM;
	if (result == 0)
		*ret_key = mr_take(text);
	return result;
}

/* The folder of the trace, if it is the user's own. */
static int open_directory(const struct mr_model *model)
{
	mr_auto(close_fd) int directory =
		open(model->trace->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat status;

	if (directory < 0 || fstat(directory, &status) < 0)
		return -errno;
	if (status.st_uid != geteuid())
		return -EPERM;
	int owned = directory;
	directory = -1;
	return owned;
}

/* ---- loading ------------------------------------------------------------------------------------ */

static bool is_own_file(int directory)
{
	struct stat status;

	return fstatat(directory, MR_INDEX_FILE, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static int check_key(struct mr_archive *archive, char *wanted)
{
	mr_auto(free) char *key = NULL;
	size_t size = 0;

	mr_archive_plain(archive, &size, sizeof size);
	mr_archive_array(archive, (void **)&key, size, 1);
	if (archive->error)
		return archive->error;
	return key && size == strlen(wanted) && memcmp(key, wanted, size) == 0 ? 0 : -ESTALE;
}

/* As if nothing had been loaded. */
static void undo(struct mr_model *model)
{
	mr_survey_free(mr_take(model->survey));
	free(mr_take(model->device_clocks));
	memset(&model->anomalies, 0, sizeof model->anomalies);
	memset(model->constraints, 0, sizeof model->constraints);
	model->calls_marked = (struct mr_calls_marked){0};
	mr_vec_free(&model->inferences.list);
#define CLEAR_TABLE(name)                  \
	mr_table_free(&model->name.table); \
	model->name = (struct mr_##name){.table.desc = &mr_##name##_desc};
	MR_TABLES(CLEAR_TABLE)
#undef CLEAR_TABLE
}

static int read_model(struct mr_model *model, const struct mr_mapping *file, char *key)
{
	struct mr_archive archive;
	int result = mr_archive_start_reading(&archive, file);

	if (result == 0)
		result = check_key(&archive, key);
	if (result < 0)
		return result;
	model->survey = calloc(1, sizeof *model->survey);
	if (!model->survey)
		return -ENOMEM;
	model->survey->trace = model->trace;
	mr_index_visit(&archive, model);
	result = archive.error ? archive.error : mr_archive_verify(&archive);
	model->index_state.damaged_at = archive.damaged_at;
	if (result < 0)
		undo(model);
	mr_archive_end(&archive);
	return result;
}

static int load(struct mr_model *model)
{
	mr_auto(mapping) struct mr_mapping file = {0};
	mr_auto(close_fd) int directory = open_directory(model);

	if (directory < 0)
		return directory;
	int result = make_key(model->trace, directory, &model->index_key);
	if (result < 0)
		return result;
	if (!is_own_file(directory))
		return -ENOENT;
	result = mr_mapping_open(directory, MR_INDEX_FILE, &file);
	model->index_state.bytes = file.size;
	if (result == 0)
		result = read_model(model, &file, model->index_key);
	if (result < 0)
		return result;
	model->index = file;
	file = (struct mr_mapping){0};
	return 0;
}

int mr_index_load(struct mr_model *model)
{
	model->index_state.result = load(model);
	return model->index_state.result;
}

/* ---- saving ------------------------------------------------------------------------------------- */

/* What is recorded still changes; what is damaged should be looked at anew, and says so. */
static bool is_final(const struct mr_model *model)
{
	const char *state = model->manifest->state;

	return state && strcmp(state, "recording") != 0 && strcmp(state, "imported") != 0 &&
	       model->trace->damage_count == 0 && model->survey->malformed_packets == 0;
}

static bool has_room(int directory, uint64_t bytes)
{
	struct statvfs system;

	return fstatvfs(directory, &system) == 0 && bytes / system.f_frsize < system.f_bavail / 2;
}

/* The new file, empty and locked: one that a killed process has left is used again, but nothing else that came
 * with a trace under that name, such as a pipe, on which opening would wait, or a link to another file. Between
 * our opening it and having the lock another process may have made it the index, which must not be touched. */
static int open_new_file(int directory)
{
	mr_auto(close_fd) int fd =
		openat(directory, NEW_FILE,
		       O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	struct stat opened, named;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &opened) < 0 ||
	    fstatat(directory, NEW_FILE, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (opened.st_ino != named.st_ino || !S_ISREG(opened.st_mode) || opened.st_nlink != 1 ||
	    opened.st_uid != geteuid())
		return -EBUSY;
	if (ftruncate(fd, 0) < 0)
		return -errno;
	int locked = fd;
	fd = -1;
	return locked;
}

static int write_file(const struct mr_archive *archive, int directory)
{
	mr_auto(close_fd) int fd = open_new_file(directory);

	if (fd < 0)
		return fd;
	/* The lock goes with the last descriptor: with ours, after the renaming. */
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 ? NULL : fdopen(copy, "w");
	int result = file ? mr_archive_write(archive, file) : -errno;

	if (file && fclose(file) != 0 && result == 0)
		result = -errno;
	if (result == 0 && renameat(directory, NEW_FILE, directory, MR_INDEX_FILE) < 0)
		result = -errno;
	if (result < 0)
		unlinkat(directory, NEW_FILE, 0);
	return result;
}

static void archive_key(struct mr_archive *archive, char *key)
{
	size_t size = strlen(key);

	mr_archive_plain(archive, &size, sizeof size);
	mr_archive_array(archive, (void **)&key, size, 1);
}

int mr_index_save(struct mr_model *model)
{
	mr_auto(close_fd) int directory = is_final(model) ? open_directory(model) : -EBUSY;
	struct mr_archive archive;

	if (directory < 0)
		return directory;
	if (!model->index_key)
		return -ENOENT;
	mr_archive_start_writing(&archive);
	archive_key(&archive, model->index_key);
	mr_index_visit(&archive, model);
	int result = archive.error;
	if (result == 0 && !has_room(directory, mr_archive_file_bytes(&archive)))
		result = -ENOSPC;
	if (result == 0)
		result = write_file(&archive, directory);
	mr_archive_end(&archive);
	return result;
}

void mr_index_save_large(struct mr_model *model)
{
	if (model->trace->event_bytes >= WORTH_AN_INDEX_BYTES)
		mr_index_save(model);
}
