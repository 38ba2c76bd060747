/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises calls that wait by name, for runtimes whose records do not say so. Each runtime lists its functions:
 *
 *     MR_WAITS(function)                   launches nothing, and returns when operations have ended
 *     MR_WAITS_FOR_COPY(function, text)    launches a copy and returns when it has ended, if that goes to the host and
 *                                          its name has this text in it
 */
#include <string.h>

#include "load/runtime.h"

static const struct wait_function {
	const char *name;
	const char *copy; /* text in the name of the copy; NULL: it launches nothing */
} functions[] = {
#define MR_WAITS(function)                {#function, NULL},
#define MR_WAITS_FOR_COPY(function, text) {#function, text},
#include "load/cuda/waits.def"
#include "load/hip/waits.def"
#undef MR_WAITS
#undef MR_WAITS_FOR_COPY
};
_Static_assert(mr_countof(functions) < UINT8_MAX, "their numbers are kept in bytes");

static bool is_copy_called(const struct mr_model *model, uint32_t call, const char *text)
{
	uint32_t operation = model->calls.operation[call];

	if (model->calls.kind[call] != MR_operation_kind_copy_from_device)
		return false;
	if (!text[0])
		return true;
	return operation != MR_NO_ROW &&
	       strstr(mr_model_text(model, model->device_operations.name[operation]), text);
}

static void mark_call(const struct mr_model *model, uint32_t call,
		      const struct wait_function *function)
{
	const struct mr_calls *calls = &model->calls;

	if (!function->copy && calls->role[call] == MR_CALL_PLAIN)
		calls->role[call] = MR_CALL_WAIT;
	if (function->copy && calls->role[call] == MR_CALL_LAUNCH)
		calls->is_blocking[call] |= is_copy_called(model, call, function->copy);
}

int mr_runtime_mark_waits(struct mr_model *model)
{
	const struct mr_strings *strings = &model->survey->definitions.strings;
	const struct mr_calls *calls = &model->calls;
	mr_auto(free) uint8_t *numbers = calloc(mr_strings_count(strings) + 1, 1); /* from 1 */
	uint32_t string;

	if (!numbers)
		return -ENOMEM;
	for (size_t i = 0; i < mr_countof(functions); i++)
		if (mr_strings_find(strings, functions[i].name, strlen(functions[i].name), &string))
			numbers[string] = (uint8_t)(i + 1);
	for (uint32_t call = 0; call < calls->table.count; call++)
		if (numbers[calls->function[call]])
			mark_call(model, call, &functions[numbers[calls->function[call]] - 1]);
	return 0;
}
