/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/new_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Gives the file the permissions of any new file. */
static FILE *open_temporary(char *name)
{
	int fd = mkstemp(name);
	mode_t mask = umask(0);

	umask(mask); /* umask() can only be read by setting it */
	if (fd < 0)
		return NULL;
	fchmod(fd, 0666 & ~mask); /* fails on file systems without such permissions */
	FILE *stream = fdopen(fd, "w");
	if (!stream) {
		close(fd);
		unlink(name);
	}
	return stream;
}

int mr_new_file_open(struct mr_new_file *file, const char *path)
{
	mr_auto(free) char *temporary = NULL;
	FILE *stream;

	if (strcmp(path, "-") == 0) {
		stream = stdout;
	} else if (is_special(path)) {
		stream = fopen(path, "we");
	} else {
		if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
			return mr_fail_errno(ENOMEM, "cannot write %s", path);
		stream = open_temporary(temporary);
	}
	if (!stream)
		return mr_fail_errno(errno, "cannot write %s", path);
	*file = (struct mr_new_file){stream, path, mr_take(temporary)};
	return 0;
}

static int flush(FILE *stream)
{
	int error = fflush(stream) == 0 ? 0 : errno;

	if (stream != stdout && fclose(stream) != 0 && error == 0)
		error = errno;
	return error;
}

int mr_new_file_close(struct mr_new_file *file, int result)
{
	mr_auto(free) char *temporary = file->temporary;
	int error = flush(file->stream);

	if (result == 0 && error == 0 && temporary && rename(temporary, file->path) < 0)
		error = errno;
	if (temporary && (result < 0 || error))
		unlink(temporary);
	if (result < 0)
		return result;
	return error ? mr_fail_errno(error, "cannot write %s", file->path) : 0;
}
