/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows as slices. Perfetto takes begins and ends, and an end is of the slice that began last on its track. So slices of
 * a track must nest; what overlaps goes to the next lane, a further track:
 *
 *     rows      ├─ 1 ──────────┤                lane 1   ├─ 1 ──────────┤
 *                 ├─ 2 ─┤                                  ├─ 2 ─┤
 *                        ├─ 3 ────┤             lane 2            ├─ 3 ────┤
 */
#include <inttypes.h>

#include "export/perfetto/perfetto.h"

enum {
	NAME_BYTES = 512,

	PACKET_INTERNED = 12,
	INTERNED_NAMES = 2,
	INTERNED_ID = 1,
	INTERNED_NAME = 2,

	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_NAME = 10,
	EVENT_FLOW = 47,
	ARGUMENT_NAME = 1,
	ARGUMENT_NUMBER = 3,
};

struct lane {
	mr_vec(int64_t) open; /* ends of slices that have begun; the innermost last */
	uint64_t track;
};

typedef mr_vec(struct lane) lane_list;

/* One table while its rows are written. */
struct shown {
	struct mr_perfetto *to;
	enum mr_shown number;
	const struct mr_table *table;
	const struct mr_relation_column *label, *otherwise; /* or NULL */
	const int64_t *start_ns, *duration_ns;
};

/* ---- names ---------------------------------------------------------------------------------------- */

/* False if the column has no value there. */
static bool read_label(const struct mr_relation_column *column, const char *noun, uint32_t row,
		       char *made_up, const char **ret_text)
{
	uint64_t value;

	if (!column)
		return false;
	value = mr_field_read(&column->field, row);
	if (column->dictionary) {
		*ret_text = column->dictionary->texts[mr_relation_code(column, value)];
		return **ret_text;
	}
	if (!mr_relation_has_number(column, value))
		return false;
	snprintf(made_up, NAME_BYTES, "%s %" PRId64, noun, (int64_t)value);
	*ret_text = made_up;
	return true;
}

/* The number of a row's name, which is explained in this packet if it is new. */
static int name_row(struct shown *shown, uint32_t row, uint64_t *ret_name)
{
	struct mr_perfetto *to = shown->to;
	const char *noun = mr_shown[shown->number].noun, *text = noun;
	uint32_t before = mr_strings_count(&to->names), number;
	char made_up[NAME_BYTES];

	if (!read_label(shown->label, noun, row, made_up, &text))
		read_label(shown->otherwise, noun, row, made_up, &text);
	int result = mr_strings_intern(&to->names, text, strlen(text), &number);
	if (result < 0)
		return result;
	*ret_name = (uint64_t)number + 1;
	if (number < before)
		return 0;
	size_t interned = mr_proto_begin(&to->bytes, PACKET_INTERNED);
	size_t name = mr_proto_begin(&to->bytes, INTERNED_NAMES);
	mr_proto_number(&to->bytes, INTERNED_ID, *ret_name);
	mr_proto_text(&to->bytes, INTERNED_NAME, text);
	mr_proto_end(&to->bytes, name);
	mr_proto_end(&to->bytes, interned);
	return 0;
}

/* ---- packets -------------------------------------------------------------------------------------- */

/* Rows of a table come in their order, and so do ends of flows. */
static void add_flows(struct shown *shown, uint32_t row)
{
	struct mr_perfetto *to = shown->to;
	const struct mr_flow_end *flows = to->flows.items;
	size_t i = to->next_flow;

	while (i < to->flows.count && (flows[i].table < shown->number ||
				       (flows[i].table == shown->number && flows[i].row < row)))
		i++;
	for (; i < to->flows.count && flows[i].table == shown->number && flows[i].row == row; i++)
		mr_proto_fixed64(&to->bytes, EVENT_FLOW, flows[i].flow);
	to->next_flow = i;
}

static int add_begin(struct shown *shown, uint32_t row, enum mr_event_type type, uint64_t track)
{
	struct mr_bytes *bytes = &shown->to->bytes;
	size_t packet = mr_packet_begin(shown->to);
	uint64_t name;
	int result = name_row(shown, row, &name);

	if (result < 0)
		return result;
	size_t event = mr_event_begin(shown->to, type, track, shown->start_ns[row]);
	mr_proto_number(bytes, EVENT_CATEGORY, shown->number + 1);
	mr_proto_number(bytes, EVENT_NAME, name);
	size_t argument = mr_proto_begin(bytes, EVENT_ARGUMENT);
	mr_proto_number(bytes, ARGUMENT_NAME, 1);
	mr_proto_number(bytes, ARGUMENT_NUMBER, row);
	mr_proto_end(bytes, argument);
	add_flows(shown, row);
	mr_proto_end(bytes, event);
	return mr_packet_end(shown->to, packet);
}

