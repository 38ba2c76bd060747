/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/shapes.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

static uint32_t bytes_of_type(const char *name, size_t length)
{
	static const struct {
		const char *name;
		uint32_t bytes;
	} types[] = {
		{"bool", 1},    {"int8", 1},      {"uint8", 1},       {"int16", 2},  {"uint16", 2},
		{"half", 2},    {"bfloat16", 2},  {"float16", 2},     {"int32", 4},  {"uint32", 4},
		{"float", 4},   {"float32", 4},   {"int64", 8},       {"uint64", 8}, {"double", 8},
		{"float64", 8}, {"complex64", 8}, {"complex128", 16},
	};

	for (size_t i = 0; i < mr_countof(types); i++)
		if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
			return types[i].bytes;
	return 0;
}

/* "float[32,10]", which ends where the list goes on. */
static uint64_t bytes_of_tensor(const char *text)
{
	size_t length = strcspn(text, "[;)");
	uint64_t bytes = bytes_of_type(text, length);

	if (bytes == 0 || text[length] != '[')
		return MR_BYTES_UNKNOWN;
	for (const char *at = text + length + 1; *at != ']';) {
		char *end;
		unsigned long long size = strtoull(at, &end, 10);

		if (end == at || *at == '-' || (*end != ',' && *end != ']') ||
		    __builtin_mul_overflow(bytes, size, &bytes))
			return MR_BYTES_UNKNOWN;
		at = *end == ',' ? end + 1 : end;
	}
	return bytes;
}

uint64_t mr_shapes_bytes(const char *shapes, uint32_t number)
{
	if (*shapes != '(')
		return MR_BYTES_UNKNOWN;
	for (shapes++; number > 0; number--) {
		shapes += strcspn(shapes, ";)");
		if (*shapes++ != ';')
			return MR_BYTES_UNKNOWN;
	}
	return bytes_of_tensor(shapes);
}
