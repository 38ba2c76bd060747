/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/session_files.h"

enum {
	MIN_FREE_BYTES = 32 << 20,
	RESERVE_BYTES = 1 << 20
};

static char *default_path(void)
{
	char host[256] = "host", when[32], *path = NULL;
	gethostname(host, sizeof host - 1);
	time_t now = time(NULL);
	struct tm local;
	localtime_r(&now, &local);
	strftime(when, sizeof when, "%Y%m%d-%H%M%S", &local);
	return asprintf(&path, "millrace-%s-%s-%d.mill", when, host, getpid()) < 0 ? NULL : path;
}

uint64_t mr_directory_free_bytes(const struct mr_directory *directory)
{
	struct statvfs status;
	return fstatvfs(directory->fd, &status) == 0 ? (uint64_t)status.f_bavail * status.f_frsize
						     : 0;
}

static int open_folder(struct mr_directory *directory)
{
	directory->fd = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return directory->fd >= 0 ? 0 : mr_fail_errno(errno, "cannot open %s", directory->path);
}

static int open_ctf(struct mr_directory *directory)
{
	directory->ctf =
		openat(directory->fd, "ctf", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return directory->ctf >= 0 ? 0
				   : mr_fail_errno(errno, "cannot open %s/ctf", directory->path);
}

static int make_folders(struct mr_directory *directory)
{
	if (mkdir(directory->path, 0700) < 0)
		return errno == EEXIST
			       ? mr_fail(EEXIST, "%s already exists: give another name with -o",
					 directory->path)
			       : mr_fail_errno(errno, "cannot create the trace directory %s",
					       directory->path);
	int result = open_folder(directory);
	if (result == 0 && mkdirat(directory->fd, "ctf", 0700) < 0)
		result = mr_fail_errno(errno, "cannot create %s/ctf", directory->path);
	if (result == 0)
		result = open_ctf(directory);
	if (result == 0 && mr_directory_free_bytes(directory) < MIN_FREE_BYTES)
		result = mr_fail(ENOSPC, "less than 32 MiB are free on the disk of %s",
				 directory->path);
	return result;
}

int mr_directory_create(const char *path, struct mr_directory *ret_directory)
{
	struct mr_directory directory = {
		.path = path ? strdup(path) : default_path(), .fd = -1, .ctf = -1};
	if (!directory.path)
		return mr_fail(ENOMEM, "no memory");
	int result = make_folders(&directory);
	if (result < 0) {
		if (result != -EEXIST)
			mr_directory_remove(&directory);
		mr_directory_close(&directory);
		return result;
	}
	*ret_directory = directory;
	return 0;
}

int mr_directory_open(const char *path, struct mr_directory *ret_directory)
{
	struct mr_directory directory = {.path = strdup(path), .fd = -1, .ctf = -1};
	int result = directory.path ? open_folder(&directory) : mr_fail(ENOMEM, "no memory");
	if (result == 0)
		result = open_ctf(&directory);
	if (result < 0) {
		mr_directory_close(&directory);
		return result;
	}
	*ret_directory = directory;
	return 0;
}

void mr_directory_close(struct mr_directory *directory)
{
	if (directory->fd >= 0)
		close(directory->fd);
	if (directory->ctf >= 0)
		close(directory->ctf);
	free(directory->path);
	*directory = (struct mr_directory){.fd = -1, .ctf = -1};
}

static void remove_files(int folder)
{
	int copy = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
	if (!entries)
		return;
	rewinddir(entries);
	for (struct dirent *entry; (entry = readdir(entries));)
		unlinkat(folder, entry->d_name, 0);
	closedir(entries);
}

void mr_directory_remove(struct mr_directory *directory)
{
	if (directory->ctf >= 0)
		remove_files(directory->ctf);
	if (directory->fd >= 0) {
		unlinkat(directory->fd, "ctf", AT_REMOVEDIR);
		unlinkat(directory->fd, "manifest.json", 0);
	}
	rmdir(directory->path);
}

int mr_directory_replace(int folder, const char *name, int (*print)(FILE *file, const void *data),
			 const void *data)
{
	char temporary[64];
	snprintf(temporary, sizeof temporary, ".%s.new", name);
	int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0600);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
	int result = file ? print(file, data) : -errno;
	if (file && fclose(file) != 0 && result == 0)
		result = -errno;
	if (!file && fd >= 0)
		close(fd);
	if (result < 0)
		mr_fail_errno(-result, "cannot write %s", name);
	else if (renameat(folder, temporary, folder, name) < 0)
		result = mr_fail_errno(errno, "cannot replace %s", name);
	if (result < 0)
		unlinkat(folder, temporary, 0);
	return result;
}

static int print_metadata(FILE *file, const void *data)
{
	return mr_metadata_print(data, file);
}

int mr_directory_write_metadata(const struct mr_directory *directory,
				const struct mr_metadata *metadata)
{
	return mr_directory_replace(directory->ctf, "metadata", print_metadata, metadata);
}

int mr_directory_reserve(const struct mr_directory *directory)
{
	mr_auto(close_fd) int reserve =
		openat(directory->fd, MR_RESERVE_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int error = reserve < 0 ? errno : posix_fallocate(reserve, 0, RESERVE_BYTES);
	return error ? mr_fail_errno(error, "cannot write into %s", directory->path) : 0;
}

void mr_directory_halve_reserve(const struct mr_directory *directory)
{
	mr_auto(close_fd) int reserve =
		openat(directory->fd, MR_RESERVE_FILE, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (reserve >= 0)
		(void)!ftruncate(reserve, RESERVE_BYTES / 2);
}
