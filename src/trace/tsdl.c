/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/tsdl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/error.h"

/* Moves to the end of the text, so that no more tokens are read. */
static void stop(struct mr_tsdl *tsdl)
{
	tsdl->position = tsdl->end;
	tsdl->token = (struct mr_token){.kind = MR_TOKEN_END, .text = "", .line = tsdl->line};
}

void mr_tsdl_fail(struct mr_tsdl *tsdl, const char *format, ...)
{
	if (!tsdl->error) {
		char reason[256];
		va_list arguments;
		va_start(arguments, format);
		vsnprintf(reason, sizeof reason, format, arguments);
		va_end(arguments);
		tsdl->error = mr_fail(EINVAL, "line %u: %s", tsdl->token.line, reason);
	}
	stop(tsdl);
}

void mr_tsdl_fail_memory(struct mr_tsdl *tsdl)
{
	if (!tsdl->error)
		tsdl->error = mr_fail_errno(ENOMEM, "line %u", tsdl->token.line);
	stop(tsdl);
}

/* How much of a token an error message shows. */
static int shown(struct mr_token token)
{
	return (int)mr_min(token.length, (size_t)40);
}

void mr_tsdl_refuse(struct mr_tsdl *tsdl, const char *what, struct mr_token name)
{
	mr_tsdl_fail(tsdl, "%s '%.*s' is not known", what, shown(name), name.text);
}

/* The locale must not matter, so <ctype.h> is no help. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool starts_with(const struct mr_tsdl *tsdl, const char *text)
{
	size_t length = strlen(text);
	return (size_t)(tsdl->end - tsdl->position) >= length &&
	       memcmp(tsdl->position, text, length) == 0;
}

/* Skips up to and including `text`; false if it does not occur. */
static bool skip_past(struct mr_tsdl *tsdl, const char *text)
{
	for (; tsdl->position < tsdl->end; tsdl->position++) {
		if (starts_with(tsdl, text)) {
			tsdl->position += strlen(text);
			return true;
		}
		tsdl->line += *tsdl->position == '\n';
	}
	return false;
}

static void skip_blanks(struct mr_tsdl *tsdl)
{
	while (tsdl->position < tsdl->end) {
		if (starts_with(tsdl, "/*")) {
			tsdl->token.line = tsdl->line;
			if (!skip_past(tsdl, "*/"))
				return mr_tsdl_fail(tsdl, "this comment has no end");
		} else if (starts_with(tsdl, "//")) {
			while (tsdl->position < tsdl->end && *tsdl->position != '\n')
				tsdl->position++;
		} else if (*tsdl->position == '\n') {
			tsdl->line++;
			tsdl->position++;
		} else if (*tsdl->position == ' ' || *tsdl->position == '\t') {
			tsdl->position++;
		} else {
			return;
		}
	}
}

/* How many bytes from `from` on belong to the name. A dot belongs to it if more of the name follows. */
static size_t name_length(const struct mr_tsdl *tsdl, const char *from)
{
	const char *c = from;
	while (c < tsdl->end && (is_word(*c) || (*c == '.' && c + 1 < tsdl->end && is_word(c[1]))))
		c++;
	return (size_t)(c - from);
}

static void read_string(struct mr_tsdl *tsdl)
{
	const char *c = tsdl->token.text;
	/* Millrace writes no control characters and no escapes. */
	while (c < tsdl->end && *c != '"' && *c != '\\' && (unsigned char)*c >= ' ')
		c++;
	if (c == tsdl->end || *c != '"')
		return mr_tsdl_fail(tsdl,
				    "this string has no end, or contains an invalid character");
	tsdl->token.length = (size_t)(c - tsdl->token.text);
	tsdl->position = c + 1;
}

static void read_sign(struct mr_tsdl *tsdl)
{
	if (starts_with(tsdl, "..."))
		tsdl->token.length = 3;
	else if (starts_with(tsdl, ":="))
		tsdl->token.length = 2;
	else if (*tsdl->position && strchr("{}[]<>;:=,", *tsdl->position))
		tsdl->token.length = 1;
	else
		return mr_tsdl_fail(tsdl, "unexpected byte 0x%02x", (unsigned char)*tsdl->position);
	tsdl->position += tsdl->token.length;
}

