/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/queue_depth.h"

#include "analysis/device_time.h"
#include "base/sort.h"

enum {
	CLASSES = 34, /* of depth: 0, 1, 2, 3 to 4, 5 to 8 ... */
};

/* clang-format off */
static const struct mr_finding_column depth_columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"queue", "queue", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"span_ns", "span", MR_UNIT_NS, MR_COLUMN_SUM},
	{"empty_ns", "empty", MR_UNIT_NS, MR_COLUMN_SUM},
	{"mean_thousandths", "mean", MR_UNIT_THOUSANDTHS, 0},
	{"max", "largest", MR_UNIT_COUNT, 0},
};
static const struct mr_finding_column time_columns[] = {
	{"device", "device", MR_UNIT_TEXT, 0},
	{"queue", "queue", MR_UNIT_TEXT, 0},
	{"pid", "pid", MR_UNIT_NUMBER, 0},
	{"depth", "operations in it", MR_UNIT_TEXT, 0},
	{"time_ns", "time", MR_UNIT_NS, MR_COLUMN_BREAKDOWN},
};
/* clang-format on */

struct depth {
	uint32_t queue;
	int64_t span_ns;
	int64_t time_ns[CLASSES];
	__int128 sum; /* of depth times time */
	uint32_t max;
};

typedef mr_vec(struct depth) depth_list;

static uint32_t class_of(uint32_t depth)
{
	return depth < 2 ? depth : 33 - (uint32_t)__builtin_clz(depth - 1);
}

/* ---- one queue ---------------------------------------------------------------------------------- */

/* When operations come into the queue and when they leave it, as sort items: index is 1 or 0. */
struct changes {
	struct mr_sort_item *items;
	struct mr_sort_item *scratch;
	uint32_t count;
};

static int64_t entered_ns(const struct mr_model *model, uint32_t row)
{
	uint32_t call = model->device_operations.call[row];
	int64_t start_ns = model->device_operations.start_ns[row];

	return call == MR_NO_ROW ? start_ns : mr_min(start_ns, mr_call_end_ns(model, call));
}

static void list_changes(const struct mr_model *whole, const struct mr_part *part, uint32_t queue,
			 struct changes *changes)
{
	const uint32_t *first = mr_queue_rows(whole, queue);

	changes->count = 0;
	for (uint32_t row = first[0]; row < first[1]; row++) {
		int64_t from_ns = mr_max(entered_ns(whole, row), part->window.first_ns);
		int64_t to_ns = mr_min(mr_operation_end_ns(whole, row), part->window.last_ns);

		if (!mr_operation_is_timed(whole, row) || from_ns > to_ns ||
		    (part->processes && !part->processes[whole->device_operations.process[row]]))
			continue;
		changes->items[changes->count++] = (struct mr_sort_item){mr_sort_key(from_ns), 1};
		changes->items[changes->count++] = (struct mr_sort_item){mr_sort_key(to_ns), 0};
	}
	mr_sort(changes->items, changes->scratch, changes->count);
}

static struct depth measure(const struct changes *changes, uint32_t queue)
{
	struct depth depth = {.queue = queue};
	int64_t now = 0; /* less than 0 for a moment, where one enters as another leaves */

	for (uint32_t i = 0; i < changes->count; i++) {
		now += changes->items[i].index ? 1 : -1;
		if (i + 1 == changes->count || changes->items[i + 1].key == changes->items[i].key)
			continue;
		int64_t lasted_ns = (int64_t)(changes->items[i + 1].key - changes->items[i].key);
		depth.time_ns[class_of((uint32_t)now)] += lasted_ns;
		depth.span_ns += lasted_ns;
		depth.sum += (__int128)now * lasted_ns;
		depth.max = mr_max(depth.max, (uint32_t)now);
	}
	return depth;
}

/* ---- all queues --------------------------------------------------------------------------------- */

