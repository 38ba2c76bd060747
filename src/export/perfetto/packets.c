/* SPDX-License-Identifier: Apache-2.0
 *
 * Packets of Perfetto, and the file as a whole. Numbers of fields are those of perfetto/protos/perfetto/trace.
 */
#include "base/error.h"
#include "export/export.h"
#include "export/perfetto/perfetto.h"

enum {
	WRITE_BYTES = 1 << 20,
	SEQUENCE = 1,

	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,

	FLAG_CLEARED = 1,
	FLAG_NEEDS_STATE = 2,

	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	DEFAULTS_CLOCK = 58,
	CLOCK_IS_MONOTONIC = 3,

	INTERNED_CATEGORIES = 1,
	INTERNED_ARGUMENTS = 3,
	INTERNED_ID = 1,
	INTERNED_NAME = 2,

	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
};

const struct mr_shown_desc mr_shown[MR_SHOWN_COUNT] = {
#define SLICES(name, noun, label, otherwise)   {#name, noun, label, otherwise, false},
#define INSTANTS(name, noun, label, otherwise) {#name, noun, label, otherwise, true},
#include "export/perfetto/tables.def"
#undef SLICES
#undef INSTANTS
};

size_t mr_packet_begin(struct mr_perfetto *perfetto)
{
	size_t begin = mr_proto_begin(&perfetto->bytes, TRACE_PACKET);

	mr_proto_number(&perfetto->bytes, PACKET_SEQUENCE, SEQUENCE);
	mr_proto_number(&perfetto->bytes, PACKET_FLAGS, FLAG_NEEDS_STATE);
	return begin;
}

int mr_packet_end(struct mr_perfetto *perfetto, size_t begin)
{
	mr_proto_end(&perfetto->bytes, begin);
	return perfetto->bytes.count < WRITE_BYTES && !perfetto->bytes.is_incomplete
		       ? 0
		       : mr_bytes_write(&perfetto->bytes, perfetto->file);
}

size_t mr_event_begin(struct mr_perfetto *perfetto, enum mr_event_type type, uint64_t track,
		      int64_t time_ns)
{
	struct mr_bytes *bytes = &perfetto->bytes;

	mr_proto_number(bytes, PACKET_TIMESTAMP, (uint64_t)time_ns);
	size_t begin = mr_proto_begin(bytes, PACKET_TRACK_EVENT);
	mr_proto_number(bytes, EVENT_TYPE, type);
	mr_proto_number(bytes, EVENT_TRACK, track);
	return begin;
}

static void add_name(struct mr_bytes *bytes, uint32_t field, uint64_t id, const char *name)
{
	size_t begin = mr_proto_begin(bytes, field);

	mr_proto_number(bytes, INTERNED_ID, id);
	mr_proto_text(bytes, INTERNED_NAME, name);
	mr_proto_end(bytes, begin);
}

/* Times are those of the trace clock, as they are. */
static int add_clock(struct mr_perfetto *perfetto)
{
	struct mr_bytes *bytes = &perfetto->bytes;
	size_t packet = mr_proto_begin(bytes, TRACE_PACKET);
	size_t snapshot = mr_proto_begin(bytes, PACKET_CLOCK_SNAPSHOT);
	size_t clock = mr_proto_begin(bytes, SNAPSHOT_CLOCK);

	mr_proto_number(bytes, CLOCK_ID, CLOCK_IS_MONOTONIC);
	mr_proto_number(bytes, CLOCK_TIMESTAMP,
			(uint64_t)mr_max(perfetto->model->survey->first_ns, INT64_C(0)));
	mr_proto_end(bytes, clock);
	mr_proto_number(bytes, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	mr_proto_end(bytes, snapshot);
	mr_proto_number(bytes, PACKET_SEQUENCE, SEQUENCE);
	return mr_packet_end(perfetto, packet);
}

int mr_perfetto_begin(struct mr_perfetto *perfetto)
{
	struct mr_bytes *bytes = &perfetto->bytes;
	int result = add_clock(perfetto);

	if (result < 0)
		return result;
	size_t packet = mr_proto_begin(bytes, TRACE_PACKET);
	mr_proto_number(bytes, PACKET_SEQUENCE, SEQUENCE);
	mr_proto_number(bytes, PACKET_FLAGS, FLAG_CLEARED);
	size_t defaults = mr_proto_begin(bytes, PACKET_DEFAULTS);
	mr_proto_number(bytes, DEFAULTS_CLOCK, CLOCK_IS_MONOTONIC);
	mr_proto_end(bytes, defaults);
	size_t interned = mr_proto_begin(bytes, PACKET_INTERNED);
	for (uint32_t i = 0; i < MR_SHOWN_COUNT; i++)
		add_name(bytes, INTERNED_CATEGORIES, i + 1, mr_shown[i].name);
	add_name(bytes, INTERNED_ARGUMENTS, 1, "row");
	mr_proto_end(bytes, interned);
	return mr_packet_end(perfetto, packet);
}

static void free_all(struct mr_perfetto *perfetto)
{
	mr_relations_free(&perfetto->relations);
	mr_bytes_free(&perfetto->bytes);
	mr_strings_free(&perfetto->names);
	mr_strings_free(&perfetto->pids_used);
	mr_strings_free(&perfetto->tids_used);
	mr_strings_free(&perfetto->counters);
	mr_vec_free(&perfetto->flows);
	free(perfetto->is_process_known);
	free(perfetto->is_track_known);
	free(perfetto->is_device_known);
	free(perfetto->is_host_known);
	free(perfetto->pids);
}

static int allocate(struct mr_perfetto *perfetto)
{
	const struct mr_survey *survey = perfetto->model->survey;

	perfetto->is_process_known = calloc(survey->processes.count + 1, sizeof(bool));
	perfetto->is_track_known = calloc(survey->tracks.count + 1, sizeof(bool));
	perfetto->is_device_known = calloc(survey->definitions.devices.count + 1, sizeof(bool));
	perfetto->is_host_known = calloc(survey->hosts.count + 1, sizeof(bool));
	perfetto->pids = calloc(survey->processes.count + 1, sizeof *perfetto->pids);
	if (!perfetto->is_process_known || !perfetto->is_track_known ||
	    !perfetto->is_device_known || !perfetto->is_host_known || !perfetto->pids)
		return -ENOMEM;
	return mr_relations_make(perfetto->model, &perfetto->relations);
}

int mr_export_perfetto(const struct mr_model *model, FILE *file, uint64_t *ret_left_out)
{
	struct mr_perfetto perfetto = {.model = model, .file = file};
	int result = allocate(&perfetto);

	if (result == 0)
		result = mr_perfetto_flows(&perfetto);
	if (result == 0)
		result = mr_perfetto_begin(&perfetto);
	if (result == 0)
		result = mr_perfetto_slices(&perfetto);
	if (result == 0)
		result = mr_perfetto_counters(&perfetto);
	if (result == 0)
		result = mr_bytes_write(&perfetto.bytes, file);
	if (result == 0)
		*ret_left_out = perfetto.left_out;
	free_all(&perfetto);
	return result == -ENOMEM ? mr_fail_errno(ENOMEM, "export the trace") : result;
}
