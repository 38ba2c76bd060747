/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a command writes completely or not at all: it is written under a temporary name in the same folder, and
 * renamed if everything succeeded. "-" is stdout. Anything but a regular file, such as /dev/null or a pipe, is written
 * directly.
 *
 *     struct mr_new_file file;
 *     int result = mr_new_file_open(&file, path);
 *     if (result == 0)
 *             result = mr_new_file_close(&file, print(file.stream));
 */
#ifndef MR_CMD_NEW_FILE_H
#define MR_CMD_NEW_FILE_H

#include <stdio.h>

struct mr_new_file {
	FILE *stream;
	const char *path; /* borrowed */
	char *temporary;  /* NULL: written in place */
};

/* 0, or a negative errno with a cause. */
int mr_new_file_open(struct mr_new_file *file, const char *path);

/* Renames the file to its final name if `result`, the result of writing it, is 0; otherwise removes it. Returns
 * `result`, or its own failure with a cause. */
int mr_new_file_close(struct mr_new_file *file, int result);

#endif
