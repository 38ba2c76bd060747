/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/tally.h"

#include <assert.h>
#include <string.h>

#include "base/macros.h"

enum {
	BRIEF_ROWS = 8,
	MANY = 8, /* so many members of a kind are a crowd */
	KEY_BYTES = 64,
};

/* Is the key one of those that were added last? To compare with these takes less than to look it up. */
static bool find_recent(const struct mr_tally *tally, const void *key, size_t key_bytes,
			uint32_t *ret_number)
{
	for (size_t i = 0; i < mr_countof(tally->recent); i++) {
		uint32_t number = tally->recent[i];

		if (number < tally->entries.count &&
		    mr_strings_length(&tally->keys, number) == key_bytes &&
		    memcmp(mr_tally_key(tally, number), key, key_bytes) == 0) {
			*ret_number = number;
			return true;
		}
	}
	return false;
}

int mr_tally_add(struct mr_tally *tally, const void *key, size_t key_bytes, int64_t ns,
		 uint32_t row)
{
	uint32_t number;

	if (!find_recent(tally, key, key_bytes, &number)) {
		if (mr_strings_intern(&tally->keys, key, key_bytes, &number) < 0)
			return -ENOMEM;
		if (number == tally->entries.count &&
		    mr_vec_push(&tally->entries, ((struct mr_tally_entry){.max_ns = -1})) < 0)
			return -ENOMEM;
		memmove(&tally->recent[1], tally->recent,
			sizeof tally->recent - sizeof *tally->recent);
		tally->recent[0] = number;
	}
	struct mr_tally_entry *entry = &tally->entries.items[number];
	entry->count++;
	mr_ns_add(&entry->total_ns, ns);
	if (ns > entry->max_ns) {
		entry->max_ns = ns;
		entry->longest = row;
	}
	return 0;
}

/* ---- crowds ------------------------------------------------------------------------------------- */

/* How many members a kind has, and the time of all and of the longest. */
struct kind {
	uint32_t members;
	int64_t total_ns;
	int64_t max_ns;
};

typedef mr_vec(struct kind) kinds;

static int add_to_kind(struct mr_strings *keys, kinds *list, const void *key, size_t key_bytes,
		       int64_t ns, uint32_t *ret_kind)
{
	if (mr_strings_intern(keys, key, key_bytes, ret_kind) < 0 ||
	    (*ret_kind == list->count && mr_vec_push(list, ((struct kind){0})) < 0))
		return -ENOMEM;
	struct kind *kind = &list->items[*ret_kind];
	kind->members++;
	mr_ns_add(&kind->total_ns, ns);
	kind->max_ns = mr_max(kind->max_ns, ns);
	return 0;
}

/* Leaves the number of each entry's kind in `of_entry`; UINT32_MAX: it has none. */
static int find_kinds(const struct mr_tally *tally, size_t key_bytes, mr_widen_key *widen,
		      const void *context, kinds *list, uint32_t *of_entry)
{
	struct mr_strings keys = {0};
	char key[KEY_BYTES];
	int result = 0;

	assert(key_bytes <= sizeof key);
	for (uint32_t i = 0; result == 0 && i < tally->entries.count; i++) {
		memcpy(key, mr_tally_key(tally, i), key_bytes);
		of_entry[i] = UINT32_MAX;
		if (widen(context, key, 0))
			result = add_to_kind(&keys, list, key, key_bytes,
					     tally->entries.items[i].total_ns, &of_entry[i]);
	}
	mr_strings_free(&keys);
	return result;
}

