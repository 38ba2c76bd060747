/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads memory that may not be there: what a program passes to a function by a pointer that is none.
 *
 *     struct mr_peek peek = {};
 *     if (mr_peek_text(&peek, path, PATH_MAX)) ...      it can be read up to its end
 *
 * The kernel is asked once for each page. Where it may not be asked (record/own_call.h), nothing can be read.
 */
#ifndef MR_RECORD_PEEK_H
#define MR_RECORD_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages that can be read, of those asked for last: what belongs together is in few. */
struct mr_peek {
	uintptr_t known[8];
	size_t count;
};

/* False where the kernel may not be asked, or where a sandbox gives the same answer for all memory. */
bool mr_peek_is_possible(void);

/* Whether all of these bytes can be read. */
bool mr_peek_bytes(struct mr_peek *peek, const void *from, size_t bytes);

/* Copies these bytes, if all of them can be read. */
bool mr_peek_copy(struct mr_peek *peek, void *to, const void *from, size_t bytes);

/* Whether a text can be read up to its end, and is shorter than `most` bytes. */
bool mr_peek_text(struct mr_peek *peek, const char *text, size_t most);

#endif
