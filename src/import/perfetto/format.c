/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/error.h"
#include "import/perfetto/perfetto.h"

/* Fields of a packet. */
enum {
	FTRACE = 1,
	PROCESS_TREE = 2,
	CLOCKS = 6,
	TIME = 8,
	SEQUENCE = 10,
	TRACK_EVENT = 11,
	NAMES = 12,
	FLAGS = 13,
	SYNC_MARKER = 36,
	CLEARED = 41,
	DROPPED = 42,
	COMPRESSED = 50,
	CLOCK = 58,
	DEFAULTS = 59,
	TRACK = 60,
	UUID = 89,
	COMPRESSED_ZSTD = 133,

	FLAG_CLEARED = 1, /* what the sequence said before is void */
};

/* A packet has a sequence and a time, or describes the trace. */
static enum mr_sniff sniff(const struct mr_head *head)
{
	static const struct {
		uint32_t number;
		enum mr_wire wire;
	} firsts[] = {
		{3, MR_WIRE_VARINT}, /* trusted_uid */
		{CLOCKS, MR_WIRE_BYTES},      {TIME, MR_WIRE_VARINT},
		{SEQUENCE, MR_WIRE_VARINT},   {33, MR_WIRE_BYTES}, /* trace_config */
		{SYNC_MARKER, MR_WIRE_BYTES}, {TRACK, MR_WIRE_BYTES},
		{UUID, MR_WIRE_BYTES},        {DEFAULTS, MR_WIRE_BYTES},
	};
	struct mr_message packet;
	struct mr_field field;

	if (!mr_message_enter_first(head->bytes, head->count, &packet) ||
	    !mr_message_next(&packet, &field))
		return MR_SNIFF_NO;
	for (size_t i = 0; i < mr_countof(firsts); i++)
		if (mr_field_is(&field, firsts[i].number, firsts[i].wire))
			return MR_SNIFF_SURE;
	return MR_SNIFF_NO;
}

/* ---- packets ---------------------------------------------------------------------------------------------- */

/* The parts of a packet, which may stand in any order. */
struct parts {
	struct mr_field names, defaults, clocks, track, tree, event, ftrace;
	uint32_t sequence;
	bool is_cleared;
	bool is_dropped;
	bool is_compressed;
};

static void take_part(const struct mr_field *field, struct parts *parts,
		      struct mr_perfetto_packet *packet)
{
	struct mr_field *const places[] = {
		[FTRACE] = &parts->ftrace, [PROCESS_TREE] = &parts->tree,
		[CLOCKS] = &parts->clocks, [TRACK_EVENT] = &parts->event,
		[NAMES] = &parts->names,   [DEFAULTS] = &parts->defaults,
		[TRACK] = &parts->track,
	};

	if (field->wire == MR_WIRE_BYTES) {
		if (field->number < mr_countof(places) && places[field->number])
			*places[field->number] = *field;
		parts->is_compressed |=
			field->number == COMPRESSED || field->number == COMPRESSED_ZSTD;
		return;
	}
	switch (field->number) {
	case TIME:
		packet->time = field->value;
		packet->has_time = true;
		break;
	case CLOCK:
		packet->clock = (uint32_t)field->value;
		break;
	case SEQUENCE:
		parts->sequence = (uint32_t)field->value;
		break;
	case FLAGS:
		parts->is_cleared |= (field->value & FLAG_CLEARED) != 0;
		break;
	case CLEARED:
		parts->is_cleared |= field->value != 0;
		break;
	case DROPPED:
		parts->is_dropped = field->value != 0;
		break;
	}
}

