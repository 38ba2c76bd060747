/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/function_uses.h"

#include <stdlib.h>

struct use_key {
	uint32_t process;
	uint32_t function;
};

struct maker {
	const struct mr_model *model;
	struct mr_strings keys;
	struct mr_function_uses uses;
};

static struct mr_function_use *find_use(struct maker *maker, struct use_key key)
{
	const struct mr_function_use fresh = {.process = key.process, .function = key.function};
	uint32_t number;

	if (mr_strings_intern(&maker->keys, &key, sizeof key, &number) < 0)
		return NULL;
	if (number == maker->uses.list.count && mr_vec_push(&maker->uses.list, fresh) < 0)
		return NULL;
	return &maker->uses.list.items[number];
}

/* In a window that begins later its begin has been cut off; it is then not seen to be prepared. */
static int64_t preparation_ns(const struct mr_function_calls *calls, uint32_t row)
{
	int64_t end_ns = calls->start_ns[row] + calls->duration_ns[row];

	if (!calls->is_first[row] || calls->executed_ns[row] == MR_NO_TIME)
		return 0;
	return mr_max(mr_min(calls->executed_ns[row], end_ns) - calls->start_ns[row], INT64_C(0));
}

static int add_call(struct maker *maker, uint32_t row)
{
	const struct mr_function_calls *calls = &maker->model->function_calls;
	const struct mr_track *track = &maker->model->survey->tracks.items[calls->track[row]];
	struct mr_function_use *use =
		find_use(maker, (struct use_key){track->process, calls->function[row]});

	if (!use)
		return -ENOMEM;
	use->call_count++;
	use->graph_count += calls->is_first[row];
	use->call_ns += calls->duration_ns[row];
	use->preparation_ns += preparation_ns(calls, row);
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct mr_function_use *a = left, *b = right;

	if (a->graph_count != b->graph_count)
		return a->graph_count < b->graph_count ? 1 : -1;
	if (a->call_ns != b->call_ns)
		return a->call_ns < b->call_ns ? 1 : -1;
	if (a->process != b->process)
		return a->process > b->process ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

int mr_function_uses_make(const struct mr_model *model, struct mr_function_uses *ret_uses)
{
	struct maker maker = {.model = model};
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < model->function_calls.table.count; row++)
		result = add_call(&maker, row);
	mr_strings_free(&maker.keys);
	if (result < 0) {
		mr_function_uses_free(&maker.uses);
		return result;
	}
	if (maker.uses.list.count)
		qsort(maker.uses.list.items, maker.uses.list.count, sizeof *maker.uses.list.items,
		      compare);
	*ret_uses = maker.uses;
	return 0;
}

void mr_function_uses_free(struct mr_function_uses *uses)
{
	mr_vec_free(&uses->list);
}
