/* SPDX-License-Identifier: Apache-2.0 */
#include "import/chrome/kineto_shapes.h"

#include <errno.h>

enum {
	VALUE_BYTES_MAX = 64, /* longer ones are lists that say nothing about the work */
	INPUTS_MAX = 32,
};

/* What is said about inputs, a list each. */
struct lists {
	struct mr_json_value dims;
	struct mr_json_value types;
	struct mr_json_value values;
};

static struct lists find_lists(const struct mr_json_value *args)
{
	struct lists lists = {MR_JSON_NOTHING, MR_JSON_NOTHING, MR_JSON_NOTHING};
	struct mr_scan scan = mr_scan_of(args);
	struct mr_json_value key, value;
	bool is_first = true;

	if (args->kind != MR_JSON_OBJECT)
		return lists;
	mr_scan_enter(&scan, '{');
	while (mr_scan_member(&scan, &is_first, &key, &value) == MR_SCAN_OK) {
		if (value.kind != MR_JSON_ARRAY)
			continue;
		if (mr_json_is(&key, "Input Dims") || mr_json_is(&key, "Input dims"))
			lists.dims = value;
		else if (mr_json_is(&key, "Input type"))
			lists.types = value;
		else if (mr_json_is(&key, "Concrete Inputs"))
			lists.values = value;
	}
	return lists;
}

/* A walk over one list; an absent one has no elements. */
struct walk {
	struct mr_scan scan;
	bool is_first;
};

static struct walk walk_over(const struct mr_json_value *list)
{
	struct walk walk = {mr_scan_of(list), true};

	if (list->kind == MR_JSON_ARRAY)
		mr_scan_enter(&walk.scan, '[');
	return walk;
}

static bool next_of(struct walk *walk, struct mr_json_value *ret_value)
{
	*ret_value = MR_JSON_NOTHING;
	return mr_scan_element(&walk->scan, &walk->is_first) == MR_SCAN_OK &&
	       mr_scan_value(&walk->scan, ret_value) == MR_SCAN_OK;
}

/* The name that other frameworks use, too; NULL if it is no tensor's. */
static const char *name_type(const struct mr_json_value *type)
{
	static const struct {
		const char *said;
		const char *name;
	} types[] = {
		{"float", "float"},
		{"c10::BFloat16", "bfloat16"},
		{"c10::Half", "half"},
		{"long int", "int64"},
		{"long", "int64"},
		{"int", "int32"},
		{"double", "double"},
		{"bool", "bool"},
		{"unsigned char", "uint8"},
		{"signed char", "int8"},
		{"short int", "int16"},
		{"c10::Float8_e4m3fn", "float8"},
		{"c10::Float8_e5m2", "float8"},
		{"c10::Float8_e4m3fnuz", "float8"},
		{"c10::Float8_e5m2fnuz", "float8"},
		{"c10::complex<float>", "complex64"},
	};

	for (size_t i = 0; i < mr_countof(types); i++)
		if (mr_json_is(type, types[i].said))
			return types[i].name;
	return NULL;
}

static int put(struct mr_kineto *kineto, const char *text, size_t length)
{
	size_t used = kineto->scratch.count;

	if (mr_vec_reserve(&kineto->scratch, used + length) < 0)
		return -ENOMEM;
	memcpy(kineto->scratch.items + used, text, length);
	kineto->scratch.count = used + length;
	return 0;
}

/* "half[8,64]": a tensor's dimensions are numbers; lists of tensors have lists. */
static int put_tensor(struct mr_kineto *kineto, const char *type, const struct mr_json_value *dims)
{
	struct walk walk = walk_over(dims);
	struct mr_json_value dim;
	size_t begin = kineto->scratch.count;
	bool is_first = true;

	if (put(kineto, type, strlen(type)) < 0 || put(kineto, "[", 1) < 0)
		return -ENOMEM;
	while (next_of(&walk, &dim)) {
		if (dim.kind != MR_JSON_NUMBER) {
			kineto->scratch.count = begin;
			return 0;
		}
		if ((!is_first && put(kineto, ",", 1) < 0) || put(kineto, dim.text, dim.length) < 0)
			return -ENOMEM;
		is_first = false;
	}
	return put(kineto, "]", 1);
}

/* "=0.5", if the text can stand in the list. */
static int put_value(struct mr_kineto *kineto, const struct mr_json_value *value)
{
	if (value->kind != MR_JSON_STRING || value->length == 0 || value->has_escapes ||
	    value->length > VALUE_BYTES_MAX || memchr(value->text, ';', value->length) ||
	    memchr(value->text, ')', value->length))
		return 0;
	return put(kineto, "=", 1) < 0 ? -ENOMEM : put(kineto, value->text, value->length);
}

int mr_kineto_shapes(struct mr_kineto *kineto, const struct mr_chrome_event *event,
		     uint32_t *ret_string)
{
	const struct lists lists = find_lists(&event->args);
	struct walk dims = walk_over(&lists.dims), types = walk_over(&lists.types),
		    values = walk_over(&lists.values);
	struct mr_json_value dim, type, value;
	int result = 0;

	*ret_string = 0;
	if (lists.dims.kind != MR_JSON_ARRAY || lists.types.kind != MR_JSON_ARRAY)
		return 0;
	kineto->scratch.count = 0;
	for (int i = 0; result == 0 && i < INPUTS_MAX && next_of(&types, &type); i++) {
		const char *name = name_type(&type);

		next_of(&dims, &dim);
		if (lists.values.kind == MR_JSON_ARRAY)
			next_of(&values, &value);
		else
			value = MR_JSON_NOTHING;
		result = put(kineto, i == 0 ? "(" : ";", 1);
		if (result == 0)
			result = name && dim.kind == MR_JSON_ARRAY ? put_tensor(kineto, name, &dim)
								   : put_value(kineto, &value);
	}
	if (result < 0 || kineto->scratch.count == 0)
		return result;
	if (put(kineto, ")", 1) < 0)
		return -ENOMEM;
	return mr_builder_string(kineto->builder, kineto->scratch.items, kineto->scratch.count,
				 ret_string);
}
