/* SPDX-License-Identifier: Apache-2.0
 *
 * The file behind the arena. It is in /dev/shm if there is room, because pages there are never written
 * back to a disk (write-back makes the next store into a page fault); otherwise it is in the trace
 * directory. It grows on demand: its full size is mapped from the start, and memory is allocated step
 * by step, before the slots in it may be claimed. The memory counts in the control group of record, which is most
 * often the program's: so it is a small part of what is left there (arena_room.h).
 *
 * A cleaner of /dev/shm may remove the file's name while it is in use. A file without a name cannot get one again, so
 * record then puts a link to its own descriptor there, /proc/PID/fd/N. The link works for processes that may inspect
 * record: same user, same pid namespace, and record has no capabilities that the program lacks.
 *
 * Whoever drains an arena holds a lock on its file (flock). A lock on the trace directory alone is not
 * enough: a copy of the directory is not locked, but names the same arena.
 *
 * Every traced process can write into the arena, by its path even into the control page. What record needs to know
 * it therefore keeps here and in struct mr_arena, and never reads back.
 */
#ifndef MR_LAUNCH_ARENA_FILE_H
#define MR_LAUNCH_ARENA_FILE_H

#include "record/arena.h"

#define MR_SHARED_MEMORY_FOLDER "/dev/shm"
#define MR_ARENA_NAME           "millrace-arena-" /* and a number */

struct mr_arena_file {
	struct mr_arena *arena; /* how it is mapped: all of it */
	void *memory;           /* ... here */
	uint32_t slot_count;    /* allocated: may be claimed */
	uint32_t slot_capacity; /* mapped */
	/* Where a control group limits record's memory (arena_room.h): */
	bool is_in_group;
	bool is_short;          /* no more than an eighth of the limit is left */
	uint32_t usual_slots;   /* allocated in any case */
	uint32_t slots_allowed; /* may be allocated */
	uint32_t slots_to_take; /* that may get memory until the next look at what is left */
	uint32_t withdrawn;     /* slots that have lost their memory */
	uint64_t looked_ns;     /* when record last looked at what is left */
	uint64_t calm_ns;       /* for so long nobody can have used it up */
	uint32_t highest_slot;  /* that a program has said to have claimed */
	int fd;
	uint32_t removals; /* how often somebody else has removed its name */
	char path[1024];
};

/* A size fit for the machine: 1/16 of the memory that is left to us, at most 2 GiB; less where address
 * space is scarce. It is allocated only as it is needed. */
uint64_t mr_arena_default_bytes(void);

/* Makes an arena of about `bytes`, at most MR_ARENA_SLOTS_MAX slots; `directory` is where it goes if
 * /dev/shm cannot hold it. */
int mr_arena_file_create(const char *directory, uint64_t bytes, struct mr_arena_file *ret_file);

/* Notes whose arena it is: the folder of the trace (leftovers.h). */
void mr_arena_file_set_folder(const struct mr_arena_file *file, const char *path);

/* Gives it its name, `path`: from now on it outlives record. */
int mr_arena_file_publish(const struct mr_arena_file *file);

/* Replaces its name if that is gone. */
void mr_arena_file_keep_name(struct mr_arena_file *file);

/* Maps the arena of a recording whose recorder is gone. -EPERM if it belongs to another user: it may have
 * been made to harm us. */
int mr_arena_file_open(const char *path, struct mr_arena_file *ret_file);

/* Locks it until it is closed. -EBUSY if another process drains it, -ENOENT if one has drained and deleted it. */
int mr_arena_file_lock(const struct mr_arena_file *file);

/* Slots that may have been claimed: those offered, and those whose memory programs have allocated themselves. */
uint32_t mr_arena_file_slots_in_use(struct mr_arena_file *file);

/* Makes the next part of the usual number of slots claimable, if it is not yet: a program need not wait until all of
 * them have their memory, and a short one never needs most of them. True if that is all. */
bool mr_arena_file_complete(struct mr_arena_file *file);

/* Switches these levels on in all processes, and all others off. */
void mr_arena_file_switch(const struct mr_arena_file *file, uint32_t levels);

/* Makes more slots claimable if few of them are free. Failing to is no error: events get lost and are
 * counted when the slots run out. */
void mr_arena_file_grow(struct mr_arena_file *file, uint32_t free_slots);

/* Unmaps; `remove` also deletes the file. Accepts a zeroed struct. */
void mr_arena_file_close(struct mr_arena_file *file, bool remove);

#endif
