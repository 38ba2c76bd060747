/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/perfetto/perfetto.h"

/* ---- while the file is read ------------------------------------------------------------------------------ */

/* What a track event says, as far as it is imported. */
struct said {
	uint64_t track;
	uint64_t kind;
	uint64_t phase;      /* of the old way to say it; 0: none */
	int64_t duration_us; /* likewise */
	int64_t value;
	uint32_t name;
	uint32_t category;
};

static int text_of(struct mr_perfetto *perfetto, const struct mr_field *field, uint32_t *ret_string)
{
	return mr_builder_string(perfetto->builder, (const char *)field->bytes, field->value,
				 ret_string);
}

static void read_legacy(const struct mr_field *field, struct said *said)
{
	struct mr_message message = mr_message_of(field);
	struct mr_field part;

	while (mr_message_next(&message, &part))
		if (mr_field_is(&part, 2, MR_WIRE_VARINT))
			said->phase = part.value;
		else if (mr_field_is(&part, 3, MR_WIRE_VARINT))
			said->duration_us = (int64_t)part.value;
}

/* The first category counts. A list of numbers may be written as one field. */
static uint64_t first_number(const struct mr_field *field)
{
	struct mr_message list;
	struct mr_field number = {0};

	if (field->wire != MR_WIRE_BYTES)
		return field->value;
	list = mr_message_of(field);
	for (unsigned shift = 0; list.at < list.end && shift < 64; shift += 7) {
		number.value |= (uint64_t)(*list.at & 0x7F) << shift;
		if (!(*list.at++ & 0x80))
			break;
	}
	return number.value;
}

static int read_event(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
		      const struct mr_field *event, struct said *said)
{
	enum {
		CATEGORY_NUMBER = 3,
		LEGACY = 6,
		KIND = 9,
		NAME_NUMBER = 10,
		TRACK = 11,
		CATEGORY = 22,
		NAME = 23,
		COUNTER = 30,
		COUNTER_DOUBLE = 44,
	};
	struct mr_message message = mr_message_of(event);
	struct mr_field field;
	int result = 0;

	*said = (struct said){.track = packet->sequence->default_track};
	while (result == 0 && mr_message_next(&message, &field)) {
		double number = mr_field_double(&field);

		switch (field.number) {
		case CATEGORY_NUMBER:
			if (!said->category)
				said->category = mr_perfetto_name(perfetto, packet->sequence,
								  MR_PERFETTO_CATEGORIES,
								  first_number(&field));
			break;
		case LEGACY:
			if (field.wire == MR_WIRE_BYTES)
				read_legacy(&field, said);
			break;
		case KIND:
			said->kind = field.value;
			break;
		case NAME_NUMBER:
			said->name = mr_perfetto_name(perfetto, packet->sequence,
						      MR_PERFETTO_EVENT_NAMES, field.value);
			break;
		case TRACK:
			said->track = field.value;
			break;
		case CATEGORY:
		case NAME:
			if (field.wire == MR_WIRE_BYTES)
				result = text_of(perfetto, &field,
						 field.number == NAME ? &said->name
								      : &said->category);
			break;
		case COUNTER:
			said->value = (int64_t)field.value;
			break;
		case COUNTER_DOUBLE:
			said->value = number > -0x1p63 && number < 0x1p63 ? (int64_t)number : 0;
			break;
		}
	}
	return result;
}

static int note(struct mr_perfetto *perfetto, const struct said *said, enum mr_perfetto_kind kind,
		int64_t ns)
{
	struct mr_perfetto_event event = {.ns = ns,
					  .value = said->value,
					  .order = perfetto->events.count,
					  .name = said->name,
					  .category = said->category,
					  .kind = kind};

	if (mr_perfetto_find_track(perfetto, said->track, &event.track) < 0)
		return -ENOMEM;
	perfetto->tracks.items[event.track].is_used = true;
	return mr_vec_push(&perfetto->events, event);
}

int mr_perfetto_note_event(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
			   const struct mr_field *event)
{
	struct said said;
	int64_t ns, length;

	if (!mr_perfetto_time(perfetto, packet, &ns))
		return mr_perfetto_refuse(perfetto, packet, "an event without a valid time");
	if (!packet->sequence->is_known)
		return mr_perfetto_refuse(perfetto, packet,
					  "an event whose names were lost while recording");
	if (read_event(perfetto, packet, event, &said) < 0)
		return -ENOMEM;
	if (said.kind >= MR_PERFETTO_BEGIN && said.kind <= MR_PERFETTO_COUNTER)
		return note(perfetto, &said, (enum mr_perfetto_kind)said.kind, ns);
	switch (said.phase) {
	case 'X':
		if (__builtin_mul_overflow(said.duration_us, INT64_C(1000), &length) ||
		    length < 0 || length > MR_BUILD_TIME_MAX_NS - ns)
			return mr_perfetto_refuse(perfetto, packet, "an invalid duration");
		if (note(perfetto, &said, MR_PERFETTO_BEGIN, ns) < 0)
			return -ENOMEM;
		return note(perfetto, &said, MR_PERFETTO_END, ns + length);
	case 'B':
		return note(perfetto, &said, MR_PERFETTO_BEGIN, ns);
	case 'E':
		return note(perfetto, &said, MR_PERFETTO_END, ns);
	case 'i':
	case 'I':
		return note(perfetto, &said, MR_PERFETTO_INSTANT, ns);
	}
	return mr_perfetto_refuse(perfetto, packet, "an event of a kind that is not imported");
}

