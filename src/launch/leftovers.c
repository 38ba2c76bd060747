/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "launch/arena_file.h"
#include "launch/session_files.h"

enum {
	SPARED_SECONDS = 24 * 60 * 60,
};

/* Does the folder that it names lead to it? If it cannot be read, it may. */
static bool is_linked(const struct mr_control *control, const char *path)
{
	char link[sizeof control->folder + 16], target[PATH_MAX];
	snprintf(link, sizeof link, "%.*s/" MR_ARENA_LINK, (int)sizeof control->folder - 1,
		 control->folder);
	ssize_t length = readlink(link, target, sizeof target - 1);
	if (length < 0)
		return errno != ENOENT && errno != ENOTDIR;
	target[length] = 0;
	return strcmp(target, path) == 0;
}

static bool is_leftover(int folder, const char *name)
{
	struct stat status;
	struct mr_control control;
	char path[PATH_MAX];
	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_uid != geteuid() || status.st_mtime > time(NULL) - SPARED_SECONDS)
		return false;
	mr_auto(close_fd) int file =
		openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	snprintf(path, sizeof path, MR_SHARED_MEMORY_FOLDER "/%s", name);
	return file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 &&
	       pread(file, &control, sizeof control, 0) == (ssize_t)sizeof control &&
	       mr_control_is_valid(&control) && control.folder[0] == '/' &&
	       !is_linked(&control, path);
}

void mr_leftovers_remove(void)
{
	DIR *folder = opendir(MR_SHARED_MEMORY_FOLDER);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (strncmp(entry->d_name, MR_ARENA_NAME, strlen(MR_ARENA_NAME)) == 0 &&
		    is_leftover(dirfd(folder), entry->d_name))
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
}
