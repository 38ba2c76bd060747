/* SPDX-License-Identifier: Apache-2.0 */
#include "ask_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ask.h"
#include "base/error.h"

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "%s: %s\n", what, why);
	abort();
}

json_t *ask_json(struct mr_view *view, const char *format, ...)
{
	char target[256];
	va_list arguments;
	size_t bytes;
	int result;

	va_start(arguments, format);
	vsnprintf(target, sizeof target, format, arguments);
	va_end(arguments);
	mr_auto(free) char *body = ask(view, target, &bytes, &result);
	if (!body)
		fail(target, mr_error_text());
	json_t *json = json_loads(body, 0, NULL);
	if (!json)
		fail(target, "the answer is no JSON");
	return json;
}

int ask_in_vain(struct mr_view *view, const char *target)
{
	size_t bytes;
	int result;

	free(ask(view, target, &bytes, &result));
	return result;
}

json_int_t number_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_integer(value))
		fail(name, "is no number");
	return json_integer_value(value);
}

const char *text_of(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_string(value))
		fail(name, "is no text");
	return json_string_value(value);
}
