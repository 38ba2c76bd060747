/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this process may use: what the machine has, and what the memory control groups around it allow, of both
 * versions. Whoever uses more than a group allows is killed, and often somebody else in his place: so ask what is left, and
 * take a small part of it.
 */
#ifndef MR_BASE_MEMORY_ROOM_H
#define MR_BASE_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct mr_memory_room {
	uint64_t limit;   /* the least of all, in bytes */
	uint64_t left;    /* the least that a group leaves; without one, the machine's memory */
	bool is_in_group; /* a group limits it */
};

/* As the files below `root` say: "" is the machine, anything else a folder with made-up ones. */
struct mr_memory_room mr_memory_room(const char *root);

/* One part in `parts` of what is left beyond an eighth of the limit. That eighth is the program's. */
uint64_t mr_memory_share(const struct mr_memory_room *room, uint64_t parts);

#endif
