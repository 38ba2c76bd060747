/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "import/perfetto/perfetto.h"

int mr_perfetto_find_sequence(struct mr_perfetto *perfetto, uint32_t id,
			      struct mr_perfetto_sequence **ret_sequence)
{
	uint32_t number;

	if (mr_strings_intern(&perfetto->sequence_keys, &id, sizeof id, &number) < 0)
		return -ENOMEM;
	if (number == perfetto->sequences.count &&
	    mr_vec_push(&perfetto->sequences, ((struct mr_perfetto_sequence){.id = id})) < 0)
		return -ENOMEM;
	*ret_sequence = &perfetto->sequences.items[number];
	return 0;
}

/* ---- names --------------------------------------------------------------------------------------------- */

struct name_key {
	uint32_t sequence;
	uint32_t generation;
	uint64_t kind;
	uint64_t number;
};

static int add_name(struct mr_perfetto *perfetto, const struct mr_perfetto_sequence *sequence,
		    const struct mr_field *entry)
{
	struct name_key key = {sequence->id, sequence->generation, entry->number, 0};
	struct mr_message message = mr_message_of(entry);
	struct mr_field part;
	uint32_t string = 0, place;

	while (mr_message_next(&message, &part))
		if (mr_field_is(&part, 1, MR_WIRE_VARINT))
			key.number = part.value;
		else if (mr_field_is(&part, 2, MR_WIRE_BYTES) &&
			 mr_builder_string(perfetto->builder, (const char *)part.bytes, part.value,
					   &string) < 0)
			return -ENOMEM;
	if (mr_strings_intern(&perfetto->name_keys, &key, sizeof key, &place) < 0)
		return -ENOMEM;
	if (place == perfetto->names.count)
		return mr_vec_push(&perfetto->names, string);
	perfetto->names.items[place] = string;
	return 0;
}

int mr_perfetto_add_names(struct mr_perfetto *perfetto, const struct mr_perfetto_sequence *sequence,
			  const struct mr_field *data)
{
	struct mr_message message = mr_message_of(data);
	struct mr_field field;
	int result = 0;

	while (result == 0 && mr_message_next(&message, &field))
		if (mr_field_is(&field, MR_PERFETTO_CATEGORIES, MR_WIRE_BYTES) ||
		    mr_field_is(&field, MR_PERFETTO_EVENT_NAMES, MR_WIRE_BYTES))
			result = add_name(perfetto, sequence, &field);
	return result;
}

uint32_t mr_perfetto_name(const struct mr_perfetto *perfetto,
			  const struct mr_perfetto_sequence *sequence, enum mr_perfetto_names kind,
			  uint64_t number)
{
	const struct name_key key = {sequence->id, sequence->generation, kind, number};
	uint32_t place;

	return mr_strings_find(&perfetto->name_keys, &key, sizeof key, &place)
		       ? perfetto->names.items[place]
		       : 0;
}

void mr_perfetto_set_defaults(struct mr_perfetto_sequence *sequence,
			      const struct mr_field *defaults)
{
	enum {
		TRACK_EVENT = 11,
		TRACK = 11,
		CLOCK = 58
	};
	struct mr_message message = mr_message_of(defaults);
	struct mr_field field, part;

	sequence->default_track = 0;
	sequence->default_clock = 0;
	while (mr_message_next(&message, &field)) {
		if (mr_field_is(&field, CLOCK, MR_WIRE_VARINT))
			sequence->default_clock = (uint32_t)field.value;
		if (!mr_field_is(&field, TRACK_EVENT, MR_WIRE_BYTES))
			continue;
		struct mr_message event = mr_message_of(&field);
		while (mr_message_next(&event, &part))
			if (mr_field_is(&part, TRACK, MR_WIRE_VARINT))
				sequence->default_track = part.value;
	}
}

/* ---- clocks ------------------------------------------------------------------------------------------------ */

static struct mr_perfetto_clock *find_clock(struct mr_perfetto *perfetto, uint32_t sequence,
					    uint32_t id)
{
	if (id < MR_PERFETTO_OWN_CLOCKS)
		sequence = 0;
	for (size_t i = 0; i < perfetto->clocks.count; i++)
		if (perfetto->clocks.items[i].id == id &&
		    perfetto->clocks.items[i].sequence == sequence)
			return &perfetto->clocks.items[i];
	return NULL;
}

