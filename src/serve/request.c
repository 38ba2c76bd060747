/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/request.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place: what is decoded is never longer. */
static int decode(char *text, bool plus_is_space)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		char c = *from;

		if (c == '%') {
			int high = hex_digit(from[1]);
			int low = high < 0 ? -1 : hex_digit(from[2]);

			if (low < 0)
				return mr_fail(EINVAL, "%% without two hexadecimal digits");
			c = (char)(high << 4 | low);
			if (c == '\0')
				return mr_fail(EINVAL, "a NUL is not allowed");
			from += 2;
		} else if (c == '+' && plus_is_space) {
			c = ' ';
		}
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

static int add_parameter(struct mr_request *request, char *text)
{
	char *name = strsep(&text, "=");
	char *value = text ? text : name + strlen(name);
	int result = decode(name, true);

	if (result == 0)
		result = decode(value, true);
	if (result < 0)
		return result;
	if (!*name)
		return mr_fail(EINVAL, "a parameter has no name");
	if (mr_request_has(request, name))
		return mr_fail(EINVAL, "a parameter is given twice");
	if (request->parameter_count == MR_REQUEST_PARAMETERS)
		return mr_fail(EINVAL, "more than %d parameters", MR_REQUEST_PARAMETERS);
	request->parameters[request->parameter_count++] = (struct mr_parameter){name, value};
	return 0;
}

static int parse(struct mr_request *request)
{
	char *query = request->buffer;
	char *path = strsep(&query, "?");

	if (*path++ != '/')
		return mr_fail(EINVAL, "the target does not begin with a slash");
	request->token = strsep(&path, "/");
	request->path = path;
	int result = path ? decode(path, false) : 0;
	while (result == 0 && query && *query)
		result = add_parameter(request, strsep(&query, "&"));
	return result;
}

int mr_request_parse(const char *target, struct mr_request *ret_request)
{
	struct mr_request request = {.buffer = strdup(target)};

	if (!request.buffer)
		return mr_fail_errno(ENOMEM, "read a request");
	int result = parse(&request);
	if (result < 0) {
		mr_request_free(&request);
		return result;
	}
	*ret_request = request;
	return 0;
}

void mr_request_free(struct mr_request *request)
{
	free(request->buffer);
	*request = (struct mr_request){0};
}

const char *mr_request_text(const struct mr_request *request, const char *name)
{
	for (uint32_t i = 0; i < request->parameter_count; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

int mr_request_next_integer(const char **list, const char *name, int64_t low, int64_t high,
			    int64_t *ret_value)
{
	const char *text = *list;
	char *end;

	/* strtoimax() would also take white space and a plus. */
	if (!isdigit((unsigned char)text[*text == '-']))
		return mr_fail(EINVAL, "%s: is not a whole number", name);
	errno = 0;
	intmax_t value = strtoimax(text, &end, 10);
	if (*end != '\0' && *end != ',')
		return mr_fail(EINVAL, "%s: is not a whole number", name);
	if (errno == ERANGE || value < low || value > high)
		return mr_fail(EINVAL, "%s: is not from %" PRId64 " to %" PRId64, name, low, high);
	*list = *end ? end + 1 : NULL;
	*ret_value = value;
	return 0;
}

int mr_request_integer(const struct mr_request *request, const char *name, int64_t low,
		       int64_t high, int64_t *ret_value)
{
	const char *text = mr_request_text(request, name);
	int64_t value;

	if (!text)
		return mr_fail(EINVAL, "%s: is not given", name);
	int result = mr_request_next_integer(&text, name, low, high, &value);
	if (result < 0)
		return result;
	if (text)
		return mr_fail(EINVAL, "%s: must be a single number", name);
	*ret_value = value;
	return 0;
}
