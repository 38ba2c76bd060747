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
		{"float64", 8}, {"complex64", 8}, {"complex128", 16}, {"float8", 1},
	};

	for (size_t i = 0; i < mr_countof(types); i++)
		if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
			return types[i].bytes;
	return 0;
}

/* "float[32,10]", which ends where the list goes on. */
static bool read_tensor(const char *text, struct mr_tensor *tensor)
{
	size_t length = strcspn(text, "[;)");

	*tensor = (struct mr_tensor){.type = text,
				     .type_length = length,
				     .element_bytes = bytes_of_type(text, length),
				     .count = 1};
	if (tensor->element_bytes == 0 || text[length] != '[')
		return false;
	for (const char *at = text + length + 1; *at != ']';) {
		char *end;
		unsigned long long size = strtoull(at, &end, 10);

		if (end == at || *at == '-' || (*end != ',' && *end != ']') ||
		    tensor->rank == MR_RANK_MAX ||
		    __builtin_mul_overflow(tensor->count, size, &tensor->count))
			return false;
		tensor->dims[tensor->rank++] = size;
		at = *end == ',' ? end + 1 : end;
	}
	return true;
}

/* Where an input begins; NULL if there are fewer. */
static const char *find_input(const char *shapes, uint32_t number)
{
	if (*shapes != '(')
		return NULL;
	for (shapes++; number > 0; number--) {
		shapes += strcspn(shapes, ";)");
		if (*shapes++ != ';')
			return NULL;
	}
	return shapes;
}

bool mr_shapes_tensor(const char *shapes, uint32_t number, struct mr_tensor *ret_tensor)
{
	const char *text = find_input(shapes, number);

	return text && read_tensor(text, ret_tensor);
}

const char *mr_shapes_value(const char *shapes, uint32_t number)
{
	const char *text = find_input(shapes, number);

	return text && *text == '=' ? text + 1 : NULL;
}

uint64_t mr_shapes_bytes(const char *shapes, uint32_t number)
{
	struct mr_tensor tensor;
	uint64_t bytes;

	if (!mr_shapes_tensor(shapes, number, &tensor) ||
	    __builtin_mul_overflow(tensor.count, (uint64_t)tensor.element_bytes, &bytes))
		return MR_BYTES_UNKNOWN;
	return bytes;
}
