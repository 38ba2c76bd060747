/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads JSON in place, without building a tree: a walk over text that finds members and values, and distinguishes
 * invalid text from text that has not arrived yet.
 *
 *     {"ph": "X", "args": {"stream": 7, ...}, ...}          mr_scan_member() gives key and value;
 *      └ key ┘           └── value: a span ──┘              what is inside a value is walked if wanted
 *
 * Zeros must follow the text (MR_SCAN_PADDING): the walk looks at many bytes at once, and ends at a
 * zero byte.
 *
 * Values that nobody needs are not validated: the walk only counts their brackets and skips their strings. Nothing
 * recurses, so deep nesting is harmless.
 */
#ifndef MR_IMPORT_CHROME_JSON_H
#define MR_IMPORT_CHROME_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	MR_SCAN_PADDING = 64
};

struct mr_scan {
	const char *at;
	const char *end;
};

enum mr_scan_result {
	MR_SCAN_OK,
	MR_SCAN_LAST, /* there is no further member or element; the walk stands behind the bracket */
	MR_SCAN_MORE, /* the text ends too early */
	MR_SCAN_BAD,  /* this is not JSON */
};

enum mr_json_kind {
	MR_JSON_ABSENT,
	MR_JSON_STRING,
	MR_JSON_NUMBER,
	MR_JSON_OBJECT,
	MR_JSON_ARRAY,
	MR_JSON_WORD, /* true, false, null; and NaN, Infinity, -Infinity, which are no JSON but are written */
};

/* A value: where it stands. Of a string what is between the quotes, as it is written. */
struct mr_json_value {
	const char *text;
	size_t length;
	enum mr_json_kind kind;
	bool has_escapes;
};

/* A value that is not there. */
#define MR_JSON_NOTHING ((struct mr_json_value){.text = ""})

/* Passes blanks; the first byte of what follows, 0 at the end. */
char mr_scan_peek(struct mr_scan *scan);

/* Passes `bracket`, with which an object or array begins. */
enum mr_scan_result mr_scan_enter(struct mr_scan *scan, char bracket);

/* The next member of an object that was entered; `*is_first` is true before the first. */
enum mr_scan_result mr_scan_key(struct mr_scan *scan, bool *is_first,
				struct mr_json_value *ret_key);
enum mr_scan_result mr_scan_value(struct mr_scan *scan, struct mr_json_value *ret_value);
enum mr_scan_result mr_scan_member(struct mr_scan *scan, bool *is_first,
				   struct mr_json_value *ret_key, struct mr_json_value *ret_value);

/* Goes to the next element of an array that was entered. */
enum mr_scan_result mr_scan_element(struct mr_scan *scan, bool *is_first);

/* The walk over a value's own text. */
static inline struct mr_scan mr_scan_of(const struct mr_json_value *value)
{
	return (struct mr_scan){value->text, value->text + value->length};
}

static inline bool mr_json_is(const struct mr_json_value *value, const char *text)
{
	size_t length = strlen(text);

	return value->length == length && memcmp(value->text, text, length) == 0;
}

/* The member of an object, the last if several have that name; absent if it has none or is no object. */
struct mr_json_value mr_json_member(const struct mr_json_value *object, const char *name);

/* A number (or a string that holds one) times 10 ^ power as an integer, rounded to the nearest, halves
 * away from zero. Exact: no floating point. False if it is none or does not fit. */
bool mr_json_integer(const struct mr_json_value *value, int power, int64_t *ret_integer);

/* An identifier: a decimal number, or one in a string as 0x... False if it is neither. */
bool mr_json_unsigned(const struct mr_json_value *value, uint64_t *ret_number);

/* A string without its escapes, in `room` of at least its length; returns the new length. What is no
 * character becomes U+FFFD. */
size_t mr_json_unescape(const struct mr_json_value *value, char *room);

#endif
