/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/notes.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "record/recorder.h"

enum {
	NOTES_MAX = 10000, /* anybody can make such links */
};

static void take_note(int folder, const char *name, const char *pid_text)
{
	char text[PATH_MAX], *end, *program;
	ssize_t length = readlinkat(folder, name, text, sizeof text - 1);
	unsigned long pid = strtoul(pid_text, &end, 10);
	if (length <= 0 || *end || pid > INT_MAX)
		return;
	text[length] = 0;
	unsigned long reason = strtoul(text, &program, 10);
	unlinkat(folder, name, 0);
	if (*program == ' ' && reason > MR_UNTRACED_NONE && reason < MR_UNTRACED_REASONS)
		mr_process_note_untraced((uint32_t)pid, program + 1,
					 (enum mr_untraced_reason)reason);
}

/* What follows the beginning of a name; NULL if it begins otherwise. */
static const char *after(const char *name, const char *beginning)
{
	while (*beginning && *name == *beginning) {
		name++;
		beginning++;
	}
	return *beginning ? NULL : name;
}

void mr_notes_collect(const char *arena_path)
{
	const char *slash = strrchr(arena_path, '/');
	mr_auto(free) char *path = slash ? strndup(arena_path, (size_t)(slash - arena_path)) : NULL;
	DIR *folder = path ? opendir(path) : NULL;
	int count = 0;
	for (struct dirent *entry; folder && count < NOTES_MAX && (entry = readdir(folder));) {
		const char *rest = after(entry->d_name, slash + 1);
		if (!rest || *rest != '.')
			continue;
		take_note(dirfd(folder), entry->d_name, rest + 1);
		count++;
	}
	if (folder)
		closedir(folder);
}
