/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of frameworks and what they mean:
 *
 *     MR_PURPOSE(field, match, text, purpose)
 *         field    TYPE (of a node), NODE (its name), SCOPE (name of a scope), OPERATION (name of a device operation)
 *         match    IS, BEGINS (with the text), CONTAINS (it)
 *
 * The first row that fits a name counts. A process uses the framework of the first row that fits anything in it.
 */
#include "load/purposes.h"

#include <string.h>

enum field {
	TYPE,
	NODE,
	SCOPE,
	OPERATION
};
enum match {
	IS,
	BEGINS,
	CONTAINS
};

static const struct naming {
	const char *framework;
	enum field field;
	enum match match;
	const char *text;
	enum mr_purpose purpose;
} namings[] = {
#define MR_PURPOSE(field, match, text, purpose) \
	{FRAMEWORK, field, match, text, MR_PURPOSE_##purpose},
#define FRAMEWORK "tensorflow"
#include "load/tensorflow/purposes.def"
#undef FRAMEWORK
#define FRAMEWORK "torch"
#include "load/torch/purposes.def"
#undef FRAMEWORK
#define FRAMEWORK NULL /* several use the same libraries */
#include "load/communication.def"
#undef FRAMEWORK
#undef MR_PURPOSE
};
_Static_assert(mr_countof(namings) < UINT8_MAX, "their numbers are kept in bytes");

static bool fits(const struct naming *naming, const char *name)
{
	switch (naming->match) {
	case IS:
		return strcmp(name, naming->text) == 0;
	case BEGINS:
		return strncmp(name, naming->text, strlen(naming->text)) == 0;
	default:
		return strstr(name, naming->text) != NULL;
	}
}

/* The number of the row from 1, or 0. */
static uint8_t find_naming(enum field field, const char *name)
{
	for (size_t i = 0; i < mr_countof(namings); i++)
		if (namings[i].field == field && fits(&namings[i], name))
			return (uint8_t)(i + 1);
	return 0;
}

static int use_framework(struct mr_model *model, uint32_t process, const struct naming *naming)
{
	uint32_t *framework = &model->survey->processes.items[process].framework;

	return *framework
		       ? 0
		       : mr_strings_intern(&model->survey->definitions.strings, naming->framework,
					   strlen(naming->framework), framework);
}

static int look_at_nodes(struct mr_model *model)
{
	struct mr_definitions *definitions = &model->survey->definitions;
	int result = 0;

	for (size_t i = 1; result == 0 && i < definitions->nodes.count; i++) {
		struct mr_node *node = &definitions->nodes.items[i];
		uint8_t number = find_naming(TYPE, mr_model_text(model, node->type));

		if (!number)
			number = find_naming(NODE, mr_model_text(model, node->name));
		if (!number)
			continue;
		node->purpose = (uint8_t)namings[number - 1].purpose;
		result = use_framework(model, node->process, &namings[number - 1]);
	}
	return result;
}

enum {
	NOT_LOOKED_AT = UINT8_MAX
};

static int look_at_scopes(struct mr_model *model)
{
	const struct mr_scopes *scopes = &model->scopes;
	size_t string_count = mr_strings_count(&model->survey->definitions.strings) + 1;
	mr_auto(free) uint8_t *numbers = malloc(string_count); /* by name: many scopes share one */
	int result = 0;

	if (!numbers)
		return -ENOMEM;
	memset(numbers, NOT_LOOKED_AT, string_count);
	for (uint32_t row = 0; result == 0 && row < scopes->table.count; row++) {
		uint8_t *number = &numbers[scopes->name[row]];

		if (*number == NOT_LOOKED_AT)
			*number = find_naming(SCOPE, mr_model_text(model, scopes->name[row]));
		if (*number == 0)
			continue;
		scopes->purpose[row] = (uint8_t)namings[*number - 1].purpose;
		result = use_framework(model,
				       model->survey->tracks.items[scopes->track[row]].process,
				       &namings[*number - 1]);
	}
	return result;
}

static int look_at_operations(struct mr_model *model)
{
	const struct mr_device_operations *operations = &model->device_operations;
	size_t string_count = mr_strings_count(&model->survey->definitions.strings) + 1;
	mr_auto(free) uint8_t *numbers = malloc(string_count); /* by name, likewise */

	if (!numbers)
		return -ENOMEM;
	memset(numbers, NOT_LOOKED_AT, string_count);
	for (uint32_t row = 0; row < operations->table.count; row++) {
		uint8_t *number = &numbers[operations->name[row]];

		if (*number == NOT_LOOKED_AT)
			*number =
				find_naming(OPERATION, mr_model_text(model, operations->name[row]));
		if (*number && operations->kind[row] == MR_operation_kind_kernel)
			operations->purpose[row] = (uint8_t)namings[*number - 1].purpose;
	}
	return 0;
}

int mr_purposes_find(struct mr_model *model)
{
	int result = look_at_nodes(model);

	if (result == 0)
		result = look_at_scopes(model);
	return result < 0 ? result : look_at_operations(model);
}
