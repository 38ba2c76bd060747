/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <string.h>

enum {
	CHAIN_BYTES = 2048
};

static _Thread_local char chain[CHAIN_BYTES] = "unknown error";

static void start_chain(const char *format, va_list arguments)
{
	vsnprintf(chain, sizeof chain, format, arguments);
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
	size_t length = strlen(chain);
	snprintf(chain + length, sizeof chain - length, ": %s", strerror(error));
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
	size_t length = strlen(chain);
	snprintf(chain + length, sizeof chain - length, ": %s", inner);
	return error;
}

const char *mr_error_text(void)
{
	return chain;
}
