/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/trace_argument.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cmd/max_memory.h"
#include "launch/recover.h"

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* NULL if there is none. */
static char *find_newest(void)
{
	struct timespec newest_time = {0};
	const char *newest = NULL;
	glob_t found;

	if (glob("*.mill", GLOB_ONLYDIR, NULL, &found) != 0)
		return NULL;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat status;

		if (stat(found.gl_pathv[i], &status) < 0 || !S_ISDIR(status.st_mode))
			continue;
		if (!newest || is_newer(&status.st_mtim, &newest_time)) {
			newest = found.gl_pathv[i];
			newest_time = status.st_mtim;
		}
	}
	char *path = newest ? strdup(newest) : NULL;
	globfree(&found);
	return path;
}

int mr_trace_argument(int count, char **operands, char **ret_path)
{
	mr_auto(free) char *path = count ? strdup(operands[0]) : find_newest();
	bool recovered;

	if (!path)
		return mr_fail(
			ENOENT,
			"no trace in this folder: record one with: millrace record -- PROGRAM");
	int result = mr_recover_trace(path, &recovered);
	if (result == -EACCES || result == -EPERM || result == -EROFS)
		fprintf(stderr,
			"millrace: %s: the recorder died: the trace ends with what it had "
			"written\n",
			mr_error_text());
	else if (result < 0 &&
		 result != -EBUSY) /* a trace still being recorded can be read up to now */
		return result;
	mr_max_memory_set(path);
	*ret_path = mr_take(path);
	return 0;
}
