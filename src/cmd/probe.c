/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/probe.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void mr_found(struct mr_capability *capability, enum mr_capability_state state, const char *format,
	      ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(capability->reason, sizeof capability->reason, format, arguments);
	va_end(arguments);
	capability->state = state;
}

void mr_remedy(struct mr_capability *capability, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(capability->remedy, sizeof capability->remedy, format, arguments);
	va_end(arguments);
}

bool mr_read_line(FILE *file, char *line, size_t capacity)
{
	if (!fgets(line, (int)capacity, file))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

bool mr_program_in_path(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX];
	for (size_t length; path && *path; path += length + (path[length] == ':')) {
		length = strcspn(path, ":");
		snprintf(candidate, sizeof candidate, "%.*s/%s", (int)length, path, name);
		if (access(candidate, X_OK) == 0)
			return true;
	}
	return false;
}
