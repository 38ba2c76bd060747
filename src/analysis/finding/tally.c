/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/finding/tally.h"

#include "base/macros.h"

enum {
	BRIEF_ROWS = 8,
};

int mr_tally_add(struct mr_tally *tally, const void *key, size_t key_bytes, int64_t ns,
		 uint32_t row)
{
	uint32_t number;

	if (mr_strings_intern(&tally->keys, key, key_bytes, &number) < 0)
		return -ENOMEM;
	if (number == tally->entries.count &&
	    mr_vec_push(&tally->entries, ((struct mr_tally_entry){.max_ns = -1})) < 0)
		return -ENOMEM;
	struct mr_tally_entry *entry = &tally->entries.items[number];
	entry->count++;
	mr_ns_add(&entry->total_ns, ns);
	if (ns > entry->max_ns) {
		entry->max_ns = ns;
		entry->longest = row;
	}
	return 0;
}

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
