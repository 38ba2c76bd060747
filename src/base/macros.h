/* SPDX-License-Identifier: Apache-2.0
 *
 * Small language helpers used everywhere: branch hints, sizes, and scoped clean-up.
 *
 * Scoped clean-up:   mr_auto(free) char *text = strdup(x);
 *                    return mr_take(text);      // hands the value over, leaves NULL behind
 */
#ifndef MR_BASE_MACROS_H
#define MR_BASE_MACROS_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define mr_likely(x)   __builtin_expect(!!(x), 1)
#define mr_unlikely(x) __builtin_expect(!!(x), 0)

#define mr_countof(array) (sizeof(array) / sizeof((array)[0]))

#define mr_min(a, b)                               \
	({                                         \
		__typeof__(a) min_a_ = (a);        \
		__typeof__(b) min_b_ = (b);        \
		min_a_ < min_b_ ? min_a_ : min_b_; \
	})
#define mr_max(a, b)                               \
	({                                         \
		__typeof__(a) max_a_ = (a);        \
		__typeof__(b) max_b_ = (b);        \
		max_a_ > max_b_ ? max_a_ : max_b_; \
	})

#define mr_align_up(value, alignment) \
	(((value) + (alignment)-1) & ~((__typeof__(value))(alignment)-1))

#define mr_printf_format(text, first) __attribute__((format(printf, text, first)))

/* mr_auto(close_fd) calls mr_cleanup_close_fd(&variable) when the variable leaves its scope. */
#define mr_auto(how) __attribute__((cleanup(mr_cleanup_##how)))

/* Returns the variable's value and sets it to zero, so that its clean-up does nothing. */
#define mr_take(variable)                                 \
	({                                                \
		__typeof__(variable) taken_ = (variable); \
		(variable) = 0;                           \
		taken_;                                   \
	})

static inline void mr_cleanup_free(void *pointer_to_pointer)
{
	free(*(void **)pointer_to_pointer);
}

static inline void mr_cleanup_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void mr_cleanup_close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void mr_cleanup_close_pipe(FILE **pipe)
{
	if (*pipe)
		pclose(*pipe);
}

#endif
