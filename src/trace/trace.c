/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "trace/private.h"

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_stream_file(int directory, const char *name)
{
	struct stat status;
	return name[0] != '.' && strcmp(name, "metadata") != 0 &&
	       fstatat(directory, name, &status, 0) == 0 && S_ISREG(status.st_mode);
}

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

/* Names of the stream files, in an order that does not depend on the file system. */
static int list_files(int directory_fd, struct mr_trace_private *trace)
{
	__attribute__((cleanup(close_directory))) DIR *directory = NULL;
	mr_auto(close_fd) int fd = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || !(directory = fdopendir(fd)))
		return mr_fail_errno(errno, "cannot list the files");
	fd = -1; /* now owned by the directory */
	struct dirent *entry;
	while ((errno = 0, entry = readdir(directory))) {
		if (!is_stream_file(directory_fd, entry->d_name))
			continue;
		char *name = strdup(entry->d_name);
		if (!name || mr_vec_push(&trace->names, name) < 0) {
			free(name);
			return mr_fail_errno(ENOMEM, "list of files");
		}
	}
	if (errno)
		return mr_fail_errno(errno, "cannot list the files");
	if (trace->names.count > 0)
		qsort(trace->names.items, trace->names.count, sizeof(char *), compare_names);
	return 0;
}

/* A file that cannot be opened is damage like any other. */
static int read_file(int directory, struct mr_trace_private *trace, uint32_t file)
{
	struct mr_mapping mapping = {0};
	bool opened = mr_mapping_open(directory, trace->names.items[file], &mapping) == 0;
	if (!opened && mr_trace_add_damage(trace, file, 0, 0, mr_error_text()) < 0)
		return -ENOMEM;
	if (mr_vec_push(&trace->mappings, mapping) < 0) {
		mr_mapping_close(&mapping);
		return mr_fail_errno(ENOMEM, "list of files");
	}
	return mr_trace_scan_file(trace, file, directory);
}

static int read_metadata(int directory, struct mr_trace_private *trace)
{
	mr_auto(mapping) struct mr_mapping text = {0};
	int error = mr_mapping_open(directory, "metadata", &text);
	if (error == -ENOENT)
		return mr_fail(ENOENT, "not a trace: it has no ctf/metadata");
	if (error < 0)
		return error;
	if (text.size == 0)
		return mr_fail(EINVAL, "metadata is empty");
	error = mr_trace_metadata_parse((const char *)text.bytes, text.size, &trace->metadata);
	return error < 0 ? mr_fail_more(error, "metadata") : 0;
}

static int read_directory(int directory, struct mr_trace_private *trace)
{
	int error = read_metadata(directory, trace);
	if (error == 0)
		error = list_files(directory, trace);
	for (uint32_t file = 0; error == 0 && file < trace->names.count; file++)
		error = read_file(directory, trace, file);
	return error < 0 ? error : mr_trace_make_streams(trace);
}

/* The folder of the stream files: PATH/ctf, or PATH itself. */
static int open_directory(const char *path)
{
	mr_auto(close_fd) int outer = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (outer < 0 && errno == ENOTDIR)
		return mr_fail(ENOTDIR, "not a trace: it is not a directory");
	if (outer < 0)
		return mr_fail_errno(errno, "cannot open");
	int inner = openat(outer, "ctf", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inner >= 0)
		return inner;
	if (errno != ENOENT)
		return mr_fail_errno(errno, "cannot open ctf");
	int directory = outer;
	outer = -1;
	return directory;
}

void mr_trace_publish(struct mr_trace *trace)
{
	const struct mr_trace_private *private = trace->private;
	trace->path = private->path;
	trace->metadata = private->metadata->identity;
	trace->files = (const char *const *)private->names.items;
	trace->file_count = (uint32_t) private->names.count;
	trace->streams = private->streams.items;
	trace->stream_count = (uint32_t) private->streams.count;
	trace->damages = private->damages.items;
	trace->damage_count = (uint32_t) private->damages.count;
	for (uint32_t i = 0; i < trace->stream_count; i++)
		for (uint32_t j = 0; j < trace->streams[i].packet_count; j++)
			trace->event_bytes +=
				mr_align_up(trace->streams[i].packets[j].content_bytes, 8u);
}

int mr_trace_open(const char *path, struct mr_trace **ret_trace)
{
	mr_auto(trace) struct mr_trace *trace = calloc(1, sizeof *trace);
	if (!trace || !(trace->private = calloc(1, sizeof *trace->private)) ||
	    !(trace->private->path = strdup(path)))
		return mr_fail_errno(ENOMEM, "%s", path);
	mr_auto(close_fd) int directory = open_directory(path);
	if (directory < 0)
		return mr_fail_more(directory, "%s", path);
	int error = read_directory(directory, trace->private);
	if (error < 0)
		return mr_fail_more(error, "%s", path);
	mr_trace_publish(trace);
	*ret_trace = mr_take(trace);
	return 0;
}

static void free_private(struct mr_trace_private *private)
{
	for (size_t i = 0; i < private->mappings.count; i++)
		mr_mapping_close(&private->mappings.items[i]);
	for (size_t i = 0; i < private->names.count; i++)
		free(private->names.items[i]);
	for (size_t i = 0; i < private->damages.count; i++)
		free(private->damages.items[i].reason);
	mr_vec_free(&private->names);
	mr_vec_free(&private->mappings);
	mr_vec_free(&private->packets);
	mr_vec_free(&private->streams);
	mr_vec_free(&private->damages);
	mr_trace_metadata_free(private->metadata);
	free(private->path);
	free(private);
}

void mr_trace_close(struct mr_trace *trace)
{
	if (!trace)
		return;
	if (trace->private)
		free_private(trace->private);
	free(trace);
}