/* ---- when all is read ------------------------------------------------------------------------------------- */

static int compare_events(const void *left, const void *right)
{
	const struct mr_perfetto_event *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static int find_node(struct mr_perfetto *perfetto, const struct mr_perfetto_event *event,
		     uint32_t *ret_node)
{
	static const char uncategorised[] = "track events";
	uint32_t graph = event->category;

	if (!graph && mr_builder_string(perfetto->builder, uncategorised, sizeof uncategorised - 1,
					&graph) < 0)
		return -ENOMEM;
	return mr_builder_node(perfetto->builder, graph, event->name, ret_node);
}

static int end_slice(struct mr_perfetto *perfetto, const struct mr_perfetto_event *event,
		     uint32_t thread)
{
	struct mr_builder *builder = perfetto->builder;
	struct mr_build_stream *place = &builder->streams.items[thread];

	if (place->open.count == 0)
		return mr_import_faults_add(&perfetto->import->faults,
					    "the end of an interval that did not begin", 0, 0);
	const struct mr_build_open open = place->open.items[--place->open.count];
	const struct mr_event_node_interval_at interval = {.node = open.node,
							   .step = UINT32_MAX,
							   .clock = MR_trace_clock_monotonic,
							   .start = (uint64_t)open.start,
							   .end = (uint64_t)event->ns};
	const struct mr_step_mark mark = {
		.thread = thread, .start_ns = open.start, .end_ns = event->ns};
	const char *name =
		mr_strings_text(&builder->strings, builder->nodes.items[open.node - 1].name);
	bool is_only_that;
	if (mr_step_marks_note(&perfetto->marks, name, strlen(name), mark, &is_only_that) < 0)
		return -ENOMEM;
	return is_only_that ? 0
			    : mr_builder_add(builder, thread, open.start, event->ns,
					     MR_EVENT_node_interval_at, &interval);
}

static int add_counter(struct mr_perfetto *perfetto, const struct mr_perfetto_event *event,
		       struct mr_perfetto_track *track)
{
	int64_t value = event->value;

	if (__builtin_mul_overflow(value, track->multiplier, &value) ||
	    (track->is_incremental && __builtin_add_overflow(track->sum, value, &value)))
		return mr_import_faults_add(&perfetto->import->faults,
					    "a counter value that is too large", 0, 0);
	track->sum = value;
	const struct mr_event_counter counter = {.name = track->name, .value = value};
	return mr_builder_add(perfetto->builder, track->thread, event->ns, event->ns,
			      MR_EVENT_counter, &counter);
}

static int add_event(struct mr_perfetto *perfetto, const struct mr_perfetto_event *event)
{
	struct mr_perfetto_track *track = &perfetto->tracks.items[event->track];
	uint32_t node;

	if (event->kind == MR_PERFETTO_COUNTER)
		return add_counter(perfetto, event, track);
	if (event->kind == MR_PERFETTO_END)
		return end_slice(perfetto, event, track->thread);
	if (find_node(perfetto, event, &node) < 0)
		return -ENOMEM;
	if (event->kind == MR_PERFETTO_BEGIN)
		return mr_vec_push(&perfetto->builder->streams.items[track->thread].open,
				   ((struct mr_build_open){node, event->ns}));
	const struct mr_event_node_instant instant = {.node = node, .step = UINT32_MAX};
	return mr_builder_add(perfetto->builder, track->thread, event->ns, event->ns,
			      MR_EVENT_node_instant, &instant);
}

int mr_perfetto_add_events(struct mr_perfetto *perfetto)
{
	int result = mr_perfetto_place_tracks(perfetto);

	if (perfetto->events.count)
		qsort(perfetto->events.items, perfetto->events.count,
		      sizeof *perfetto->events.items, compare_events);
	for (size_t i = 0; result == 0 && i < perfetto->events.count; i++)
		result = add_event(perfetto, &perfetto->events.items[i]);
	return result < 0 ? result : mr_step_marks_add_steps(&perfetto->marks, perfetto->builder);
}