/* One clock of a snapshot. */
static struct mr_perfetto_clock read_clock(const struct mr_field *field, uint64_t *ret_value)
{
	struct mr_perfetto_clock clock = {.unit_ns = 1};
	struct mr_message message = mr_message_of(field);
	struct mr_field part;

	*ret_value = 0;
	while (mr_message_next(&message, &part)) {
		if (part.wire != MR_WIRE_VARINT)
			continue;
		if (part.number == 1)
			clock.id = (uint32_t)part.value;
		else if (part.number == 2)
			*ret_value = part.value;
		else if (part.number == 3)
			clock.is_incremental = part.value != 0;
		else if (part.number == 4)
			clock.unit_ns = part.value;
	}
	return clock;
}

/* False if the product has no room. */
static bool scale(uint64_t value, uint64_t unit_ns, int64_t *ret_ns)
{
	return !__builtin_mul_overflow(value, unit_ns, ret_ns);
}

/* What the clock of the trace said at a snapshot: its own value, or that of a clock that is tied to it. */
static bool find_moment(struct mr_perfetto *perfetto, const struct mr_field *snapshot,
			int64_t *ret_ns)
{
	struct mr_message message = mr_message_of(snapshot);
	bool is_found = false;
	struct mr_field field;
	uint64_t value;

	while (mr_message_next(&message, &field)) {
		if (!mr_field_is(&field, 1, MR_WIRE_BYTES))
			continue;
		const struct mr_perfetto_clock clock = read_clock(&field, &value);
		const struct mr_perfetto_clock *known = find_clock(perfetto, 0, clock.id);
		int64_t ns;

		if (!scale(value, clock.unit_ns, &ns))
			continue;
		if (clock.id == MR_PERFETTO_BOOTTIME) {
			perfetto->has_boottime = true;
			*ret_ns = ns;
			return true;
		}
		if (clock.id == MR_PERFETTO_MONOTONIC && !perfetto->has_boottime) {
			*ret_ns = ns; /* machines that are never suspended have but this one */
			is_found = true;
		} else if (known && !is_found) {
			is_found = !__builtin_add_overflow(ns, known->offset_ns, ret_ns);
		}
	}
	return is_found;
}

int mr_perfetto_add_clocks(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
			   const struct mr_field *snapshot)
{
	struct mr_message message = mr_message_of(snapshot);
	struct mr_field field;
	int64_t moment_ns, ns;
	uint64_t value;

	if (!find_moment(perfetto, snapshot, &moment_ns))
		return mr_perfetto_refuse(perfetto, packet,
					  "a clock that nothing ties to the others");
	while (mr_message_next(&message, &field)) {
		if (!mr_field_is(&field, 1, MR_WIRE_BYTES))
			continue;
		struct mr_perfetto_clock clock = read_clock(&field, &value);

		if (!scale(value, clock.unit_ns, &ns) ||
		    __builtin_sub_overflow(moment_ns, ns, &clock.offset_ns))
			continue;
		clock.sequence = clock.id < MR_PERFETTO_OWN_CLOCKS ? 0 : packet->sequence->id;
		clock.last = value;
		if (clock.id == MR_PERFETTO_REALTIME && clock.offset_ns < 0 && moment_ns >= 0)
			perfetto->builder->epoch_ns = -clock.offset_ns;
		struct mr_perfetto_clock *known = find_clock(perfetto, clock.sequence, clock.id);
		if (known)
			*known = clock;
		else if (mr_vec_push(&perfetto->clocks, clock) < 0)
			return -ENOMEM;
	}
	return 0;
}

bool mr_perfetto_time(struct mr_perfetto *perfetto, const struct mr_perfetto_packet *packet,
		      int64_t *ret_ns)
{
	uint32_t id = packet->clock ? packet->clock : packet->sequence->default_clock;
	struct mr_perfetto_clock *clock = find_clock(perfetto, packet->sequence->id, id);
	uint64_t value = packet->time;
	int64_t ns;

	if (id == 0 || id == MR_PERFETTO_BOOTTIME) {
		*ret_ns = (int64_t)value;
		return packet->has_time && value <= MR_BUILD_TIME_MAX_NS;
	}
	if (!clock)
		return false;
	if (clock->is_incremental)
		value = clock->last += packet->time;
	return (packet->has_time || clock->is_incremental) && scale(value, clock->unit_ns, &ns) &&
	       !__builtin_add_overflow(ns, clock->offset_ns, ret_ns) && *ret_ns >= 0 &&
	       *ret_ns <= MR_BUILD_TIME_MAX_NS;
}
