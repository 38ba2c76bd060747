/* SPDX-License-Identifier: Apache-2.0 */
#include "record/peek.h"

#include <string.h>

#include "base/macros.h"
#include "record/own_call.h"

enum {
	PAGE_BYTES = 4096, /* the smallest there are */
	WORD_BYTES = 8,    /* what the kernel takes for a set of signals */
};

/* The kernel reads a set of signals before it sees that there is no such way to use it. Of all calls that touch
 * memory, this is one that a sandbox allows: starting a thread needs it. It takes no descriptor. */
static bool is_readable(uintptr_t word)
{
	const int no_way = -1;
	return mr_own_call(SYS_rt_sigprocmask, no_way, word, NULL, WORD_BYTES) == -EINVAL;
}

bool mr_peek_is_possible(void)
{
	const uintptr_t nowhere = WORD_BYTES;
	return mr_own_call_is_allowed(SYS_rt_sigprocmask) && !is_readable(nowhere);
}

static bool ask_once(struct mr_peek *peek, uintptr_t word)
{
	const uintptr_t page = word & -PAGE_BYTES;
	for (size_t i = 0; i < mr_min(peek->count, mr_countof(peek->known)); i++)
		if (peek->known[i] == page)
			return true;
	if (!is_readable(word))
		return false;
	peek->known[peek->count++ % mr_countof(peek->known)] = page;
	return true;
}

bool mr_peek_bytes(struct mr_peek *peek, const void *from, size_t bytes)
{
	const uintptr_t begin = (uintptr_t)from;
	uintptr_t end;
	if (__builtin_add_overflow(begin, bytes, &end))
		return false;
	for (uintptr_t page = begin & -PAGE_BYTES; page < end; page += PAGE_BYTES)
		if (!ask_once(peek, mr_max(page, begin & -WORD_BYTES)))
			return false;
	return true;
}

bool mr_peek_copy(struct mr_peek *peek, void *to, const void *from, size_t bytes)
{
	if (!mr_peek_bytes(peek, from, bytes))
		return false;
	memcpy(to, from, bytes);
	return true;
}

bool mr_peek_text(struct mr_peek *peek, const char *text, size_t most)
{
	while (most > 0) {
		size_t left_in_page = PAGE_BYTES - ((uintptr_t)text & (PAGE_BYTES - 1));
		size_t bytes = mr_min(most, left_in_page);
		if (!mr_peek_bytes(peek, text, bytes))
			return false;
		if (memchr(text, 0, bytes))
			return true;
		text += bytes;
		most -= bytes;
	}
	return false;
}
