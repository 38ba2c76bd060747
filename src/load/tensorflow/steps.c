/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a program that marks none: calls of the function that it calls most often, process by process. `record
 * --steps` counts in the same way (record/steps.h), so that the first step in the trace has the requested number.
 */
#include <string.h>

#include "base/sort.h"
#include "load/tensorflow/tensorflow.h"

struct call_key {
	uint32_t process;
	uint32_t name;
};

/* Of one process. */
struct favourite {
	uint32_t name; /* of the scopes; 0: none */
	uint32_t count;
};

/* Functions as the program calls them, and runs of sessions. */
static bool is_call(const struct mr_model *model, uint32_t scope)
{
	static const char call[] = MR_LOCAL_EXECUTE "__";
	const char *name = mr_model_text(model, model->scopes.name[scope]);

	return strncmp(name, call, strlen(call)) == 0 || strcmp(name, "SessionRun") == 0;
}

static uint32_t process_of(const struct mr_model *model, uint32_t scope)
{
	return model->survey->tracks.items[model->scopes.track[scope]].process;
}

static int find_favourites(const struct mr_model *model, struct favourite *favourites)
{
	struct mr_strings keys = {0};
	mr_vec(uint32_t) counts = {0};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < model->scopes.table.count; row++) {
		const struct call_key key = {process_of(model, row), model->scopes.name[row]};
		uint32_t number;

		if (!is_call(model, row))
			continue;
		result = mr_strings_intern(&keys, &key, sizeof key, &number);
		if (result == 0 && number == counts.count)
			result = mr_vec_push(&counts, 0);
		if (result == 0 && ++counts.items[number] > favourites[key.process].count)
			favourites[key.process] =
				(struct favourite){key.name, counts.items[number]};
	}
	mr_strings_free(&keys);
	mr_vec_free(&counts);
	return result;
}

/* Rows of the favourites' scopes, in order of time. */
static uint32_t list_calls(const struct mr_model *model, const struct favourite *favourites,
			   struct mr_sort_item *items, struct mr_sort_item *scratch)
{
	const struct mr_scopes *scopes = &model->scopes;
	uint32_t count = 0;

	for (uint32_t row = 0; row < scopes->table.count; row++) {
		uint32_t name = favourites[process_of(model, row)].name;

		if (name && name == scopes->name[row])
			items[count++] =
				(struct mr_sort_item){mr_sort_key(scopes->start_ns[row]), row};
	}
	mr_sort(items, scratch, count);
	return count;
}

static int add_step(struct mr_tensorflow *tensorflow, uint32_t scope, uint64_t number)
{
	struct mr_model *model = tensorflow->model;
	const struct mr_scopes *scopes = &model->scopes;
	const char *name = mr_model_text(model, scopes->name[scope]);
	uint32_t function = scopes->name[scope];
	int result = 0;

	if (strncmp(name, MR_LOCAL_EXECUTE, strlen(MR_LOCAL_EXECUTE)) == 0) {
		name += strlen(MR_LOCAL_EXECUTE);
		result = mr_strings_intern(&model->survey->definitions.strings, name, strlen(name),
					   &function);
	}
	if (result < 0)
		return result;
	return mr_steps_append(&model->steps,
			       (struct mr_steps_row){.track = scopes->track[scope],
						     .start_ns = scopes->start_ns[scope],
						     .duration_ns = scopes->duration_ns[scope],
						     .step = number,
						     .function = function,
						     .origin = MR_STEP_CALLED});
}

/* ---- steps of a program that marks some --------------------------------------------------------------- */

/* In order of time; `open_until_ns` is, by process, when the last of the marked steps that have begun ends. */
static uint32_t count_outside(const struct mr_model *model, const struct mr_sort_item *calls,
			      uint32_t call_count, const struct mr_sort_item *marked,
			      int64_t *open_until_ns)
{
	const struct mr_steps *steps = &model->steps;
	uint32_t next = 0, outside = 0;

	for (uint32_t i = 0; i < call_count; i++) {
		int64_t ns = model->scopes.start_ns[calls[i].index];

		for (; next < steps->table.count && steps->start_ns[marked[next].index] <= ns;
		     next++) {
			uint32_t row = marked[next].index;
			int64_t *until_ns =
				&open_until_ns[model->survey->tracks.items[steps->track[row]]
						       .process];

			*until_ns =
				mr_max(*until_ns, steps->start_ns[row] + steps->duration_ns[row]);
		}
		outside += ns >= open_until_ns[process_of(model, calls[i].index)];
	}
	return outside;
}

static int count_calls(const struct mr_model *model, struct mr_calls_marked *ret_calls)
{
	const struct mr_steps *steps = &model->steps;
	size_t process_count = model->survey->processes.count;
	size_t room = mr_max(model->scopes.table.count, steps->table.count);
	mr_auto(free) struct favourite *favourites = calloc(process_count + 1, sizeof *favourites);
	mr_auto(free) int64_t *open_until_ns = malloc((process_count + 1) * sizeof *open_until_ns);
	mr_auto(free) struct mr_sort_item *items = malloc((3 * room + 1) * sizeof *items);
	int result =
		favourites && open_until_ns && items ? find_favourites(model, favourites) : -ENOMEM;

	if (result < 0)
		return result;
	for (size_t i = 0; i < process_count; i++)
		open_until_ns[i] = INT64_MIN;
	for (uint32_t row = 0; row < steps->table.count; row++)
		items[room + row] = (struct mr_sort_item){mr_sort_key(steps->start_ns[row]), row};
	mr_sort(items + room, items + 2 * room, steps->table.count);
	ret_calls->count = list_calls(model, favourites, items, items + 2 * room);
	ret_calls->outside =
		count_outside(model, items, ret_calls->count, items + room, open_until_ns);
	return 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

int mr_tensorflow_add_steps(struct mr_tensorflow *tensorflow)
{
	struct mr_model *model = tensorflow->model;
	size_t process_count = model->survey->processes.count;
	size_t room = model->scopes.table.count;

	if (model->steps.table.count > 0)
		return count_calls(model, &model->calls_marked);
	mr_auto(free) struct favourite *favourites = calloc(process_count + 1, sizeof *favourites);
	mr_auto(free) uint64_t *numbers = calloc(process_count + 1, sizeof *numbers);
	mr_auto(free) struct mr_sort_item *items = malloc((2 * room + 1) * sizeof *items);
	int result = favourites && numbers && items ? find_favourites(model, favourites) : -ENOMEM;
	uint32_t count = result == 0 ? list_calls(model, favourites, items, items + room) : 0;

	for (uint32_t i = 0; result == 0 && i < count; i++)
		result = add_step(tensorflow, items[i].index,
				  model->manifest->first_step +
					  numbers[process_of(model, items[i].index)]++);
	return result;
}