static void read_token(struct mr_tsdl *tsdl)
{
	skip_blanks(tsdl);
	tsdl->token =
		(struct mr_token){.kind = MR_TOKEN_END, .text = tsdl->position, .line = tsdl->line};
	if (tsdl->position == tsdl->end)
		return;
	char first = *tsdl->position;
	if (first == '"') {
		tsdl->token.kind = MR_TOKEN_STRING;
		tsdl->token.text++;
		read_string(tsdl);
	} else if (is_digit(first) || first == '-') {
		tsdl->token.kind = MR_TOKEN_NUMBER;
		do
			tsdl->position++;
		while (tsdl->position < tsdl->end && is_digit(*tsdl->position));
		tsdl->token.length = (size_t)(tsdl->position - tsdl->token.text);
	} else if (is_word(first)) {
		tsdl->token.kind = MR_TOKEN_NAME;
		tsdl->token.length = name_length(tsdl, tsdl->position);
		tsdl->position += tsdl->token.length;
	} else {
		tsdl->token.kind = MR_TOKEN_SIGN;
		read_sign(tsdl);
	}
}

void mr_tsdl_start(struct mr_tsdl *tsdl, const char *text, size_t length)
{
	*tsdl = (struct mr_tsdl){.position = text, .end = text + length, .line = 1};
	read_token(tsdl);
}

struct mr_token mr_tsdl_take_any(struct mr_tsdl *tsdl)
{
	struct mr_token token = tsdl->token;
	if (token.kind == MR_TOKEN_END)
		mr_tsdl_fail(tsdl, "unexpected end of the text");
	else
		read_token(tsdl);
	return token;
}

struct mr_token mr_tsdl_take(struct mr_tsdl *tsdl, enum mr_token_kind kind)
{
	static const char *const kinds[] = {"the end", "a name", "a number", "a string", "a sign"};
	if (tsdl->token.kind != kind)
		mr_tsdl_fail(tsdl, "expected %s, found '%.*s'", kinds[kind], shown(tsdl->token),
			     tsdl->token.text);
	return mr_tsdl_take_any(tsdl);
}

bool mr_tsdl_accept(struct mr_tsdl *tsdl, const char *text)
{
	if (tsdl->token.kind == MR_TOKEN_STRING || !mr_token_is(tsdl->token, text))
		return false;
	mr_tsdl_take_any(tsdl);
	return true;
}

void mr_tsdl_expect(struct mr_tsdl *tsdl, const char *text)
{
	if (!mr_tsdl_accept(tsdl, text))
		mr_tsdl_fail(tsdl, "expected '%s', found '%.*s'", text, shown(tsdl->token),
			     tsdl->token.text);
}

struct mr_token mr_tsdl_take_key(struct mr_tsdl *tsdl)
{
	struct mr_token key = mr_tsdl_take(tsdl, MR_TOKEN_NAME);
	mr_tsdl_expect(tsdl, "=");
	return key;
}

bool mr_tsdl_more(struct mr_tsdl *tsdl)
{
	if (tsdl->token.kind == MR_TOKEN_END)
		mr_tsdl_fail(tsdl, "a closing brace is missing");
	return !tsdl->error && !mr_tsdl_accept(tsdl, "}");
}

static uint64_t take_magnitude(struct mr_tsdl *tsdl, bool *ret_negative, uint64_t max)
{
	struct mr_token token = mr_tsdl_take(tsdl, MR_TOKEN_NUMBER);
	if (tsdl->error)
		return 0;
	bool negative = *token.text == '-';
	uint64_t value = 0;
	bool overflow = token.length == negative;
	for (size_t i = negative; i < token.length; i++) {
		overflow |= __builtin_mul_overflow(value, 10, &value);
		overflow |= __builtin_add_overflow(value, token.text[i] - '0', &value);
	}
	if (overflow || value > max) {
		mr_tsdl_fail(tsdl, "the number %.*s is out of range", shown(token), token.text);
		return 0;
	}
	*ret_negative = negative;
	return value;
}

uint64_t mr_tsdl_take_number(struct mr_tsdl *tsdl, uint64_t max)
{
	bool negative = false;
	uint64_t value = take_magnitude(tsdl, &negative, max);
	if (negative)
		mr_tsdl_fail(tsdl, "a negative number is not allowed here");
	return value;
}

int64_t mr_tsdl_take_signed(struct mr_tsdl *tsdl, int64_t max)
{
	bool negative = false;
	int64_t value = (int64_t)take_magnitude(tsdl, &negative, (uint64_t)max);
	return negative ? -value : value;
}

void mr_tsdl_expect_number(struct mr_tsdl *tsdl, uint64_t number)
{
	if (mr_tsdl_take_number(tsdl, UINT64_MAX) != number)
		mr_tsdl_fail(tsdl, "expected %" PRIu64, number);
}

bool mr_token_is(struct mr_token token, const char *text)
{
	return token.length == strlen(text) && memcmp(token.text, text, token.length) == 0;
}

bool mr_token_equal(struct mr_token a, struct mr_token b)
{
	return a.kind == b.kind && a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}
