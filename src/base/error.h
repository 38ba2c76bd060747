/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors. Functions return 0 or a negative errno. A chain of causes says what happened, one
 * chain per thread, innermost first:
 *
 *     mr_fail(EINVAL, "content size %u exceeds packet size %u", ...)      innermost, starts a chain
 *     mr_fail_more(err, "read packet %u of %s", ...)                      each caller may add one
 *
 * A command prints the chain once, outermost first:   millrace: read packet 3 of a/b: content size ...
 *
 * Library code never prints. Nothing here is used inside a traced process.
 */
#ifndef MR_BASE_ERROR_H
#define MR_BASE_ERROR_H

#include <stdio.h>

#include "base/macros.h"

/* Starts a new chain and returns -error. */
int mr_fail(int error, const char *format, ...) mr_printf_format(2, 3);

/* Like mr_fail(), with ": strerror(error)" appended. */
int mr_fail_errno(int error, const char *format, ...) mr_printf_format(2, 3);

/* Adds an outer cause to the chain and returns `error` (already negative) unchanged. */
int mr_fail_more(int error, const char *format, ...) mr_printf_format(2, 3);

/* The chain as one line "outer: inner: innermost", which a terminal may be shown, valid until the thread's next failure. */
const char *mr_error_text(void);

#endif
