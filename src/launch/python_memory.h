/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of another process, as a reader of hook/python/layout.h wants it. It is read by pages, each once until
 * it is forgotten: what belongs together is mostly in few of them, and a system call costs more than copying a page.
 * The process runs on meanwhile: two values of different pages may never have been there at the same time.
 *
 * What was read last time is mostly what is read next time. So the first page that is missing brings along the others:
 *
 *     expected    thread state, C stack, frames, code        one system call instead of four
 *
 * Where the process has given one of them back, the rest is read page by page.
 */
#ifndef MR_LAUNCH_PYTHON_MEMORY_H
#define MR_LAUNCH_PYTHON_MEMORY_H

#include <sys/types.h>

#include "hook/python/layout.h"

enum {
	MR_PYTHON_PAGE_BYTES = 4096, /* that of the kernel, or a part of it */
	MR_PYTHON_PAGES = 64,
	MR_PYTHON_EXPECTED = 8, /* pages read at once */
};

/* Pages that somebody will read, in the order in which they were read last time. A zeroed one expects none. */
struct mr_python_pages {
	uint32_t count;
	uintptr_t at[MR_PYTHON_EXPECTED];
};

struct mr_python_memory {
	pid_t pid;
	int error; /* of the last read that failed, an errno */
	uint32_t generation;
	struct {
		uintptr_t at;
		uint32_t generation; /* equal to that above: has been read, and is not forgotten */
	} known[MR_PYTHON_PAGES];
	struct mr_python_pages expected;
	struct mr_python_pages used; /* since the last mr_python_memory_expect() */
	uint8_t pages[MR_PYTHON_PAGES][MR_PYTHON_PAGE_BYTES];
};

/* Begins with another process; what was read is forgotten. */
void mr_python_memory_start(struct mr_python_memory *memory, pid_t pid);

/* From here on pages are read again. */
void mr_python_memory_forget(struct mr_python_memory *memory);

/* Begins with something else, of which it is known what it will read; `memory->used` says afterwards what it did read. */
void mr_python_memory_expect(struct mr_python_memory *memory, const struct mr_python_pages *pages);

struct mr_python_reader mr_python_memory_reader(struct mr_python_memory *memory);

#endif
