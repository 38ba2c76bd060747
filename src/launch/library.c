/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/library.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static int usable(char *path, char **ret_path)
{
	/* The dynamic linker splits LD_PRELOAD at these, and nothing can quote them. */
	if (strpbrk(path, " :")) {
		int result = mr_fail(EINVAL,
				     "%s cannot be preloaded: its path contains a space or a colon",
				     path);
		free(path);
		return result;
	}
	*ret_path = path;
	return 0;
}

int mr_library_find(char **ret_path)
{
	char program[PATH_MAX] = "";
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	char *slash = length > 0 ? strrchr(program, '/') : NULL;
	char *path = NULL;
	if (slash && asprintf(&path, "%.*s/libmillrace.so", (int)(slash - program), program) < 0)
		return mr_fail(ENOMEM, "no memory");
	if (path && access(path, R_OK) == 0)
		return usable(path, ret_path);
	free(path);
	path = strdup(MR_LIBRARY_DIR "/libmillrace.so");
	if (path && access(path, R_OK) == 0)
		return usable(path, ret_path);
	free(path);
	return mr_fail(ENOENT,
		       "libmillrace.so is neither beside this program nor in %s: build it with "
		       "`make`, or install it with `make install`",
		       MR_LIBRARY_DIR);
}
