/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes JSON to a FILE value by value, without keeping a tree.
 *
 *     struct mr_json json;
 *     mr_json_start(&json, stdout, MR_JSON_INDENTED);
 *     mr_json_begin_object(&json, NULL);
 *     mr_json_string(&json, "host", name);
 *     mr_json_begin_array(&json, "pids");
 *     mr_json_uint(&json, NULL, pid);
 *     mr_json_end_array(&json);
 *     mr_json_end_object(&json);
 *     return mr_json_finish(&json);
 *
 * Pass a key inside an object and NULL elsewhere. Strings may hold any bytes: what is not UTF-8
 * becomes U+FFFD, so the output is always valid. Integers are exact.
 * mr_json_finish() reports errors of the FILE once. Misuse (wrong nesting, a key where none belongs)
 * is a programming error and asserts.
 */
#ifndef MR_BASE_JSON_WRITER_H
#define MR_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum mr_json_style {
	MR_JSON_INDENTED, /* for people: one member per line */
	MR_JSON_ONE_LINE, /* for JSON lines: each top-level value on one line */
};

/* Filled by mr_json_start(); borrows the FILE. One bit per open level, at most 64 levels. */
struct mr_json {
	FILE *file;
	enum mr_json_style style;
	uint32_t depth;
	uint64_t is_object; /* bit d: level d is an object, else an array */
	uint64_t has_items; /* bit d: something was written at level d */
	int error;          /* errno of the first write that failed; 0: none */
};

void mr_json_start(struct mr_json *json, FILE *file, enum mr_json_style style);

/* Flushes; 0, or a negative errno with a cause if anything could not be written. */
int mr_json_finish(struct mr_json *json);

void mr_json_begin_object(struct mr_json *json, const char *key);
void mr_json_end_object(struct mr_json *json);
void mr_json_begin_array(struct mr_json *json, const char *key);
void mr_json_end_array(struct mr_json *json);

/* A NULL value is written as null. */
void mr_json_string(struct mr_json *json, const char *key, const char *value);
void mr_json_int(struct mr_json *json, const char *key, int64_t value);
void mr_json_uint(struct mr_json *json, const char *key, uint64_t value);
/* Infinities and NaN are written as null: JSON has no word for them. */
void mr_json_real(struct mr_json *json, const char *key, double value);
void mr_json_bool(struct mr_json *json, const char *key, bool value);
void mr_json_null(struct mr_json *json, const char *key);

/* A number, or null if it is the one that stands for none. */
static inline void mr_json_index(struct mr_json *json, const char *key, uint32_t index,
				 uint32_t none)
{
	if (index == none)
		mr_json_null(json, key);
	else
		mr_json_uint(json, key, index);
}

#endif