static int measure_all(const struct mr_model *model, depth_list *list)
{
	const struct mr_model *whole = mr_model_whole(model);
	const struct mr_part part = {mr_model_window(model), model->part.processes};
	size_t room = 2 * (size_t)whole->device_operations.table.count + 1;
	mr_auto(free) struct mr_sort_item *items = malloc(room * sizeof *items);
	mr_auto(free) struct mr_sort_item *scratch = malloc(room * sizeof *scratch);
	struct changes changes = {items, scratch, 0};

	if (!items || !scratch)
		return -ENOMEM;
	for (uint32_t queue = 1; queue < whole->survey->definitions.queues.count; queue++) {
		list_changes(whole, &part, queue, &changes);
		if (changes.count && mr_vec_push(list, measure(&changes, queue)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void name_queue(const struct mr_model *model, uint32_t number, union mr_value *cells)
{
	const struct mr_queue *queue = &model->survey->definitions.queues.items[number];

	cells[0].text = mr_device_name(model, queue->device);
	cells[1].text = queue->name ? mr_model_text(model, queue->name) : "(no name)";
	cells[2].number = mr_device_pid(model, queue->device);
}

static int add_depths(const struct mr_model *model, struct mr_findings *findings,
		      struct mr_finding *finding, const depth_list *list)
{
	struct mr_finding_table *table = mr_finding_add_table(
		findings, finding, "queue_depth", "Operations launched but not finished, by queue",
		depth_columns, mr_countof(depth_columns), (uint32_t)list->count);

	if (!table)
		return -ENOMEM;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct depth *depth = &list->items[i];
		union mr_value *cells = mr_finding_value(table, i, 0);

		name_queue(model, depth->queue, cells);
		cells[3].number = depth->span_ns;
		cells[4].number = depth->time_ns[0];
		cells[5].number = depth->span_ns ? (int64_t)(depth->sum * 1000 / depth->span_ns)
						 : MR_NO_VALUE;
		cells[6].number = depth->max;
	}
	return 0;
}

/* "0", "1", "2", "3 to 4" ...; NULL without memory. */
static const char *class_text(struct mr_findings *findings, uint32_t class)
{
	if (class < 3)
		return mr_region_print(&findings->region, "%u", class);
	return mr_region_print(&findings->region, "%llu to %llu", (1ULL << (class - 2)) + 1,
			       1ULL << (class - 1));
}

static int add_times(const struct mr_model *model, struct mr_findings *findings,
		     struct mr_finding *finding, const depth_list *list)
{
	uint32_t rows = 0;

	for (uint32_t i = 0; i < list->count; i++)
		for (uint32_t class = 0; class < CLASSES; class ++)
			rows += list->items[i].time_ns[class] != 0;
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "queue_depth_times",
				     "Time by number of operations launched but not finished",
				     time_columns, mr_countof(time_columns), rows);
	if (!table)
		return -ENOMEM;
	rows = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		table->wholes[4] += list->items[i].span_ns;
		for (uint32_t class = 0; class < CLASSES; class ++) {
			if (list->items[i].time_ns[class] == 0)
				continue;
			union mr_value *cells = mr_finding_value(table, rows++, 0);
			name_queue(model, list->items[i].queue, cells);
			cells[3].text = class_text(findings, class);
			cells[4].number = list->items[i].time_ns[class];
			if (!cells[3].text)
				return -ENOMEM;
		}
	}
	mr_finding_check(table);
	table->is_repetition = true; /* for programs; the table before it is enough to read */
	return 0;
}

int mr_queue_depth_add(const struct mr_model *model, struct mr_findings *findings,
		       struct mr_finding *finding)
{
	depth_list list = {0};
	int result = measure_all(model, &list);

	if (result == 0)
		result = add_depths(model, findings, finding, &list);
	if (result == 0)
		result = add_times(model, findings, finding, &list);
	mr_vec_free(&list);
	return result;
}
