/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

enum {
	CHAIN_BYTES = 2048
};

static _Thread_local char chain[CHAIN_BYTES] = "unknown error";

/* Names of files and parts of a trace may hold anything: what may not be shown becomes ?. */
static void make_shown(void)
{
	char *to = chain;

	for (const char *from = chain; *from;) {
		bool shown;
		size_t length = mr_utf8_character(from, &shown);

		if (shown)
			to = memmove(to, from, length) + length;
		else
			*to++ = '?';
		from += length;
	}
	*to = '\0';
}

static void start_chain(const char *format, va_list arguments)
{
	vsnprintf(chain, sizeof chain, format, arguments);
	make_shown();
}

/* Adds ": cause" to the chain, truncated to what fits. */
static void add_cause(const char *cause)
{
	const char *const parts[] = {": ", cause};
	size_t length = strlen(chain);
	for (size_t i = 0; i < mr_countof(parts); i++) {
		size_t taken = strnlen(parts[i], sizeof chain - 1 - length);
		memcpy(chain + length, parts[i], taken);
		length += taken;
	}
	chain[length] = '\0';
}

int mr_fail(int error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	start_chain(format, arguments);
	va_end(arguments);
	return -error;
}

int mr_fail_errno(int error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	start_chain(format, arguments);
	va_end(arguments);
	add_cause(strerror(error));
	return -error;
}

int mr_fail_more(int error, const char *format, ...)
{
	char inner[CHAIN_BYTES];
	memcpy(inner, chain, sizeof inner);
	va_list arguments;
	va_start(arguments, format);
	start_chain(format, arguments);
	va_end(arguments);
	add_cause(inner);
	return error;
}

const char *mr_error_text(void)
{
	return chain;
}
