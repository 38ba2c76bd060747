/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory_room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

enum {
	RESERVED_PARTS = 8
};

/* Version 1 prints the largest number of pages instead of "max". */
static const uint64_t no_limit = UINT64_C(1) << 62;

/* One kind of control groups: where they are, and names of their files and of a line in memory.stat. */
struct kind {
	const char *mark; /* in its line of /proc/self/cgroup, NUMBER:CONTROLLERS:GROUP */
	const char *folder;
	const char *limits[2]; /* beyond the second, a group's programs are slowed down */
	const char *usage;
	const char *
		reclaimable; /* counted as used, and given up without harm: files that were read once */
};

static const struct kind kinds[] = {
	{"0::", "/sys/fs/cgroup", {"memory.max", "memory.high"}, "memory.current", "inactive_file"},
	{"memory",
	 "/sys/fs/cgroup/memory",
	 {"memory.limit_in_bytes", NULL},
	 "memory.usage_in_bytes",
	 "total_inactive_file"},
};

static FILE *open_in(const char *folder, const char *name)
{
	mr_auto(free) char *path = NULL;
	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : fopen(path, "re");
}

/* The number in a file; "max", or no such file: `otherwise`. */
static uint64_t read_number(const char *folder, const char *name, uint64_t otherwise)
{
	uint64_t number;
	mr_auto(close_file) FILE *file = open_in(folder, name);
	return file && fscanf(file, "%" SCNu64, &number) == 1 ? number : otherwise;
}

static uint64_t read_reclaimable(const char *folder, const char *wanted)
{
	char name[64];
	uint64_t number;
	mr_auto(close_file) FILE *file = open_in(folder, "memory.stat");
	while (file && fscanf(file, "%63s %" SCNu64, name, &number) == 2)
		if (strcmp(name, wanted) == 0)
			return number;
	return 0;
}

static void look_at_group(const struct kind *kind, const char *folder, struct mr_memory_room *room)
{
	uint64_t limit = UINT64_MAX;
	for (size_t i = 0; i < mr_countof(kind->limits) && kind->limits[i]; i++)
		limit = mr_min(limit, read_number(folder, kind->limits[i], UINT64_MAX));
	if (limit >= no_limit)
		return;
	uint64_t used = read_number(folder, kind->usage, 0);
	used -= mr_min(used, read_reclaimable(folder, kind->reclaimable));
	room->limit = mr_min(room->limit, limit);
	room->left = mr_min(room->left, limit - mr_min(limit, used));
	room->is_in_group = true;
}

/* The group, and those around it. In a container its own is often seen as the outermost. Cuts `group` off from its
 * end. */
static void look_at_groups(const char *root, const struct kind *kind, char *group,
			   struct mr_memory_room *room)
{
	for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
		mr_auto(free) char *folder = NULL;
		*end = 0;
		if (asprintf(&folder, "%s%s%s", root, kind->folder, group) < 0)
			return;
		look_at_group(kind, folder, room);
	}
}

static uint64_t machine_memory(void)
{
	return (uint64_t)mr_max(sysconf(_SC_PHYS_PAGES), 1L) * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct mr_memory_room mr_memory_room(const char *root)
{
	struct mr_memory_room room = {machine_memory(), machine_memory(), false};
	mr_auto(close_file) FILE *file = open_in(root, "proc/self/cgroup");
	mr_auto(free) char *line = NULL;
	size_t capacity = 0;
	while (file && getline(&line, &capacity, file) > 0) {
		char *group = strchr(line, '/');
		line[strcspn(line, "\n")] = 0;
		for (size_t i = 0; group && i < mr_countof(kinds); i++) {
			const char *mark = strstr(line, kinds[i].mark);
			if (mark && mark < group)
				look_at_groups(root, &kinds[i], group, &room);
		}
	}
	return room;
}

uint64_t mr_memory_share(const struct mr_memory_room *room, uint64_t parts)
{
	uint64_t reserved = room->is_in_group ? room->limit / RESERVED_PARTS : 0;
	return (room->left - mr_min(room->left, reserved)) / parts;
}
