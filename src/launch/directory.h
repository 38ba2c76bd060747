/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace directory while it is written:
 *
 *     NAME.mill/ ├─ manifest.json      what ran, and how it ended; replaced as a whole
 *                └─ ctf/ ├─ metadata   written before the program starts, completed at its end
 *                        └─ stream-... packets
 */
#ifndef MR_LAUNCH_DIRECTORY_H
#define MR_LAUNCH_DIRECTORY_H

#include "schema/metadata.h"

struct mr_directory {
	char *path;
	int fd;  /* of the directory */
	int ctf; /* of its ctf folder */
};

/* Makes the directory, or fails with a cause if it exists, cannot be written or has too little space.
 * `path` NULL: a name made of time, host and pid, in the current folder. */
int mr_directory_create(const char *path, struct mr_directory *ret_directory);

/* Opens one that exists. */
int mr_directory_open(const char *path, struct mr_directory *ret_directory);

/* Accepts one that is not open (fd -1). */
void mr_directory_close(struct mr_directory *directory);

/* Deletes the directory of a recording that never began, or of a snapshot that failed. */
void mr_directory_remove(struct mr_directory *directory);

int mr_directory_write_metadata(const struct mr_directory *directory,
				const struct mr_metadata *metadata);

/* Calls `print` on a temporary file that then replaces `name` in one step. */
int mr_directory_replace(int folder, const char *name, int (*print)(FILE *file, const void *data),
			 const void *data);

/* Keeps some space, so that the last writes succeed on a full disk: one half for definitions, given back by
 * mr_directory_halve_reserve(), the other for metadata and manifest, given back when MR_RESERVE_FILE is deleted. */
int mr_directory_reserve(const struct mr_directory *directory);
void mr_directory_halve_reserve(const struct mr_directory *directory);

uint64_t mr_directory_free_bytes(const struct mr_directory *directory);

#endif
