/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises calls that wait by name, for runtimes whose records do not say so. Each runtime lists its functions:
 *
 *     MR_WAITS(function)                       launches nothing, and returns when operations have ended
 *     MR_WAITS_FOR_COPY(function, from, to)    launches a copy, and returns when that has ended, if its name has the text
 *                                              `from` in it and it goes from a device, or the text `to` and it goes to
 *                                              one. But a call that copies to a device may also return as soon as it has
 *                                              read the data: it has waited only if the copy ended before it returned
 */
#include <string.h>

#include "load/runtime.h"
#include "load/runtime_waits.h"

static const struct wait_function {
	const char *name;
	const char
		*from; /* text in the name of a copy that it waits for; NULL: it launches nothing */
	const char *to;
} functions[] = {
#define MR_WAITS(function)                    {#function, NULL, NULL},
#define MR_WAITS_FOR_COPY(function, from, to) {#function, from, to},
#include "load/cuda/waits.def"
#include "load/hip/waits.def"
#include "load/xpu/waits.def"
#undef MR_WAITS
#undef MR_WAITS_FOR_COPY
};
_Static_assert(mr_countof(functions) < UINT8_MAX, "their numbers are kept in bytes");

static bool is_copy_called(const struct mr_model *model, uint32_t call, const char *text)
{
	uint32_t operation = model->calls.operation[call];

	if (!text[0])
		return true;
	return operation != MR_NO_ROW &&
	       strstr(mr_model_text(model, model->device_operations.name[operation]), text);
}

/* The copy began and ended in the call. */
static bool is_copy_inside(const struct mr_model *model, uint32_t call)
{
	uint32_t operation = model->calls.operation[call];

	return operation != MR_NO_ROW && mr_wait_is_timed(model, operation) &&
	       model->device_operations.start_ns[operation] >= model->calls.start_ns[call] &&
	       mr_operation_end_ns(model, operation) <= mr_call_end_ns(model, call);
}

static bool waits_for_copy(const struct mr_model *model, uint32_t call,
			   const struct wait_function *function)
{
	switch (model->calls.kind[call]) {
	case MR_operation_kind_copy_from_device:
		return is_copy_called(model, call, function->from);
	case MR_operation_kind_copy_to_device:
		return is_copy_called(model, call, function->to) && is_copy_inside(model, call);
	}
	return false;
}

static void mark_call(const struct mr_model *model, uint32_t call,
		      const struct wait_function *function)
{
	const struct mr_calls *calls = &model->calls;

	if (!function->from && calls->role[call] == MR_CALL_PLAIN)
		calls->role[call] = MR_CALL_WAIT;
	if (function->from && calls->role[call] == MR_CALL_LAUNCH)
		calls->is_blocking[call] |= waits_for_copy(model, call, function);
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
