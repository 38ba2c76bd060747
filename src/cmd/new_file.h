/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a command writes, complete or not at all: it is written under another name beside its place, and takes
 * the place when all went well. "-" is stdout; what is no ordinary file, as /dev/null or a pipe, is written to as it is.
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

/* Puts the file in its place if `result`, of what has been written, is 0; else removes it. Returns `result`, or a
 * failure of its own with a cause. */
int mr_new_file_close(struct mr_new_file *file, int result);

#endif
