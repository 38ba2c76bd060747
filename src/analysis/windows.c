/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/windows.h"

#include <stdlib.h>

#include "analysis/finding/tally.h"

int mr_windows_add(struct mr_windows *windows, int64_t start_ns, int64_t duration_ns)
{
	return mr_vec_push(&windows->list, ((struct mr_window){start_ns, start_ns + duration_ns}));
}

int mr_windows_add_steps(struct mr_windows *windows, const struct mr_model *model, uint32_t process)
{
	const struct mr_steps *steps = &model->steps;
	int result = 0;

	for (uint32_t row = 0; result == 0 && row < steps->table.count; row++)
		if (model->survey->tracks.items[steps->track[row]].process == process)
			result = mr_windows_add(windows, steps->start_ns[row],
						steps->duration_ns[row]);
	return result;
}

void mr_windows_free(struct mr_windows *windows)
{
	mr_vec_free(&windows->list);
}

static int compare(const void *left, const void *right)
{
	const struct mr_window *a = left, *b = right;

	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

void mr_windows_unite(struct mr_windows *windows)
{
	struct mr_window *items = windows->list.items;
	size_t count = 0;

	if (windows->list.count)
		qsort(items, windows->list.count, sizeof *items, compare);
	for (size_t i = 0; i < windows->list.count; i++) {
		struct mr_window *last = count ? &items[count - 1] : NULL;

		if (last && items[i].first_ns <= last->last_ns)
			last->last_ns = mr_max(last->last_ns, items[i].last_ns);
		else
			items[count++] = items[i];
	}
	windows->list.count = count;
}

int64_t mr_windows_length(const struct mr_windows *windows)
{
	int64_t ns = 0;

	for (size_t i = 0; i < windows->list.count; i++)
		mr_ns_add(&ns, windows->list.items[i].last_ns - windows->list.items[i].first_ns);
	return ns;
}

int64_t mr_windows_common(const struct mr_windows *left, const struct mr_windows *right)
{
	int64_t ns = 0;

	for (size_t i = 0, j = 0; i < left->list.count && j < right->list.count;) {
		struct mr_window a = left->list.items[i], b = right->list.items[j];
		int64_t first_ns = mr_max(a.first_ns, b.first_ns);
		int64_t last_ns = mr_min(a.last_ns, b.last_ns);

		if (last_ns > first_ns)
			ns += last_ns - first_ns;
		if (a.last_ns < b.last_ns)
			i++;
		else
			j++;
	}
	return ns;
}
