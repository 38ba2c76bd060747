/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/memory_holders.h"

#include <stdlib.h>

#include "analysis/finding/tally.h"
#include "analysis/live_set.h"

struct holder_key {
	uint32_t function;
	uint32_t name;
	uint32_t type;
};

struct maker {
	const struct mr_model *model;
	struct mr_strings keys;
	struct mr_memory_holders holders;
};

static struct holder_key key_of(const struct mr_model *model, uint32_t node)
{
	const struct mr_definitions *definitions = &model->survey->definitions;
	const struct mr_node *of = &definitions->nodes.items[node];

	if (node == 0)
		return (struct holder_key){0};
	return (struct holder_key){definitions->graphs.items[of->graph].function, of->name,
				   of->type};
}

static int add_share(struct maker *maker, const struct mr_live_share *share, int64_t sign)
{
	const struct holder_key key = key_of(maker->model, share->node);
	const struct mr_memory_holder fresh = {
		.function = key.function, .name = key.name, .type = key.type};
	struct mr_memory_holders *holders = &maker->holders;
	uint32_t number;

	if (mr_strings_intern(&maker->keys, &key, sizeof key, &number) < 0)
		return -ENOMEM;
	if (number == holders->list.count && mr_vec_push(&holders->list, fresh) < 0)
		return -ENOMEM;
	/* Wraps instead of overflowing: a damaged trace may claim any size. */
	const int64_t bytes = (int64_t)((uint64_t)sign * share->bytes);
	holders->list.items[number].count += sign * (int64_t)share->count;
	mr_ns_add(&holders->list.items[number].bytes, bytes);
	mr_ns_add(&holders->bytes, bytes);
	return 0;
}

static int add_live(struct maker *maker, const struct mr_memory_account *account, int64_t ns,
		    int64_t sign)
{
	const struct mr_memory_scope scope = {
		.process = account->process, .device = account->device, .teller = account->teller};
	struct mr_live_set set = {0};
	int result = mr_live_set_make(maker->model, &scope, ns, &set);

	for (size_t i = 0; result == 0 && i < set.shares.count; i++)
		result = add_share(maker, &set.shares.items[i], sign);
	mr_live_set_free(&set);
	return result;
}

static int compare(const void *left, const void *right)
{
	const struct mr_memory_holder *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->name != b->name)
		return a->name > b->name ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Who holds as much as before is not told. */
static void drop_unchanged(struct mr_memory_holders *holders)
{
	size_t kept = 0;

	for (size_t i = 0; i < holders->list.count; i++)
		if (holders->list.items[i].count || holders->list.items[i].bytes)
			holders->list.items[kept++] = holders->list.items[i];
	holders->list.count = kept;
}

static int finish(struct maker *maker, int result, struct mr_memory_holders *ret_holders)
{
	mr_strings_free(&maker->keys);
	if (result < 0) {
		mr_memory_holders_free(&maker->holders);
		return result;
	}
	drop_unchanged(&maker->holders);
	if (maker->holders.list.count)
		qsort(maker->holders.list.items, maker->holders.list.count,
		      sizeof *maker->holders.list.items, compare);
	*ret_holders = maker->holders;
	return 0;
}

int mr_memory_holders_make(const struct mr_model *model, const struct mr_memory_account *account,
			   int64_t ns, struct mr_memory_holders *ret_holders)
{
	struct maker maker = {.model = model};

	return finish(&maker, add_live(&maker, account, ns, 1), ret_holders);
}

int mr_memory_holders_compare(const struct mr_model *model, const struct mr_memory_account *account,
			      int64_t from_ns, int64_t to_ns, struct mr_memory_holders *ret_holders)
{
	struct maker maker = {.model = model};
	int result = add_live(&maker, account, to_ns, 1);

	if (result == 0)
		result = add_live(&maker, account, from_ns, -1);
	return finish(&maker, result, ret_holders);
}

void mr_memory_holders_free(struct mr_memory_holders *holders)
{
	mr_vec_free(&holders->list);
}