/* The first packet of a sequence says that something was dropped before it, whether or not it was. */
static int follow_sequence(struct mr_perfetto *perfetto, const struct parts *parts,
			   struct mr_perfetto_packet *packet)
{
	if (mr_perfetto_find_sequence(perfetto, parts->sequence, &packet->sequence) < 0)
		return -ENOMEM;
	struct mr_perfetto_sequence *sequence = packet->sequence;
	if (parts->is_cleared) {
		*sequence = (struct mr_perfetto_sequence){.id = sequence->id,
							  .generation = sequence->generation + 1,
							  .is_known = true};
	} else if (parts->is_dropped && sequence->generation > 0) {
		sequence->is_known = false;
		if (mr_perfetto_refuse(perfetto, packet, "packets that were lost while recording") <
		    0)
			return -ENOMEM;
	} else if (sequence->generation == 0) {
		sequence->is_known = true; /* a writer that needs no names never clears them */
	}
	if (parts->defaults.bytes)
		mr_perfetto_set_defaults(sequence, &parts->defaults);
	return parts->names.bytes ? mr_perfetto_add_names(perfetto, sequence, &parts->names) : 0;
}

static int add_packet(struct mr_perfetto *perfetto, const struct mr_field *field, uint64_t offset)
{
	struct mr_perfetto_packet packet = {.offset = offset};
	struct mr_message message = mr_message_of(field);
	struct parts parts = {0};
	struct mr_field part;

	while (mr_message_next(&message, &part))
		take_part(&part, &parts, &packet);
	if (message.is_bad)
		return mr_perfetto_refuse(perfetto, &packet, "a damaged packet");
	int result = follow_sequence(perfetto, &parts, &packet);
	if (result == 0 && parts.is_compressed)
		result = mr_perfetto_refuse(perfetto, &packet,
					    "compressed packets, which are not read");
	if (result == 0 && parts.clocks.bytes)
		result = mr_perfetto_add_clocks(perfetto, &packet, &parts.clocks);
	if (result == 0 && parts.track.bytes)
		result = mr_perfetto_add_track(perfetto, &parts.track);
	if (result == 0 && parts.tree.bytes)
		result = mr_perfetto_add_process_tree(perfetto, &parts.tree);
	if (result == 0 && parts.event.bytes)
		result = mr_perfetto_note_event(perfetto, &packet, &parts.event);
	if (result == 0 && parts.ftrace.bytes)
		result = mr_perfetto_add_ftrace(perfetto, &parts.ftrace);
	return result;
}

static int read_packets(struct mr_perfetto *perfetto, struct mr_source *source)
{
	enum mr_stream_found found;
	struct mr_field field;
	int result = 0;

	while ((found = mr_stream_next(source, UINT64_MAX, &field)) == MR_STREAM_FIELD) {
		uint64_t offset = source->offset;
		bool is_packet = mr_field_is(&field, 1, MR_WIRE_BYTES);

		if (is_packet ? !mr_stream_take(source, &field) : !mr_stream_skip(source, &field)) {
			found = MR_STREAM_BAD;
			break;
		}
		if (is_packet && (result = add_packet(perfetto, &field, offset)) < 0)
			return result;
	}
	if (found != MR_STREAM_BAD)
		return 0;
	const char *reason = source->problem
				     ? source->problem
				     : "the trace is damaged, or ends too early, from here on";
	uint64_t offset = source->offset;
	return mr_import_faults_add(&perfetto->import->faults, reason, offset,
				    mr_source_drain(source));
}

static int read_trace(struct mr_import *import)
{
	struct mr_perfetto perfetto = {.import = import, .builder = &import->builder};
	int result = read_packets(&perfetto, import->source);

	if (result == 0)
		result = mr_perfetto_add_events(&perfetto);
	if (result == 0)
		result = mr_perfetto_add_tasks(&perfetto);
	mr_strings_free(&perfetto.sequence_keys);
	mr_strings_free(&perfetto.track_keys);
	mr_strings_free(&perfetto.task_keys);
	mr_strings_free(&perfetto.name_keys);
	mr_vec_free(&perfetto.sequences);
	mr_vec_free(&perfetto.tracks);
	mr_vec_free(&perfetto.tasks);
	mr_vec_free(&perfetto.names);
	mr_vec_free(&perfetto.clocks);
	mr_vec_free(&perfetto.events);
	mr_vec_free(&perfetto.running);
	mr_step_marks_free(&perfetto.marks);
	return result;
}

const struct mr_format mr_perfetto_format = {
	.name = "Perfetto protobuf",
	.sniff = sniff,
	.read = read_trace,
};