int mr_tally_find_crowds(const struct mr_tally *tally, size_t key_bytes, mr_widen_key *widen,
			 const void *context, uint32_t **ret_members)
{
	uint32_t *members = malloc((tally->entries.count + 1) * sizeof *members);
	kinds list = {0};

	if (!members || find_kinds(tally, key_bytes, widen, context, &list, members) < 0) {
		mr_vec_free(&list);
		free(members);
		return -ENOMEM;
	}
	for (size_t i = 0; i < tally->entries.count; i++) {
		const struct kind *kind = members[i] == UINT32_MAX ? NULL : &list.items[members[i]];
		bool is_crowd = kind && kind->members >= MANY &&
				kind->max_ns < kind->total_ns - kind->max_ns;

		members[i] = is_crowd ? kind->members : 0;
	}
	mr_vec_free(&list);
	*ret_members = members;
	return 0;
}

static int add_entry(struct mr_tally *tally, const void *key, size_t key_bytes,
		     const struct mr_tally_entry *added)
{
	uint32_t number;

	if (mr_strings_intern(&tally->keys, key, key_bytes, &number) < 0)
		return -ENOMEM;
	if (number == tally->entries.count)
		return mr_vec_push(&tally->entries, *added);
	struct mr_tally_entry *entry = &tally->entries.items[number];
	entry->count += added->count;
	mr_ns_add(&entry->total_ns, added->total_ns);
	if (added->max_ns > entry->max_ns) {
		entry->max_ns = added->max_ns;
		entry->longest = added->longest;
	}
	return 0;
}

int mr_tally_merge(struct mr_tally *tally, size_t key_bytes, mr_widen_key *widen,
		   const void *context)
{
	mr_auto(free) uint32_t *members = NULL;
	struct mr_tally merged = {0};
	char key[KEY_BYTES];
	int result = mr_tally_find_crowds(tally, key_bytes, widen, context, &members);

	for (uint32_t i = 0; result == 0 && i < tally->entries.count; i++) {
		memcpy(key, mr_tally_key(tally, i), key_bytes);
		if (members[i])
			widen(context, key, members[i]);
		result = add_entry(&merged, key, key_bytes, &tally->entries.items[i]);
	}
	if (result < 0) {
		mr_tally_free(&merged);
		return result;
	}
	mr_tally_free(tally);
	*tally = merged;
	return 0;
}

/* ---- tables ------------------------------------------------------------------------------------- */

int mr_tally_sort(const struct mr_tally *tally, struct mr_sort_item **ret_order)
{
	size_t count = tally->entries.count;
	mr_auto(free) struct mr_sort_item *scratch = malloc((count + 1) * sizeof *scratch);
	struct mr_sort_item *order = malloc((count + 1) * sizeof *order);

	if (!order || !scratch) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count; i++)
		order[i] = (struct mr_sort_item){~mr_sort_key(tally->entries.items[i].total_ns), i};
	mr_sort(order, scratch, count);
	*ret_order = order;
	return 0;
}

int mr_tally_show(const struct mr_tally *tally, const struct mr_model *model,
		  struct mr_findings *findings, struct mr_finding *finding,
		  const struct mr_tally_look *look, int64_t whole_ns)
{
	uint32_t count = (uint32_t)tally->entries.count, name_count = look->column_count - 3;
	mr_auto(free) struct mr_sort_item *order = NULL;
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, look->id, look->title, look->columns, look->column_count, count);

	if (!table || mr_tally_sort(tally, &order) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		const struct mr_tally_entry *entry = &tally->entries.items[order[i].index];
		union mr_value *cells = mr_finding_value(table, i, 0);

		if (look->name(model, findings, mr_tally_key(tally, order[i].index), entry->longest,
			       cells) < 0)
			return -ENOMEM;
		cells[name_count].number = (int64_t)entry->count;
		cells[name_count + 1].number = entry->total_ns;
		cells[name_count + 2].number = entry->max_ns;
	}
	table->wholes[name_count + 1] = whole_ns;
	table->brief_rows = BRIEF_ROWS;
	mr_finding_check(table);
	return 0;
}

void mr_tally_free(struct mr_tally *tally)
{
	mr_strings_free(&tally->keys);
	mr_vec_free(&tally->entries);
}
