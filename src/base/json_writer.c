/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_writer.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/utf8.h"

enum {
	MAX_DEPTH = 63
};

static uint64_t level_bit(const struct mr_json *json)
{
	return UINT64_C(1) << json->depth;
}

static void new_line(struct mr_json *json)
{
	if (json->style == MR_JSON_ONE_LINE)
		return;
	fputc('\n', json->file);
	for (uint32_t i = 0; i < json->depth; i++)
		fputs("  ", json->file);
}

/* As JSON spells it: what lies beyond 16 bits is a pair. */
static void write_escaped(FILE *file, uint32_t code)
{
	if (code > 0xFFFF)
		fprintf(file, "\\u%04x\\u%04x", 0xD800 + ((code - 0x10000) >> 10),
			0xDC00 + (code & 0x3FF));
	else
		fprintf(file, "\\u%04x", code);
}

static void write_ascii(FILE *file, unsigned char character)
{
	switch (character) {
	case '"':
		fputs("\\\"", file);
		break;
	case '\\':
		fputs("\\\\", file);
		break;
	case '\n':
		fputs("\\n", file);
		break;
	case '\t':
		fputs("\\t", file);
		break;
	default:
		if (character < 0x20 || character == 0x7F)
			write_escaped(file, character);
		else
			fputc(character, file);
	}
}

static void write_quoted(FILE *file, const char *text)
{
	fputc('"', file);
	while (*text) {
		bool shown;
		size_t length = mr_utf8_character(text, &shown);

		if ((unsigned char)*text < 0x80)
			write_ascii(file, (unsigned char)*text);
		else if (shown)
			fwrite(text, 1, length, file);
		else if (mr_utf8_length(text))
			write_escaped(file, mr_utf8_code(text, length));
		else
			fputs("\xEF\xBF\xBD", file); /* U+FFFD */
		text += length;
	}
	fputc('"', file);
}

/* Prints what precedes a value: the comma after the previous one, the line break, the key. */
static void begin_value(struct mr_json *json, const char *key)
{
	bool in_object = json->depth > 0 && json->is_object & level_bit(json);
	assert(in_object == (key != NULL));
	if (json->depth > 0) {
		if (json->has_items & level_bit(json))
			fputs(json->style == MR_JSON_ONE_LINE ? ", " : ",", json->file);
		new_line(json);
	}
	json->has_items |= level_bit(json);
	if (key) {
		write_quoted(json->file, key);
		fputs(": ", json->file);
	}
}

static void end_value(struct mr_json *json)
{
	if (json->depth == 0)
		fputc('\n', json->file);
	if (mr_unlikely(ferror(json->file)) && !json->error)
		json->error = errno;
}

static void begin_level(struct mr_json *json, const char *key, bool is_object)
{
	begin_value(json, key);
	assert(json->depth < MAX_DEPTH);
	fputc(is_object ? '{' : '[', json->file);
	json->depth++;
	json->has_items &= ~level_bit(json);
	if (is_object)
		json->is_object |= level_bit(json);
	else
		json->is_object &= ~level_bit(json);
}

static void end_level(struct mr_json *json, bool is_object)
{
	assert(json->depth > 0 && is_object == !!(json->is_object & level_bit(json)));
	bool has_items = json->has_items & level_bit(json);
	json->depth--;
	if (has_items)
		new_line(json);
	fputc(is_object ? '}' : ']', json->file);
	end_value(json);
}

void mr_json_start(struct mr_json *json, FILE *file, enum mr_json_style style)
{
	*json = (struct mr_json){.file = file, .style = style};
}

int mr_json_finish(struct mr_json *json)
{
	assert(json->depth == 0);
	if (fflush(json->file) != 0 && !json->error)
		json->error = errno;
	return json->error ? mr_fail_errno(json->error, "JSON output cannot be written") : 0;
}

void mr_json_begin_object(struct mr_json *json, const char *key)
{
	begin_level(json, key, true);
}

void mr_json_end_object(struct mr_json *json)
{
	end_level(json, true);
}

void mr_json_begin_array(struct mr_json *json, const char *key)
{
	begin_level(json, key, false);
}

void mr_json_end_array(struct mr_json *json)
{
	end_level(json, false);
}

void mr_json_string(struct mr_json *json, const char *key, const char *value)
{
	if (!value) {
		mr_json_null(json, key);
		return;
	}
	begin_value(json, key);
	write_quoted(json->file, value);
	end_value(json);
}

void mr_json_int(struct mr_json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	fprintf(json->file, "%" PRId64, value);
	end_value(json);
}

void mr_json_uint(struct mr_json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	fprintf(json->file, "%" PRIu64, value);
	end_value(json);
}

/* Prints 15 digits, as people write numbers, if they suffice to read the same number back. */
void mr_json_real(struct mr_json *json, const char *key, double value)
{
	char text[32];

	if (!isfinite(value)) {
		mr_json_null(json, key);
		return;
	}
	snprintf(text, sizeof text, "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof text, "%.17g", value);
	begin_value(json, key);
	fputs(text, json->file);
	end_value(json);
}

void mr_json_bool(struct mr_json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs(value ? "true" : "false", json->file);
	end_value(json);
}

void mr_json_null(struct mr_json *json, const char *key)
{
	begin_value(json, key);
	fputs("null", json->file);
	end_value(json);
}