static int add_end(struct shown *shown, int64_t end_ns, uint64_t track)
{
	size_t packet = mr_packet_begin(shown->to);
	size_t event = mr_event_begin(shown->to, MR_EVENT_END, track, end_ns);

	mr_proto_end(&shown->to->bytes, event);
	return mr_packet_end(shown->to, packet);
}

/* ---- lanes ---------------------------------------------------------------------------------------- */

/* Ends what has ended by that time. */
static int end_until(struct shown *shown, struct lane *lane, int64_t ns)
{
	int result = 0;

	while (result == 0 && lane->open.count && lane->open.items[lane->open.count - 1] <= ns)
		result = add_end(shown, lane->open.items[--lane->open.count], lane->track);
	return result;
}

/* The first lane in which the slice nests; the caller has room for one more. */
static int find_lane(struct shown *shown, lane_list *lanes, uint32_t track, int64_t start_ns,
		     int64_t end_ns, struct lane **ret_lane)
{
	struct lane lane = {0};
	int result = 0;

	for (size_t i = 0; result == 0 && i < lanes->count; i++) {
		struct lane *at = &lanes->items[i];

		*ret_lane = at;
		result = end_until(shown, at, start_ns);
		if (result == 0 &&
		    (!at->open.count || at->open.items[at->open.count - 1] >= end_ns))
			return 0;
	}
	if (result == 0)
		result = mr_perfetto_rows(shown->to, track, shown->number, (uint32_t)lanes->count,
					  &lane.track);
	if (result == 0)
		result = mr_vec_push(lanes, lane);
	if (result == 0)
		*ret_lane = &lanes->items[lanes->count - 1];
	return result;
}

static int add_row(struct shown *shown, lane_list *lanes, uint32_t track, uint32_t row)
{
	int64_t start_ns = shown->start_ns[row];
	int64_t end_ns = start_ns + (shown->duration_ns ? shown->duration_ns[row] : 0);
	struct lane *lane = NULL;

	if (start_ns < 0) {
		shown->to->left_out++;
		return 0;
	}
	int result = find_lane(shown, lanes, track, start_ns, end_ns, &lane);
	if (result < 0)
		return result;
	if (mr_shown[shown->number].is_instant)
		return add_begin(shown, row, MR_EVENT_INSTANT, lane->track);
	result = mr_vec_push(&lane->open, end_ns);
	return result < 0 ? result : add_begin(shown, row, MR_EVENT_BEGIN, lane->track);
}

static int add_track(struct shown *shown, uint32_t track)
{
	const uint32_t *first = &shown->table->first_of_track[track];
	lane_list lanes = {0};
	int result = 0;

	for (uint32_t row = first[0]; result == 0 && row < first[1]; row++)
		result = add_row(shown, &lanes, track, row);
	for (size_t i = 0; i < lanes.count; i++) {
		if (result == 0)
			result = end_until(shown, &lanes.items[i], INT64_MAX);
		mr_vec_free(&lanes.items[i].open);
	}
	mr_vec_free(&lanes);
	return result;
}

/* ---- tables --------------------------------------------------------------------------------------- */

static const struct mr_relation_column *find_column(const struct mr_relation *relation,
						    const char *name)
{
	for (uint32_t i = 0; name && i < relation->column_count; i++)
		if (strcmp(relation->columns[i].name, name) == 0)
			return &relation->columns[i];
	return NULL;
}

static const struct mr_relation *find_relation(const struct mr_perfetto *perfetto, const char *name)
{
	const struct mr_relation *relation = perfetto->relations.items;

	while (strcmp(relation->name, name) != 0)
		relation++;
	return relation;
}

static int add_table(struct mr_perfetto *perfetto, enum mr_shown number,
		     const struct mr_table *table)
{
	const struct mr_relation *relation = find_relation(perfetto, mr_shown[number].name);
	const struct mr_relation_column *duration = find_column(relation, "duration_ns");
	struct shown shown = {
		.to = perfetto,
		.number = number,
		.table = table,
		.label = find_column(relation, mr_shown[number].label),
		.otherwise = find_column(relation, mr_shown[number].otherwise),
		.start_ns = (const void *)find_column(relation, "start_ns")->field.values,
		.duration_ns = duration ? (const void *)duration->field.values : NULL,
	};
	int result = 0;

	for (uint32_t i = 0; result == 0 && table->count && i < relation->track_count; i++)
		result = add_track(&shown, i);
	return result;
}

int mr_perfetto_slices(struct mr_perfetto *perfetto)
{
#define TABLE(name, ...) &perfetto->model->name.table,
	const struct mr_table *tables[MR_SHOWN_COUNT] = {
#define SLICES   TABLE
#define INSTANTS TABLE
#include "export/perfetto/tables.def"
#undef SLICES
#undef INSTANTS
	};
#undef TABLE
	int result = 0;

	for (uint32_t i = 0; result == 0 && i < MR_SHOWN_COUNT; i++)
		result = add_table(perfetto, i, tables[i]);
	return result;
}
