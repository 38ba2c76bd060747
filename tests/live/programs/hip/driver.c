/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into rocminfo, which looks for the driver's device file by itself: it is there.
 */
#undef _FILE_OFFSET_BITS /* open() is meant, too */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

int open(const char *path, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	int mode = va_arg(arguments, int);
	va_end(arguments);
	int (*next)(const char *, int, ...) =
		(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
	return next(strcmp(path, "/dev/kfd") == 0 ? "/dev/null" : path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
