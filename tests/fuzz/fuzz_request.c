/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes requests of the viewer: an input is the target of one. What is taken apart must, put together again with
 * every byte escaped, give the same parts; a number must be what it prints as. Seeds: tests/corpus/fuzz_request.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void escape(FILE *file, const char *text)
{
	for (; *text; text++)
		fprintf(file, "%%%02x", (unsigned char)*text);
}

static char *put_together(const struct mr_request *request)
{
	char *target = NULL;
	size_t size;
	FILE *file = open_memstream(&target, &size);

	require(file);
	fprintf(file, "/%s", request->token);
	if (request->path) {
		fputc('/', file);
		escape(file, request->path);
	}
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		fputc(i ? '&' : '?', file);
		escape(file, request->parameters[i].name);
		fputc('=', file);
		escape(file, request->parameters[i].value);
	}
	require(fclose(file) == 0);
	return target;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_parts(const struct mr_request *request)
{
	char *target = put_together(request);
	struct mr_request again;

	require(mr_request_parse(target, &again) == 0);
	require(is_same(request->token, again.token) && is_same(request->path, again.path));
	require(request->parameter_count == again.parameter_count);
	for (uint32_t i = 0; i < request->parameter_count; i++)
		require(is_same(mr_request_text(&again, request->parameters[i].name),
				request->parameters[i].value));
	mr_request_free(&again);
	free(target);
}

/* Leading zeros aside, there is one way to write a number. */
static void check_number(const char *text, int64_t value)
{
	char printed[32];
	bool is_negative = *text == '-';

	snprintf(printed, sizeof printed, "%" PRId64, value);
	text += is_negative;
	text += strspn(text, "0");
	size_t digits = strspn(text, "0123456789");
	const char *expected = printed + (printed[0] == '-');
	require(digits ? strlen(expected) == digits && memcmp(text, expected, digits) == 0
		       : value == 0);
	require(value == 0 || is_negative == (value < 0));
}

static void check_lists(const struct mr_request *request)
{
	for (uint32_t i = 0; i < request->parameter_count; i++) {
		const char *list = request->parameters[i].value, *before = list;
		int64_t value;

		while (list &&
		       mr_request_next_integer(&list, "list", INT64_MIN, INT64_MAX, &value) == 0) {
			check_number(before, value);
			before = list;
		}
		if (mr_request_integer(request, request->parameters[i].name, -1000, 1000, &value) ==
		    0)
			require(value >= -1000 && value <= 1000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *target = strndup((const char *)data, size);
	struct mr_request request;

	require(target);
	if (mr_request_parse(target, &request) == 0) {
		check_parts(&request);
		check_lists(&request);
		mr_request_free(&request);
	}
	free(target);
	return 0;
}
